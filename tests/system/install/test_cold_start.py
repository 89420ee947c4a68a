"""All machines lose power at once and start again in any order: the cluster recovers by itself."""

import os
import random
import time

import host_clock
from api import BROKEN
from end_state import differences, end_state
from faults import owner_of, power_off_all
from installation import SLIPWAY, run
from test_hand_over import moment

# Seconds since the last machine was started.
API_WITHIN = 60
ALL_WITHIN = 240


def answers(installed):
    try:
        return installed.api.call("GET", "/api/v1/namespaces/default")[0] == 200
    except BROKEN:
        return False


def stale(installed, since):
    """Objects without news since then: nodes without a heartbeat, pods with containers from before."""
    leases = installed.api.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")["items"]
    found = [f"node {lease['metadata']['name']}" for lease in leases if moment(lease["spec"]["renewTime"]).timestamp() < since]
    for pod in installed.api.all("/api/v1/pods"):
        begun = [each.get("state", {}).get("running", {}).get("startedAt") for each in pod["status"].get("containerStatuses", [])]
        if pod["status"]["phase"] not in ("Succeeded", "Failed") and not all(each and moment(each).timestamp() >= since - 1 for each in begun):
            found.append(f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}")
    return found


def test_the_cluster_is_back_by_itself_and_lost_nothing(installed):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED") or random.SystemRandom().randrange(10**6))
    before, order = end_state(installed), sorted(installed.machines())
    random.Random(seed).shuffle(order)
    print(f"\nSLIPWAY_TEST_SEED={seed}: {', '.join(order)}")

    power_off_all(installed)
    installed.wait_until("nothing runs any more", lambda: owner_of(installed) is None)
    off = time.time()
    for machine in order:
        run(SLIPWAY, "machine", "start", machine, "--cluster", installed.name, "--state", installed.state)
    begun = host_clock.now()
    installed.wait_until("the API answers", lambda: answers(installed), limit=ALL_WITHIN)
    api = host_clock.now() - begun
    deadline, reasons = begun + ALL_WITHIN, []
    while host_clock.now() < deadline:
        try:
            reasons = stale(installed, off) or differences(before, end_state(installed))
        except (AssertionError, *BROKEN) as why:  # an API server that is still starting
            reasons = [str(why)]
        if not reasons:
            break
        time.sleep(1)
    print(f"API after {api:.1f} s, everything after {host_clock.now() - begun:.1f} s; {installed.recorder.summary()}")
    assert not reasons, "\n".join(reasons)
    assert installed.recorder.check() == []
    assert api < API_WITHIN
