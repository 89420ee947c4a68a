"""A disk with the machine OS, and what is true on every machine that boots it."""

import os
import pathlib
import subprocess

SOURCE, BUILD = pathlib.Path(os.environ["SLIPWAY_SOURCE"]), pathlib.Path(os.environ["SLIPWAY_BUILD"])
GIB = 1 << 30
HELLO = ("/etc/hello", "from Ignition\n")


def build(folder, platform="qemu"):
    image = folder / f"{platform}.raw"
    subprocess.run([SOURCE / "os/disk/build", BUILD / "payload/os/repo", "slipway/machine-os", platform, image], check=True)
    return image


def copy(image, folder, size=10 * GIB):
    """A disk of a machine: larger than the image."""
    disk = folder / "disk.raw"
    subprocess.run(["cp", "--sparse=always", image, disk], check=True)
    os.truncate(disk, size)
    return disk


def check_running(running):
    state = running.settled()
    assert state == "running", state
    mounts = running.run("for target in /usr /sysroot /boot; do findmnt --noheadings --raw --output TARGET,OPTIONS $target; done")
    options = dict(line.split() for line in mounts.splitlines())
    assert options["/usr"].startswith("ro,") and options["/sysroot"].startswith("ro,"), options
    assert {"nosuid", "nodev"} <= set(options["/boot"].split(",")), options
    return running


def check_first_boot(running):
    check_running(running)
    assert running.run("cat /etc/hello") == "from Ignition"
    assert int(running.run("df --block-size=1 --output=size /sysroot | tail -n 1")) > 8.5 * GIB
    assert "ignition.firstboot" in running.run("cat /proc/cmdline")
    assert running.run("ls /boot/ignition.firstboot /boot/ignition 2>/dev/null || true") == ""
    assert running.run("grep --count ignition.firstboot /boot/loader/syslinux.cfg || true") == "0"
    # Everything that listens on an address that others reach; docs/security.md has each port.
    listening = running.run("ss --no-header --listening --tcp --udp --numeric --processes | grep --invert-match --extended-regexp '127\\.0\\.0\\.|\\[::1\\]'")
    programs = {line.split("users:((")[1].split('"')[1] for line in listening.splitlines()}
    assert programs <= {"sshd", "systemd", "systemd-network"}, listening
