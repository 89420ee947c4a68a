"""A small working service of an assisted installation, as far as agents see it: the paths of OpenShift's assisted-service that they use,
over TLS. It verifies the signature of every request with openssl."""

import base64
import hashlib
import http.server
import json
import re
import ssl
import subprocess
import threading
import time

PREFIX = "/api/assisted-install"
INFRA_ENV = "11111111-2222-4333-8444-555555555555"
CLUSTER = "99999999-2222-4333-8444-555555555555"
TOKEN = "token-of-the-environment"


class Host:
    def __init__(self, key, boot_id):
        self.key, self.boot_id, self.token = key, boot_id, f"token-{hashlib.sha256(key.encode()).hexdigest()}"
        self.registrations, self.steps, self.replies, self.stages, self.logs = 1, [], [], [], []


class Service:
    def __init__(self, address, certificate, folder):
        self.address, self.certificate, self.folder = address, certificate, folder
        self.changed = threading.Condition()
        self.hosts, self.refused, self.questions, self.server = {}, [], 0, None
        self.config, self.masters = b"", []  # the Ignition config of every host; the stages of the cluster's masters
        self.start()

    # ---- what the test does

    def start(self):
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, answer = service.answer(self.command, self.path, self.headers, body)
                self.close_connection = service.is_away
                if service.is_away:
                    return
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads, allow_reuse_address = True, True

            def handle_error(self, *_):
                pass  # an agent that was killed

        self.server = Server(self.address, Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.is_away = False
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self):
        """The service is away: open connections end, and no new ones are taken."""
        with self.changed:
            self.is_away = True
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def host(self, name):
        """The host whose inventory has this name."""
        for host in self.hosts.values():
            inventory = self.reply_of(host, "inventory")
            if inventory and json.loads(inventory["output"])["hostname"] == name:
                return host
        return None

    @staticmethod
    def reply_of(host, step_id):
        return next((reply for reply in reversed(host.replies) if reply["step_id"].startswith(step_id)), None)

    def ask(self, host, step_type, argument=None):
        """Adds a step. Returns its ID."""
        with self.changed:
            step_id = f"{step_type}-{len(host.steps)}-{len(host.replies)}-{time.monotonic_ns():x}"
            host.steps.append({"step_type": step_type, "step_id": step_id, "args": [] if argument is None else [json.dumps(argument)]})
            self.changed.notify_all()
        return step_id

    def wait(self, what, condition, limit=60):
        with self.changed:
            assert self.changed.wait_for(condition, limit), f"no {what} within {limit} s: {self.refused[-5:]}"
        return condition()

    def result(self, host, step_type, argument=None, limit=60):
        step_id = self.ask(host, step_type, argument)
        return self.wait(f"reply of {step_id}", lambda: self.reply_of(host, step_id), limit)

    # ---- what agents do

    def is_signed(self, key, method, path, headers, body):
        (self.folder / "key.pem").write_text(key)
        (self.folder / "signature").write_bytes(base64.b64decode(headers.get("X-Host-Signature", "")))
        text = f"{method} {path}\n{hashlib.sha256(body).hexdigest()}".encode()
        command = ["openssl", "dgst", "-sha256", "-verify", self.folder / "key.pem", "-signature", self.folder / "signature"]
        return subprocess.run(command, input=text, capture_output=True).returncode == 0

    def refuse(self, status, reason, **more):
        self.refused.append(f"{status} {reason}")
        return status, {"Content-Type": "application/json"}, json.dumps({"kind": "Error", "code": str(status), "reason": reason, **more}).encode()

    def answer(self, method, path, headers, body):
        with self.changed:
            if self.is_away:
                return 503, {}, b""
            answer = self.answer_locked(method, path, headers, body)
            self.changed.notify_all()
        return answer

    def answer_locked(self, method, path, headers, body):
        plain = path.removeprefix(PREFIX).split("?")[0]
        if (method, plain) == ("POST", f"/v2/infra-envs/{INFRA_ENV}/hosts"):
            return self.register(method, path, headers, body)
        if (method, plain) == ("GET", f"/v2/clusters/{CLUSTER}/hosts"):
            hosts = [{"role": "master", "progress": {"current_stage": stage}} for stage in self.masters]
            return 200, {}, json.dumps(hosts).encode()
        found = re.fullmatch(rf"/v2/infra-envs/{INFRA_ENV}/hosts/([^/]+)(/.*)", plain)
        logs = plain == f"/v2/clusters/{CLUSTER}/logs" and re.search(r"host_id=([^&]+)$", path)
        host = self.hosts.get((found or logs)[1]) if found or logs else None
        if not host:
            return self.refuse(404, f"{method} {path}: no such host")
        if headers.get("X-Secret-Key") != host.token or not self.is_signed(host.key, method, path, headers, body):
            return self.refuse(401, f"{method} {path}: wrong token or signature")
        if logs:
            host.logs.append(body)
            return 204, {}, b""
        if found[2] == "/instructions" and method == "GET":
            return self.instructions(host, headers)
        if found[2] == "/instructions":
            host.replies.append(json.loads(body))
            done = host.replies[-1]["step_id"]
            host.steps = [step for step in host.steps if step["step_id"] != done]
            return 204, {}, b""
        if found[2] in ("/progress", "/logs-progress"):
            host.stages.append(json.loads(body))
            return 200, {}, b"{}"
        if found[2] == "/downloads/ignition" and self.config:
            return 200, {}, self.config
        return self.refuse(404, f"{method} {path}")

    def register(self, method, path, headers, body):
        request = json.loads(body)
        if headers.get("X-Secret-Key") != TOKEN or not self.is_signed(request["public_key"], method, path, headers, body):
            return self.refuse(401, "registration: wrong token or signature")
        host = self.hosts.get(request["host_id"])
        if host and host.key != request["public_key"]:
            return self.refuse(409, "registration: another host has this ID", cause="host-id-in-use")
        if host:
            host.registrations += 1
        else:
            host = self.hosts[request["host_id"]] = Host(request["public_key"], request["boot_id"])
            self.ask(host, "inventory")
        return 201, {"Content-Type": "application/json"}, json.dumps({"id": request["host_id"], "host_token": host.token}).encode()

    def instructions(self, host, headers):
        """Holds the question until there is a step. Steps are repeated until they have a reply."""
        self.questions += 1
        is_held = headers.get("Prefer") == "wait=25"
        asked = {step["step_id"] for step in host.steps}
        self.changed.wait_for(lambda: self.is_away or {step["step_id"] for step in host.steps} - asked or asked, 2)
        body = {"next_instruction_seconds": 60, "post_step_action": "continue", "instructions": host.steps}
        return 200, {"Preference-Applied": "wait=25"} if is_held else {}, json.dumps(body).encode()
