"""Machines with an empty disk: they boot a discovery image, register at the service, and boot what is installed on their disk."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import live_image
from local_machines import SLIPWAY, until

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "assist"))
from assist_client import PULL_SECRET, Service, free_port  # noqa: E402


@pytest.fixture
def service(tmp_path):
    iso, _ = live_image.make(tmp_path)
    port = free_port()
    # The first address of the machines' network leads to this host.
    running = Service(tmp_path / "assist", "--live-image", iso, "--url", f"https://10.97.77.1:{port}", port=port)
    yield running
    assert running.stop() == 0


def discovery_url(service, infra_env):
    url = service.get(f"/infra-envs/{infra_env}/downloads/image-url")["url"]
    return url.replace("10.97.77.1", "127.0.0.1")


def test_three_blank_machines_register_and_boot_what_is_installed(cluster, service, capsys):
    infra_env = service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET})["id"]
    names = ["h0", "h1", "h2"]
    words = ["--blank", "--discovery", discovery_url(service, infra_env), "--cacert", str(service.folder / "tls/ca.crt"), "--host-port",
             str(service.port), "--name-record", "api.demo.example.com=10.97.77.5", "--name-record", "*.apps.demo.example.com=10.97.77.6"]
    cluster.create(*names, *words)

    def hosts():
        found = service.get(f"/infra-envs/{infra_env}/hosts")
        return {json.loads(host["inventory"])["hostname"]: host for host in found if host.get("inventory")}

    found, took = service.wait_for("three hosts with an inventory", lambda: len(hosts()) == 3 and hosts(), limit=60)
    with capsys.disabled():
        print(f"\nthree blank machines run; their inventory is there {took:.1f} s later")
    for number, name in enumerate(names):
        inventory = json.loads(found[name]["inventory"])
        [interface] = inventory["interfaces"]
        assert (interface["name"], interface["mac_address"]) == ("eth0", f"52:54:00:73:00:{number:02x}")
        assert interface["ipv4_addresses"] == [f"10.97.77.{10 + number}/24"]
        [disk] = inventory["disks"]
        assert (disk["path"], disk["size_bytes"], disk["installation_eligibility"]["eligible"]) == ("/dev/vda", 120 * 10**9, True)
        assert inventory["system_vendor"]["serial_number"].startswith("slipway-")
    assert len({json.loads(host["inventory"])["system_vendor"]["serial_number"] for host in found.values()}) == 3
    assert cluster.list()["h0"]["live"]
    assert "10.97.77.5" in cluster.shell("h0", "getent hosts api.demo.example.com").stdout
    assert "10.97.77.6" in cluster.shell("h0", "getent hosts any.apps.demo.example.com").stdout
    # The live system is in memory; the disks of the host are not seen, and its own disk is writable.
    arguments = cluster.shell("h0", "cat /proc/cmdline").stdout.split()
    commit = next(word.partition("=")[2] for word in arguments if word.startswith("slipway.local.commit="))
    assert "slipway.live" in arguments and "slipway.local.disk=/run/slipway-disk" in arguments
    cluster.shell("h0", "touch /etc/lost /var/lost && dd if=/dev/zero of=/dev/vda bs=4096 count=10 conv=notrunc,fsync status=none")
    repeated = cluster.run("create", "h0", "--blank", "--ignition", "x", "--discovery", "y", check=False)
    assert repeated.returncode == 1 and "--ignition" in repeated.stderr
    assert "already exists" in cluster.run("create", "h0", check=False).stderr

    # A restart without an installation is the live system again, empty: same host, new key, no second host.
    cluster.run("reboot", "h0", "--wait")
    assert cluster.shell("h0", "ls /etc/lost /var/lost", check=False).returncode != 0
    assert cluster.list()["h0"]["live"]

    # What an installer writes: the config, then the record of the image, at once.
    config = {"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/etc/installed", "contents": {"source": "data:,yes"}}]}}
    cluster.run("shell", "h1", "--", "sh", "-c", "umask 077 && cat > /run/slipway-disk/config.ign", input=json.dumps(config))
    cluster.shell("h1", f"echo '{{\"commit\": \"{commit}\"}}' > /run/slipway-disk/new && mv /run/slipway-disk/new /run/slipway-disk/image.json "
                        "&& systemctl reboot", check=False)
    until("the boot from the disk", lambda: cluster.list()["h1"]["boots"] == 2 and cluster.state_of("h1") == "running", 60)
    assert "live" not in cluster.list()["h1"]
    assert cluster.shell("h1", "cat /etc/installed; systemctl is-active slipway-agent; ls /run/slipway-disk; grep -c slipway.live /proc/cmdline",
                         check=False).stdout == "yesinactive\n0\n"
    folder = cluster.folder / "machines/h1/blank-disk"
    assert sorted(each.name for each in folder.iterdir()) == ["installed.json"], "the config has secrets"
    cluster.shell("h1", "touch /var/kept")
    cluster.run("reboot", "h1", "--wait")
    assert cluster.shell("h1", "cat /etc/installed && ls /var/kept").stdout == "yes/var/kept\n"

    # The discovery image once more; the disk stays.
    cluster.run("reboot", "h1", "--discovery", "--wait")
    assert cluster.list()["h1"]["live"] and cluster.shell("h1", "ls /run/slipway-disk").stdout == "installed.json\n"
    assert "reboot --discovery" in cluster.run("start", "h1", "--discovery", check=False).stderr, "it runs; a later boot is not changed"
    cluster.run("reboot", "h1", "--wait")
    assert cluster.shell("h1", "ls /var/kept").stdout == "/var/kept\n"
    cluster.create("m0")
    assert "has no discovery image" in cluster.run("reboot", "m0", "--discovery", check=False).stderr

    # A broken record is said, and a killed owner loses nothing.
    cluster.shell("h2", "echo x > /run/slipway-disk/image.json && systemctl reboot", check=False)
    until("the failure", lambda: cluster.state_of("h2") == "failed", 60)
    assert "image.json" in cluster.list()["h2"]["reason"]
    os.kill(cluster.owner(), signal.SIGKILL)
    until("the end of the cluster's processes", lambda: not cluster.members(), 30)
    cluster.run("start", "h1", "--wait")
    assert cluster.shell("h1", "ls /var/kept").stdout == "/var/kept\n"
    again = subprocess.run([SLIPWAY, "machine", "create", "h3", "--discovery", "x"], capture_output=True, text=True)
    assert again.returncode == 1 and "--blank" in again.stderr
