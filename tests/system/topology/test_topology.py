"""The state of each topology after `slipway create cluster` succeeded."""

import json

import host_clock
import pytest
from application import Application
from end_state import extra_revisions
from figures import cgroup, memory
from installation import BUILD, SLIPWAY, run
from undisturbed import keep, settled

# Of ClusterOperators; ClusterVersion has Failing instead of Degraded.
CONTENT = {"Available": "True", "Progressing": "False", "Degraded": "False"}


def conditions(thing, kinds):
    found = {each["type"]: each["status"] for each in thing.get("status", {}).get("conditions", [])}
    return {kind: found.get(kind) for kind in kinds}


def test_the_machines_are_the_masters_and_they_take_pods(installed):
    print(f"\n{len(installed.masters)} master(s), no worker: {installed.creation.seconds:.1f} s, "
          f"{memory(cgroup(installed.state / installed.name)):.0f} MB in use by its processes")
    assert sorted(installed.machines()) == installed.masters
    nodes = {node["metadata"]["name"]: node for node in installed.api.get("/api/v1/nodes")["items"]}
    assert sorted(nodes) == installed.masters
    for name, node in nodes.items():
        assert conditions(node, ["Ready"]) == {"Ready": "True"}, name
        assert not [taint for taint in node["spec"].get("taints", []) if taint["effect"] != "PreferNoSchedule"], name
        assert {"node-role.kubernetes.io/master", "node-role.kubernetes.io/worker"} <= node["metadata"]["labels"].keys(), name
        assert not node["spec"].get("unschedulable")


def test_the_cluster_knows_its_topology(installed):
    status = installed.api.get("/apis/config.openshift.io/v1/infrastructures/cluster")["status"]
    expected = "SingleReplica" if len(installed.masters) == 1 else "HighlyAvailable"
    assert (status["controlPlaneTopology"], status["infrastructureTopology"]) == (expected, expected)
    assert installed.api.get("/apis/config.openshift.io/v1/schedulers/cluster")["spec"]["mastersSchedulable"] is True


def test_the_release_is_available_and_so_is_every_operator(installed):
    version = installed.api.get("/apis/config.openshift.io/v1/clusterversions/version")
    assert conditions(version, ["Available", "Failing"]) == {"Available": "True", "Failing": "False"}, version["status"]
    assert version["status"]["history"][0]["state"] == "Completed"
    operators = installed.api.get("/apis/config.openshift.io/v1/clusteroperators")["items"]
    assert len(operators) >= 10
    assert {each["metadata"]["name"]: conditions(each, CONTENT) for each in operators} == {each["metadata"]["name"]: CONTENT for each in operators}


def test_every_master_votes_in_etcd_and_nobody_else(installed):
    listed = installed.kubectl("exec", "--namespace", "openshift-etcd", "etcd-master-0", "--container", "etcd", "--",
                               "etcdctl", "member", "list", "--write-out", "json").stdout
    members = json.loads(listed)["members"]
    assert sorted(member["name"] for member in members) == installed.masters
    assert not [member["name"] for member in members if member.get("isLearner")]


def test_nothing_failed_and_one_revision_was_enough(installed):
    """Disturbed installations (tests/system/resume) have to end like the one with three masters."""
    end = keep(installed.creation).end if len(installed.masters) == 3 else settled(installed)
    assert not any(end["failed units"].values()), end["failed units"]
    assert not extra_revisions(end), end["revisions"]


def test_an_application_is_served(installed):
    begun = host_clock.now()
    application = Application(installed, SLIPWAY, BUILD / "release")
    application.deploy()
    answer = application.fetch()
    seconds = host_clock.now() - begun
    # T2 of docs/benchmarks.md ends with the answer; the earlier tests do not count.
    print(f"\nthe application answered {seconds:.1f} s after it was deployed: T2 {installed.creation.seconds + seconds:.1f} s")
    assert answer.startswith("Hello from hello-") and answer.split()[-1] in installed.masters, answer


def test_destroy_leaves_nothing(installed):
    group = cgroup(installed.state / installed.name)
    installed.run("destroy", "cluster")
    assert not (installed.state / installed.name).exists() and not group.exists()
    assert list(installed.files()) == ["install-config.yaml"]
    assert installed.name not in run("mount").stdout
