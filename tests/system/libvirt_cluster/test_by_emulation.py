"""The bootstrap machine until its API server answers, then a master until its kubelet runs. Two machines that start at the same time are
too slow for each other, so the master is off at first."""

import subprocess
import time

import host_clock
from creation import LIMIT, SLIPWAY, creation, infra_of, ssh

MASTER = "192.168.126.11"


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
