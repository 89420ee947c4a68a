"""A virtual machine with Debian 12 as its users have it: systemd, cgroup v2, ssh, a firewall, and slipway from its package."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

SYSTEM = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SYSTEM.parent / "support"), str(SYSTEM / "support"), str(SYSTEM / "package"), str(SYSTEM / "boot")]

from fresh_host import fresh_host  # noqa: E402
from installation import BUILD, run  # noqa: E402
from virtual_machine import SHELL_UNIT, drive, machine, network  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
VERSION = (SOURCE / "VERSION").read_text().strip()
GIB = 1 << 30
# Programs that change the network of a host. They are started by the test of them.
NEIGHBOURS = {"NetworkManager": "network-manager", "firewalld": "firewalld", "docker": "docker.io"}
PACKAGES = ["linux-image-cloud-amd64", "systemd-sysv", "dbus", "libpam-systemd", "apparmor", "openssh-server", "openssh-client", "sudo", "nftables",
            "iptables", *NEIGHBOURS.values()]
# Forwarded packets are dropped, as Docker and many administrators want it.
FIREWALL = """#!/usr/sbin/nft -f
flush ruleset
table inet filter {
  chain input { type filter hook input priority filter; policy accept; }
  chain forward { type filter hook forward priority filter; policy drop; }
}
"""
FILES = {
    "etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
    "etc/hostname": "ordinary\n",
    "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 ordinary\n",
    "etc/network/interfaces": "auto lo\niface lo inet loopback\nauto eth0\niface eth0 inet dhcp\n",
    "etc/nftables.conf": FIREWALL,
    "etc/systemd/logind.conf.d/10-test.conf": "[Login]\nKillUserProcesses=yes\n",
    "etc/systemd/system/test-shell.service": SHELL_UNIT,
}
# The account `admin` comes in by ssh with a key and uses sudo.
PREPARE = f"""
slipway release import /mnt/slipway-release_{VERSION}.tar
useradd --create-home --shell /bin/bash admin
echo 'admin ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/admin
install -d -o admin -m 0700 /home/admin/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
install -o admin -m 0600 /root/.ssh/id_ed25519.pub /home/admin/.ssh/authorized_keys
systemctl disable --quiet {" ".join(NEIGHBOURS)} docker.socket containerd apt-daily.timer apt-daily-upgrade.timer
systemctl enable --quiet nftables test-shell
"""


def make_disk(folder):
    """Returns the disk, the kernel and the initial RAM disk."""
    run(SOURCE / "tools/dist", BUILD)
    with fresh_host(folder, "bookworm", BUILD / f"dist/slipway_{VERSION}_amd64.deb", variant="important", include=PACKAGES) as host:
        for path, text in FILES.items():
            (host.root / path).parent.mkdir(parents=True, exist_ok=True)
            (host.root / path).write_text(text)
        (host.root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
        prepared = host.run(PREPARE)
        assert prepared.returncode == 0, prepared.stdout + prepared.stderr
        found = [next((host.root / "boot").glob(pattern)) for pattern in ("vmlinuz-*", "initrd.img-*")]
        kernel, initrd = [shutil.copy(path, folder) for path in found]
        disk = folder / "disk.raw"
        disk.touch()
        os.truncate(disk, 12 * GIB)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-E", "lazy_itable_init=1", "-d", host.root, disk], check=True)
    return disk, kernel, initrd


class Host:
    """The running virtual machine."""

    def __init__(self, running):
        self.running = running

    def run(self, script, seconds=300, check=True):
        return self.running.run(script, seconds, check)


@pytest.fixture(scope="session")
def host():
    # Not in /tmp, which may be a tmpfs.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-ordinary-host-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    try:
        start = time.monotonic()
        disk, kernel, initrd = make_disk(folder)
        print(f"\ndisk of the host: {time.monotonic() - start:.0f} s")
        boot = ["-kernel", kernel, "-initrd", initrd, "-append", "root=/dev/vda rw console=ttyS0 net.ifnames=0"]
        with machine(folder, drive(disk), network(), boot, memory=4096) as running:
            assert running.settled(600) == "running"
            print(f"host is running after {running.seconds():.0f} s: {running.run('uname -r')}, {running.run('systemctl --version | head -n 1')}")
            yield Host(running)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
