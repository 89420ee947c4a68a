"""slipway-node start, the machine-config-daemon, with the real API server and its real role, in its own root with the real cp, chown, gzip,
chpasswd and systemctl. A machine gets the state of its config and returns to the earlier one, also when the daemon is killed repeatedly.

    SLIPWAY_BIN=... SLIPWAY_PAYLOAD_BIN=build/payload/bin SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s tests/component/machine_config_daemon
"""

import base64
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

import host_clock
import pytest
import yaml

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/component/support"))
import machine_root  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from openshift_api import crd_paths  # noqa: E402

PROGRAM = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway-node"
DEADLINE = 30  # seconds; each wait normally takes less than one
NODE, TOKEN = "worker-0", "of-the-daemon"
ACCOUNT = "system:serviceaccount:openshift-machine-config-operator:machine-config-daemon"
PREFIX = "machineconfiguration.openshift.io/"
ACCOUNTS = [f"etc/{name}{old}" for name in ("passwd", "group", "shadow") for old in ("", "-")] + ["etc/.pwd.lock"]
KEYS = ["ssh-ed25519 AAAA a@example", "ssh-ed25519 BBBB b@example"]
HASH = "$6$salt$JMJpMPU3cfHrN9yhL8ptvmaMpDwWIJRhPcZm8dSYtmjzWwBgNVPWzT7WW4bMuRBdlmVM5IKLe2Mp2vTkYeVbO0"

# Enables and disables units; commands that need a running systemd are recorded.
SYSTEMCTL = """#!/bin/sh
echo "$@" >> /journal
case "$1" in --no-reload) SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl "$@" ;; esac
"""


def file(path, text, mode=0o644, **more):
    return {"path": path, "mode": mode, "overwrite": True, "contents": {"source": "data:," + text, **more}}


FIRST = {
    "ignition": {"version": "3.5.0"},
    "storage": {"files": [file("/etc/motd", "first"), file("/etc/stays", "same", 0o600)]},
    "systemd": {"units": [{"name": "a.service", "enabled": True, "contents": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=a.target\n"}]},
    "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": KEYS[:1]}]},
}
SECOND = {
    "ignition": {"version": "3.5.0"},
    "storage": {"files": [
        file("/etc/stays", "same", 0o600),
        file("/etc/image", "second", 0o640),
        {**file("/etc/deep/er/file", "second"), "user": {"name": "core"}, "group": {"id": 1234}},
        {"path": "/etc/packed", "overwrite": True, "contents": {
            "source": "data:;base64," + base64.b64encode(gzip.compress(b"\x00packed", mtime=0)).decode(), "compression": "gzip"}}]},
    "systemd": {"units": [
        {"name": "b.service", "enabled": True, "contents": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=b.target\n",
         "dropins": [{"name": "10-more.conf", "contents": "[Service]\nNice=5\n"}]},
        {"name": "c.service", "mask": True}]},
    "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": KEYS[1:], "passwordHash": HASH}]},
}


class Cluster:
    def __init__(self, plane, folder):
        self.plane, self.folder = plane, folder
        self.kubeconfig = folder / "daemon-kubeconfig"
        self.kubeconfig.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{plane.server}', certificate-authority: {plane.ca}}}}}]\n"
            f"contexts: [{{name: u, context: {{cluster: c, user: u}}}}]\ncurrent-context: u\nusers: [{{name: u, user: {{token: {TOKEN}}}}}]\n")

    def apply(self, *objects):
        self.plane.apply(*objects)

    def config(self, name, ignition):
        self.apply({"apiVersion": PREFIX + "v1", "kind": "MachineConfig", "metadata": {"name": name},
                    "spec": {"config": ignition, "fips": False, "kernelArguments": [], "extensions": [], "kernelType": "", "osImageURL": ""}})

    def notes(self):
        node = self.plane.get("node", NODE)
        return {k[len(PREFIX):]: v for k, v in node["metadata"].get("annotations", {}).items() if k.startswith(PREFIX)}

    def note(self, **notes):
        self.plane.patch("node", NODE, {"metadata": {"annotations": {PREFIX + name: value for name, value in notes.items()}}})


class Machine:
    def __init__(self, cluster, folder):
        self.cluster, self.root, self.log, self.process = cluster, machine_root.make(folder / "root"), folder / "daemon.log", None
        for name in ("etc/systemd/system", "etc/machine-config-daemon", "programs"):
            (self.root / name).mkdir(parents=True)
        (self.root / "home/core/.ssh").mkdir(parents=True)
        self.put("etc/passwd", "root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n")
        self.put("etc/group", "root:x:0:\ncore:x:1000:\n")
        self.put("etc/shadow", "root:*:1::::::\ncore:!:1::::::\n", 0o600)
        self.put("programs/systemctl", SYSTEMCTL, 0o755)
        # Files from Ignition.
        self.put("etc/motd", "first")
        self.put("etc/stays", "same", 0o600)
        self.put("etc/image", "of the image", 0o604)
        self.put("etc/systemd/system/a.service", FIRST["systemd"]["units"][0]["contents"])
        (self.root / "etc/systemd/system/a.target.wants").mkdir()
        (self.root / "etc/systemd/system/a.target.wants/a.service").symlink_to("/etc/systemd/system/a.service")
        self.put("etc/machine-config-daemon/node-annotations.json", json.dumps({PREFIX + "currentConfig": "first", PREFIX + "state": "Done"}))

    def put(self, path, text, mode=0o644):
        (self.root / path).write_text(text)
        (self.root / path).chmod(mode)

    def start(self):
        assert not self.process
        self.process = subprocess.Popen(
            [*machine_root.enter(self.root), PROGRAM, "start", f"--node-name={NODE}", f"--root-mount={self.root}",
             f"--kubeconfig={self.cluster.kubeconfig}"],
            stdin=subprocess.DEVNULL, stderr=open(self.log, "ab"), env={"PATH": "/programs:/usr/sbin:/usr/bin:/sbin:/bin"})

    def end(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(timeout=DEADLINE)
            self.process = None

    def reboot(self):
        self.end()
        shutil.rmtree(self.root / "run")
        (self.root / "run").mkdir()
        (self.root / "journal").unlink()
        self.start()

    def journal(self):
        path = self.root / "journal"
        return path.read_text().splitlines() if path.exists() else []

    def tree(self):
        """The files that a config may change."""
        found = {}
        for base, _, names in os.walk(self.root / "etc"):
            for name in names:
                path = pathlib.Path(base) / name
                key = str(path.relative_to(self.root))
                # Programs of the machine write the account files.
                if key.startswith("etc/machine-config-daemon/") or key in ACCOUNTS:
                    continue
                status = path.lstat()
                content = os.readlink(path) if path.is_symlink() else path.read_bytes()
                found[key] = (None if path.is_symlink() else stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, content)
        keys = self.root / "home/core/.ssh/authorized_keys.d/ignition"
        found["keys"] = (stat.S_IMODE(keys.stat().st_mode), keys.stat().st_uid, keys.read_text()) if keys.exists() else None
        return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "tokens").write_text(f"{TOKEN},{ACCOUNT},daemon\n")
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], folder, [f"--token-auth-file={folder}/tokens"]) as plane:
        cluster = Cluster(plane, folder)
        plane.install_types(crd_paths(["_machineconfigs.crd", "_controllerconfigs-", "_machineconfigurations."]))
        role = yaml.safe_load((SOURCE / "images/manifests/0000_80_machine-config_03_daemon_2_role.yaml").read_text())
        cluster.apply(role)
        plane.kubectl("create", "clusterrolebinding", "daemon", f"--clusterrole={role['metadata']['name']}", f"--user={ACCOUNT}")
        events = yaml.safe_load((SOURCE / "images/manifests/0000_80_machine-config_03_daemon_4_events-role.yaml").read_text())
        cluster.apply(events)
        plane.kubectl("create", "rolebinding", "daemon", "-n", "default", f"--role={events['metadata']['name']}", f"--user={ACCOUNT}")
        yield cluster


@pytest.fixture
def machine(cluster, tmp_path):
    for kind in ("node", "machineconfigs.machineconfiguration.openshift.io", "machineconfigurations.operator.openshift.io"):
        cluster.plane.delete_all(kind)
    cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    cluster.config("first", FIRST)
    cluster.config("second", SECOND)
    machine = Machine(cluster, tmp_path)
    machine.start()
    yield machine
    machine.end()


def wait(machine, what, ready, meanwhile=lambda: None):
    deadline = host_clock.now() + DEADLINE
    while not ready():
        assert host_clock.now() < deadline, f"{what}: {machine.cluster.notes()}\n{machine.log.read_text()[-3000:]}"
        meanwhile()
        time.sleep(0.05)


def is_done(machine, config):
    notes = machine.cluster.notes()
    return notes.get("currentConfig") == config and notes.get("state") == "Done"


def play_controller(machine):
    notes = machine.cluster.notes()
    if notes.get("desiredDrain") and notes["desiredDrain"] != notes.get("lastAppliedDrain"):
        machine.cluster.note(lastAppliedDrain=notes["desiredDrain"])
    if "reboot" in machine.journal():
        machine.reboot()


def become(machine, config, meanwhile=lambda: None):
    machine.cluster.note(desiredConfig=config)

    def both():
        play_controller(machine)
        meanwhile()
    wait(machine, config, lambda: is_done(machine, config), both)


def second_tree(before):
    tree = {path: entry for path, entry in before.items() if "/a." not in path and path != "etc/motd"}
    units = SECOND["systemd"]["units"][0]
    tree.update({
        "etc/image": (0o640, 0, 0, b"second"), "etc/deep/er/file": (0o644, 1000, 1234, b"second"), "etc/packed": (0o644, 0, 0, b"\x00packed"),
        "etc/systemd/system/b.service": (0o644, 0, 0, units["contents"].encode()),
        "etc/systemd/system/b.service.d/10-more.conf": (0o644, 0, 0, units["dropins"][0]["contents"].encode()),
        "etc/systemd/system/b.target.wants/b.service": (None, 0, 0, "/etc/systemd/system/b.service"),
        "etc/systemd/system/c.service": (None, 0, 0, "/dev/null"),
        "keys": (0o600, 1000, KEYS[1] + "\n")})
    return tree


def test_there_and_back(machine):
    wait(machine, "the first config", lambda: is_done(machine, "first"))
    before = machine.tree()
    begin = host_clock.now()
    become(machine, "second")
    print(f"an update with its reboot: {host_clock.now() - begin:.2f} s")
    assert machine.tree() == second_tree(before)
    assert f"core:{HASH}:" in (machine.root / "etc/shadow").read_text()
    assert machine.cluster.notes()["lastAppliedDrain"] == "uncordon-second"
    become(machine, "first")
    after = machine.tree()
    assert after.pop("keys") == (0o600, 1000, KEYS[0] + "\n")
    assert after == {path: entry for path, entry in before.items() if path != "keys"}
    assert (machine.root / "etc/shadow").read_text().splitlines()[1].startswith("core:!")
    kept = [path.name for path in (machine.root / "etc/machine-config-daemon").rglob("*") if path.is_file()]
    # These two paths did not exist before the config.
    assert sorted(kept) == ["a.service.mcdnoorig", "currentconfig", "motd.mcdnoorig", "node-annotation.json.bak"]
    assert stat.S_IMODE((machine.root / "etc/machine-config-daemon/currentconfig").stat().st_mode) == 0o600


def test_a_machine_of_image_mode_reports_its_first_image(machine):
    wait(machine, "the first config", lambda: is_done(machine, "first"))
    machine.end()
    image = "registry.example.com/team/os@sha256:" + "7" * 64
    (machine.root / "etc/machine-config-daemon/currentconfig").unlink()
    machine.put("etc/machine-config-daemon/node-annotations.json",
                json.dumps({PREFIX + "currentConfig": "first", PREFIX + "currentImage": image, PREFIX + "state": "Done"}))
    machine.cluster.plane.kubectl("delete", "node", NODE)
    machine.cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    machine.start()
    wait(machine, "the image", lambda: is_done(machine, "first") and machine.cluster.notes().get("currentImage") == image)
    assert machine.cluster.notes()["desiredImage"] == image
    assert "desiredDrain" not in machine.cluster.notes() and "reboot" not in machine.journal()
    disk = json.loads((machine.root / "etc/machine-config-daemon/currentconfig").read_text())
    assert disk["metadata"]["name"] == "first" and disk["spec"]["osImageURL"] == image


def with_policy(machine, **policy):
    machine.cluster.apply({"apiVersion": "operator.openshift.io/v1", "kind": "MachineConfiguration", "metadata": {"name": "cluster"},
                           "spec": {"managementState": "Managed", "nodeDisruptionPolicy": policy}})


def test_a_policy_turns_a_reboot_into_a_reload(machine):
    wait(machine, "the first config", lambda: is_done(machine, "first"))
    reload, restart = ({"type": verb.capitalize(), verb: {"serviceName": "a.service"}} for verb in ("reload", "restart"))
    with_policy(machine, files=[{"path": "/etc", "actions": [{"type": "Reboot"}]}, {"path": "/etc/motd", "actions": [reload]}])
    changed = {**FIRST, "storage": {"files": [file("/etc/motd", "other"), *FIRST["storage"]["files"][1:]]}}
    machine.cluster.config("reloaded", changed)
    become(machine, "reloaded")
    assert (machine.root / "etc/motd").read_text() == "other"
    assert [line for line in machine.journal() if not line.startswith("--no-reload")] == ["reload a.service"]
    assert "desiredDrain" not in machine.cluster.notes()

    # With a drain, and a unit whose text changes.
    with_policy(machine, files=[{"path": "/etc/motd", "actions": [{"type": "None"}]}],
                units=[{"name": "a.service", "actions": [{"type": "Drain"}, restart]}])
    unit = {**FIRST["systemd"]["units"][0], "contents": "[Service]\nExecStart=/bin/false\n[Install]\nWantedBy=a.target\n"}
    machine.cluster.config("drained", {**FIRST, "systemd": {"units": [unit]}})
    (machine.root / "journal").unlink()
    become(machine, "drained")
    assert "ExecStart=/bin/false" in (machine.root / "etc/systemd/system/a.service").read_text()
    assert [line for line in machine.journal() if not line.startswith("--no-reload")] == ["daemon-reload", "restart a.service"]
    assert machine.cluster.notes()["lastAppliedDrain"] == "uncordon-drained"


def test_killed_again_and_again(machine):
    wait(machine, "the first config", lambda: is_done(machine, "first"))
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, before, kills = random.Random(seed), machine.tree(), []

    def kill():
        if len(kills) >= 15:
            return
        time.sleep(chance.random() * 0.1)
        machine.end(signal.SIGKILL)
        machine.start()
        kills.append(1)
    become(machine, "second", kill)
    assert machine.tree() == second_tree(before)
    assert kills and not list(machine.root.rglob("*.mcdnew"))


def test_what_goes_wrong_is_told_and_undone(machine):
    wait(machine, "the first config", lambda: is_done(machine, "first"))
    before = machine.tree()
    (machine.root / "etc/z").mkdir()  # a folder at the path of a file of the config
    machine.cluster.config("bad", {**SECOND, "storage": {"files": [*SECOND["storage"]["files"], file("/etc/z", "no")]}})
    machine.cluster.note(desiredConfig="bad")
    wait(machine, "Degraded", lambda: machine.cluster.notes().get("state") == "Degraded", lambda: play_controller(machine))
    assert "/etc/z" in machine.cluster.notes()["reason"]
    after = machine.tree()
    assert after.pop("keys") == (0o600, 1000, KEYS[0] + "\n")
    assert after == {path: entry for path, entry in before.items() if path != "keys"}
    become(machine, "first")
    assert machine.cluster.notes()["reason"] == ""
    assert "reboot" not in machine.journal()
    events = machine.cluster.plane.get("events")["items"]
    assert any(event["reason"] == "Degraded" and "/etc/z" in event["message"] for event in events)
