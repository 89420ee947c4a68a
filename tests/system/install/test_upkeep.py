"""A cluster that is there stays what it is, and changes without anybody noticing."""

import time

import host_clock
from installation import MASTERS
from test_hand_over import condition

SCHEDULER = "/apis/operator.openshift.io/v1/kubeschedulers/cluster"


def test_a_deployment_that_somebody_deletes_is_back(installed):
    path = "/apis/apps/v1/namespaces/openshift-etcd-operator/deployments/etcd-operator"
    before = installed.api.get(path)["metadata"]["uid"]
    installed.api.expect("DELETE", path)

    def back():
        status, seen = installed.api.call("GET", path)
        return status == 200 and seen["metadata"]["uid"] != before
    start = host_clock.now()
    installed.wait_until("the Deployment is back", back, limit=10)
    print(f"\n{host_clock.now() - start:.1f} s")


def test_a_revision_that_is_asked_for_goes_node_by_node(installed):
    """The order in which nodes get it is not told: what counts is that there are two schedulers at any time."""
    refused_before, span = len(installed.recorder.refused), host_clock.Span()
    wanted = installed.api.get(SCHEDULER)["status"]["latestAvailableRevision"] + 1
    installed.api.patch(SCHEDULER, {"spec": {"forceRedeploymentReason": f"a test wants revision {wanted}"}})
    start, fewest, targets = host_clock.now(), 3, 0
    while True:
        status = installed.api.get(SCHEDULER)["status"]
        pods = installed.api.get("/api/v1/namespaces/openshift-kube-scheduler/pods")["items"]
        fewest = min(fewest, sum(condition(pod, "Ready") == "True" for pod in pods))
        targets = max(targets, sum(bool(node.get("targetRevision")) for node in status["nodeStatuses"]))
        current = {node["nodeName"]: node.get("currentRevision") for node in status["nodeStatuses"]}
        if current == dict.fromkeys(MASTERS, wanted):
            break
        assert host_clock.now() - start < 180, status
        time.sleep(0.1)
    print(f"\n{host_clock.now() - start:.1f} s, at least {fewest} pods Ready")
    assert fewest >= 2 and targets == 1
    refused = installed.recorder.refused[refused_before:]
    assert not refused or not span.is_fair(), installed.explain(refused)
