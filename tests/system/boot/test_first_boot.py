"""The machine OS on a virtual machine: the first boot of a disk image.

    SLIPWAY_BUILD=build SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s tests/system/boot

Needs root, for the owners of files in the disk image.
"""

from disk import HELLO, check_first_boot, copy
from virtual_machine import config, drive, fw_cfg, machine, network, write


def test_first_boot(image, folder):
    disk = copy(image, folder)
    with machine(folder, drive(disk), fw_cfg(write(folder / "config.ign", config(files=[HELLO]))), network()) as running:
        check_first_boot(running)
        print(f"\nBIOS, fw_cfg: running after {running.seconds():.0f} s: {running.run('systemd-analyze | head -n 1')}")
