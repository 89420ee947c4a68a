"""The machine OS on virtual machines: UEFI, later boots, new deployments and the way back, and what the console says."""

import hashlib
import os
import pathlib
import subprocess

import pytest
from disk import GIB, HELLO, build, check_first_boot, check_running, copy
from virtual_machine import config, drive, fw_cfg, machine, network, write
from vlan_switch import vlan_switch
from web_server import web_server

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_the_same_commit_gives_the_same_image(image, folder):
    assert digest(build(folder)) == digest(image)


def config_drive(folder, content):
    """A disk with a file system of OpenStack's label."""
    path = folder / "config-drive.img"
    user_data = write(folder / "user_data", content)
    path.write_bytes(b"")
    os.truncate(path, 4 << 20)
    subprocess.run(["mkfs.vfat", "-n", "CONFIG-2", path], check=True, capture_output=True)
    subprocess.run(["mmd", "-i", path, "::/openstack", "::/openstack/latest"], check=True)
    subprocess.run(["mcopy", "-i", path, user_data, "::/openstack/latest/user_data"], check=True)
    return path


# A second commit in the machine's repository: the booted one and files on top of it.
DEPLOY = """set -eu
mount -o remount,rw /sysroot
ostree commit --repo=/ostree/repo --branch={name} --tree=ref=slipway/machine-os --tree=dir=/var/tmp/{name} --owner-uid=0 --owner-gid=0 \\
    --add-metadata-string=version={name}
ostree admin deploy --os=slipway {name}
/usr/lib/slipway/boot-counter start
"""
PANIC = {"usr/lib/systemd/systemd": "#!/bin/sh\nexit 1\n"}
HANG = {"usr/lib/systemd/system/hang.service": "[Unit]\nBefore=multi-user.target\n[Service]\nType=oneshot\nExecStart=sleep infinity\n"}
# Fifteen minutes are over.
LIMIT_IS_REACHED = """mkdir -p /run/systemd/system/slipway-boot-limit.timer.d
printf '[Timer]\\nOnBootSec=\\nOnBootSec=1\\n' >/run/systemd/system/slipway-boot-limit.timer.d/10-test.conf
systemctl daemon-reload
systemctl restart --no-block slipway-boot-limit.timer
"""


def deploy(running, name, files, links=()):
    lines = ["set -eu"]
    for path, content in files.items():
        lines.append(f"install -D --mode=0755 /dev/stdin /var/tmp/{name}/{path} <<'EOF'\n{content}EOF")
    for path, target in links:
        lines.append(f"mkdir -p $(dirname /var/tmp/{name}/{path}); ln -s {target} /var/tmp/{name}/{path}")
    running.run("\n".join(lines))
    running.run(DEPLOY.format(name=name))


def reboot(running):
    running.shell.socket.sendall(b"systemctl reboot\n")


def booted(running):
    return running.run("ostree admin status | sed -n '/^\\*/,/Version/s/.*Version: //p'")


def counter(running):
    return running.run("/usr/lib/slipway/boot-counter show")


def test_new_deployments_and_the_way_back(folder):
    disk = copy(build(folder, "openstack"), folder)
    content = config(files=[HELLO], kernelArguments={"shouldExist": ["slipway.test=1"], "shouldNotExist": ["console=tty0"]})
    drives = [*drive(disk), *drive(config_drive(folder, content))]
    with machine(folder, drives, network(), firmware="uefi") as running:
        check_first_boot(running)
        arguments = running.run("cat /proc/cmdline").split()
        assert arguments.count("slipway.test=1") == 1 and "console=tty0" not in arguments
        print(f"\nUEFI, config drive: running after {running.seconds():.0f} s")
        identity, release = running.run("cat /etc/machine-id"), booted(running)

        reboot(running)
        check_running(running)
        arguments = running.run("cat /proc/cmdline").split()
        assert arguments.count("slipway.test=1") == 1 and not {"ignition.firstboot=1", "console=tty0"} & set(arguments)
        assert running.run("cat /etc/machine-id") == identity
        assert running.run("hostnamectl --static; ls /etc/ssh/*.pub") and booted(running) == release

        # A deployment that is good: the counter ends with its first boot.
        deploy(running, "good", {"usr/lib/slipway-test": "good\n"})
        assert counter(running) == "3"
        reboot(running)
        check_running(running)
        assert booted(running) == "good" and counter(running) == "" and running.run("cat /etc/hello") == "from Ignition"

        # One whose init ends: three attempts, then the good one again, and again.
        deploy(running, "panic", PANIC)
        reboot(running)
        for _ in range(3):
            running.wait("Kernel panic - not syncing: Attempted to kill init", 300)
        check_running(running)
        assert booted(running) == "good" and counter(running) == "0"
        assert "did not boot three times" in running.run("journalctl --boot --unit slipway-boot-success.service")
        reboot(running)
        check_running(running)
        assert booted(running) == "good" and counter(running) == "0"


@pytest.mark.parametrize("platform", ["kubevirt", "nutanix"])
def test_platforms_that_attach_a_config_drive(folder, platform):
    """A disk of the platform, and its config drive: a medium, not a disk as that of OpenStack may be."""
    disk, medium = copy(build(folder, platform), folder), folder / "config-drive.iso"
    (folder / "content/openstack/latest").mkdir(parents=True)
    write(folder / "content/openstack/latest/user_data", config(files=[HELLO]))
    subprocess.run(["xorriso", "-as", "mkisofs", "-quiet", "-volid", "config-2", "-joliet", "-rational-rock", "-output", medium, folder / "content"],
                   check=True)
    with machine(folder, drive(disk), drive(medium), network()) as running:
        check_first_boot(running)


def test_a_deployment_that_hangs_is_started_again(image, folder):
    disk = copy(image, folder)
    with machine(folder, drive(disk), fw_cfg(write(folder / "config.ign", config())), network()) as running:
        running.wait_for_shell()
        deploy(running, "hang", HANG, [("usr/lib/systemd/system/multi-user.target.wants/hang.service", "../hang.service")])
        reboot(running)
        for attempts_left in ("2", "1"):
            running.wait_for_shell()
            assert booted(running) == "hang" and counter(running) == attempts_left
            running.run(LIMIT_IS_REACHED)
        running.wait("Rebooting", 120)


def test_a_written_disk_has_its_config_and_its_address(folder):
    """slipway image write; the machine has no DHCP client and no other source of a config."""
    disk, content = folder / "disk.raw", write(folder / "config.ign", config(files=[HELLO]))
    subprocess.run([SLIPWAY, "image", "write", disk, "--ignition", content, "--first-boot-karg=ip=10.0.2.50::10.0.2.2:255.255.255.0::enp0s2:none",
                    "--first-boot-karg=nameserver=10.0.2.3"], check=True)
    os.truncate(disk, 10 * GIB)
    with machine(folder, drive(disk), network()) as running:
        check_first_boot(running)
        for boot in ("first", "next"):
            addresses = running.run("ip -4 -oneline address show dev enp0s2")
            assert "10.0.2.50/24" in addresses and "dynamic" not in addresses, (boot, addresses)
            assert "10.0.2.3" in running.run("resolvectl dns enp0s2"), boot
            if boot == "first":
                reboot(running)
                check_running(running)
                assert "ip=10.0.2.50" not in running.run("cat /proc/cmdline")


def test_a_vlan_on_a_bond(folder):
    """The config comes over a VLAN on two bonded interfaces, in the initramfs; later boots have the same network."""
    disk = folder / "disk.raw"
    subprocess.run([SLIPWAY, "image", "write", disk, "--first-boot-karg=bond=bond0:enp0s16,enp0s17:mode=active-backup,miimon=100",
                    "--first-boot-karg=vlan=bond0.42:bond0", "--first-boot-karg=ip=192.0.2.50::192.0.2.1:255.255.255.0::bond0.42:none",
                    "--first-boot-karg=ignition.config.url=http://192.0.2.1:8080/config.ign"], check=True)
    os.truncate(disk, 10 * GIB)
    write(folder / "config.ign", config(files=[HELLO]))
    with vlan_switch(folder, 42, "192.0.2.1/24") as ports, web_server("192.0.2.1", 8080, folder) as requests:
        with machine(folder, drive(disk), ports[0].options("a", 16), ports[1].options("b", 17)) as running:
            check_first_boot(running)
            assert {request.path for request in requests} == {"/config.ign"}, requests
            for boot in ("first", "next"):
                bond = running.run("cat /sys/class/net/bond0/bonding/mode /sys/class/net/bond0/bonding/miimon /sys/class/net/bond0/bonding/slaves")
                assert sorted(bond.split()) == ["1", "100", "active-backup", "enp0s16", "enp0s17"], (boot, bond)
                assert "192.0.2.50/24" in running.run("ip -4 -oneline address show dev bond0.42"), boot
                running.run("ping -c 1 -W 20 192.0.2.1")
                if boot == "first":
                    # The other interface takes over.
                    used = running.run("cat /sys/class/net/bond0/bonding/active_slave")
                    running.run(f"ip link set {used} down; ping -c 3 -W 20 192.0.2.1")
                    assert all(port.frames > 0 for port in ports)
                    reboot(running)
                    check_running(running)
                    assert "bond=" not in running.run("cat /proc/cmdline")


# What the console says when a first boot goes wrong: devices, config, lines in this order.
UNREACHABLE = "http://127.0.0.1:9/worker"
TROUBLE = {
    "refused": (network(), {"ignition": {"version": "9.9.9"}}, ["slipway: first boot failed: ignition-fetch", "slipway: .*unsupported config version", "slipway: correct the config"]),
    "no answer": (network(), {"ignition": {"version": "3.3.0", "config": {"replace": {"source": UNREACHABLE}}}},
                  [f"slipway: waiting for the config of the first boot: GET {UNREACHABLE}: attempt #5: .*connection refused"]),
    "no address": (["-nic", "none"], {"ignition": {"version": "3.3.0", "config": {"replace": {"source": "http://192.0.2.1/worker"}}}},
                   ["slipway: no network interface has got an address within 60 s"]),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_the_console_says_what_is_wrong(image, folder, trouble):
    devices, content, lines = TROUBLE[trouble]
    disk = copy(image, folder)
    with machine(folder, drive(disk), fw_cfg(write(folder / "config.ign", content)), devices) as running:
        for line in lines:
            running.wait(line, 240)


def test_a_disk_that_is_too_small(image, folder):
    disk = copy(image, folder, 3 * GIB)
    content = write(folder / "config.ign", config())
    with machine(folder, drive(disk), fw_cfg(content), network()) as running:
        running.wait("slipway: the disk /dev/vda has 3 GiB, less than the 8 GiB that a node needs: enlarge it", 240)
        check_running(running)
        running.power_off()
    # It grows at the next boot.
    os.truncate(disk, 9 * GIB)
    with machine(folder, drive(disk), network()) as running:
        check_running(running)
        assert int(running.run("df --block-size=1 --output=size /sysroot | tail -n 1")) > 7.8 * GIB
        assert "less than the" not in running.console.text
