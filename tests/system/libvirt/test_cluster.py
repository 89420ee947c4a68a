"""`slipway create cluster` on platform libvirt, with the machine OS and the images of this build.

By emulation two machines at once are too slow, so the master is off until the API server of the bootstrap machine answers."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import host_clock
import pytest
from libvirt_host import libvirt_host
from virtual_machine import usable_kvm

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
GATEWAY, PORT = "192.168.126.1", 5000
BOOTSTRAP, MASTER = "192.168.126.10", "192.168.126.11"
REPOSITORY = "slipway/release"
# A machine of a host without KVM is ten to twenty times slower.
LIMIT = 3600
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: demo}}
controlPlane: {{name: master, replicas: {masters}}}
compute: [{{name: worker, replicas: 0}}]
platform:
  libvirt:
    URI: qemu:///system
    apiVIPs: [192.168.126.5]
    ingressVIPs: [192.168.126.7]
    defaultMachinePlatform: {{cpus: 2, memoryMiB: 4096, diskGiB: 20}}
imageDigestSources:
- source: registry.slipway.invalid/{repository}
  mirrors: ['{mirror}/{repository}']
additionalTrustBundlePolicy: Always
additionalTrustBundle: |
  {bundle}
sshKey: {key}
pullSecret: '{{"auths":{{"{mirror}":{{"auth":"YTpi"}}}}}}'
"""
REGISTRY_CONFIG = """version: 0.1
log: {{level: info, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: '{storage}'}}, maintenance: {{readonly: {{enabled: true}}, uploadpurging: {{enabled: false}}}}}}
http: {{addr: '0.0.0.0:{port}', tls: {{certificate: '{folder}/registry.pem', key: '{folder}/registry.key'}}}}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with libvirt_host(tmp_path_factory.mktemp("libvirt-host"), kvm=usable_kvm()) as started:
        yield started


@pytest.fixture(scope="module")
def registry(host, tmp_path_factory):
    """The mirror of the release, with a certificate of its own authority. Yields the certificate."""
    folder = tmp_path_factory.mktemp("registry")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=mirror",
                    "-addext", f"subjectAltName=IP:{GATEWAY}", "-keyout", folder / "registry.key", "-out", folder / "registry.pem"],
                   check=True, capture_output=True)
    (folder / "registry.yaml").write_text(REGISTRY_CONFIG.format(storage=BUILD / "payload/registry", port=PORT, folder=folder))
    process = subprocess.Popen(host.command([BUILD / "payload/bin/registry", "serve", folder / "registry.yaml"]), stderr=subprocess.PIPE, text=True)
    try:
        next(line for line in process.stderr if "listening on" in line)
        threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would block it
        yield (folder / "registry.pem").read_text()
    finally:
        process.terminate()
        process.wait()


class Creation:
    """A running `slipway create cluster`: its events, as they come."""

    def __init__(self, host, folder):
        self.host, self.folder, self.events, self.messages = host, folder, [], []
        argv = ["sh", "-c", 'echo $$; exec "$@"', "sh", SLIPWAY, "create", "cluster", "--output", "json", "--release", BUILD / "release", "--dir", folder]
        self.process = subprocess.Popen(host.command(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())
        self.started = host_clock.now()
        threading.Thread(target=self.read_events, daemon=True).start()
        threading.Thread(target=self.read_messages, daemon=True).start()

    def read_events(self):
        for line in self.process.stdout:
            self.events.append((host_clock.now() - self.started, json.loads(line)))

    def read_messages(self):
        self.messages.extend(self.process.stderr)

    def wait_for(self, kind, name, phase="finished", limit=LIMIT):
        """Returns the seconds since the start of the command."""
        while True:
            for seconds, event in list(self.events):
                if (event["kind"], event["name"], event["phase"]) == (kind, name, phase):
                    return seconds
            assert self.process.poll() is None and host_clock.now() - self.started < limit, f"no {kind} {name} {phase}\n{''.join(self.messages)[-4000:]}"
            time.sleep(0.5)

    def interrupt(self):
        self.host.run(["kill", f"-{signal.SIGINT}", str(self.pid)], check=False)
        self.process.wait(60)


@contextlib.contextmanager
def creation(host, folder, registry, masters):
    folder.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder.parent / "key"], check=True)
    (folder / "install-config.yaml").write_text(CONFIG.format(
        masters=masters, repository=REPOSITORY, mirror=f"{GATEWAY}:{PORT}", bundle=registry.strip().replace("\n", "\n  "),
        key=(folder.parent / "key.pub").read_text().strip()))
    running = Creation(host, folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.interrupt()
        host.run([SLIPWAY, "destroy", "cluster", "--dir", folder], check=False, timeout=300)


def ssh(host, folder, address, command, check=True):
    return host.run(["ssh", "-i", folder.parent / "key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
                     "-o", "ConnectTimeout=60", f"core@{address}", command], check=check, timeout=180)


def infra_of(folder):
    return json.loads((folder / "metadata.json").read_text())["infraID"]


@pytest.mark.skipif(usable_kvm(), reason="the whole cluster is tested instead")
def test_bootstrap_then_master(host, registry, tmp_path):
    with creation(host, tmp_path / "demo", registry, masters=1) as running:
        print(f"\nmachines exist after {running.wait_for('step', 'machines'):.0f} s")
        infra = infra_of(running.folder)
        host.virsh("destroy", f"{infra}-master-0")
        print(f"the API server of the bootstrap machine answers after {running.wait_for('step', 'kubernetes-api'):.0f} s")
        assert "8 times longer" in "".join(running.messages)
        begin = host_clock.now()
        host.virsh("start", f"{infra}-master-0")
        while ssh(host, running.folder, MASTER, "sudo systemctl is-active kubelet", check=False).stdout.strip() != "active":
            assert host_clock.now() - begin < LIMIT, host.run([SLIPWAY, "machine", "console", "master-0", "--dir", running.folder]).stdout[-3000:]
            time.sleep(5)
        print(f"master-0 has its config and runs its kubelet {host_clock.now() - begin:.0f} s after it is switched on")
        assert ssh(host, running.folder, MASTER, "hostname").stdout.strip() == "master-0"
        # Its state is in the bundle of a failure, with the console.
        bundle = host.run([SLIPWAY, "gather", "bootstrap", "--dir", running.folder], timeout=600).stdout.strip().splitlines()[-1]
        names = subprocess.run(["tar", "--list", "--gzip", "--file", bundle], check=True, capture_output=True, text=True).stdout
        assert "host/bootstrap.console.log" in names and "host/machines.jsonl" in names and "bootstrap/services/" in names, names
        assert "login:" in host.run([SLIPWAY, "machine", "console", "master-0", "--dir", running.folder]).stdout


@pytest.mark.skipif(not usable_kvm(), reason="three masters by emulation take hours")
def test_three_masters(host, registry, tmp_path):
    with creation(host, tmp_path / "demo", registry, masters=3) as running:
        running.process.wait(LIMIT)
        assert running.process.returncode == 0, "".join(running.messages)[-4000:]
        print(f"\nthe cluster is complete after {running.events[-1][0]:.0f} s")
        nodes = host.run([BUILD / "payload/bin/kubectl", "--kubeconfig", running.folder / "auth/kubeconfig", "get", "nodes", "--output", "name"])
        assert sorted(nodes.stdout.split()) == [f"node/master-{i}" for i in range(3)]
        assert f"{infra_of(running.folder)}-bootstrap" not in host.virsh("list", "--all", "--name")
