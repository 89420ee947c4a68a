"""The live image: it boots from a medium and by PXE, takes its config, and writes the machine OS to a disk."""

import os
import pathlib
import subprocess

import pytest
from disk import GIB, HELLO, check_running
from virtual_machine import config, drive, machine, network, write

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"


def make_live(kind, output, *options):
    subprocess.run([SLIPWAY, "image", "create", "--platform", "metal", "--format", kind, "--output", output, *options], check=True)
    return output


def empty_disk(folder, size=8 * GIB):
    disk = folder / "disk.raw"
    disk.touch()
    os.truncate(disk, size)
    return disk


def cd(iso):
    # The disk is the first device to boot from.
    return ["-drive", f"file={iso},format=raw,if=none,id=cd,readonly=on", "-device", "ide-cd,drive=cd,bootindex=2"]


def first_disk(disk):
    return ["-drive", f"file={disk},format=raw,if=none,id=disk", "-device", "virtio-blk-pci,drive=disk,bootindex=1"]


def check_live(running):
    assert running.settled() == "running"
    assert running.run("cat /etc/hello") == "from Ignition"
    assert running.run("findmnt --noheadings --output FSTYPE /") == "overlay"


@pytest.mark.parametrize("firmware", ["bios", "uefi"])
def test_the_live_image_installs_a_disk(folder, firmware):
    installed = write(folder / "installed.ign", config(files=[HELLO]))
    iso = make_live("iso", folder / "live.raw", "--install-disk", "/dev/vda", "--install-ignition", installed)
    with machine(folder, first_disk(empty_disk(folder)), cd(iso), network(), firmware=firmware, memory=3072) as running:
        running.wait("slipway: writing /dev/vda", 300)
        running.wait("slipway: /dev/vda is installed; the machine starts again", 300)
        seconds = running.seconds()
        check_running(running)
        assert running.run("cat /etc/hello") == "from Ignition"
        assert "slipway.live" not in running.run("cat /proc/cmdline")
        assert int(running.run("df --block-size=1 --output=size /sysroot | tail -n 1")) > 6.5 * GIB
        print(f"\n{firmware}: installed after {seconds:.0f} s, running after {running.seconds():.0f} s")


def test_a_disk_in_use_is_not_overwritten(folder):
    """The live system finds a disk that is too small, and stays."""
    iso = make_live("iso", folder / "live.raw", "--install-disk", "/dev/vda", "--ignition",
                    write(folder / "live.ign", config(files=[HELLO])))
    with machine(folder, first_disk(empty_disk(folder, GIB)), cd(iso), network(), memory=3072) as running:
        running.wait("slipway: installation failed: /dev/vda is smaller than the image", 300)
        running.wait_for_shell()
        assert "slipway-install-disk.service" in running.run("systemctl --failed --no-legend --plain")
        assert running.run("cat /etc/hello") == "from Ignition"
        # Again, with a disk whose partition is mounted.
        running.run("mkfs.ext4 -q /dev/vda; echo ', +' | sfdisk --quiet /dev/vda; mkfs.ext4 -q /dev/vda1; mount /dev/vda1 /mnt; "
                    "systemctl restart slipway-install-disk || true")
        running.wait("slipway: installation failed: /dev/vda is in use", 60)


def test_pxe(folder):
    pxe = make_live("pxe", folder / "pxe", "--ignition", write(folder / "live.ign", config(files=[HELLO])))
    initrd = folder / "initrd.raw"
    initrd.write_bytes((pxe / "initramfs.img").read_bytes() + (pxe / "rootfs.img").read_bytes())
    boot = ["-kernel", pxe / "vmlinuz", "-initrd", initrd, "-append", (pxe / "arguments").read_text().strip()]
    with machine(folder, boot, network(), memory=4096) as running:
        check_live(running)
        print(f"\nPXE: running after {running.seconds():.0f} s")


def test_a_damaged_medium_is_not_booted(folder):
    iso = make_live("iso", folder / "live.raw")
    # In the middle of the squashfs.
    with open(iso, "r+b") as file:
        file.seek(150 << 20)
        file.write(b"damaged")
    with machine(folder, cd(iso), network(), memory=3072) as running:
        running.wait("slipway: first boot failed: slipway-live-root", 300)
        running.wait("slipway: .*differs from its checksum", 10)
