"""A control plane on one virtual machine: kubelet, etcd and API server of the release as static pods."""

import json
import os
import pathlib
import subprocess

from disk import BUILD, SOURCE, check_running, copy
from release_registry import release_registry
from virtual_machine import HOST, config, drive, fw_cfg, machine, network, write

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
HOSTS = """server = "http://{0}"

[host."http://{0}"]
  capabilities = ["pull", "resolve"]
"""
WAIT = """set -eu
export KUBECONFIG=/etc/kubernetes/admin.kubeconfig
until kubectl get --raw /readyz 2>/dev/null; do sleep 2; done
"""


def control_plane(folder, port):
    release = folder / "release.json"
    release.write_bytes(subprocess.run([SLIPWAY, "release", "info", BUILD / "release", "--output", "json"], check=True, capture_output=True).stdout)
    made = json.loads(subprocess.run([SOURCE / "tools/control-plane-ignition", release], check=True, capture_output=True).stdout)
    whole = config(files=[("/etc/containerd/certs.d/registry.slipway.invalid/hosts.toml", HOSTS.format(f"{HOST}:{port}"))])
    whole["storage"]["files"] += made["storage"]["files"]
    whole["systemd"]["units"] += made["systemd"]["units"]
    return write(folder / "config.ign", whole)


def test_static_pods(image, folder):
    disk = copy(image, folder)
    with release_registry(folder, "127.0.0.1:0") as port, machine(folder, drive(disk), fw_cfg(control_plane(folder, port)), network(), memory=4096) as running:
        running.wait_for_shell()
        assert running.run(WAIT, 600) == "ok"
        seconds = running.seconds()
        assert running.run("KUBECONFIG=/etc/kubernetes/admin.kubeconfig kubectl get namespace default --output name") == "namespace/default"
        running.power_off()
        print(f"\nAPI server ready after {seconds:.0f} s")
    # The same disk again, without the registry.
    with machine(folder, drive(disk), network(), memory=4096) as running:
        check_running(running)
        assert running.run(WAIT, 600) == "ok"
        print(f"next boot: {running.seconds():.0f} s")
