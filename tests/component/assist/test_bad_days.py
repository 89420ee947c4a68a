"""Bad days of the service of assisted installations: it is killed while hosts talk to it, its disk is full, its database is damaged or
newer, hosts repeat themselves or speak for others, clients are slow or send too much."""
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import uuid

import pytest

import host_clock
from assist_client import BIN, CLUSTER, PREFIX, PULL_SECRET, Host, Refused, Service, free_port
from test_assist import refusal, validations

KILLS, HOSTS = 8, 20
OPEN = ("--auth", "none", "--plain-http")  # on loopback; no keys, so that many requests cost little
GONE = (OSError, http.client.HTTPException)


def drawn():
    seed = int(os.environ.get("SEED", random.randrange(10**6)))
    print(f"SEED={seed}")
    return random.Random(seed)


def events_of(service, query):
    return [(each["name"], each.get("host_id")) for each in service.get(f"/events?{query}")]


# ---- kills

class Talker:
    """A simulated host without a key, on a thread: registers, gets instructions, and sends its hardware again and again, each time with
    another name. `acknowledged` is the number in the last name that the service has taken."""

    def __init__(self, service, infra_env, number):
        self.service, self.infra_env, self.number, self.id = service, infra_env, number, str(uuid.uuid4())
        self.is_registered, self.acknowledged, self.sent, self.problem = False, 0, 0, None
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.path = f"/infra-envs/{infra_env}/hosts/{self.id}"

    def run(self):
        try:
            while not self.stop.is_set():
                try:
                    self.talk()
                except GONE:
                    time.sleep(0.02)  # killed: the same again
        except Exception as problem:  # noqa: BLE001 - shown by the test
            self.problem = problem

    def talk(self):
        if not self.is_registered:
            self.service.call("POST", f"/infra-envs/{self.infra_env}/hosts", {"host_id": self.id, "discovery_agent_version": "test"})
            self.is_registered = True
        self.service.get(f"{self.path}/instructions?timestamp={int(time.time())}")
        self.sent = self.acknowledged + 1
        self.service.call("POST", f"{self.path}/instructions", {
            "step_type": "inventory", "step_id": "inventory-1", "exit_code": 0, "error": "", "output": json.dumps(self.inventory(self.sent))})
        self.acknowledged = self.sent

    def inventory(self, name):
        return {"hostname": f"host-{self.number}-{name}", "cpu": {"count": 4, "architecture": "x86_64"},
                "memory": {"physical_bytes": 16 << 30, "usable_bytes": 16 << 30},
                "interfaces": [{"name": "eth0", "mac_address": f"52:54:00:00:01:{self.number:02x}", "mtu": 1500, "has_carrier": True,
                                "ipv4_addresses": [f"192.168.126.{50 + self.number}/24"], "ipv6_addresses": []}],
                "disks": [{"id": "/dev/vda", "name": "vda", "path": "/dev/vda", "drive_type": "SSD", "size_bytes": 120 * 10**9}]}


def test_nothing_acknowledged_is_lost_by_kills_while_hosts_talk(tmp_path):
    choose = drawn()
    service = Service(tmp_path / "state", *OPEN)
    try:
        cluster = service.call("POST", "/clusters", CLUSTER)["id"]
        infra_env = service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET, "cluster_id": cluster})["id"]
        talkers = [Talker(service, infra_env, number) for number in range(HOSTS)]
        for talker in talkers:
            talker.thread.start()
        try:
            for kill in range(KILLS):
                time.sleep(choose.uniform(0.02, 0.8))
                service.kill()
                before = [(talker.is_registered, talker.acknowledged) for talker in talkers]
                service.start()
                stored = {host["id"]: host for host in service.get(f"/infra-envs/{infra_env}/hosts")}
                for talker, (was_registered, acknowledged) in zip(talkers, before):
                    assert not was_registered or talker.id in stored, f"kill {kill}: host {talker.number} is lost"
                    if not acknowledged:
                        continue
                    name = json.loads(stored[talker.id]["inventory"])["hostname"]
                    number = int(name.rsplit("-", 1)[1])
                    assert acknowledged <= number <= talker.sent, f"kill {kill}: host {talker.number} is {name}, {acknowledged} was acknowledged"
            service.wait_for("all hosts took part", lambda: all(talker.acknowledged for talker in talkers) or any(
                talker.problem for talker in talkers))
        finally:
            for talker in talkers:
                talker.stop.set()
            for talker in talkers:
                talker.thread.join(timeout=60)
        assert [talker.problem for talker in talkers if talker.problem] == []
        assert {host["status"] for host in service.get(f"/infra-envs/{infra_env}/hosts")} <= {"known", "insufficient", "pending-for-input"}
        registered = [host for name, host in events_of(service, f"cluster_id={cluster}") if name == "host_registration_succeeded"]
        assert sorted(registered) == sorted({talker.id for talker in talkers}), "one event for each host, though some registered again"
    finally:
        assert service.stop() == 0


# ---- disk and database

class SmallDisk:
    """A mount namespace in which a folder is a file system of a few MB. It lasts while its process lives."""

    def __init__(self, folder, size):
        folder.mkdir()
        self.folder = folder
        script = f'mount -t tmpfs -o size={size},mode=0700 small "$1" && echo mounted && exec sleep 600'
        self.process = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, "sh", folder], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"mounted\n"

    @property
    def prefix(self):
        return ["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", "--"]

    @property
    def inside(self):
        return pathlib.Path(f"/proc/{self.process.pid}/root{self.folder}")

    def fill(self):
        with open(self.inside / "filler", "wb", buffering=0) as file:
            for size in (1 << 16, 1 << 10):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def empty(self):
        (self.inside / "filler").unlink()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def test_a_full_disk_refuses_changes_and_loses_none(tmp_path):
    disk = SmallDisk(tmp_path / "disk", "16m")
    try:
        service = Service(disk.folder / "state", *OPEN, prefix=disk.prefix)
        try:
            cluster = service.call("POST", "/clusters", CLUSTER)["id"]
            infra_env = service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET, "cluster_id": cluster})["id"]
            host = Talker(service, infra_env, 1)
            host.talk()
            disk.fill()
            path, kept, refused = f"/clusters/{cluster}/ui-settings", "", None
            for number in range(400):  # the log of the database has some room
                text = f"{number} " + "x" * 60_000
                try:
                    service.call("PUT", path, text)
                    kept = text
                except Refused as why:
                    refused = why
                    break
            assert refused is not None and refused.status in (500, 503, 507), refused
            assert "the change could not be stored, so it did not happen" in refused.body and "full" in refused.body
            assert service.get(path) == kept
            for _ in range(20):  # hosts still get answers; what they report is taken later
                assert service.get(f"{host.path}/instructions")["instructions"]
            with pytest.raises(Refused) as of_logs:
                upload(service, cluster, infra_env, host.id)
            assert of_logs.value.status in (500, 503, 507) and "No space left" in of_logs.value.body
            disk.empty()
            host.talk()
            upload(service, cluster, infra_env, host.id)
            service.call("PUT", path, "there is room again")
            service.restart()
            assert service.get(path) == "there is room again" and json.loads(service.get(host.path)["inventory"])["hostname"] == "host-1-2"
        finally:
            assert service.stop() == 0
    finally:
        disk.close()


def upload(service, cluster, infra_env, host):
    part = b'--x\r\nContent-Disposition: form-data; name="upfile"; filename="l.tar.gz"\r\n\r\n' + b"y" * 500_000 + b"\r\n--x--\r\n"
    target = f"{PREFIX}/clusters/{cluster}/logs?logs_type=host&host_id={host}&infra_env_id={infra_env}"
    status, _, body = service.raw("POST", target, part, {"Content-Type": "multipart/form-data; boundary=x"})
    if status >= 400:
        raise Refused(status, body.decode())


def refused_start(folder):
    done = subprocess.run([BIN / "slipway-assist", "serve", "--state", folder, "--port", str(free_port()), *OPEN], capture_output=True,
                          text=True, timeout=30, check=False)
    assert done.returncode == 1, done
    return done.stderr


def test_a_state_folder_has_one_service(tmp_path):
    first = Service(tmp_path / "state", *OPEN)
    try:
        assert "in use by another process" in refused_start(first.folder)
        first.call("POST", "/clusters", CLUSTER)  # it goes on
        first.process.send_signal(signal.SIGSTOP)  # as one that hangs: it still owns the folder
        try:
            assert "in use by another process" in refused_start(first.folder)
        finally:
            first.process.send_signal(signal.SIGCONT)
        first.kill()  # leaves no lock behind
        first.start()
        assert len(first.get("/clusters")) == 1
    finally:
        assert first.stop() == 0


def test_databases_that_are_newer_or_damaged_are_refused(tmp_path):
    service = Service(tmp_path / "state", *OPEN)
    for number in range(40):
        service.call("POST", "/clusters", {**CLUSTER, "name": f"c{number}"})
    assert service.stop() == 0
    path = service.folder / "assist.db"
    good = path.read_bytes()

    def change(*statements):
        path.write_bytes(good)
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        database.close()

    change("PRAGMA user_version = 99")
    assert "a newer program wrote it (schema 99" in refused_start(service.folder)
    change("UPDATE record SET body = substr(body, 1, 40)")
    why = refused_start(service.folder)
    assert re.search(r"cluster [0-9a-f-]{36}", why), why  # names the record
    change("UPDATE record SET body = replace(body, 'pending-for-input', 'sleeping')")
    assert "unknown status 'sleeping'" in refused_start(service.folder)
    for damaged in (b"x" * len(good), good[:len(good) // 2], good[:4096] + os.urandom(4096) * (len(good) // 4096 - 1)):
        path.write_bytes(damaged)
        why = refused_start(service.folder)
        assert "restore a copy of the file" in why and "Traceback" not in why and "terminate" not in why, why
        assert path.read_bytes() == damaged, "the file is left as it is"
    path.write_bytes(good)
    again = Service(tmp_path / "state", *OPEN)
    assert len(again.get("/clusters")) == 40
    assert again.stop() == 0


# ---- hosts

def test_old_replies_change_nothing(service, lab):
    lab.discover()
    host = lab.hosts[0]
    before = events_of(service, f"cluster_id={lab.id}"), host.view()
    for _ in range(5):  # the same again, as by an agent whose answer was lost
        host.reply("inventory", host.inventory())
        host.checks(lab.hosts)
    after = events_of(service, f"cluster_id={lab.id}"), host.view()
    assert after[0] == before[0]
    assert {**after[1], "checked_in_at": ""} == {**before[1], "checked_in_at": ""}
    # Of the time before, when there was something to install: refused, or without effect.
    lab.install()
    lab.prepare()
    for each in lab.hosts:
        each.stage("Starting installation")
    service.call("POST", f"/clusters/{lab.id}/actions/cancel")
    service.call("POST", f"/clusters/{lab.id}/actions/reset")
    assert host.view()["status"] == "resetting-pending-user-action"
    refusal(409, host.reply, "install", "", 1, "no such disk")
    refusal(409, host.stage, "Writing image to disk")
    assert host.view()["status"] == "resetting-pending-user-action"
    host.boot()
    host.register()
    host.reply("installation-disk-speed-check", {"path": "/dev/vda", "io_sync_duration": 3})  # late: of the last installation
    host.reply("container-image-availability", {"images": []})
    assert host.view()["status"] == "discovering" and host.step_types() == ["inventory"]
    refusal(409, host.reply, "install", "", 1, "no such disk")


def test_what_hosts_send_never_keeps_the_service_from_starting(service, lab):
    host = lab.hosts[0]
    host.register()
    deep = json.loads("[" * 60 + "]" * 60)
    refusal(400, host.reply, "inventory", host.inventory(more=deep))
    odd = {"more": json.loads("[" * 50 + "]" * 50), "name": "\x00\u2028\ud83d\ude00", "numbers": [2**63 - 1, 2**64 - 1, -2**63, 1e308, -0.0, 5e-324]}
    host.reply("inventory", host.inventory(hostname="host-0\x00\xff", more=odd))
    host.reply("ntp-synchronizer", {"ntp_sources": [{"source_name": "\x7f\u200b", "source_state": "synced"}], "more": odd})
    refusal(400, service.call, "PATCH", f"/clusters/{lab.id}/install-config", json.dumps({"more": deep}))
    service.restart()
    assert service.cluster(lab.id)["hosts"][0]["id"] == host.id


def test_a_host_speaks_for_itself_only(service, lab):
    lab.discover()
    mine, theirs = lab.hosts[:2]
    before = theirs.view()["inventory"], validations(theirs.view())
    reply = {"step_type": "inventory", "step_id": "inventory-1", "exit_code": 0, "output": json.dumps(mine.inventory()), "error": ""}
    refusal(404, mine.call, "POST", f"{theirs.path}/instructions", reply)
    refusal(404, mine.call, "PUT", f"{theirs.path}/progress", {"current_stage": "Done"})
    refusal(404, mine.call, "PUT", f"{theirs.path}/logs-progress", {"logs_state": "completed"})
    refusal(404, mine.call, "GET", f"{theirs.path}/downloads/ignition")
    refusal(403, mine.call, "PATCH", theirs.path, {"host_name": "host-9"})
    stolen = theirs.token
    mine.token, own = stolen, mine.token  # the token of another host, without its key
    refusal(401, mine.call, "POST", f"{theirs.path}/instructions", reply)
    mine.token = own
    # Findings about others are of the host that reports them.
    mine.reply("connectivity-check", {"remote_hosts": [{"host_id": theirs.id, "l2_connectivity": [], "l3_connectivity": []},
                                                       {"host_id": str(uuid.uuid4()), "l2_connectivity": [], "l3_connectivity": []}]})
    assert (theirs.view()["inventory"], validations(theirs.view())["has-inventory"]) == (before[0], before[1]["has-inventory"])
    assert theirs.view()["requested_hostname"] == "host-1"


def test_a_cloned_machine_does_not_replace_its_original(service, lab, tmp_path):
    """The same UUID with another MAC address: its live system has a key of its own."""
    first = lab.hosts[0]
    first.register()
    first.reply("inventory", first.inventory())
    clone = Host(service, lab.infra_env, lab.token, 7, tmp_path, host_id=first.id)
    for _ in range(3):
        assert json.loads(refusal(409, clone.register))["cause"] == "host-id-in-use"
    clone.token = first.token
    refusal(401, clone.reply, "inventory", clone.inventory())
    view = first.view()
    assert json.loads(view["inventory"])["interfaces"][0]["mac_address"] == first.inventory()["interfaces"][0]["mac_address"]
    assert first.instructions()["instructions"] and view["status"] != "discovering"
    # As the agent of the clone then does: an ID of its own.
    other = Host(service, lab.infra_env, lab.token, 7, tmp_path)
    other.register()
    other.reply("inventory", other.inventory())
    assert {each["id"] for each in service.cluster(lab.id)["hosts"]} == {first.id, other.id}


# ---- clients

def test_slow_clients_do_not_stop_others(tmp_path):
    service = Service(tmp_path / "state", *OPEN)
    slow = []
    try:
        head = f"POST {PREFIX}/clusters HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\nContent-Length: 1000000\r\n".encode()
        for number in range(300):
            client = socket.create_connection(("127.0.0.1", service.port), timeout=30)
            client.sendall(head[:20] if number % 3 == 0 else head if number % 3 == 1 else head + b"\r\n{")  # none of them goes on
            slow.append(client)
        for number in range(50):
            begin, given = time.monotonic(), host_clock.now()
            service.call("POST", "/clusters", {**CLUSTER, "name": f"c{number}"})
            assert host_clock.now() - given < 5, f"an answer took {time.monotonic() - begin:.1f} s"
        for number, client in enumerate(slow):  # a byte now and then
            if number % 3 == 2:
                client.sendall(b" ")
        assert len(service.get("/clusters")) == 50
    finally:
        for client in slow:
            client.close()
        assert service.stop() == 0


def test_bodies_over_the_limit_do_not_stop_others(tmp_path):
    service = Service(tmp_path / "state", *OPEN)
    try:
        def send(_):
            status, _, body = service.raw("POST", f"{PREFIX}/clusters", b'"' + b"x" * (30 << 20) + b'"')
            return status, body

        def memory():
            return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{service.process.pid}/status").read_text()).group(1)) >> 10

        before = memory()
        with concurrent.futures.ThreadPoolExecutor(6) as clients:
            answers = [clients.submit(send, number) for number in range(6)]
            number = 0
            while not all(each.done() for each in answers) or number < 10:
                given = host_clock.now()
                service.call("POST", "/clusters", {**CLUSTER, "name": f"c{number}"})
                number += 1
                assert host_clock.now() - given < 5
            for each in answers:
                status, body = each.result()
                assert status == 413 and b"too large, at most" in body, (status, body)
        assert memory() - before < 60, "bodies over the limit are not kept"
        assert len(service.get("/clusters")) == number
    finally:
        assert service.stop() == 0
