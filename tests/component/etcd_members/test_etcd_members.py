"""Moves etcd from the bootstrap machine to three masters, with real etcds."""

import base64
import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys
import threading
import urllib.error

import host_clock
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from members import MASTERS, TOOL, Members  # noqa: E402


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


class Recorder(threading.Thread):
    """Writes through each member in turn; every answer counts."""

    def __init__(self, etcd):
        super().__init__(daemon=True)
        self.etcd, self.stop, self.written, self.refused, self.longest = etcd, threading.Event(), 0, [], 0.0

    def run(self):
        while not self.stop.is_set():
            begin, address = host_clock.now(), MASTERS[self.written % len(MASTERS)]
            try:
                self.etcd.post(address, "/v3/kv/put", {"key": encoded(f"recorded-{self.written}"), "value": encoded("x")}, timeout=30)
            except urllib.error.HTTPError as failure:
                self.refused.append(f"{address}: {failure}: {failure.read().decode()}")
            except OSError as failure:
                self.refused.append(f"{address}: {failure}")
            self.written, self.longest = self.written + 1, max(self.longest, host_clock.now() - begin)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def sizes(etcd):
    statuses = [etcd.post(address, "/v3/maintenance/status", {}) for address in MASTERS]
    return [int(status["dbSize"]) for status in statuses], {status["leader"] for status in statuses}


def test_databases_are_defragmented_without_a_refused_call(etcd, capsys):
    value = encoded("v" * 500_000)
    for number in range(120):
        etcd.post(MASTERS[0], "/v3/kv/put", {"key": encoded(f"large-{number % 4}"), "value": value})
    revision = etcd.post(MASTERS[0], "/v3/kv/range", {"key": encoded("large-0")})["header"]["revision"]
    etcd.post(MASTERS[0], "/v3/kv/compaction", {"revision": revision, "physical": True}, timeout=60)
    before, leader = sizes(etcd)
    assert min(before) > 50_000_000
    recorder = Recorder(etcd)
    recorder.start()
    try:
        done = subprocess.run([TOOL, "defragment", etcd.folder, *MASTERS], capture_output=True, text=True, timeout=300)
    finally:
        recorder.stop.set()
        recorder.join(timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    after, last = sizes(etcd)
    assert max(after) < 10_000_000, (before, after)
    reasons = [line.split(":")[0] for line in done.stdout.splitlines()]
    assert reasons == ["MemberDefragmented"] * 3, done.stdout
    assert leader == last, "the lead does not move: etcd refuses the writes of that moment"
    assert recorder.refused == [] and recorder.written > 20, recorder.refused[:3]
    keys = etcd.post(MASTERS[1], "/v3/kv/range", {"key": encoded("recorded-"), "range_end": encoded("recorded."), "count_only": True})
    assert int(keys["count"]) == recorder.written, "every write that was acknowledged exists"
    with capsys.disabled():
        print(f"\nFIGURE etcd: {before[0] / 1e6:.0f} MB defragmented to {after[0] / 1e6:.0f} MB on three members; {recorder.written} writes "
              f"meanwhile, none refused, the longest took {recorder.longest:.2f} s")


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
    children = []
    try:
        stranger.start_master(9)
        stranger.wait("master-9", lambda: "is not a member of etcd yet" in stranger.log("master-9"))
        process = stranger.processes["master-9"]
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
        stranger.end_all()
