"""`slipway backup` and backups by pods of the etcd operator, of a real etcd. The machine is a PID and mount namespace, in which etcd runs with a root of its own, as in a container; ssh is a
program that enters it. The API is a small server."""
import base64
import contextlib
import datetime
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import tarfile
import threading
import time

import host_clock
import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from programs import free_port  # noqa: E402

SLIPWAY, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway", pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
METADATA = json.dumps({"clusterName": "demo", "clusterID": "c0ffee00-0000-4000-8000-000000000000", "infraID": "demo-abcde"})
BUNDLE = "static-pod-resources/etcd-pod-7/configmaps/etcd-all-bundles/server-ca-bundle.crt"
PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
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


def pod_of(part):
    """A pod that names its revision, and, for etcd, its image."""
    return f"image: registry/{part}@sha256:1\npath: /etc/kubernetes/static-pod-resources/{part}-pod-7\n"


def resources_of_backup():
    files = {}
    for part in PARTS:
        files |= {BUNDLE: PEM, f"static-pod-resources/{part}-pod-7/secret": f"secret of {part}", f"static-pod-resources/{part}-certs/key": f"key of {part}",
                  f"static-pod-resources/{part}-pod-7/{part}-pod.yaml": pod_of(part)}
    return files


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
            pod = pod_of(part)
            for path, text in ((f"manifests/{part}-pod.yaml", pod), (f"static-pod-resources/{part}-pod-7/{part}-pod.yaml", pod),
                               (f"static-pod-resources/{part}-pod-7/secret", f"secret of {part}"),
                               (f"static-pod-resources/{part}-certs/key", f"key of {part}"),
                               (BUNDLE, PEM),
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


def static_pod(space):
    """A static pod on the only master, started a moment from now."""
    started = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
    return {"metadata": {"name": f"{space}-m", "namespace": space, "annotations": {"kubernetes.io/config.mirror": "x"}}, "spec": {"nodeName": "m"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}],
                       "containerStatuses": [{"state": {"running": {"startedAt": f"{started:%Y-%m-%dT%H:%M:%SZ}"}}}]}}


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
                if "pods" in self.path and "app%3Detcd" not in self.path and "app=etcd" not in self.path:
                    items["pods"] = [static_pod(self.path.split("/namespaces/")[1].split("/")[0])]
                now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
                items["leases"] = [{"metadata": {"name": "master-0", "namespace": "kube-node-lease"}, "spec": {"renewTime": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"}}]
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
        contents = {member.name: tar.extractfile(member).read().decode() for member in tar if member.isfile()}
    [member] = json.loads(contents.pop("etcd-members.json"))["members"]
    assert member["name"] == "m"
    assert contents == resources_of_backup()
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
    # By etcd's gateway on one connection: 80 processes of etcdctl take a minute on a busy host.
    tls = ssl.create_default_context(cafile=machine.outside["ETCDCTL_CACERT"])
    tls.load_cert_chain(machine.outside["ETCDCTL_CERT"], machine.outside["ETCDCTL_KEY"])
    connection = http.client.HTTPSConnection(machine.endpoint.removeprefix("https://"), context=tls, timeout=60)
    value = base64.b64encode(b"x" * 1_000_000).decode()
    for i in range(80):
        connection.request("POST", "/v3/kv/put", json.dumps({"key": base64.b64encode(f"large{i}".encode()).decode(), "value": value}))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
    connection.close()
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


# ---- backups by pods of the operator

KEYS = """# made for this test
AGE-SECRET-KEY-15V77XJC4VQUKHND3RYF6RQL7ALK7QEP5K66LKPH846LN20ZUR3SQMLGNKT
"""
RECIPIENT = "age1s9marweutrjcagu829q9htzn5ml5fltqz0e065wyrr0tcu85tuuqe5t6r9"


class Pod:
    """Runs the program of a backup pod in the namespace of the machine, where the folder of backups is a small disk."""

    FOLDER = "/var/lib/etcd-auto-backup/default"

    def __init__(self, machine, megabytes=512):
        self.machine, self.result = machine, machine.folder / "termination-log"
        (machine.bin / "cluster-etcd-operator").symlink_to(SLIPWAY.parent / "slipway-operator")
        (machine.bin / "etcdctl").symlink_to(PAYLOAD / "etcdctl")
        self.shell(f"mkdir -p /var/lib/etcd-auto-backup && mount -t tmpfs -o size={megabytes}m none /var/lib/etcd-auto-backup")

    def shell(self, script):
        return subprocess.run([*self.machine.inside, "bash", "-c", script], check=True, capture_output=True, text=True, timeout=60).stdout

    def command(self, *words):
        # Not in the namespace of PIDs, so that a signal to this process reaches the program.
        inside = [word for word in self.machine.inside if word != "--pid"]
        return [*inside, "env", f"PATH={self.machine.bin}:{os.environ['PATH']}", "NODE_NAME=master-0",
                *[f"{name}={value}" for name, value in self.machine.outside.items()],
                "cluster-etcd-operator", "backup", f"--folder={self.FOLDER}", f"--result={self.result}", *words]

    def run(self, *words, status=0):
        self.result.write_text("")
        done = subprocess.run([str(word) for word in self.command(*words)], capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(self.result.read_text()) if status == 0 else done.stderr

    def complete(self):
        return sorted(name for name in self.shell(f"ls -A {self.FOLDER}").split() if not name.startswith("."))

    def read(self, path):
        return subprocess.run([*self.machine.inside, "cat", f"{self.FOLDER}/{path}"], check=True, capture_output=True, timeout=60).stdout


def test_a_pod_keeps_as_many_backups_as_allowed(machine):
    pod = Pod(machine)
    machine.put("a", 3)
    ids = []
    for _ in range(3):
        record = pod.run("--keep-number=2")
        assert int(record["revision"]) == machine.revision()
        ids.append(record["id"])
        time.sleep(1.1)  # the name of a backup has seconds
    assert pod.complete() == ids[1:]
    assert pod.shell(f"stat -c %a {pod.FOLDER} {pod.FOLDER}/* {pod.FOLDER}/*/*").split() == ["700"] * 3 + ["600"] * 4
    content = pod.read(f"{ids[2]}/snapshot_{ids[2]}.db")
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]
    # By size: the last one stays, although it alone is too large.
    last = pod.run("--keep-bytes=1")
    assert pod.complete() == [last["id"]]


def test_a_pod_encrypts_for_a_key_that_the_cluster_does_not_have(machine, tmp_path):
    pod = Pod(machine)
    machine.put("a", 3)
    identifier = pod.run("--keep-number=2", f"--encrypt-to={RECIPIENT}")["id"]
    assert pod.shell(f"ls {pod.FOLDER}/{identifier}").split() == [f"snapshot_{identifier}.db.age", f"static_kuberesources_{identifier}.tar.gz.age"]
    (tmp_path / "key").write_text(KEYS)
    sealed = pod.read(f"{identifier}/snapshot_{identifier}.db.age")
    content = subprocess.run(["age", "--decrypt", "--identity", tmp_path / "key"], input=sealed, check=True, capture_output=True, timeout=60).stdout
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]


def test_a_full_disk_is_named_and_the_old_backup_stays(machine):
    pod = Pod(machine, megabytes=64)
    first = pod.run("--keep-number=5")["id"]
    pod.shell("head -c 40M /dev/zero >/var/lib/etcd-auto-backup/other")
    said = pod.run("--keep-number=5", status=1)
    assert "/var/lib/etcd-auto-backup/default on master-0: no space for a backup" in said and "are needed" in said
    assert pod.complete() == [first]


def test_a_kill_leaves_no_backup_that_counts(machine):
    pod = Pod(machine)
    machine.put("a", 20)
    first = pod.run("--keep-number=9")["id"]
    time.sleep(1.1)
    killed = 0
    for milliseconds in [20, 50, 100, 200, 300]:
        process = subprocess.Popen([str(word) for word in pod.command("--keep-number=9")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(milliseconds / 1000)
        process.kill()
        killed += process.wait() != 0
    assert killed > 0
    for identifier in pod.complete():
        content = pod.read(f"{identifier}/snapshot_{identifier}.db")
        assert hashlib.sha256(content[:-32]).digest() == content[-32:]
    time.sleep(1.1)
    last = pod.run("--keep-number=9")["id"]
    assert first in pod.complete() and last in pod.complete()
    assert pod.shell(f"ls -A {pod.FOLDER} | grep '^[.]' || true").split() == [".lock"]


# ---- restore


class Kubelet(threading.Thread):
    """Runs the static pods of a machine, each as its first container: what is in the folder of manifests runs."""

    def __init__(self, machine):
        super().__init__(daemon=True)
        self.machine, self.pods, self.stopped = machine, {}, threading.Event()

    def run(self):
        while not self.stopped.wait(0.05):
            found = {path.name: path.read_text() for path in (self.machine.root / "etc/kubernetes/manifests").glob("[!.]*.yaml")}
            for name, (text, process) in list(self.pods.items()):
                if found.get(name) != text or process.poll() is not None:
                    self.end(name)
            for name, text in found.items():
                if name not in self.pods:
                    self.pods[name] = (text, self.start_pod(yaml.safe_load(text)["spec"]["containers"][0]))
        for name in list(self.pods):
            self.end(name)

    def start_pod(self, container):
        variables = [f"{item['name']}={item['value']}" for item in container.get("env", [])]
        command = [word.replace("/restore/", "/var/lib/slipway-restore/") for word in container["command"]]
        return subprocess.Popen([*self.machine.inside, "env", f"PATH={self.machine.bin}:{os.environ['PATH']}", *variables, *command],
                                stdin=subprocess.DEVNULL, stdout=self.machine.log, stderr=subprocess.STDOUT)

    def end(self, name):
        process = self.pods.pop(name)[1]
        for sent in (signal.SIGTERM, signal.SIGKILL):
            # nsenter passes no signals on to its child.
            with contextlib.suppress(OSError):
                for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                    os.kill(int(child), sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
                return
        process.kill()
        process.wait()


class RestorableMachine(Machine):
    """A master whose control plane are static pods: a real etcd, and programs that do nothing."""

    SETUP = """set -e
cp -a /etc "$1/etc"; rm -rf "$1/etc/kubernetes"; cp -a "$1/kubernetes" "$1/etc/kubernetes"; mount --bind "$1/etc" /etc
mkdir -p "$1/lib/etcd" "$1/var/lib/etcd"; mount --bind "$1/lib" /var/lib; mount --bind /var/lib/etcd "$1/var/lib/etcd"
touch "$1/ready"; exec sleep infinity
"""

    def __init__(self, folder):
        self.folder = self.root = folder
        for name in ("usr/bin", "certs", "bin"):
            (folder / name).mkdir(parents=True)
        for name in ("etcd", "etcdctl", "etcdutl"):
            shutil.copy(PAYLOAD / name, folder / "usr/bin")
            (folder / "bin" / name).symlink_to(folder / "usr/bin" / name)
        (folder / "bin/systemctl").write_text("#!/bin/sh\necho active\n")
        (folder / "bin/systemctl").chmod(0o755)
        make_certificates(folder / "certs")
        self.bin, self.log = folder / "bin", (folder / "pods.log").open("w")
        self.endpoint, self.peer = f"https://localhost:{free_port()}", f"http://127.0.0.1:{free_port()}"
        self.settings = {"ETCDCTL_CACERT": "/certs/ca.pem", "ETCDCTL_CERT": "/certs/ca.pem", "ETCDCTL_KEY": "/certs/key.pem",
                         "ETCDCTL_ENDPOINTS": self.endpoint}
        self.outside = {**self.settings, **{name: f"{folder}{path}" for name, path in self.settings.items() if path.startswith("/")}}
        for part in PARTS:
            self.write(f"kubernetes/manifests/{part}-pod.yaml", self.pod(part, 7))
            self.write(f"kubernetes/static-pod-resources/{part}-pod-7/{part}-pod.yaml", self.pod(part, 7))
            self.write(f"kubernetes/static-pod-resources/{part}-certs/key", f"key of {part}")
        self.write(f"kubernetes/{BUNDLE}", PEM)
        self.process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
                                         "bash", "-c", self.SETUP, "bash", folder])
        deadline = host_clock.now() + 60
        while not (folder / "ready").exists():
            assert self.process.poll() is None and host_clock.now() < deadline
            time.sleep(0.05)
        [child] = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.inside = ["nsenter", "--target", child, "--pid", "--mount", "--"]
        (self.bin / "ssh").write_text(f"""#!/bin/bash
for command; do :; done
export PATH={self.bin}:$PATH
exec nsenter --target {child} --pid --mount -- bash -c "${{command#sudo }}"
""")
        (self.bin / "ssh").chmod(0o755)
        self.kubelet = Kubelet(self)
        self.kubelet.start()
        self.wait_for_etcd()

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def pod(self, part, revision):
        listen, path = self.endpoint.replace("localhost", "127.0.0.1"), f"/etc/kubernetes/static-pod-resources/{part}-pod-{revision}"
        container = {"name": part, "image": f"registry/{part}@sha256:1", "args": [path],
                     "command": ["bash", "-c", f"exec -a {part} sleep -- infinity"]}
        if part == "etcd":
            container["command"] = ["chroot", str(self.root), "/usr/bin/etcd", "--data-dir=/var/lib/etcd", "--name=m",
                                    f"--initial-cluster=m={self.peer}", f"--listen-peer-urls={self.peer}",
                                    f"--initial-advertise-peer-urls={self.peer}", f"--listen-client-urls={listen}",
                                    f"--advertise-client-urls={listen}", "--cert-file=/certs/ca.pem", "--key-file=/certs/key.pem",
                                    "--trusted-ca-file=/certs/ca.pem", "--client-cert-auth", "--unsafe-no-fsync"]
            container["env"] = [{"name": name, "value": value} for name, value in self.settings.items()]
        return yaml.safe_dump({"kind": "Pod", "spec": {"containers": [container]}})

    def wait_for_etcd(self):
        deadline = host_clock.now() + 60
        while self.etcdctl("endpoint", "health", check=False).returncode != 0:
            assert host_clock.now() < deadline, (self.folder / "pods.log").read_text()[-3000:]
            time.sleep(0.1)

    def get(self, key):
        return self.etcdctl("get", "--print-value-only", key).stdout.strip()

    def cluster_id(self):
        [status] = json.loads(self.etcdctl("endpoint", "status", "-w", "json").stdout)
        return status["Status"]["header"]["cluster_id"]

    def close(self):
        self.kubelet.stopped.set()
        self.kubelet.join(timeout=60)
        super().close()


@pytest.fixture
def master(tmp_path):
    (tmp_path / "machine").mkdir()
    made = RestorableMachine(tmp_path / "machine")
    yield made
    made.close()


def restore_command(directory, *words):
    return [str(word) for word in (SLIPWAY, "restore", "--dir", directory, "--yes", *words)]


def restore(machine, directory, *words, status=0):
    done = subprocess.run(restore_command(directory, *words), capture_output=True, text=True, timeout=200,
                          env={**os.environ, "PATH": f"{machine.bin}:{os.environ['PATH']}"})
    assert done.returncode == status, done.stdout + done.stderr + (machine.folder / "pods.log").read_text()[-3000:]
    return done


STAGES = ["stop-control-plane", "set-data-aside", "copy-backup", "restore-static-pods", "restore-data", "start-recovery-master",
          "start-other-masters", "wait-for-members", "wait-for-pods", "wait-for-nodes", "clean-up"]


def change_everything(machine):
    """A bad change after the backup: data, and a newer revision of a static pod with another key."""
    machine.etcdctl("put", "before", "changed")
    machine.etcdctl("put", "after", "new")
    for part in ("kube-apiserver",):
        machine.write(f"etc/kubernetes/static-pod-resources/{part}-certs/key", "another key")
        machine.write(f"etc/kubernetes/manifests/{part}-pod.yaml", machine.pod(part, 8))


def is_restored(machine, cluster_id):
    machine.wait_for_etcd()
    assert machine.get("before") == "value" and machine.get("after") == ""
    assert machine.cluster_id() != cluster_id, "old members cannot join"
    assert machine.revision() > 1_000_000_000, "watches of before end"
    kubernetes = machine.folder / "etc/kubernetes"
    assert (kubernetes / "static-pod-resources/kube-apiserver-certs/key").read_text() == "key of kube-apiserver"
    assert (kubernetes / "manifests/kube-apiserver-pod.yaml").read_text() == machine.pod("kube-apiserver", 7)
    assert sorted(path.name for path in (kubernetes / "manifests").iterdir()) == sorted(f"{part}-pod.yaml" for part in PARTS)
    assert not (machine.folder / "lib/slipway-restore").exists()
    assert len(list((machine.folder / "lib/etcd").glob("before-restore-*/member"))) == 1


def test_a_restore_brings_data_and_static_pods_back(master, api, tmp_path):
    directory = tmp_path / "demo"
    (directory / "metadata.json").write_text(METADATA)
    master.etcdctl("put", "before", "value")
    backup(master, directory, "--encrypt-to", RECIPIENT)
    cluster_id = master.cluster_id()
    change_everything(master)
    assert "use --identity FILE" in restore(master, directory, status=1).stderr
    (directory / "key").write_text(KEYS)
    master.write(f"etc/kubernetes/{BUNDLE}", PEM.replace("AAAA", "BBBB"))
    assert "m: belongs to another cluster" in restore(master, directory, "--identity", directory / "key", status=1).stderr
    master.write(f"etc/kubernetes/{BUNDLE}", PEM)
    done = restore(master, directory, "--identity", directory / "key")
    assert "THE CLUSTER GOES BACK TO THE BACKUP" in done.stderr and "is back at backup" in done.stdout
    is_restored(master, cluster_id)
    assert not (directory / ".slipway/restore").exists() and not (directory / ".slipway/restore-files").exists()
    # Without a terminal and without --yes nothing happens.
    asked = subprocess.run([word for word in restore_command(directory, "--identity", directory / "key") if word != "--yes"], capture_output=True,
                           text=True, timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, "PATH": f"{master.bin}:{os.environ['PATH']}"})
    assert asked.returncode == 1 and "use --yes" in asked.stderr


def test_the_only_master_that_is_left_has_the_data(master, api, tmp_path):
    directory = tmp_path / "demo"
    (directory / "metadata.json").write_text(METADATA)
    master.etcdctl("put", "before", "value")
    cluster_id = master.cluster_id()
    # One of two voting members: etcd has no quorum.
    master.etcdctl("member", "add", "lost", f"--peer-urls=http://127.0.0.1:{free_port()}")
    assert master.etcdctl("put", "after", "new", "--command-timeout=2s", check=False).returncode != 0
    words = ["--survivor", "m", "--host", "m=192.0.2.7"]
    assert "leave out --from" in restore(master, directory, *words, "--from", directory, status=1).stderr
    assert "is not a member" in restore(master, directory, "--survivor", "x", "--host", "x=192.0.2.7", status=1).stderr
    assert not list((directory / "backup").glob("*")), "a restore that does not begin leaves no secrets"
    restore(master, directory, *words)
    is_restored(master, cluster_id)
    master.etcdctl("put", "after", "new")
    assert len(list((directory / "backup").glob("snapshot_*__POSSIBLY_DIRTY__.db"))) >= 1
    [member] = json.loads(master.etcdctl("member", "list", "-w", "json").stdout)["members"]
    assert member["name"] == "m"


def test_a_survivor_that_was_started_again_has_the_data(master, api, tmp_path):
    """etcd serves no clients after a start without a quorum."""
    directory = tmp_path / "demo"
    (directory / "metadata.json").write_text(METADATA)
    cluster_id = master.cluster_id()
    peer, client = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    master.etcdctl("member", "add", "lost", f"--peer-urls={peer}")
    lost = subprocess.Popen([PAYLOAD / "etcd", "--name=lost", f"--data-dir={tmp_path}/lost", f"--initial-cluster=m={master.peer},lost={peer}",
                             "--initial-cluster-state=existing", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                             f"--listen-client-urls={client}", f"--advertise-client-urls={client}", "--unsafe-no-fsync"],
                            stdout=(tmp_path / "lost.log").open("w"), stderr=subprocess.STDOUT)
    try:
        deadline = host_clock.now() + 60
        while master.etcdctl("put", "before", "value", check=False).returncode != 0:
            assert host_clock.now() < deadline, (tmp_path / "lost.log").read_text()[-3000:]
        for number in range(3):  # the log says that a change is committed when it has a later one
            master.etcdctl("put", f"later{number}", "value")
    finally:
        lost.kill()
        lost.wait()
    [process] = [int(path.parent.name) for path in pathlib.Path("/proc").glob("[0-9]*/comm")
                 if path.read_text() == "etcd\n" and f"--listen-peer-urls={master.peer}" in (path.parent / "cmdline").read_text()]
    os.kill(process, signal.SIGKILL)
    time.sleep(2)  # the kubelet starts it again
    assert master.etcdctl("endpoint", "status", "--command-timeout=3s", check=False).returncode != 0
    restore(master, directory, "--survivor", "m", "--lost", "lost", "--host", "m=192.0.2.7")
    is_restored(master, cluster_id)
    [member] = json.loads(master.etcdctl("member", "list", "-w", "json").stdout)["members"]
    assert member["name"] == "m"


def test_a_kill_in_each_stage_and_the_same_command_finishes(master, api, tmp_path):
    directory = tmp_path / "demo"
    (directory / "metadata.json").write_text(METADATA)
    master.etcdctl("put", "before", "value")
    backup(master, directory)
    cluster_id = master.cluster_id()
    change_everything(master)
    shutil.rmtree(master.folder / "lib/etcd/lost", ignore_errors=True)
    killed = []
    for number, stage in enumerate(STAGES):
        before = directory / f".slipway/restore/{STAGES[number - 1]}.done" if number else directory / ".slipway/restore/restore.json"
        process = subprocess.Popen(restore_command(directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "PATH": f"{master.bin}:{os.environ['PATH']}"})
        deadline = host_clock.now() + 60
        while not before.exists() and process.poll() is None:
            assert host_clock.now() < deadline, stage
            time.sleep(0.002)
        time.sleep(0.03)  # into the stage
        process.kill()
        if process.wait() == -signal.SIGKILL:
            killed.append(stage)
        if not (directory / ".slipway/restore").exists():
            break
    assert len(killed) >= 8, killed
    if (directory / ".slipway/restore").exists():
        restore(master, directory)
    is_restored(master, cluster_id)
