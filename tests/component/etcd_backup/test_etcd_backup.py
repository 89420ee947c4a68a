"""`slipway backup` of a real etcd. The machine is a PID and mount namespace, in which etcd runs with a root of its own, as in a container; ssh is a
program that enters it. The API is a small server."""
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import ssl
import stat
import subprocess
import sys
import tarfile
import threading
import time

import host_clock
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import free_port  # noqa: E402

SLIPWAY, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway", pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

MACHINE = r"""set -e
cp -a /etc "$1/etc"; mount --bind "$1/etc" /etc; mount -t tmpfs none /var/lib
mkdir -p /etc/kubernetes; cp -a "$1/kubernetes/." /etc/kubernetes/
shift; exec chroot "$@"
"""
SSH = r"""#!/bin/bash
for command; do :; done
printf '%%s\n' "$*" >>%(folder)s/ssh.log
case $command in *" read "*) [ ! -e %(folder)s/broken ] || { echo "connection lost" >&2; exit 255; } ;; esac
exec nsenter --target %(process)s --pid --mount -- bash -c "${command#sudo }"
"""


def make_certificates(folder):
    for words in (
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "ca.pem"],
    ):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


class Machine:
    def __init__(self, folder):
        self.folder, self.root = folder, folder / "root"
        (self.root / "usr/bin").mkdir(parents=True)
        (self.root / "certs").mkdir()
        for name in ("etcd", "etcdctl"):
            shutil.copy(PAYLOAD / name, self.root / "usr/bin")
        make_certificates(self.root / "certs")
        for part in PARTS:
            for path, text in ((f"manifests/{part}-pod.yaml", f"path: /etc/kubernetes/static-pod-resources/{part}-pod-7\n"),
                               (f"static-pod-resources/{part}-pod-7/secret", f"secret of {part}"),
                               (f"static-pod-resources/{part}-pod-6/secret", "of an old revision")):
                file = folder / "kubernetes" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.endpoint, peer = f"https://localhost:{free_port()}", f"http://127.0.0.1:{free_port()}"
        settings = {"ETCDCTL_CACERT": "/certs/ca.pem", "ETCDCTL_CERT": "/certs/ca.pem", "ETCDCTL_KEY": "/certs/key.pem", "ETCDCTL_ENDPOINTS": self.endpoint}
        self.outside = {**settings, **{name: f"{self.root}{path}" for name, path in settings.items() if path.startswith("/")}}
        listen = self.endpoint.replace("localhost", "127.0.0.1")
        command = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", MACHINE, "bash",
                   folder, self.root, "/usr/bin/etcd", "--data-dir=/data", "--name=m", f"--initial-cluster=m={peer}", f"--listen-peer-urls={peer}",
                   f"--initial-advertise-peer-urls={peer}", f"--listen-client-urls={listen}", f"--advertise-client-urls={listen}",
                   "--cert-file=/certs/ca.pem", "--key-file=/certs/key.pem", "--trusted-ca-file=/certs/ca.pem", "--client-cert-auth", "--unsafe-no-fsync"]
        self.process = subprocess.Popen([str(word) for word in command], env={"PATH": os.environ["PATH"], **settings},
                                        stdout=(folder / "etcd.log").open("w"), stderr=subprocess.STDOUT)
        deadline = host_clock.now() + 60
        while self.etcdctl("endpoint", "health", check=False).returncode != 0:
            assert self.process.poll() is None and host_clock.now() < deadline, (folder / "etcd.log").read_text()
            time.sleep(0.1)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "ssh").write_text(SSH % {"folder": folder, "process": children[0]})
        (self.bin / "ssh").chmod(0o755)
        self.inside = ["nsenter", "--target", children[0], "--pid", "--mount", "--"]

    def etcdctl(self, *words, check=True):
        return subprocess.run([PAYLOAD / "etcdctl", *words], env=self.outside, capture_output=True, text=True, timeout=60, check=check)

    def revision(self):
        [status] = json.loads(self.etcdctl("endpoint", "status", "-w", "json").stdout)
        return status["Status"]["header"]["revision"]

    def put(self, prefix, count):
        for i in range(count):
            self.etcdctl("put", f"{prefix}{i}", "value " * (i + 1))

    def close(self):
        self.process.kill()
        self.process.wait()


class Api:
    """Lists one master, its pod of etcd and the ClusterOperators; takes ConfigMaps."""

    def __init__(self, folder):
        make_certificates(folder)
        self.applied, self.progressing, api = [], "False", self

        def condition(kind, status):
            return {"status": {"conditions": [{"type": kind, "status": status, "message": "1 of 3 at revision 8"}],
                               "addresses": [{"type": "InternalIP", "address": "192.0.2.7"}]}}

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, document, status=200):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                items = {"clusteroperators": [{"metadata": {"name": part}, **condition("Progressing", api.progressing)} for part in PARTS],
                         "nodes": [{"metadata": {"name": "master-0", "labels": {"node-role.kubernetes.io/master": ""}}, **condition("Ready", "True")}],
                         "pods": [{"metadata": {"name": "etcd-master-0", "namespace": "openshift-etcd"}, "spec": {"nodeName": "master-0"},
                                   **condition("Ready", "True")}]}
                kind = self.path.split("?")[0].split("/")[-1]
                self.answer({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items[kind]})

            def do_PATCH(self):
                document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                api.applied.append(document)
                self.answer(document)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.kubeconfig = json.dumps({
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.server.server_port}", "certificate-authority": str(folder / "ca.pem")}}],
            "users": [{"name": "u", "user": {"token": "t"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c"})


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("this needs root")
    (tmp_path / "machine").mkdir()
    made = Machine(tmp_path / "machine")
    yield made
    made.close()


@pytest.fixture
def api(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "demo/auth").mkdir(parents=True)
    made = Api(tmp_path / "api")
    (tmp_path / "demo/auth/kubeconfig").write_text(made.kubeconfig)
    yield made
    made.server.shutdown()


def backup(machine, directory, *words, status=0):
    done = subprocess.run([SLIPWAY, "backup", "--dir", directory, *words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PATH": f"{machine.bin}:{os.environ['PATH']}"})
    assert done.returncode == status, done.stdout + done.stderr
    return done


def facts(text):
    return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def test_a_backup_is_copied_and_read_back(machine, api, tmp_path):
    directory, folder = tmp_path / "demo", tmp_path / "demo/backup"
    machine.put("a", 20)
    done = backup(machine, directory)
    first = facts(done.stdout)
    assert int(first["Revision"]) == machine.revision() == 21
    assert first["Master"] == "master-0" and "contain all Secrets" in done.stderr
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    names = sorted(path.name for path in folder.iterdir())
    assert [name.split("_")[0] for name in names] == ["snapshot", "static"]
    assert all(stat.S_IMODE((folder / name).stat().st_mode) == 0o600 for name in names)
    content = pathlib.Path(first["Snapshot"]).read_bytes()
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]
    with tarfile.open(first["Resources"]) as tar:
        secrets = {member.name: tar.extractfile(member).read().decode() for member in tar if member.isfile()}
    assert secrets == {f"static-pod-resources/{part}-pod-7/secret": f"secret of {part}" for part in PARTS}
    [record] = api.applied
    assert record["metadata"]["name"] == "recent-backup" and record["data"]["revision"] == "21"
    # Nothing stays on the machine.
    assert subprocess.run([*machine.inside, "test", "-e", "/var/lib/slipway-backup"], timeout=60).returncode == 1
    # Each change is one more key: a deletion, too.
    machine.put("b", 7)
    machine.etcdctl("del", "b0")
    second = facts(backup(machine, directory, "--to", tmp_path / "other").stdout)
    assert int(second["Keys"]) == int(first["Keys"]) + 8 and int(second["Revision"]) == machine.revision()
    line = (machine.folder / "ssh.log").read_text().splitlines()[0]
    assert "-l core" in line and " 192.0.2.7 sudo bash -s -- take " in line


def test_a_large_database_comes_in_pieces(machine, api, tmp_path):
    value = tmp_path / "value"
    value.write_bytes(b"x" * 1_000_000)
    for i in range(80):
        with value.open() as stdin:
            subprocess.run([PAYLOAD / "etcdctl", "put", f"large{i}"], stdin=stdin, env=machine.outside, check=True, capture_output=True, timeout=60)
    done = facts(backup(machine, tmp_path / "demo").stdout)
    assert pathlib.Path(done["Snapshot"]).stat().st_size > 80_000_000 and int(done["Revision"]) == 81


def test_a_failure_leaves_nothing_and_the_next_call_continues(machine, api, tmp_path):
    machine.put("a", 1)
    (machine.folder / "broken").touch()
    failed = backup(machine, tmp_path / "demo", status=1)
    assert "connection lost" in failed.stderr and list((tmp_path / "demo/backup").iterdir()) == [] and api.applied == []
    (machine.folder / "broken").unlink()
    backup(machine, tmp_path / "demo")
    api.progressing = "True"
    refused = backup(machine, tmp_path / "demo", status=1)
    assert "the control plane is being changed: etcd: 1 of 3 at revision 8" in refused.stderr and "--force" in refused.stderr
    assert "__POSSIBLY_DIRTY__" in facts(backup(machine, tmp_path / "demo", "--force").stdout)["Snapshot"]
    assert "worker-0 is not a master" in backup(machine, tmp_path / "demo", "--force", "--master", "worker-0", status=1).stderr
