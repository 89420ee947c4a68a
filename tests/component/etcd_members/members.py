"""etcds on loopback addresses: that of the bootstrap machine, and those of masters, started by the script of the static pod."""

import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import host_clock
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import Programs  # noqa: E402

BIN, SOURCE = pathlib.Path(os.environ["SLIPWAY_BIN"]), pathlib.Path(os.environ["SLIPWAY_SOURCE"])
PAYLOAD = pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
ADDRESSES = [f"127.97.77.{10 + i}" for i in range(4)]
BOOTSTRAP, MASTERS = ADDRESSES[0], ADDRESSES[1:]
# Masters that are added later have the numbers 3 and 4.
CERTIFIED = [f"127.97.77.{10 + i}" for i in range(6)]
TOOL = BIN / "etcd_members_tool"


def address_of(number):
    return f"127.97.77.{11 + number}"


class Members(Programs):
    deadline, pause = 60, 0.05

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.ca, self.certificate, self.key = folder / "ca.crt", folder / "client.crt", folder / "client.key"
        self.make_certificates()
        (folder / "bin").mkdir()
        for name in ("etcd", "watch-termination"):
            (folder / f"bin/{name}").symlink_to(PAYLOAD / name)
        (folder / "bin/cluster-etcd-operator").symlink_to(BIN / "slipway-operator")
        wrapper = folder / "bin/discover-etcd-initial-cluster"
        wrapper.write_text(f'#!/bin/bash\nexec {TOOL} discover "$@"\n')
        wrapper.chmod(0o755)

    def make_certificates(self):
        """One CA and one leaf certificate for all, which is also the administrator of an API server."""
        f, elliptic = self.folder, ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        names = ",".join(["DNS:localhost", "IP:127.0.0.1", *[f"IP:{address}" for address in CERTIFIED]])
        (f / "leaf.ext").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n")
        for arguments in (
            ["req", "-x509", *elliptic, "-keyout", f / "ca.key", "-out", self.ca, "-days", "2", "-subj", "/CN=test-ca"],
            ["req", *elliptic, "-keyout", self.key, "-out", f / "client.csr", "-subj", "/O=system:masters/CN=member"],
            ["x509", "-req", "-in", f / "client.csr", "-CA", self.ca, "-CAkey", f / "ca.key", "-CAcreateserial", "-days", "1",
             "-extfile", f / "leaf.ext", "-out", self.certificate],
        ):
            subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)

    def start_bootstrap(self):
        a, pair = BOOTSTRAP, [f"--{prefix}{flag}" for prefix in ("", "peer-") for flag in (
            f"cert-file={self.certificate}", f"key-file={self.key}", f"trusted-ca-file={self.ca}", "client-cert-auth=true")]
        self.spawn("bootstrap", [
            PAYLOAD / "etcd", "--name=etcd-bootstrap", f"--data-dir={self.folder}/bootstrap", *pair, "--max-learners=3",
            f"--initial-advertise-peer-urls=https://{a}:2380", f"--listen-peer-urls=https://{a}:2380",
            f"--advertise-client-urls=https://{a}:2379", f"--listen-client-urls=https://{a}:2379",
            f"--listen-client-http-urls=https://{a}:2381", f"--initial-cluster=etcd-bootstrap=https://{a}:2380"])
        self.wait("bootstrap", lambda: self.answers(f"https://{a}:2381/health"))

    def start_master(self, number):
        """Starts a master with certificates of the test."""
        name, home = f"master-{number}", self.folder / f"master-{number}"
        text = (SOURCE / "data/components/etcd/static-pod.yaml").read_text()
        for hole, value in {"{{LISTEN}}": "0.0.0.0", "{{MAX_LEARNERS}}": "3", "{{ELECTION_TIMEOUT}}": "1000", "{{HEARTBEAT_INTERVAL}}": "100",
                            "{{QUOTA_BYTES}}": "8589934592", "{{IMAGE}}": "etcd", "{{GRACE_SECONDS}}": "30",
                            "{{API_SERVER_SECONDS}}": "5", "{{MEMBER_SECONDS}}": "25"}.items():
            text = text.replace(hole, value)
        assert not re.search("{{", text)
        certs = home / "static-pod-certs"
        if not home.exists():
            (certs / "secrets/etcd-all-certs").mkdir(parents=True)
            (certs / "configmaps/etcd-scripts").mkdir(parents=True)
            (home / "static-pod-resources/configmaps/etcd-all-bundles").mkdir(parents=True)
            (home / "static-pod-resources/configmaps/etcd-all-bundles/server-ca-bundle.crt").symlink_to(self.ca)
            for kind in ("peer", "serving"):
                (certs / f"secrets/etcd-all-certs/etcd-{kind}-{name}.crt").symlink_to(self.certificate)
                (certs / f"secrets/etcd-all-certs/etcd-{kind}-{name}.key").symlink_to(self.key)
            env = (SOURCE / "data/components/etcd/etcd.env").read_text()
            env = env.replace("{{ENDPOINTS}}", ",".join(f"https://{a}:2379" for a in ADDRESSES))
            env = env.replace("{{GATEWAYS}}", ",".join(f"https://{a}:2381" for a in ADDRESSES))
            (certs / "configmaps/etcd-scripts/etcd.env").write_text(env)
        self.run_pod(number, text)

    def run_pod(self, number, text):
        """Runs the container of a static pod, with the files and addresses of this test."""
        name, address, home = f"master-{number}", address_of(number), self.folder / f"master-{number}"
        # The masters share a network, so each has another name for programs that depend on it.
        for hole, value in {"0.0.0.0": address, "127.0.0.1:9980": f"{address}:9980", "NODE_NAME": name, "/tmp/": f"{home}/",
                            "--dependents=etcd": f"--dependents={home}",
                            "/etc/kubernetes/": f"{home}/", "value: /var/lib/etcd": f"value: {home}/data"}.items():
            text = text.replace(hole, value)
        (home / "data").mkdir(parents=True, exist_ok=True)  # by the kubelet
        container = yaml.safe_load(text)["spec"]["containers"][0]
        variables = {item["name"]: item.get("value", address) for item in container["env"]}
        self.spawn(name, container["command"], {**variables, "PATH": f"{self.folder}/bin:/usr/bin:/bin"})

    def keep(self):
        log = open(self.folder / "keep.out", "wb")
        self.processes["keep"] = subprocess.Popen([TOOL, "keep", self.folder, *ADDRESSES], stdout=log, stderr=subprocess.STDOUT)

    def said(self):
        """(milliseconds, line) of the keeper's output."""
        lines = (self.folder / "keep.out").read_text().splitlines()
        return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines if line.split(" ", 1)[0].isdigit()]

    def until(self, what, program="keep"):
        def there():
            return any(line.startswith(what) for _, line in self.said())
        deadline = host_clock.now() + self.deadline
        while not there():
            assert host_clock.now() < deadline, self.story(what)
            time.sleep(self.pause)

    def story(self, what):
        tails = "\n".join(f"--- {name}\n{self.tail(name)}" for name in self.processes if name != "keep")
        return f"never said: {what}\n{(self.folder / 'keep.out').read_text()}\n{tails}"

    def post(self, address, path, body, timeout=5):
        context = ssl.create_default_context(cafile=self.ca)
        context.load_cert_chain(self.certificate, self.key)
        request = urllib.request.Request(f"https://{address}:2381{path}", data=json.dumps(body).encode())
        return json.loads(urllib.request.urlopen(request, context=context, timeout=timeout).read())

    def members(self, address):
        return {member.get("name", ""): member for member in self.post(address, "/v3/cluster/member/list", {})["members"]}

    def readyz(self, address):
        try:
            return urllib.request.urlopen(f"http://{address}:9980/readyz", timeout=5).status
        except urllib.error.HTTPError as failure:
            return failure.code
        except OSError:
            return 0

    def discover(self, number, data_dir):
        command = [TOOL, "discover", f"--cacert={self.ca}", f"--cert={self.certificate}", f"--key={self.key}",
                   f"--endpoints={','.join(f'https://{a}:2381' for a in ADDRESSES)}", f"--data-dir={data_dir}",
                   f"--target-peer-url-host={address_of(number)}", f"--target-name=master-{number}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)
