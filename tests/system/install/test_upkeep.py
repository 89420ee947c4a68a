"""A running cluster keeps its state, and changes without an interruption."""

import os
import time

import host_clock
import pytest
from installation import MASTERS
from test_hand_over import condition

# Of a static pod operator: its settings, how many seconds a rollout may take, and the selectors of pods of which two have to be Ready at any
# time. The API server of a master ends with its etcd member.
SCHEDULERS = "openshift-kube-scheduler/pods?labelSelector=scheduler%3Dtrue"
MEMBERS = "openshift-etcd/pods?labelSelector=etcd%3Dtrue"
API_SERVERS = "openshift-kube-apiserver/pods?labelSelector=apiserver%3Dtrue"
ROLLED_OUT = [("etcds", 240, [MEMBERS, API_SERVERS])]
if "SLIPWAY_LONG" in os.environ:
    ROLLED_OUT.append(("kubeschedulers", 180, [SCHEDULERS]))


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


@pytest.mark.parametrize("plural, limit, selectors", ROLLED_OUT)
def test_a_revision_that_is_asked_for_goes_node_by_node(installed, plural, limit, selectors):
    """The order of the nodes is not fixed."""
    refused_before, span = len(installed.recorder.refused), host_clock.Span()
    settings = f"/apis/operator.openshift.io/v1/{plural}/cluster"
    wanted = installed.api.get(settings)["status"]["latestAvailableRevision"] + 1
    installed.api.patch(settings, {"spec": {"forceRedeploymentReason": f"a test wants revision {wanted}"}})
    start, targets = host_clock.now(), 0
    fewest = dict.fromkeys(selectors, len(MASTERS))
    while True:
        status = installed.api.get(settings)["status"]
        for selector in selectors:
            pods = installed.api.get(f"/api/v1/namespaces/{selector}")["items"]
            fewest[selector] = min(fewest[selector], sum(condition(pod, "Ready") == "True" for pod in pods))
        targets = max(targets, sum(bool(node.get("targetRevision")) for node in status["nodeStatuses"]))
        current = {node["nodeName"]: node.get("currentRevision") for node in status["nodeStatuses"]}
        if current == dict.fromkeys(MASTERS, wanted):
            break
        assert host_clock.now() - start < limit, status
        time.sleep(0.1)
    print(f"\n{host_clock.now() - start:.1f} s, at least {min(fewest.values())} pods Ready")
    assert min(fewest.values()) >= 2 and targets == 1, fewest
    refused = installed.recorder.refused[refused_before:]
    assert not refused or span.excuses(f"{len(refused)} calls refused while {plural} got a revision"), installed.explain(refused)
    # The tests after this one begin with all API servers.
    installed.wait_until("all API servers serve", lambda: is_everywhere_ready(installed, API_SERVERS), limit=60)


def is_everywhere_ready(installed, selector):
    pods = installed.api.get(f"/api/v1/namespaces/{selector}")["items"]
    return len(pods) == len(MASTERS) and all(condition(pod, "Ready") == "True" for pod in pods)


def test_what_has_no_effect_is_told(installed):
    """In the condition of an operator, or as a warning to the client that writes the object."""
    audit = "/apis/config.openshift.io/v1/apiservers/cluster"
    operator = "/apis/config.openshift.io/v1/clusteroperators/config-operator"

    def told():
        return next((each for each in installed.api.get(operator)["status"]["conditions"] if each["type"] == "SettingsIgnored"), None)

    for each in installed.api.get("/apis/config.openshift.io/v1/clusteroperators")["items"]:
        assert not any(found["type"] == "SettingsIgnored" for found in each["status"]["conditions"]), "nobody has set anything"
    installed.api.patch(audit, {"spec": {"audit": {"profile": "WriteRequestBodies"}}})
    installed.wait_until("the setting is named", lambda: (told() or {}).get("status") == "True", limit=20)
    assert told()["message"] == "settings without effect in this release: APIServer cluster: spec.audit.profile"

    def events():
        listed = installed.api.get("/api/v1/namespaces/default/events")["items"]
        return [(each["type"], each["involvedObject"]["name"]) for each in listed if each["reason"] == "SettingsIgnored"]

    installed.wait_until("an event follows the condition", lambda: events() == [("Warning", "config-operator")], limit=20)
    installed.api.patch(audit, {"spec": {"audit": {"profile": "Default"}}})
    installed.wait_until("it is put back", lambda: told()["status"] == "False", limit=20)

    machine_sets = "/apis/machine.openshift.io/v1beta1/namespaces/default/machinesets"
    machines = {"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "metadata": {"name": "more"}, "spec": {"replicas": 1}}
    status, _, headers = installed.api.ask("POST", machine_sets, machines, "application/json")
    assert status == 201 and "no controller of this release" in str(headers.get_all("Warning")), headers
    installed.api.expect("DELETE", f"{machine_sets}/more")
