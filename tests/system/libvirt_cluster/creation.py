"""`slipway create cluster` on platform libvirt, with the machine OS and the images of this build."""

import base64
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import host_clock

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
GATEWAY, PORT = "192.168.126.1", 5000
REPOSITORY = "slipway/release"
LOGIN = ("pull", "secret")
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
pullSecret: '{{"auths":{{"{mirror}":{{"auth":"{login}"}}}}}}'
"""


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
        masters=masters, login=base64.b64encode(":".join(LOGIN).encode()).decode(), repository=REPOSITORY, mirror=f"{GATEWAY}:{PORT}", bundle=registry.strip().replace("\n", "\n  "),
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
