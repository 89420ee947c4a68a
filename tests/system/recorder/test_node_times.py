"""NodeTimes assigns the time between looks to what Node objects show."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from node_times import MARK, NodeTimes  # noqa: E402


def node(state, boot, ready=True, drain="uncordon-1", drained="uncordon-1"):
    return {"metadata": {"name": "worker-0", "annotations": {MARK + "state": state, MARK + "desiredDrain": drain, MARK + "lastAppliedDrain": drained}},
            "status": {"nodeInfo": {"bootID": boot}, "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}]}}


def test_an_update_with_a_drain_and_a_boot():
    times = NodeTimes(None)
    seen = [
        (1, node("Done", "a")),
        (1, node("Working", "a")),
        (2, node("Working", "a", drain="drain-2")),
        (4, node("Working", "a", drain="drain-2", drained="drain-2")),
        # Its kubelet still reports, then no more, then again before it is Ready.
        (8, node("Rebooting", "a", drain="drain-2", drained="drain-2")),
        (16, node("Rebooting", "a", ready=False, drain="drain-2", drained="drain-2")),
        (32, node("Rebooting", "b", ready=False, drain="drain-2", drained="drain-2")),
        (64, node("Rebooting", "b", drain="drain-2", drained="drain-2")),
        (128, node("Working", "b", drain="uncordon-2", drained="drain-2")),
        (256, node("Done", "b", drain="uncordon-2", drained="uncordon-2")),
    ]
    for passed, each in seen:
        times.look([each], passed)
    assert times.seconds == {"worker-0": {"drain": 2, "boot": 8 + 16 + 32, "not ready": 16 + 32}}
    assert times.boots == {"worker-0": 1}
    assert times.summary() == ("workers: drains 2 s, boots 56 s\n"
                               "worker-0: drain 2.0 s, boot 56.0 s, of which NotReady 48.0 s")
