"""Whatever is killed, the installation ends in the same state as an undisturbed one, and no acknowledged write is lost."""

import os
import time

import host_clock
from disturbance import Disturbed, draw
from end_state import differences, end_state, extra_revisions
from figures import cgroup
from installation import Installation, run
from recorder import Recorder
from undisturbed import CONFIG

KINDS = set(filter(None, os.environ.get("SLIPWAY_TEST_VICTIMS", "").split(",")))
# The last victim may still be recovering when the command succeeds.
SETTLED_WITHIN = 240


def settle(cluster, expected):
    """The differences that remain when nothing improves any more."""
    deadline = host_clock.now() + SETTLED_WITHIN
    while (found := differences(expected, seen := end_state(cluster))) and host_clock.now() < deadline:
        time.sleep(2)
    return seen, found


def test_the_same_command_finishes_a_disturbed_installation(seed, undisturbed, summary):
    disturbances = draw(seed, undisturbed.moments)
    print(f"\nSLIPWAY_TEST_SEED={seed}: {len(disturbances)} victim(s)")
    cluster = Installation(more=CONFIG)
    try:
        disturbed = Disturbed(cluster, undisturbed.moments, KINDS)
        cluster.wait_until("there is a kubeconfig", (cluster.dir / "auth/kubeconfig").exists)
        recorder = Recorder(cluster.dir / "auth/kubeconfig")
        recorder.start()
        try:
            for disturbance in disturbances:
                disturbed.suffer(disturbance)
            seconds = disturbed.finish()
        finally:
            recorder.stop()
            disturbed.end()
        seen, found = settle(cluster, undisturbed.end)
        lost = recorder.check()
        print(f"  {seconds:.1f} s, undisturbed {undisturbed.seconds:.1f} s; {recorder.summary()}")
        summary.append(f"{seed:<7} {seconds:6.1f}  " + "; ".join(map(str, disturbances)))
        assert not lost
        assert not found, "\n".join(found)
        for space, revision, reason in extra_revisions(seen):
            print(f"  {space}: revision {revision}: {reason}")
            assert reason, f"{space}: nobody says why there is a revision {revision}"
        group = cgroup(cluster.state / cluster.name)
        cluster.run("destroy", "cluster")
        assert not (cluster.state / cluster.name).exists() and not group.exists()
        assert list(cluster.files()) == ["install-config.yaml"]
        assert cluster.name not in run("mount").stdout
    finally:
        cluster.remove()
