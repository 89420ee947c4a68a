"""Machines follow changes of their MachineConfigs one after another, are drained first, and report their progress."""

import json
import os
import time

import host_clock
import pytest
from api import BROKEN
from installation import MASTERS, WORKERS
from test_hand_over import condition

GROUP = "/apis/machineconfiguration.openshift.io/v1/"
MARK = "machineconfiguration.openshift.io/"
FILE = "/etc/slipway-test/greeting"
# A machine restarts in 20 to 30 s; masters may also wait for etcd.
LIMITS = {"worker": 240, "master": 420}
# Failed calls for each restart of a master: those in progress at the API server that stops, and those in the seconds until the address has
# moved.
REFUSED_FOR_EACH = 30


def config(name, role, **spec):
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": name, "labels": {MARK + "role": role}},
            "spec": spec}


def ignition(**storage):
    return {"ignition": {"version": "3.2.0"}, "storage": storage}


def pool(cluster, name="worker"):
    return ask(cluster, "GET", GROUP + "machineconfigpools/" + name)


def target(of):
    return of["spec"]["configuration"]["name"]


SELECTORS = {"worker": "node-role.kubernetes.io/worker,!node-role.kubernetes.io/master", "master": "node-role.kubernetes.io/master"}


def nodes_of(cluster, role):
    listed = ask(cluster, "GET", f"/api/v1/nodes?labelSelector={SELECTORS[role]}")["items"]
    return {node["metadata"]["name"]: node for node in listed}


def workers(cluster):
    return nodes_of(cluster, "worker")


def note(node, name):
    return node["metadata"].get("annotations", {}).get(MARK + name, "")


def message(of, kind):
    return next(each["message"] for each in of["status"]["conditions"] if each["type"] == kind)


def booted(cluster, machine):
    """The start time of the first process."""
    return cluster.machine(machine, "stat", "--format=%Y", "/proc/1").stdout.strip()


def is_updated(cluster, name="worker"):
    seen = pool(cluster, name)
    all_of_them = seen["status"]["machineCount"]
    return (condition(seen, "Updated") == "True" and seen["status"]["updatedMachineCount"] == all_of_them
            and seen["status"]["configuration"]["name"] == target(seen))


@pytest.fixture
def machine_config(installed):
    """Creates MachineConfigs; afterwards deletes them and waits for the previous state of the pool."""
    assert len(workers(installed)) > 1, "with one worker nothing shows that workers change one after another"
    before, made = {role: target(pool(installed, role)) for role in LIMITS}, []

    def make(name, role="worker", **spec):
        installed.api.expect("POST", GROUP + "machineconfigs", config(name, role, **spec))
        made.append(name)
    yield make
    for name in made:
        ask(installed, "DELETE", GROUP + "machineconfigs/" + name)
    for role, limit in LIMITS.items():
        installed.wait_until(f"the pool {role} is as it was", lambda: as_it_was(installed, role, before[role]), limit=limit)


def ask(cluster, *call):
    """Returns the answer; a call that is refused while masters restart is repeated."""
    deadline = host_clock.now() + 30
    while True:
        try:
            status, answer = cluster.api.call(*call)
            if status < 500:
                return answer
        except BROKEN:
            pass
        assert host_clock.now() < deadline, f"not answered within 30 s: {call}"
        time.sleep(0.2)


def as_it_was(cluster, role, before):
    seen = ask(cluster, "GET", GROUP + "machineconfigpools/" + role)
    return target(seen) == before and is_updated(cluster, role) and condition(seen, "Degraded") == "False"


def test_machines_have_what_the_bootstrap_machine_gave_them(installed):
    for name in "master", "worker":
        installed.wait_until(f"pool {name} is updated", lambda: is_updated(installed, name))
        assert installed.api.get(GROUP + "machineconfigs/" + target(pool(installed, name)))["spec"]["config"]
    for node in installed.api.get("/api/v1/nodes")["items"]:
        machine, role = node["metadata"]["name"], "master" if "node-role.kubernetes.io/master" in node["metadata"]["labels"] else "worker"
        assert note(node, "currentConfig") == note(node, "desiredConfig") == target(pool(installed, role)), machine
        # The cluster renders the config that the machine was created with; the daemon renames the file after it has reported the config.
        first = json.loads(installed.machine(machine, "sh", "-c", "cat /etc/machine-config-daemon/node-annotation*").stdout)
        assert installed.api.get(GROUP + "machineconfigs/" + first[MARK + "firstPivotConfig"])["spec"]["config"], machine


def is_busy(node):
    return note(node, "state") != "Done" or bool(node["spec"].get("unschedulable")) or condition(node, "Ready") != "True"


def voters(cluster):
    """The names of the voting members of etcd that answer."""
    pods = ask(cluster, "GET", "/api/v1/namespaces/openshift-etcd/pods?labelSelector=k8s-app=etcd")["items"]
    return {pod["spec"]["nodeName"] for pod in pods if condition(pod, "Ready") == "True"}


def watch_roll_out(cluster, role, wanted):
    """Waits until every machine of the role has the config: (maximum of machines in progress, drained machines, minimum of ready etcd
    members)."""
    start, most, cordoned, fewest = host_clock.now(), 0, set(), 3
    while not is_updated(cluster, role) or target(ask(cluster, "GET", GROUP + "machineconfigpools/" + role)) != wanted:
        nodes = nodes_of(cluster, role)
        most = max(most, sum(map(is_busy, nodes.values())))
        cordoned |= {name for name, node in nodes.items() if node["spec"].get("unschedulable")}
        fewest = min(fewest, len(voters(cluster)))
        assert host_clock.now() - start < LIMITS[role], ask(cluster, "GET", GROUP + "machineconfigpools/" + role)["status"]
        time.sleep(0.2)
    print(f"\n{len(nodes_of(cluster, role))} machines of role {role} in {host_clock.now() - start:.1f} s, at least {fewest} members of etcd ready")
    return most, cordoned, fewest


@pytest.mark.parametrize("role", ["worker", "master"])
def a_file_comes_to_every_machine_of_the_pool_and_goes(installed, machine_config, role):
    started = {name: booted(installed, name) for name in nodes_of(installed, role)}
    before, begun, span = target(pool(installed, role)), time.time(), host_clock.Span()
    assert len(started) == (len(MASTERS) if role == "master" else len(WORKERS))
    machine_config("99-slipway-test", role, config=ignition(files=[{"path": FILE, "mode": 420, "contents": {"source": "data:,hello%0A"}}]))
    installed.wait_until("there is a new config", lambda: target(pool(installed, role)) != before, limit=20)
    wanted = target(pool(installed, role))
    most, cordoned, fewest = watch_roll_out(installed, role, wanted)
    assert most == 1 and cordoned == set(started) and fewest >= 2
    for name, node in nodes_of(installed, role).items():
        assert note(node, "currentConfig") == wanted and not node["spec"].get("unschedulable")
        assert installed.machine(name, "cat", FILE).stdout == "hello\n"
        assert booted(installed, name) != started[name], "a file that nobody knows needs a reboot"
    seen = pool(installed, role)["status"]
    assert seen["readyMachineCount"] == seen["machineCount"] == len(started) and seen["unavailableMachineCount"] == 0

    ask(installed, "DELETE", GROUP + "machineconfigs/99-slipway-test")
    installed.wait_until("the pool wants what it had", lambda: target(pool(installed, role)) == before, limit=20)
    most, cordoned, fewest = watch_roll_out(installed, role, before)
    assert most == 1 and cordoned == set(started) and fewest >= 2
    for name in started:
        assert installed.machine(name, "ls", FILE, check=False).returncode != 0

    assert installed.recorder.check() == []
    refused = installed.recorder.refused_since(begun)
    print(f"{len(refused)} calls refused; {installed.recorder.summary()}")
    allowed = 2 * len(started) * REFUSED_FOR_EACH if role == "master" else 0
    assert len(refused) <= allowed or span.excuses(f"{len(refused)} calls refused while machines of role {role} changed"), installed.explain(refused)


# The roll-outs in test_os_update.py are of the same kind, and those of masters take minutes: `make test-long`.
if "SLIPWAY_LONG" in os.environ:
    test_a_file_comes_to_every_machine_of_the_pool_and_goes = a_file_comes_to_every_machine_of_the_pool_and_goes


def test_what_only_a_new_machine_can_get_reaches_none(installed, machine_config):
    before = target(pool(installed))
    machine_config("99-slipway-folder", config=ignition(directories=[{"path": "/etc/slipway-folder"}]))
    installed.wait_until("the pool says why", lambda: condition(pool(installed), "RenderDegraded") == "True", limit=20)
    seen = pool(installed)
    assert "99-slipway-folder" in message(seen, "RenderDegraded") and condition(seen, "Degraded") == "True"
    assert target(seen) == before and is_updated(installed)


def test_a_config_that_fails_stops_at_the_first_machine_and_the_pool_says_why(installed, machine_config):
    before = target(pool(installed))
    machine_config("99-slipway-os", osImageURL="registry.example.com/os@sha256:" + 64 * "0")
    installed.wait_until("the pool says why", lambda: condition(pool(installed), "NodeDegraded") == "True", limit=60)
    seen, nodes = pool(installed), workers(installed)
    failed = [name for name, node in nodes.items() if note(node, "state") in ("Degraded", "Unreconcilable")]
    assert len(failed) == 1 == seen["status"]["degradedMachineCount"]
    assert failed[0] in message(seen, "NodeDegraded") and note(nodes[failed[0]], "reason") in message(seen, "NodeDegraded")
    # No other machine gets the config, and the machine keeps its previous state.
    assert [name for name, node in nodes.items() if note(node, "desiredConfig") != before] == failed
    assert note(nodes[failed[0]], "currentConfig") == before
