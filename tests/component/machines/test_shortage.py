"""An owner without free file descriptors waits and logs it; existing forwards, the owner and its machines keep working."""
import json
import os
import pathlib
import resource
import socket
import subprocess

from local_machines import until

# Echoes on every connection, in one process.
SERVER = r"""
    my $listener = IO::Socket::INET->new(LocalPort => 7000, Listen => 512, ReuseAddr => 1) or die "$!";
    my $all = IO::Select->new($listener);
    while (my @ready = $all->can_read) {
        for my $each (@ready) {
            if ($each == $listener) { $all->add(scalar $listener->accept); next }
            my $got = sysread $each, my $bytes, 4096;
            if ($got) { syswrite $each, $bytes } else { $all->remove($each); close $each }
        }
    }
"""
CONNECTIONS = 300


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def limit_descriptors(pid, most):
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))


def open_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def echoes(connection, seconds=20):
    connection.settimeout(seconds)
    try:
        connection.sendall(b"hello")
        return connection.recv(5) == b"hello"
    except OSError:
        return False


def events(cluster, kind):
    lines = (cluster.folder / "events.jsonl").read_text().splitlines()
    return [(event["name"], event["phase"]) for event in map(json.loads, lines) if event["kind"] == kind]


def test_an_owner_that_is_short_of_descriptors(cluster):
    first, second = free_port(), free_port()
    cluster.create("m0", "--forward", f"{first}:m0:7000", "--forward", f"{second}:m0:7000")
    cluster.run("shell", "m0", "--", "systemd-run", "--unit=echo", "perl", "-MIO::Socket::INET", "-MIO::Select", "-e", SERVER)
    owner = cluster.owner()

    def connect(port):
        return socket.create_connection(("127.0.0.1", port), timeout=20)

    def can_connect(port):
        with connect(port) as connection:
            return echoes(connection, 2)

    until("the forwards to work", lambda: can_connect(first) and can_connect(second))
    before = resource.prlimit(owner, resource.RLIMIT_NOFILE)
    limit_descriptors(owner, open_descriptors(owner) + 80)
    waiting = []
    try:
        served = [connect(first) for _ in range(5)]
        waiting += served
        assert all(echoes(connection) for connection in served)
        for _ in range(CONNECTIONS):
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", first))
            waiting.append(connection)
        name = f"the forward of 127.0.0.1:{first}"
        until("the shortage to be told", lambda: (name, "failed") in events(cluster, "shortage"))
        # Existing connections work, and requests are answered.
        assert all(echoes(connection) for connection in served)
        assert cluster.list()["m0"]["state"] == "running"
        assert f"{name}: " in (cluster.folder / "owner.log").read_text()
    finally:
        for connection in waiting:
            connection.close()
    until("the first forward to work again", lambda: can_connect(first), 60)
    until("the second forward to work again", lambda: can_connect(second), 60)
    until("its end to be told", lambda: (name, "finished") in events(cluster, "shortage"))

    # No free descriptor, not even for requests: all numbers are in use for the life of the process.
    limit_descriptors(owner, 6)
    asking = subprocess.Popen(cluster.command("list"), stdout=subprocess.PIPE, text=True)
    try:
        log = cluster.folder / "owner.log"
        until("the owner to say it", lambda: f"the owner of cluster {cluster.name}: accepting a connection" in log.read_text())
        assert asking.poll() is None
        resource.prlimit(owner, resource.RLIMIT_NOFILE, before)
        assert "m0" in asking.communicate(timeout=60)[0]
    finally:
        asking.kill()
        asking.wait()
    assert cluster.owner() == owner and cluster.list()["m0"]["boots"] == 1
    assert pathlib.Path(f"/proc/{owner}").exists() and can_connect(first)
