"""The workers get another operating system and other kernel arguments, one after another, and get back what they had."""

import os
import time

import host_clock
import pytest
from os_images import layer, new_layout
from test_hand_over import condition
from test_machine_config import GROUP, ask, as_it_was, booted, machine_config, message, note, pool, target, watch_roll_out, workers  # noqa: F401

NAME = "registry.example.com/team/os"
MARKER = "/usr/share/slipway-test-os"
# A kubelet that fails, and less time for the trial than people have.
BROKEN_KUBELET = {"usr/bin/kubelet": {"type": b"2", "linkname": "/usr/bin/false"}}
SHORT_LIMIT = {"name": "slipway-os-limit.timer", "dropins": [{"name": "10-test.conf", "contents": "[Timer]\nOnBootSec=\nOnBootSec=45\n"}]}


@pytest.fixture(scope="module")
def images(installed):
    """The reference of each image, which is in the registry of the cluster."""
    with new_layout() as layout:
        for name, files in (("good", {MARKER[1:]: "good\n"}), ("broken", BROKEN_KUBELET)):
            layout.add(name, layer(files))
        layout.write()
        made = {}
        for name in ("good", "broken"):
            loaded = installed.run("image", "load", f"oci:{layout.folder}:{name}", "--name", f"{NAME}:{name}").stdout
            made[name] = f"{NAME}@{loaded.split()[-1]}"
        yield made


def running_image(installed, machine):
    """What `slipway-node os status` says about the booted deployment."""
    return next(line for line in installed.machine(machine, "/usr/local/bin/slipway-node", "os", "status").stdout.splitlines() if "booted" in line)


def kernels(installed, machine):
    return installed.machine(machine, "ls", "/usr/lib/modules").stdout.split()


def test_an_image_kernel_arguments_and_extensions_come_to_the_workers_and_go(installed, machine_config, images):  # noqa: F811
    started, begun, span = {name: booted(installed, name) for name in workers(installed)}, time.time(), host_clock.Span()
    before = target(pool(installed))
    os_before = {name: running_image(installed, name) for name in started}
    machine_config("99-slipway-os", osImageURL=images["good"], kernelArguments=["slipway.test=1"], extensions=["kerberos"], kernelType="realtime")
    installed.wait_until("there is a new config", lambda: target(pool(installed)) != before, limit=20)
    wanted = target(pool(installed))
    most, cordoned, _ = watch_roll_out(installed, "worker", wanted)
    assert most == 1 and cordoned == set(started)
    seen = pool(installed)["status"]
    assert seen["readyMachineCount"] == seen["machineCount"] == len(started) and seen["unavailableMachineCount"] == 0
    for name, node in workers(installed).items():
        assert note(node, "currentConfig") == wanted
        assert installed.machine(name, "cat", MARKER).stdout == "good\n"
        assert "slipway.test=1" in installed.machine(name, "cat", "/proc/cmdline").stdout.split()
        assert "Kerberos 5" in installed.machine(name, "klist", "-V").stdout
        [kernel] = kernels(installed, name)
        assert kernel.endswith("-rt-amd64")
        assert booted(installed, name) != started[name]
        # The pod of the daemon has ended its trial.
        assert installed.machine(name, "ls", "/var/lib/slipway/os-update.json", check=False).returncode != 0

    ask(installed, "DELETE", GROUP + "machineconfigs/99-slipway-os")
    installed.wait_until("the pool wants what it had", lambda: target(pool(installed)) == before, limit=20)
    watch_roll_out(installed, "worker", before)
    for name in started:
        assert running_image(installed, name).split()[0] == os_before[name].split()[0]
        assert "slipway.test=1" not in installed.machine(name, "cat", "/proc/cmdline").stdout.split()
        assert installed.machine(name, "klist", "-V", check=False).returncode != 0 and "-rt-" not in kernels(installed, name)[0]
    refused = installed.recorder.refused_since(begun)
    assert not refused or span.excuses(f"{len(refused)} calls refused while workers got another operating system"), installed.explain(refused)
    assert installed.recorder.check() == []


def image_whose_kubelet_fails_is_left_again_and_stops_the_pool(installed, machine_config, images):  # noqa: F811
    before = target(pool(installed))
    machine_config("98-slipway-limit", config={"ignition": {"version": "3.2.0"}, "systemd": {"units": [SHORT_LIMIT]}})
    installed.wait_until("there is a new config", lambda: target(pool(installed)) != before, limit=20)
    limited = target(pool(installed))
    watch_roll_out(installed, "worker", limited)
    begun = host_clock.now()
    machine_config("99-slipway-os", osImageURL=images["broken"])
    installed.wait_until("the pool says why", lambda: condition(pool(installed), "NodeDegraded") == "True", limit=240)
    print(f"\nback on the deployment before, and told, after {host_clock.now() - begun:.1f} s")
    said = message(pool(installed), "NodeDegraded")
    assert images["broken"] in said and "kubelet.service" in said, said
    nodes = workers(installed)
    changed = [name for name, node in nodes.items() if note(node, "desiredConfig") != limited]
    assert len(changed) == 1 and note(nodes[changed[0]], "state") == "Degraded" and note(nodes[changed[0]], "currentConfig") == limited
    # Back by itself, with its kubelet.
    installed.wait_until("the node is Ready", lambda: condition(workers(installed)[changed[0]], "Ready") == "True", limit=60)
    ask(installed, "DELETE", GROUP + "machineconfigs/99-slipway-os")
    installed.wait_until("the pool is well again", lambda: as_it_was(installed, "worker", limited), limit=120)


if "SLIPWAY_LONG" in os.environ:
    test_an_image_whose_kubelet_fails_is_left_again_and_stops_the_pool = image_whose_kubelet_fails_is_left_again_and_stops_the_pool
