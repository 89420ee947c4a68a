"""slipway-node kubelet-certificate and approve-csr against the real API server and the real signer: machines of the table get
their certificates, strangers do not, and a kill in the middle changes nothing.

    SLIPWAY_BIN=... SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/kubelet_certificate

-s shows the figures.
"""

import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import host_clock
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402

PROGRAM = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway-node"
DEADLINE = 60
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
GROUP = "system:serviceaccounts:openshift-machine-config-operator"
TOKEN = "of-the-bootstrapper"  # openssl makes no certificate for a name of 74 characters
MACHINES = [{"name": f"master-{i}", "role": "master", "addresses": [f"10.97.77.1{i}"]} for i in range(4)]


class Cluster:
    def __init__(self, plane, folder):
        self.plane, self.folder = plane, folder
        self.table, self.until = folder / "machine-addresses.yaml", folder / "done"
        self.table.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": {"machines": json.dumps(MACHINES)}}))
        self.bootstrap = self.make_bootstrap_kubeconfig()

    def make_bootstrap_kubeconfig(self):
        file = self.folder / "bootstrap-kubeconfig"
        file.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{self.plane.server}', certificate-authority: {self.plane.ca}}}}}]\n"
            f"contexts: [{{name: u, context: {{cluster: c, user: u}}}}]\ncurrent-context: u\nusers: [{{name: u, user: {{token: {TOKEN}}}}}]\n")
        return file

    def allow(self):
        self.plane.kubectl("create", "clusterrolebinding", "node-bootstrapper", "--clusterrole=system:node-bootstrapper",
                           f"--group={GROUP}")

    def approver(self):
        return subprocess.Popen([PROGRAM, "approve-csr", self.plane.kubeconfig, f"--machines={self.table}", f"--until={self.until}"],
                                stderr=open(self.folder / "approver.log", "ab"), env=self.environment(self.folder))

    def environment(self, folder):
        return {**os.environ, "SERVICE_RECORDS_DIR": str(folder / "records"), "PATH": f"{folder}:{os.environ['PATH']}"}

    def requests(self):
        return json.loads(self.plane.kubectl("get", "csr", "-o", "json"))["items"]

    def requests_of(self, node):
        return [r for r in self.requests() if common_name(r) == f"system:node:{node}"]

    def reasons(self, request):
        events = json.loads(self.plane.kubectl("get", "events", "-A", "-o", "json"))["items"]
        return {e["reason"]: e["message"] for e in events if e["involvedObject"].get("name") == request}


class Machine:
    """A folder that stands for one; its systemctl writes down what it is called with."""

    def __init__(self, cluster, folder, name):
        self.cluster, self.folder, self.name = cluster, folder / f"machine-{name}", name
        self.folder.mkdir()
        systemctl = self.folder / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/systemctl.log\n')
        systemctl.chmod(0o755)
        self.kubeconfig, self.pki = self.folder / "kubelet/kubeconfig", self.folder / "kubelet/pki"
        self.current = self.pki / "kubelet-client-current.pem"

    def start(self):
        return subprocess.Popen(
            [PROGRAM, "kubelet-certificate", f"--bootstrap-kubeconfig={self.cluster.bootstrap}", f"--kubeconfig={self.kubeconfig}",
             f"--cert-dir={self.pki}", f"--node-name={self.name}"], stderr=open(self.log, "ab"),
            env=self.cluster.environment(self.folder))

    @property
    def log(self):
        return self.folder / "log"

    def restarts(self):
        file = self.folder / "systemctl.log"
        return file.read_text().splitlines() if file.exists() else []

    def kubectl(self, *words, check=True, **options):
        done = subprocess.run([self.cluster.plane.payload / "hyperkube", "kubectl", f"--kubeconfig={self.kubeconfig}", *map(str, words)],
                              capture_output=True, text=True, timeout=DEADLINE, env={"HOME": str(self.folder)}, **options)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout


def openssl(*words):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, text=True, timeout=DEADLINE).stdout


def common_name(request):
    pem = base64.b64decode(request["spec"]["request"])
    subject = subprocess.run(["openssl", "req", "-noout", "-subject", "-nameopt", "sep_multiline"], input=pem, capture_output=True,
                             check=True, timeout=DEADLINE).stdout.decode()
    return next(line.split("CN=")[1] for line in subject.splitlines() if "CN=" in line)


def conditions(request):
    return [condition["type"] for condition in request.get("status", {}).get("conditions", [])]


def wait_until(what, look):
    deadline = host_clock.now() + DEADLINE
    while not (found := look()):
        assert host_clock.now() < deadline, f"{what} did not come"
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    signers = "certificatesigningrequest-signing-controller,certificatesigningrequest-approving-controller"
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.csv"
    tokens.write_text(f'{TOKEN},{BOOTSTRAPPER},1,"{GROUP},system:serviceaccounts"\n')
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane"), flags=[f"--token-auth-file={tokens}"],
                      controllers=signers) as plane:
        yield Cluster(plane, tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def processes():
    """Those that a test starts; none outlives it."""
    started = []
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def ended(process):
    return process.wait(timeout=DEADLINE)


def test_a_machine_gets_its_certificate_as_soon_as_it_may(cluster, processes, tmp_path):
    machine = Machine(cluster, tmp_path, "master-0")
    processes += [cluster.approver(), machine.start()]
    wait_until("the wait", lambda: b"may not make certificate requests yet" in machine.log.read_bytes())
    assert cluster.requests() == []
    allowed = host_clock.now()
    cluster.allow()
    assert ended(processes[1]) == 0, machine.log.read_text()
    print(f"\nfrom the role binding to certificate and kubeconfig: {host_clock.now() - allowed:.2f} s")

    assert machine.restarts() == ["--no-block restart kubelet.service"]
    assert os.stat(machine.current).st_mode & 0o777 == 0o600 and os.stat(machine.kubeconfig).st_mode & 0o777 == 0o600
    assert machine.current.is_symlink() and machine.current.resolve().name.startswith("kubelet-client-2")
    assert sorted(path.name for path in machine.pki.iterdir()) == sorted([machine.current.name, machine.current.resolve().name])
    who = json.loads(machine.kubectl("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    assert (who["username"], sorted(who["groups"])) == ("system:node:master-0", ["system:authenticated", "system:nodes"])

    # The same command again does nothing.
    processes.append(machine.start())
    assert ended(processes[-1]) == 0
    assert machine.restarts() == ["--no-block restart kubelet.service"] and len(cluster.requests_of("master-0")) == 1
    cluster.until.touch()
    assert ended(processes[0]) == 0
    cluster.until.unlink()


def test_a_kill_leaves_one_request_and_the_same_command_continues(cluster, processes, tmp_path):
    machine = Machine(cluster, tmp_path, "master-1")
    for _ in range(2):
        processes.append(machine.start())
        wait_until("the request", lambda: cluster.requests_of("master-1"))
        processes[-1].send_signal(signal.SIGKILL)
        processes[-1].wait()
    assert not machine.current.exists() and os.stat(machine.pki / "kubelet-client.key.tmp").st_mode & 0o777 == 0o600
    processes += [cluster.approver(), machine.start()]
    assert ended(processes[-1]) == 0, machine.log.read_text()
    assert len(cluster.requests_of("master-1")) == 1
    assert machine.restarts() == ["--no-block restart kubelet.service"]
    assert not (machine.pki / "kubelet-client.key.tmp").exists()


def test_strangers_and_second_comers_stay_outside(cluster, processes, tmp_path):
    cluster.plane.kubectl("create", "-f", write_node(tmp_path, "master-2"))
    processes.append(cluster.approver())
    for name, reason in (("stranger", "UnknownMachine"), ("master-2", "NameAlreadyRegistered")):
        machine = Machine(cluster, tmp_path, name)
        processes.append(machine.start())
        request = wait_until("the request", lambda: cluster.requests_of(name))[0]
        assert wait_until("the Event", lambda: cluster.reasons(request["metadata"]["name"])).keys() == {reason}
        assert conditions(cluster.requests_of(name)[0]) == []
    node = json.loads(cluster.plane.kubectl("get", "node", "master-2", "-o", "json"))
    assert {"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"} <= node["metadata"]["labels"].keys()
    assert [t["effect"] for t in node["spec"]["taints"] if t["key"] == "node-role.kubernetes.io/master"] == ["NoSchedule"]

    # Somebody says no: the machine says so and ends.
    cluster.plane.kubectl("certificate", "deny", request["metadata"]["name"])
    assert ended(processes[-1]) == 1
    assert "Denied" in (tmp_path / "machine-master-2/log").read_text()


def test_serving_certificates_have_the_names_of_their_node_only(cluster, processes, tmp_path):
    machine = Machine(cluster, tmp_path, "master-3")
    processes += [cluster.approver(), machine.start()]
    assert ended(processes[-1]) == 0, machine.log.read_text()
    machine.kubectl("create", "-f", "-", input=serving_request(tmp_path, "early", "DNS:master-3,IP:10.97.77.13"))
    assert wait_until("the Event", lambda: cluster.reasons("early")).keys() == {"NodeMissing"}
    machine.kubectl("create", "-f", write_node(tmp_path, "master-3"))
    machine.kubectl("create", "-f", "-", input=serving_request(tmp_path, "foreign", "DNS:master-3,IP:10.97.77.5"))

    def certificate(name):
        request = json.loads(cluster.plane.kubectl("get", "csr", name, "-o", "json"))
        return request.get("status", {}).get("certificate")

    pem = base64.b64decode(wait_until("the certificate", lambda: certificate("early"))).decode()
    (tmp_path / "serving.crt").write_text(pem)
    names = openssl("x509", "-in", tmp_path / "serving.crt", "-noout", "-ext", "subjectAltName")
    assert "DNS:master-3, IP Address:10.97.77.13" in names
    assert wait_until("the Event", lambda: cluster.reasons("foreign")) == {"WrongNames": "10.97.77.5 is not an address of machine master-3"}
    assert certificate("foreign") is None


def write_node(folder, name):
    file = folder / f"node-{name}.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    return file


def serving_request(folder, object_name, names):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder / "serving.key",
            "-out", folder / "serving.csr", "-subj", "/O=system:nodes/CN=system:node:master-3", "-addext", f"subjectAltName={names}")
    return json.dumps({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": object_name},
                       "spec": {"request": base64.b64encode((folder / "serving.csr").read_bytes()).decode(),
                                "signerName": "kubernetes.io/kubelet-serving", "usages": ["digital signature", "server auth"]}})
