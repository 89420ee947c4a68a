"""Removing a cluster."""

from installation import run


def test_destroy_leaves_nothing(installed):
    installed.recorder.stop()
    installed.run("destroy", "cluster")
    assert not (installed.state / installed.name).exists()
    assert list(installed.files()) == ["install-config.yaml"]
    assert not (installed.dir / "events.jsonl").exists()
    assert installed.name not in run("mount").stdout
