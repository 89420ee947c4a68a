"""Moves etcd from the bootstrap machine to three masters, with real etcds."""

import contextlib
import os
import pathlib
import select
import signal
import sys

import host_clock
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from members import MASTERS, Members  # noqa: E402


@pytest.fixture(scope="module")
def etcd(tmp_path_factory):
    members = Members(tmp_path_factory.mktemp("etcd"))
    try:
        yield members
    finally:
        members.end_all()


def test_from_the_bootstrap_machine_to_the_masters(etcd, capsys):
    etcd.start_bootstrap()
    # Pods may start in any order, before or after their members are added.
    etcd.start_master(2)
    etcd.start_master(0)
    start = host_clock.now()
    etcd.keep()
    etcd.start_master(1)
    etcd.until("EtcdRunningInCluster=True")
    took = host_clock.now() - start
    said = [line for _, line in etcd.said()]
    reasons = [line.split(":")[0] for line in said if line.startswith(("Member", "Leader", "Bootstrap"))]
    assert reasons == ["MemberAdded"] * 3 + ["MemberPromoted"] * 3 + ["LeaderMoved"], said
    assert "previous members: etcd-bootstrap voter healthy leader" in next(line for line in said if line.startswith("MemberAdded"))
    assert sorted(etcd.members(MASTERS[1])) == ["etcd-bootstrap", "master-0", "master-1", "master-2"]
    assert etcd.processes["keep"].poll() is None, "nothing is removed before the bootstrap is complete"
    assert [etcd.readyz(address) for address in MASTERS] == [200] * 3
    with capsys.disabled():
        print(f"\nFIGURE etcd: three masters vote and lead {took:.1f} s after the members were added")


def test_the_bootstraps_member_goes(etcd, capsys):
    start = host_clock.now()
    (etcd.folder / "complete").write_text("")
    etcd.until("EtcdBootstrapMemberRemoved=True")
    took = host_clock.now() - start
    assert etcd.processes["keep"].wait(timeout=120) == 0
    assert sorted(etcd.members(MASTERS[2])) == ["master-0", "master-1", "master-2"]
    etcd.post(MASTERS[0], "/v3/kv/put", {"key": "YQ==", "value": "Yg=="})
    with capsys.disabled():
        print(f"\nFIGURE etcd: the bootstrap's member is removed {took:.1f} s after the bootstrap was complete")


def test_a_member_that_was_one_before_needs_nobody(etcd):
    done = etcd.discover(0, etcd.folder / "master-0/data")
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    for number in range(3):
        etcd.end(f"master-{number}")
    done = etcd.discover(0, etcd.folder / "master-0/data")
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    # After all machines were off, each member starts from its data.
    for number in range(3):
        etcd.start_master(number)
    for number, address in enumerate(MASTERS):
        etcd.wait(f"master-{number}", lambda: etcd.readyz(address) == 200)


def test_lost_data_is_told(etcd, tmp_path):
    done = etcd.discover(1, tmp_path)
    assert done.returncode == 1
    assert "so its data is lost (remove the member" in done.stderr


def test_a_stop_while_waiting_ends_the_pod_at_once(etcd):
    script = etcd.folder / "stop"
    script.mkdir()
    stranger = Members.__new__(Members)
    stranger.__dict__.update(etcd.__dict__, processes={})
    MASTERS.append("127.97.77.20")
    children = []
    try:
        stranger.start_master(3)
        stranger.wait("master-3", lambda: "is not a member of etcd yet" in stranger.log("master-3"))
        process = stranger.processes["master-3"]
        children = [os.pidfd_open(int(pid)) for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        assert children, "what waits"
        begin = host_clock.now()
        process.terminate()
        process.wait(timeout=120)
        # A pidfd becomes readable when its process ends.
        assert all(select.select([child], [], [], 2)[0] for child in children), "a child goes on without its container"
        assert host_clock.now() - begin < 2
    finally:
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(child, signal.SIGKILL)
            os.close(child)
        MASTERS.pop()
        stranger.end_all()
