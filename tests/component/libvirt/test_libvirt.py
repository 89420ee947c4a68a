"""The connection to libvirt (src/provider/libvirt/connection.h) with libvirtd and QEMU, on a host that ends with the test."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import host_clock
import pytest
from libvirt_host import libvirt_host

PROGRAM = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "libvirt_connection_check"
# libvirtd closes connections that do not answer for 4 s; the program tests that an idle connection remains.
IMPATIENT = "keepalive_interval = 1\nkeepalive_count = 3\n"
OF_THE_HOST = {"bash", "virtlogd", "libvirtd"}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for namespaces and mounts")


def test_connection(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    with libvirt_host(tmp_path, daemon_settings=IMPATIENT) as host:
        done = host.run(["env", f"SLIPWAY_LIBVIRT_FOLDER={files}", PROGRAM, "--gtest_brief=1"], check=False, timeout=240)
        print(done.stdout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{host.logs()}"
        assert done.stderr == "", "libvirt printed an error"
        for kind in ("list", "net-list", "pool-list"):
            assert host.virsh(kind, "--all", "--name") == ""
        assert host.run(["ls", "/sys/class/net"]).stdout.split() == ["lo"]
        programs = set(host.run(["ps", "-A", "-o", "comm="]).stdout.split())
        assert programs - {"ps"} == OF_THE_HOST, "of a machine or a network"


def test_a_killed_test_leaves_no_host(tmp_path):
    script = ("import sys, time\nfrom libvirt_host import libvirt_host\n"
              "with libvirt_host(sys.argv[1]) as host:\n    print(host.pid, flush=True)\n    time.sleep(600)\n")
    with subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True) as test:
        first = pathlib.Path("/proc", test.stdout.readline().strip())
        assert "FOLDER" in (first / "environ").read_text()
        test.send_signal(signal.SIGKILL)
    deadline = host_clock.now() + 30
    while first.exists():
        assert host_clock.now() < deadline
        time.sleep(0.05)
    users = [path for path in pathlib.Path("/proc").glob("[0-9]*/mountinfo") if str(tmp_path) in read(path)]
    assert not users


def read(path):
    try:
        return path.read_text()
    except OSError:  # the process ended
        return ""
