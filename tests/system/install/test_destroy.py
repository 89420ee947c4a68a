"""Removing a cluster."""

from installation import run


def test_destroy_leaves_nothing(made_here):
    made_here.recorder.stop()
    made_here.run("destroy", "cluster")
    assert not (made_here.state / made_here.name).exists()
    assert list(made_here.files()) == ["install-config.yaml"]
    assert not [name for name in ("events.jsonl", "machines") if (made_here.dir / ".slipway" / name).exists()]
    assert made_here.name not in run("mount").stdout
