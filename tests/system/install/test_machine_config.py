"""Machines change as their MachineConfigs do: one after another, emptied before, and they say how far they are."""

import json
import time

import host_clock
import pytest
from test_hand_over import condition

GROUP = "/apis/machineconfiguration.openshift.io/v1/"
MARK = "machineconfiguration.openshift.io/"
FILE = "/etc/slipway-test/greeting"
ROLE = {MARK + "role": "worker"}


def config(name, **spec):
    return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": name, "labels": ROLE}, "spec": spec}


def ignition(**storage):
    return {"ignition": {"version": "3.2.0"}, "storage": storage}


def pool(cluster, name="worker"):
    return cluster.api.get(GROUP + "machineconfigpools/" + name)


def target(of):
    return of["spec"]["configuration"]["name"]


def workers(cluster):
    listed = cluster.api.get("/api/v1/nodes?labelSelector=node-role.kubernetes.io/worker,!node-role.kubernetes.io/master")["items"]
    return {node["metadata"]["name"]: node for node in listed}


def note(node, name):
    return node["metadata"].get("annotations", {}).get(MARK + name, "")


def message(of, kind):
    return next(each["message"] for each in of["status"]["conditions"] if each["type"] == kind)


def booted(cluster, machine):
    """When its first process began."""
    return cluster.machine(machine, "stat", "--format=%Y", "/proc/1").stdout.strip()


def is_updated(cluster, name="worker"):
    seen = pool(cluster, name)
    all_of_them = seen["status"]["machineCount"]
    return (condition(seen, "Updated") == "True" and seen["status"]["updatedMachineCount"] == all_of_them
            and seen["status"]["configuration"]["name"] == target(seen))


@pytest.fixture
def machine_config(installed):
    """Makes MachineConfigs; at the end they are gone, and the pool is as it was."""
    if not workers(installed):
        pytest.fail("this cluster has no worker")
    before, made = target(pool(installed)), []

    def make(name, **spec):
        installed.api.expect("POST", GROUP + "machineconfigs", config(name, **spec))
        made.append(name)
    yield make
    for name in made:
        installed.api.call("DELETE", GROUP + "machineconfigs/" + name)
    installed.wait_until("the pool is as it was", lambda: target(pool(installed)) == before and is_updated(installed)
                         and condition(pool(installed), "Degraded") == "False", limit=180)


def test_machines_have_what_the_bootstrap_machine_gave_them(installed):
    for name in "master", "worker":
        installed.wait_until(f"pool {name} is updated", lambda: is_updated(installed, name))
        assert installed.api.get(GROUP + "machineconfigs/" + target(pool(installed, name)))["spec"]["config"]
    for node in installed.api.get("/api/v1/nodes")["items"]:
        machine, role = node["metadata"]["name"], "master" if "node-role.kubernetes.io/master" in node["metadata"]["labels"] else "worker"
        assert note(node, "currentConfig") == note(node, "desiredConfig") == target(pool(installed, role)), machine
        # What it was made with is what the cluster renders too; the daemon renames the file once it has told it.
        first = json.loads(installed.machine(machine, "sh", "-c", "cat /etc/machine-config-daemon/node-annotation*").stdout)
        assert installed.api.get(GROUP + "machineconfigs/" + first[MARK + "firstPivotConfig"])["spec"]["config"], machine


def test_a_file_comes_to_every_machine_of_the_pool_and_goes(installed, machine_config):
    started = {name: booted(installed, name) for name in workers(installed)}
    before = target(pool(installed))
    start = host_clock.now()
    machine_config("99-slipway-test", config=ignition(files=[{"path": FILE, "mode": 420, "contents": {"source": "data:,hello%0A"}}]))
    installed.wait_until("there is a new config", lambda: target(pool(installed)) != before, limit=20)
    wanted, most, cordoned = target(pool(installed)), 0, set()
    while not is_updated(installed):
        nodes = workers(installed)
        busy = [name for name, node in nodes.items() if note(node, "state") != "Done" or node["spec"].get("unschedulable") or condition(node, "Ready") != "True"]
        cordoned |= {name for name, node in nodes.items() if node["spec"].get("unschedulable")}
        most = max(most, len(busy))
        assert host_clock.now() - start < 240, pool(installed)["status"]
        time.sleep(0.2)
    print(f"\n{len(started)} machines in {host_clock.now() - start:.1f} s")
    assert most == 1 and cordoned == set(started)
    for name, node in workers(installed).items():
        assert note(node, "currentConfig") == wanted and not node["spec"].get("unschedulable")
        assert installed.machine(name, "cat", FILE).stdout == "hello\n"
        assert booted(installed, name) != started[name], "a file that nobody knows needs a reboot"
    seen = pool(installed)["status"]
    assert seen["readyMachineCount"] == seen["machineCount"] == len(started) and seen["unavailableMachineCount"] == 0

    installed.api.expect("DELETE", GROUP + "machineconfigs/99-slipway-test")
    installed.wait_until("the pool is as it was", lambda: target(pool(installed)) == before and is_updated(installed), limit=240)
    for name in workers(installed):
        assert installed.machine(name, "ls", FILE, check=False).returncode != 0


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
    # Nobody else is asked to follow, and the machine still has what it had.
    assert [name for name, node in nodes.items() if note(node, "desiredConfig") != before] == failed
    assert note(nodes[failed[0]], "currentConfig") == before
