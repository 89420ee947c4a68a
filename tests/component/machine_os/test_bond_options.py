"""The options of bond= on the kernel command line: the real systemd-network-generator, then slipway's addition to its files."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
GENERATOR = "/lib/systemd/systemd-network-generator"
# Machines have /dev/console; the message is for people there.
INSIDE = f"""set -eu
mount --bind "$FOLDER/cmdline" /proc/cmdline
mount --bind "$FOLDER/run" /run
mount --bind "$FOLDER/console" /dev/console
SYSTEMD_PROC_CMDLINE=$(cat /proc/cmdline) {GENERATOR}
"{ROOT}/os/root/usr/lib/slipway/bond-options"
"""
# Kernel command line: lines of the bond's file, interfaces that are primary, text on the console.
BONDS = {
    "quiet bond=bond0:eno1,eno2:mode=active-backup,miimon=100,primary=eno2:1400 ip=dhcp": (
        ["MTUBytes=1400", "Mode=active-backup", "MIIMonitorSec=100ms"], ["eno2"], ""),
    "bond=bond0:eno1,eno2:mode=4,lacp_rate=1,xmit_hash_policy=layer3+4,updelay=200": (
        ["Mode=802.3ad", "LACPTransmitRate=fast", "TransmitHashPolicy=layer3+4", "UpDelaySec=200ms"], [], ""),
    "bond=bond0:eno1,eno2:mode=1,fail_over_mac=1,arp_validate=0": (["Mode=active-backup", "FailOverMACPolicy=active", "ARPValidate=none"], [], ""),
    "bond=bond0:eno1,eno2:mode=1,colour=red": (["Mode=active-backup"], [], "slipway: bond bond0: the option colour is unknown and has no effect\n"),
    "bond=bond0:eno1,eno2 vlan=bond0.42:bond0": ([], [], ""),
}


@pytest.mark.parametrize("arguments", BONDS)
def test_bond_options(arguments, tmp_path):
    settings, primary, said = BONDS[arguments]
    (tmp_path / "cmdline").write_text(arguments + "\n")
    (tmp_path / "console").touch()
    (tmp_path / "run").mkdir()
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", INSIDE], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "FOLDER": str(tmp_path)}, timeout=30)
    assert done.returncode == 0, done.stderr
    made = {path.name[3:]: path.read_text() for path in (tmp_path / "run/systemd/network").iterdir()}
    lines = made["bond0.netdev"].splitlines()
    assert [line for line in lines if "=" in line and not line.startswith(("Kind=", "Name="))] == settings
    assert not settings or "[Bond]" in lines
    assert [name for name in ("eno1", "eno2") if "PrimarySlave=yes" in made[f"{name}.network"]] == primary
    assert (tmp_path / "console").read_text() == said
