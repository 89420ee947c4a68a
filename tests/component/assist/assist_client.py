"""A service of assisted installations, and scripted hosts that speak to it as agents do."""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import time
import uuid

import host_clock

BIN = pathlib.Path(os.environ["SLIPWAY_BIN"])
PREFIX = "/api/assisted-install/v2"
PULL_SECRET = '{"auths":{"registry.example.com":{"auth":"YTpi"}}}'


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Refused(Exception):
    """An answer of 400 or more."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


class Service:
    address = "127.0.0.1"  # at which this process reaches the service

    def __init__(self, folder, *options, port=None, prefix=()):
        """prefix: a program that runs the service, for instance in another mount namespace"""
        self.folder, self.options, self.process, self.port = folder, options, None, port or free_port()
        self.prefix = prefix
        self.log = open(folder.parent / "service.log", "ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen([*self.prefix, BIN / "slipway-assist", "serve", "--state", self.folder, "--port", str(self.port), *self.options],
                                        stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline().decode()
        assert line.startswith("listening on "), f"{line!r} (status {self.process.poll()})"
        self.port = int(line.rsplit(":", 1)[1])
        self.plain = line.startswith("listening on http:")
        self.token = "" if "none" in self.options else (self.folder / "auth/admin-token").read_text().strip()

    def kill(self):
        """As a power failure of the program: no time to write anything."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def restart(self):
        self.kill()
        self.start()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.log.close()
        return status

    def connection(self, timeout=60):
        if self.plain:
            return http.client.HTTPConnection(self.address, self.port, timeout=timeout)
        context = ssl.create_default_context(cafile=self.folder / "tls/ca.crt")
        return http.client.HTTPSConnection(self.address, self.port, timeout=timeout, context=context)

    def raw(self, method, target, body=b"", headers=None):
        """Status, headers and body of an answer, whatever it is."""
        connection = self.connection()
        try:
            connection.request(method, target, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, token=None, headers=None):
        """The document of an answer; raises Refused."""
        content = b"" if body is None else json.dumps(body).encode()
        send = {"X-Secret-Key": self.token if token is None else token, **(headers or {})}
        status, _, answer = self.raw(method, PREFIX + path, content, send)
        if status >= 400:
            raise Refused(status, answer.decode(errors="replace"))
        return json.loads(answer) if answer else None

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def wait_for(self, what, ready, limit=30):
        """Until ready() is true. Also counts how long it took."""
        begin, given = time.monotonic(), host_clock.now()
        while not (value := ready()):
            assert host_clock.now() - given < limit, f"{what}: not within {limit} s"
            time.sleep(0.02)
        return value, time.monotonic() - begin

    def cluster(self, cluster_id):
        return self.get(f"/clusters/{cluster_id}")

    def wait_for_cluster(self, cluster_id, status, limit=30):
        return self.wait_for(f"cluster {status}", lambda: self.cluster(cluster_id)["status"] == status, limit)[1]


class Host:
    """The agent of one host."""

    def __init__(self, service, infra_env, token, number, folder, host_id=None):
        self.service, self.infra_env, self.number = service, infra_env, number
        self.token = self.registration_token = token
        self.id = host_id or str(uuid.uuid4())
        self.boot()
        self.key_file = folder / f"key-{uuid.uuid4()}.pem"
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key_file], check=True)
        self.key = subprocess.run(["openssl", "ec", "-in", self.key_file, "-pubout"], check=True, capture_output=True, text=True).stdout

    def boot(self):
        self.boot_id = str(uuid.uuid4())

    @property
    def path(self):
        return f"/infra-envs/{self.infra_env}/hosts/{self.id}"

    def signature(self, method, target, content):
        text = f"{method} {target}\n{hashlib.sha256(content).hexdigest()}".encode()
        signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key_file], input=text, check=True, capture_output=True).stdout
        return base64.b64encode(signed).decode()

    def send(self, method, path, content=b"", headers=None):
        target = PREFIX + path
        send = {"X-Secret-Key": self.token, "X-Host-Signature": self.signature(method, target, content), **(headers or {})}
        return self.service.raw(method, target, content, send)

    def call(self, method, path, body=None, headers=None):
        status, _, answer = self.send(method, path, b"" if body is None else json.dumps(body).encode(), headers)
        if status >= 400:
            raise Refused(status, answer.decode(errors="replace"))
        return json.loads(answer) if answer else None

    def register(self):
        self.token = self.registration_token
        answer = self.call("POST", f"/infra-envs/{self.infra_env}/hosts",
                           {"host_id": self.id, "discovery_agent_version": "test", "public_key": self.key, "boot_id": self.boot_id})
        self.token = answer.get("host_token", self.token)
        return answer

    def instructions(self, wait=0):
        headers = {"Prefer": f"wait={wait}"} if wait else {}
        return self.call("GET", f"{self.path}/instructions?timestamp={int(time.time())}", headers=headers)

    def step_types(self):
        return [each["step_type"] for each in self.instructions()["instructions"]]

    def reply(self, step_type, output, exit_code=0, error=""):
        self.call("POST", f"{self.path}/instructions", {"step_type": step_type, "step_id": f"{step_type}-1", "exit_code": exit_code,
                                                         "output": json.dumps(output), "error": error})

    def stage(self, name, info=""):
        self.call("PUT", f"{self.path}/progress", {"current_stage": name, "progress_info": info})

    def view(self):
        return self.service.get(self.path)

    @property
    def address(self):
        return f"192.168.126.{10 + self.number}"

    def inventory(self, **changes):
        return {"hostname": f"host-{self.number}",
                "cpu": {"count": 4, "architecture": "x86_64"},
                "memory": {"physical_bytes": 16 << 30, "usable_bytes": 16 << 30},
                "boot": {"current_boot_mode": "uefi"},
                "interfaces": [{"name": "eth0", "mac_address": f"52:54:00:00:00:{self.number:02x}", "mtu": 1500, "has_carrier": True,
                                "ipv4_addresses": [f"{self.address}/24"], "ipv6_addresses": []}],
                "disks": [{"id": "/dev/disk/by-id/wwn-1", "name": "vda", "path": "/dev/vda", "drive_type": "SSD", "size_bytes": 120 * 10**9}],
                "routes": [{"interface": "eth0", "gateway": "192.168.126.1", "destination": "0.0.0.0", "family": 2}], **changes}

    def checks(self, others):
        """What the agent finds on a network without faults."""
        self.reply("connectivity-check", {"remote_hosts": [
            {"host_id": other.id,
             "l2_connectivity": [{"outgoing_nic": "eth0", "remote_ip_address": other.address, "successful": True}],
             "l3_connectivity": [{"outgoing_nic": "eth0", "remote_ip_address": other.address, "successful": True, "average_rtt_ms": 0.3,
                                  "packet_loss_percentage": 0}], "mtu_report": []} for other in others if other is not self]})
        self.reply("ntp-synchronizer", {"ntp_sources": [{"source_name": "192.168.126.1", "source_state": "synced"}]})
        self.reply("domain-resolution", {"resolutions": [{"domain_name": "api.demo.example.com", "ipv4_addresses": ["192.168.126.100"]}]})
        self.reply("verify-vips", [{"vip": "192.168.126.100", "vip_type": "api", "verification": "succeeded"},
                                   {"vip": "192.168.126.101", "vip_type": "ingress", "verification": "succeeded"}])

    def prepare(self):
        self.reply("installation-disk-speed-check", {"path": "/dev/vda", "io_sync_duration": 3})
        self.reply("container-image-availability", {"images": []})


CLUSTER = {"name": "demo", "openshift_version": "4.20", "pull_secret": PULL_SECRET, "base_dns_domain": "example.com",
           "api_vips": [{"ip": "192.168.126.100"}], "ingress_vips": [{"ip": "192.168.126.101"}]}


class Lab:
    """A cluster, its discovery environment, and its hosts."""

    def __init__(self, service, folder, count=3, **cluster):
        self.service, self.folder = service, folder
        self.id = service.call("POST", "/clusters", {**CLUSTER, **cluster})["id"]
        self.infra_env = service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET, "cluster_id": self.id})["id"]
        self.token = self.agent_token()
        self.hosts = [Host(service, self.infra_env, self.token, number, folder) for number in range(count)]

    def agent_token(self):
        config = self.service.get(f"/infra-envs/{self.infra_env}/downloads/files?file_name=discovery.ign")
        files = {each["path"]: each["contents"]["source"] for each in config["storage"]["files"]}
        source = files["/etc/slipway-agent/token"]
        return base64.b64decode(source.split("base64,")[1]).decode() if "base64," in source else source.split(",", 1)[1]

    def discover(self):
        for host in self.hosts:
            host.register()
            host.reply("inventory", host.inventory())
        for host in self.hosts:
            host.checks(self.hosts)

    def install(self):
        answer = self.service.call("POST", f"/clusters/{self.id}/actions/install")
        assert answer["status"] == "preparing-for-installation", answer["status"]

    def prepare(self):
        for host in self.hosts:
            host.prepare()
        try:
            self.service.wait_for_cluster(self.id, "installing", limit=60)
        except AssertionError as why:
            cluster = self.service.cluster(self.id)
            states = [(host["status"], host["status_info"]) for host in cluster["hosts"]]
            raise AssertionError(f"{why}: {cluster['status']}, {cluster['last-installation-preparation']}, {states}") from None

    @property
    def bootstrap(self):
        return next(host for host in self.hosts if host.view()["bootstrap"])

    def controller(self):
        return self.service.call("POST", "/tokens", {"kind": "controller", "cluster_id": self.id})["token"]
