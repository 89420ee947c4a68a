"""slipway-node start, the machine-config-daemon, on a machine with rpm-ostree or bootc, with the real API server and its real role."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
for folder in ("tests/support", "tests/component/support", "tests/component/machine_config_daemon"):
    sys.path.insert(0, str(SOURCE / folder))
from host_os import IMAGES, PROGRAM, REALTIME, HostMachine, digest_of  # noqa: E402
from test_machine_config_daemon import DEADLINE, NODE, PREFIX, cluster, wait  # noqa: E402, F401


class ManagedMachine(HostMachine):
    def __init__(self, cluster, folder, programs):  # noqa: F811
        super().__init__(folder, programs)
        self.cluster, self.log, self.process = cluster, folder / "daemon.log", None
        self.put("etc/machine-config-daemon/node-annotations.json", json.dumps({PREFIX + "currentConfig": "first", PREFIX + "state": "Done"}))
        self.put("etc/motd", "one")
        for kind in ("node", "machineconfigs.machineconfiguration.openshift.io"):
            cluster.plane.delete_all(kind)
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}, self.config("first", "first", motd="one"))
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command(PROGRAM, "start", f"--node-name={NODE}", f"--root-mount={self.root}", f"--kubeconfig={self.cluster.kubeconfig}"),
            stdin=subprocess.DEVNULL, stderr=open(self.log, "ab"), env=self.environment())

    def end(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(timeout=DEADLINE)
            self.process = None

    def restart(self):
        self.end()
        self.reboot()
        self.start()

    def report_ready(self):
        status = {"nodeInfo": {"bootID": self.text("boot-id").strip()}, "conditions": [{"type": "Ready", "status": "True"}]}
        self.cluster.plane.patch("node", NODE, {"status": status}, subresource="status")

    def allow_drain(self):
        notes = self.cluster.notes()
        if notes.get("desiredDrain") and notes["desiredDrain"] != notes.get("lastAppliedDrain"):
            self.cluster.note(lastAppliedDrain=notes["desiredDrain"])

    def ask(self, config):
        self.cluster.apply(config)
        self.cluster.note(desiredConfig=config["metadata"]["name"])

    def wait_for_state(self, state, meanwhile=lambda: None):
        wait(self, state, lambda: self.cluster.notes().get("state") == state, meanwhile)


@pytest.fixture
def machine_with(cluster, tmp_path):  # noqa: F811
    machines = []

    def make(*programs):
        machines.append(ManagedMachine(cluster, tmp_path, programs))
        machines[0].wait_for_state("Done")
        return machines[0]
    yield make
    for machine in machines:
        machine.end()


@pytest.mark.parametrize("programs", [("rpm-ostree", "bootc"), ("bootc",)], ids=["rpm-ostree", "bootc"])
def test_an_update_drains_reboots_and_is_accepted_when_the_node_is_ready(machine_with, programs):
    machine = machine_with(*programs)
    arguments = ["nosmt"] if "rpm-ostree" in programs else []
    machine.ask(machine.config("second", "second", arguments, motd="two"))
    wait(machine, "the drain", lambda: machine.cluster.notes().get("desiredDrain") == "drain-second")
    assert IMAGES["second"] in machine.read()["storage"] and machine.next()["booted"], "fetched before the drain, and nothing boots yet"
    machine.change(is_offline=True)
    wait(machine, "the restart", machine.has_to_reboot, machine.allow_drain)
    assert machine.text("etc/motd") == "one"
    machine.restart()
    assert machine.text("etc/motd") == "two" and machine.booted()["digest"] == digest_of("second")
    assert machine.booted()["kargs"] == ["root=x", "quiet", *arguments]
    machine.report_ready()
    wait(machine, "Done", lambda: machine.cluster.notes().get("currentConfig") == "second" and machine.cluster.notes()["state"] == "Done",
         machine.allow_drain)
    assert machine.cluster.notes()["lastAppliedDrain"] == "uncordon-second" and not machine.read()["storage"]
    events = machine.cluster.plane.get("events")["items"]
    assert {"OSUpdateStaged", "OSUpdateAccepted"} <= {event["reason"] for event in events}


@pytest.mark.parametrize("programs", [("rpm-ostree",), ("bootc",)], ids=["rpm-ostree", "bootc"])
def test_a_node_that_is_not_ready_goes_back_and_says_why(machine_with, programs):
    machine = machine_with(*programs)
    machine.ask(machine.config("second", "second", motd="two"))
    wait(machine, "the restart", machine.has_to_reboot, machine.allow_drain)
    machine.restart()
    machine.change(failed_units=["kubelet.service"])
    machine.os("give-up")  # slipway-os-limit.service
    machine.restart()
    machine.wait_for_state("Degraded")
    reason = machine.cluster.notes()["reason"]
    assert IMAGES["second"] in reason and "kubelet.service" in reason, reason
    assert machine.booted()["digest"] == digest_of("first") and machine.text("etc/motd") == "one"
    machine.cluster.note(desiredConfig="first")
    machine.wait_for_state("Done", machine.allow_drain)
    assert not machine.has_to_reboot()


def test_the_daemon_is_killed_again_and_again(machine_with):
    machine = machine_with("rpm-ostree")
    machine.ask(machine.config("second", "second", ["nosmt"], motd="two"))
    for number in range(1, 30):
        if machine.has_to_reboot():
            break
        machine.change(kill={"left": number, "when": "before" if number % 2 else "after"})  # kills the program that has run the command

        def is_over():
            return machine.read()["kill"]["left"] < 1 or machine.has_to_reboot()
        wait(machine, "a kill", is_over, machine.allow_drain)
        machine.change(kill=None)
        machine.end(signal.SIGKILL)
        machine.start()
    machine.change(kill=None)
    wait(machine, "the restart", machine.has_to_reboot, machine.allow_drain)
    machine.restart()
    machine.report_ready()
    wait(machine, "Done", lambda: machine.cluster.notes().get("currentConfig") == "second" and machine.cluster.notes()["state"] == "Done",
         machine.allow_drain)
    assert machine.booted()["digest"] == digest_of("second") and machine.booted()["kargs"] == ["root=x", "quiet", "nosmt"]
    assert machine.text("etc/motd") == "two" and not machine.read()["storage"]


def test_what_bootc_cannot_do_is_refused_before_the_drain(machine_with):
    machine = machine_with("bootc")
    machine.ask(machine.config("second", "second", ["nosmt"]))
    machine.wait_for_state("Unreconcilable")
    reason = machine.cluster.notes()["reason"]
    assert reason == ("cannot update from first to second: kernelArguments: bootc does not set them; put them into /usr/lib/bootc/kargs.d of the "
                      "image of osImageURL"), reason
    assert "desiredDrain" not in machine.cluster.notes() and not machine.has_to_reboot()


def test_another_kernel_and_an_extension_need_their_repository_only(machine_with):
    machine = machine_with("rpm-ostree", "bootc")
    machine.put("etc/yum.repos.d/fedora.repo", "[fedora]\nbaseurl=https://example.com\n")
    wanted = machine.config("second", "first", extensions=["usbguard"], kernelType="realtime", baseOSExtensionsContainerImage=IMAGES["extensions"])
    machine.ask(wanted)
    machine.wait_for_state("Unreconcilable")
    assert "/etc/yum.repos.d/fedora.repo: fedora is enabled" in machine.cluster.notes()["reason"]
    machine.put("etc/yum.repos.d/fedora.repo", "[fedora]\nbaseurl=https://example.com\nenabled=0\n")
    wait(machine, "the restart", machine.has_to_reboot, machine.allow_drain)
    machine.restart()
    machine.report_ready()
    machine.wait_for_state("Done", machine.allow_drain)
    assert machine.booted()["packages"] == ["usbguard", *REALTIME]
