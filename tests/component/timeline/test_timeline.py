"""The page of `slipway timeline --output html`, opened and used: jsdom runs its script."""

import json
import os
import pathlib
import subprocess

import pytest

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"], "slipway")
LOOK = pathlib.Path(__file__).resolve().parent / "look.js"
# Debian's folder of Node.js modules.
NODE = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
NASTY = """</script><script>alert("broken out")</script><img src=x onerror="alert('image')"> & {{SCRIPT}} ${name} 'ä' \\"""


def event(second, kind, name, phase="finished", **more):
    return {"time": f"2026-11-21T09:30:{second:06.3f}Z", "source": more.pop("source", "slipway"), "kind": kind, "name": name, "phase": phase, **more}


INSTALLATION = [
    event(0, "step", "assets", "started"),
    event(0.5, "step", "assets", duration_ms=500, description="configs are made"),
    event(1, "step", "machines", duration_ms=400, description=NASTY),
    event(2, "stage", "render", source="bootstrap", duration_ms=900, needs=[]),
    event(3, "stage", "broken", "failed", source="bootstrap", duration_ms=300, needs=["render"], error={"code": "timeout", "message": NASTY}),
    event(4, "operator", "Etcd RevisionCreated", source="etcd", description="etcd revision 1: first"),
    event(5, "operator", "Etcd RevisionCreated", source="etcd", description="etcd revision 2: a Secret changed"),
    event(6, "node", "worker-0", source="kubernetes", description="node worker-0 is Ready"),
    event(7, "step", "worker-nodes", duration_ms=3000, description="the workers are Ready"),
    event(8, "step", "cluster-operators", duration_ms=900, description="every operator is available"),
    event(9, "step", "cluster-version", duration_ms=1000, description="the release is installed"),
]


@pytest.fixture
def look(tmp_path):
    def page_of(events):
        (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
        page = subprocess.run([SLIPWAY, "timeline", "--from", tmp_path / "events.jsonl", "--output", "html"], capture_output=True, check=True).stdout
        (tmp_path / "page.html").write_bytes(page)
        return json.loads(subprocess.run(["node", LOOK, tmp_path / "page.html"], capture_output=True, text=True, check=True, env=NODE).stdout)

    return page_of


def test_page_shows_the_installation_and_can_be_used_by_keyboard(look):
    seen = look(INSTALLATION)
    assert seen["problems"] == []
    assert seen["title"] == "An installation: 9.0 s"
    assert seen["path"] == ["node worker-0 is Ready", "the workers are Ready", "every operator is available", "the release is installed"]
    assert seen["rows"] == len(seen["table"]) == 10
    assert seen["failed"] == ["stage broken"] and ["failures", "1"] in seen["facts"]
    assert seen["again"] == ["etcd revision 2: a Secret changed"] and ["further revisions", "1"] in seen["facts"]
    assert "slipway: steps (5)" in seen["groups"] and "operator of Etcd (2)" in seen["groups"]
    assert seen["unlabelled"] == 0
    assert seen["table"][-1] == ["9.00", "1.00", "1.00", "the release is installed", "slipway: steps", "every operator is available", "critical path"]
    assert "waited for: every operator is available (8.00 s), and ended 1.00 s later" in seen["detail"]
    assert seen["waited_for"].startswith("every operator is available, ended at 8.00 s")
    assert seen["above"].startswith("the workers are Ready, ended at 7.00 s")
    assert seen["whole"] == seen["again_whole"] == [0, 9000]
    assert seen["zoomed"][1] < 9000 and seen["moved"][0] > seen["zoomed"][0] and seen["moved"][1] == seen["zoomed"][1]
    assert seen["of_ribbon"] != seen["whole"]


def test_whatever_events_say_is_text(look):
    seen = look(INSTALLATION)
    assert seen["asked"] == []
    labels = [row[3] for row in seen["table"]]
    assert NASTY.partition("; ")[0] in labels
    assert any(NASTY in row[6] for row in seen["table"])


def test_page_of_an_installation_that_is_not_complete_says_so(look):
    seen = look([*INSTALLATION[:4], event(2.5, "stage", "slow", "started", source="bootstrap", needs=["render"]), event(5, "node", "master-0", source="kubernetes")])
    assert seen["problems"] == []
    assert seen["title"] == "An installation: not complete, 5.0 s"
    assert seen["open"] == ["stage slow"]
    assert seen["path"][-1] == "node master-0"


def test_page_of_nothing_is_a_page(look):
    seen = look([])
    assert seen["problems"] == [] and seen["rows"] == 0
