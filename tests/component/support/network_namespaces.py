"""Network namespaces as machines and pods."""

import contextlib
import ctypes
import os
import subprocess
import sys

import pytest
from programs import Programs

DEADLINE = 60
CLONE_NEWNET = 0x40000000


class Namespaces(Programs):
    """Network namespaces, each kept by a process with its name."""

    pause = 0.01

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def make(self, *names):
        for name in names:
            self.spawn(name, ["unshare", "-n", "sleep", "infinity"])
        for name in names:
            self.wait(name, lambda: os.readlink(f"/proc/{self.processes[name].pid}/ns/net") != os.readlink("/proc/self/ns/net"))
            self.run(name, "ip", "link", "set", "lo", "up")

    def inside(self, name, *command):
        return ["nsenter", f"--target={self.processes[name].pid}", "--net", *map(str, command)]

    def run(self, name, *command, check=True):
        done = subprocess.run(self.inside(name, *command), capture_output=True, text=True, timeout=DEADLINE)
        assert not check or done.returncode == 0, f"{command}: {done.stderr}"
        return done

    def ip(self, name, *commands):
        """Runs commands of ip(8) in one process, without its options."""
        done = subprocess.run(self.inside(name, "ip", "-batch", "-"), input="\n".join(commands) + "\n", capture_output=True, text=True,
                              timeout=DEADLINE)
        assert done.returncode == 0, f"{commands}: {done.stderr}"

    def cable(self, one, other, addresses):
        """Connects two namespaces; addresses: of both ends."""
        ends = [f"to-{other}", f"to-{one}"]
        self.run(one, "ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", self.processes[other].pid)
        for name, end, address in zip((one, other), ends, addresses):
            self.run(name, "ip", "address", "add", address, "dev", end)
            self.run(name, "ip", "link", "set", end, "up")

    def listen(self, name, *ports):
        code = ("import signal, socket, sys\nsockets = [socket.create_server(('', int(port))) for port in sys.argv[1:]]\n"
                "print('ready', flush=True)\nsignal.pause()")
        self.spawn(f"listener-{name}", self.inside(name, sys.executable, "-c", code, *ports))
        self.wait(f"listener-{name}", lambda: "ready" in self.log(f"listener-{name}"))

    def connects(self, name, address, port):
        code = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20)"
        done = self.run(name, sys.executable, "-c", code, address, port, check=False)
        assert done.returncode == 0 or "ConnectionRefusedError" in done.stderr, done.stderr
        return done.returncode == 0


@pytest.fixture
def namespaces(tmp_path):
    """Namespaces of a test, which end with it."""
    made = Namespaces(tmp_path)
    with contextlib.closing(contextlib.ExitStack()) as stack:
        stack.callback(made.end_all)
        yield made


@contextlib.contextmanager
def in_own_network():
    """Moves this process and what it starts to a network namespace of its own, in which only "lo" is up."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    assert libc.unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
    try:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        yield
    finally:
        libc.setns(before, CLONE_NEWNET)
        os.close(before)


@pytest.fixture
def own_network():
    """in_own_network() for one test."""
    with in_own_network():
        yield
