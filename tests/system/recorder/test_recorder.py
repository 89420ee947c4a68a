"""The recorder detects faults: with a server that keeps, loses, changes, hides and rejects writes, and with the real API server."""

import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

import host_clock
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "system/support"))
sys.path.insert(0, str(TESTS / "component/support"))
from recorder import Recorder  # noqa: E402
from control_plane import ControlPlane  # noqa: E402

PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BUILD"], "payload/bin").resolve()


class Server(http.server.ThreadingHTTPServer):
    """Keeps ConfigMaps in memory. `spoil(method, number)` names the fault of a call for recorder-NUMBER."""

    daemon_threads = True
    hang = 4  # seconds

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept, self.spoil = {}, lambda method, number: None
        self.kubeconfig = make_kubeconfig(folder, self.server_port)
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=folder / "tls.crt")
        self.tls.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self.tls.verify_mode = ssl.CERT_REQUIRED
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def get_request(self):
        connection, address = super().get_request()
        return self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        pass  # the client has timed out

    def record(self, spoil=lambda method, number: None, **options):
        """A recorder that was stopped after thirty calls or more."""
        self.spoil = spoil
        recorder = Recorder(self.kubeconfig, pause=0.01, **options)
        recorder.start()
        until_called(recorder)
        recorder.stop()
        return recorder


def until_called(recorder, calls=30):
    deadline = host_clock.now() + 60
    while recorder.calls < calls:
        assert host_clock.now() < deadline, recorder.summary()
        time.sleep(0.01)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.act(body["metadata"]["name"], body)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        if not path.path.endswith("/configmaps"):
            return self.act(path.path.rpartition("/")[2])
        # Pages of seven.
        first = int(urllib.parse.parse_qs(path.query).get("continue", ["0"])[0])
        items = list(self.server.kept.values())
        more = {"continue": str(first + 7)} if len(items) > first + 7 else {}
        self.answer(200, {"metadata": more, "items": items[first:first + 7]})

    def act(self, name, body=None):
        number = int(name.partition("-")[2] or -1)
        how = self.server.spoil(self.command, number) if number >= 0 else None
        if how == "refuse":
            return self.answer(503, {"message": "etcdserver: leader changed"})
        if how == "close":
            self.close_connection = True
            return None
        if body is None:
            found = self.server.kept.get(name) if how != "hide" else None
            return self.answer(200 if found else 404, found or {"message": "not found"})
        if number >= 0 and how != "lose":
            self.server.kept[name] = {**body, "data": {"value": "other"}} if how == "change" else body
        if how == "hang":
            time.sleep(self.server.hang)
        return self.answer(201, body)

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def make_kubeconfig(folder, port):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder / "tls.key",
                    "-out", folder / "tls.crt", "-days", "2", "-subj", "/CN=both", "-addext", "subjectAltName=DNS:api.example.com"],
                   check=True, capture_output=True)
    config = folder / "kubeconfig"
    config.write_text(json.dumps({
        "clusters": [{"cluster": {"server": f"https://127.0.0.1:{port}", "tls-server-name": "api.example.com",
                                  "certificate-authority": str(folder / "tls.crt")}}],
        "users": [{"user": {"client-certificate": str(folder / "tls.crt"), "client-key": str(folder / "tls.key")}}]}))
    return config


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.shutdown()
    server.server_close()


def only(*spoiled):
    """Applies the third member of each entry (method, number, fault) of the list to the call."""
    table = {(method, number): how for method, number, how in spoiled}
    return lambda method, number: table.get((method, number))


def test_nothing_is_wrong_with_a_server_that_keeps_everything(server):
    recorder = server.record()
    assert recorder.check() == [] and recorder.refused == []
    assert len(recorder.acknowledged) == len(server.kept) >= 10
    assert re.fullmatch(r"recorder: \d+ calls, \d+ writes acknowledged, 0 calls refused, longest time without an answer 0\.\d\d s",
                        recorder.summary())


def test_silence_counts_from_a_moment_until_now(server):
    recorder = server.record()
    assert recorder.silence_since(time.time() - 3600) > 3500
    assert recorder.silence_since(time.time()) < 1


@pytest.mark.parametrize("how, words", [("lose", "recorder-3, acknowledged at .* is missing at the end"),
                                        ("change", "recorder-3, acknowledged at .* says 'other' and not '.*-3' at the end")])
def test_an_acknowledged_write_that_is_not_there_is_told(server, how, words):
    wrong = server.record(only(("POST", 3, how))).check()
    assert any(re.fullmatch(words, line) for line in wrong), wrong


def test_a_write_that_is_hidden_for_a_moment_is_told(server):
    """At the end the object exists."""
    wrong = server.record(lambda method, number: "hide" if method == "GET" else None).check()
    assert wrong and all(re.search(r"is missing at \d\d:\d\d:\d\d\.\d\d\d$", line) for line in wrong)


@pytest.mark.parametrize("how, words", [("refuse", "503 etcdserver: leader changed"), ("close", "RemoteDisconnected"), ("hang", "TimeoutError|timed out")])
def test_refused_calls_are_counted_once_and_may_have_happened(server, how, words):
    recorder = server.record(only(("POST", 3, how)), timeout=2)
    assert [refused.call for refused in recorder.refused] == ["create recorder-3"], [str(refused) for refused in recorder.refused]
    assert re.search(words, str(recorder.refused[0]))
    assert recorder.check() == []
    assert ("recorder-3" in server.kept) == (how == "hang")


def test_a_call_that_hangs_delays_no_other(server):
    server.hang = 0.5
    recorder = server.record(only(("POST", 3, "hang")))
    late = next(write.time for write in recorder.acknowledged if write.name == "recorder-3")
    assert len([write for write in recorder.acknowledged if write.time < late]) > 5


def test_it_begins_when_the_api_answers_for_the_first_time(server):
    server.shutdown()
    server.server_close()
    recorder = Recorder(server.kubeconfig, pause=0.01)
    recorder.start()
    assert not recorder.wait_until_begun(0.2)
    recorder.stop()
    assert recorder.calls == 0 and recorder.refused == []


def test_against_the_real_server(tmp_path):
    with ControlPlane(PAYLOAD, tmp_path) as plane:
        recorder = Recorder(plane.kubeconfig)
        recorder.start()
        until_called(recorder)
        recorder.stop()
        assert recorder.check() == [] and recorder.refused == []
        assert len(recorder.acknowledged) >= 10
        name = recorder.acknowledged[0].name
        plane.kubectl("delete", "configmap", name, "--namespace=recorder")
        assert [line.partition(",")[0] for line in recorder.check()] == [name]
