"""slipway-node kubelet-certificate and approve-csr with the real API server and the real signer: machines of the table get their
certificates, other machines do not, and a kill changes nothing.

    SLIPWAY_BIN=... SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/kubelet_certificate

-s prints the figures.
"""

import base64
import functools
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
MANIFESTS = pathlib.Path(__file__).resolve().parents[3] / "images/manifests"
SPACE = "openshift-machine-config-operator"  # of the accounts for joining
ACCOUNTS = {"master": "node-bootstrapper-master", "worker": "node-bootstrapper"}
MACHINES = [{"name": f"master-{i}", "role": "master", "addresses": [f"10.97.77.1{i}"]} for i in range(6)]
MACHINES += [{"name": f"worker-{i}", "role": "worker", "addresses": [f"10.97.77.2{i}"]} for i in range(6)]


class Cluster:
    def __init__(self, plane, folder):
        self.plane, self.folder = plane, folder
        self.table, self.until = folder / "machine-addresses.yaml", folder / "done"
        self.table.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "data": {"machines": json.dumps(MACHINES)}}))
        for space in (SPACE, "openshift-config", "openshift-etcd", "openshift-cluster-machine-approver"):
            plane.kubectl("create", "namespace", space)
        # Accounts and roles are those of the release; allow() binds the bootstrappers.
        for path in sorted(MANIFESTS.glob("0000_50_cluster-machine-approver_0[12]*")):
            plane.kubectl("apply", "-f", path)
        for account in ACCOUNTS.values():
            plane.kubectl("create", "serviceaccount", "-n", SPACE, account)
        self.bootstrap = {role: self.kubeconfig(role, self.token(SPACE, account)) for role, account in ACCOUNTS.items()}
        self.approvers = self.kubeconfig("approver", self.token("openshift-cluster-machine-approver", "machine-approver-sa"))

    def token(self, space, account, *options):
        return self.plane.kubectl("create", "token", "-n", space, account, *options).strip()

    def kubeconfig(self, name, token):
        file = self.folder / f"kubeconfig-{name}"
        file.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{self.plane.server}', certificate-authority: {self.plane.ca}}}}}]\n"
            f"contexts: [{{name: u, context: {{cluster: c, user: u}}}}]\ncurrent-context: u\nusers: [{{name: u, user: {{token: {token}}}}}]\n")
        return file

    def allow(self):
        self.plane.kubectl("create", "clusterrolebinding", "node-bootstrapper", "--clusterrole=system:node-bootstrapper",
                           f"--serviceaccount={SPACE}:node-bootstrapper")
        self.plane.kubectl("apply", "-f", MANIFESTS / "0000_80_machine-config_01_node-bootstrapper-master_2_binding.yaml")

    def approver(self):
        """Has only the rights of the release."""
        return subprocess.Popen([PROGRAM, "approve-csr", self.approvers, f"--machines={self.table}", f"--until={self.until}"],
                                stderr=open(self.folder / "approver.log", "ab"), env=self.environment(self.folder))

    def record(self, node):
        found = self.plane.get("configmap", "-n", "openshift-cluster-machine-approver")["items"]
        data = {key: text for each in found if each["metadata"]["name"] == "node-identities" for key, text in each["data"].items()}
        return json.loads(data.get(node, "{}"))

    def environment(self, folder):
        return {**os.environ, "SERVICE_RECORDS_DIR": str(folder / "records"), "PATH": f"{folder}:{os.environ['PATH']}"}

    def requests(self):
        return self.plane.get("csr")["items"]

    def requests_of(self, node):
        return [r for r in self.requests() if common_name(r["spec"]["request"]) == f"system:node:{node}"]

    def reasons(self, request):
        events = self.plane.get("events", "-A")["items"]
        return {e["reason"]: e["message"] for e in events if e["involvedObject"].get("name") == request}


class Machine:
    """A folder that acts as a machine; its systemctl records its arguments."""

    def __init__(self, cluster, folder, name, role=None):
        """role: of its credential; default: from its name."""
        self.cluster, self.folder, self.name = cluster, folder / f"machine-{name}", name
        self.folder.mkdir(parents=True)
        self.bootstrap = cluster.bootstrap[role or name.partition("-")[0]]
        systemctl = self.folder / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/systemctl.log\n')
        systemctl.chmod(0o755)
        self.kubeconfig, self.pki = self.folder / "kubelet/kubeconfig", self.folder / "kubelet/pki"
        self.current = self.pki / "kubelet-client-current.pem"

    def start(self):
        return subprocess.Popen(
            [PROGRAM, "kubelet-certificate", f"--bootstrap-kubeconfig={self.bootstrap}", f"--kubeconfig={self.kubeconfig}",
             f"--cert-dir={self.pki}", f"--node-name={self.name}", f"--config-server={self.folder}/config-server.json"], stderr=open(self.log, "ab"),
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


@functools.lru_cache(maxsize=None)
def common_name(request):
    """request: spec.request, which never changes."""
    pem = base64.b64decode(request)
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
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane"), controllers=signers) as plane:
        yield Cluster(plane, tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def processes():
    """Processes that the test starts and ends."""
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
    wait_until("the wait", lambda: b"may not create certificate requests yet" in machine.log.read_bytes())
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

    # A second run does nothing.
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
    for name, role, reason in (("stranger", "worker", "UnknownMachine"), ("master-2", "master", "NameAlreadyRegistered")):
        machine = Machine(cluster, tmp_path, name, role)
        processes.append(machine.start())
        request = wait_until("the request", lambda: cluster.requests_of(name))[0]
        assert wait_until("the Event", lambda: cluster.reasons(request["metadata"]["name"])).keys() == {reason}
        assert conditions(cluster.requests_of(name)[0]) == []
    node = cluster.plane.get("node", "master-2")
    assert {"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"} <= node["metadata"]["labels"].keys()
    assert [t["effect"] for t in node["spec"]["taints"] if t["key"] == "node-role.kubernetes.io/master"] == ["NoSchedule"]

    # After a denial, the machine reports it and ends.
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
        request = cluster.plane.get("csr", name)
        return request.get("status", {}).get("certificate")

    pem = base64.b64decode(wait_until("the certificate", lambda: certificate("early"))).decode()
    (tmp_path / "serving.crt").write_text(pem)
    names = openssl("x509", "-in", tmp_path / "serving.crt", "-noout", "-ext", "subjectAltName")
    assert "DNS:master-3, IP Address:10.97.77.13" in names
    assert wait_until("the Event", lambda: cluster.reasons("foreign")) == {"WrongNames": "10.97.77.5 is not an address of machine master-3"}
    assert certificate("foreign") is None


def test_a_workers_credential_gets_no_masters_name(cluster, processes, tmp_path):
    processes.append(cluster.approver())
    thief = Machine(cluster, tmp_path / "thief", "master-4", "worker")
    processes.append(thief.start())
    request = wait_until("the request", lambda: cluster.requests_of("master-4"))[0]
    assert request["spec"]["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")
    told = wait_until("the Event", lambda: cluster.reasons(request["metadata"]["name"]))
    assert told == {"WrongCredential": "master-4 is a master, but the credential is the one of workers"}
    # The rejected request does not block the name: the real master joins.
    master = Machine(cluster, tmp_path, "master-4")
    processes.append(master.start())
    assert ended(processes[-1]) == 0, master.log.read_text()
    assert conditions(next(r for r in cluster.requests_of("master-4") if r["metadata"]["name"] == request["metadata"]["name"])) == []


def test_a_name_has_one_approval_until_its_node_exists(cluster, processes, tmp_path):
    processes.append(cluster.approver())
    first, second = (Machine(cluster, tmp_path / name, "worker-0") for name in ("first", "second"))
    processes.append(first.start())
    assert ended(processes[-1]) == 0, first.log.read_text()
    processes.append(second.start())
    request = wait_until("the second request", lambda: [r for r in cluster.requests_of("worker-0") if not conditions(r)])[0]
    assert wait_until("the Event", lambda: cluster.reasons(request["metadata"]["name"])).keys() == {"NameAlreadyApproved"}
    # The approved machine registers and its Node is deleted, as in a replacement: the next machine may join.
    first.kubectl("create", "-f", write_node(tmp_path, "worker-0"))
    wait_until("the registration", lambda: cluster.record("worker-0").get("isRegistered"))
    cluster.plane.kubectl("delete", "node", "worker-0")
    assert ended(processes[-1]) == 0, second.log.read_text()


def test_a_renewal_is_approved_and_no_other_nodes(cluster, processes, tmp_path):
    processes.append(cluster.approver())
    machine = Machine(cluster, tmp_path, "worker-1")
    processes.append(machine.start())
    assert ended(processes[-1]) == 0, machine.log.read_text()
    machine.kubectl("create", "-f", write_node(tmp_path, "worker-1"))
    cluster.plane.kubectl("apply", "-f", MANIFESTS / "0000_80_machine-config_01_node-renewal-binding.yaml")
    machine.kubectl("create", "-f", "-", input=client_request(tmp_path, "renewal", "worker-1"))

    def request():
        return cluster.plane.get("csr", "renewal")

    wait_until("the certificate", lambda: request().get("status", {}).get("certificate"))
    [approval] = request()["status"]["conditions"]
    assert approval["reason"] == "AutoApproved"  # by kube-controller-manager
    wait_until("the new key", lambda: len(cluster.record("worker-1").get("keys", [])) == 2)
    # NodeRestriction rejects a request for another node's name.
    refused = subprocess.run([cluster.plane.payload / "hyperkube", "kubectl", f"--kubeconfig={machine.kubeconfig}", "create", "-f", "-"],
                             input=client_request(tmp_path, "of-another", "master-0"), capture_output=True, text=True, timeout=DEADLINE)
    assert refused.returncode != 0 and "can only create a node CSR with CN=system:node:worker-1" in refused.stderr


def test_a_machine_comes_back_with_the_key_that_it_had(cluster, processes, tmp_path):
    processes.append(cluster.approver())
    machine = Machine(cluster, tmp_path, "worker-2")
    processes.append(machine.start())
    assert ended(processes[-1]) == 0, machine.log.read_text()
    machine.kubectl("create", "-f", write_node(tmp_path, "worker-2"))
    wait_until("its key", lambda: cluster.record("worker-2").get("keys"))
    # The certificate has expired, and its request was deleted, as happens after an hour.
    expired = end_certificate(cluster, tmp_path, machine)
    cluster.plane.kubectl("delete", "csr", cluster.requests_of("worker-2")[0]["metadata"]["name"])
    processes.append(machine.start())
    assert ended(processes[-1]) == 0, machine.log.read_text()
    assert machine.current.read_text() != expired
    assert "system:node:worker-2" in machine.kubectl("auth", "whoami", "-o", "json")
    assert len(cluster.record("worker-2")["keys"]) == 1

    # A machine without the key is not approved, whatever it writes on the Node.
    key = openssl("rand", "-hex", "32").strip()
    machine.kubectl("annotate", "node", "worker-2", f"slipway.internal/kubelet-keys={key}")
    other = Machine(cluster, tmp_path / "other", "worker-2")
    processes.append(other.start())
    request = wait_until("the request", lambda: [r for r in cluster.requests_of("worker-2") if not conditions(r)])[0]
    assert wait_until("the Event", lambda: cluster.reasons(request["metadata"]["name"])).keys() == {"NameAlreadyRegistered"}


def test_a_credential_that_is_over_is_replaced_by_the_config_server(cluster, processes, tmp_path):
    """The machine was off until certificate and credential expired: it uses the credentials of its first boot at the config server."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "machine_config"))
    import sample
    import test_machine_config
    plane = cluster.plane
    processes.append(cluster.approver())
    machine = Machine(cluster, tmp_path, "worker-3")
    # A token becomes invalid when its bound object is deleted.
    plane.kubectl("create", "secret", "generic", "-n", SPACE, "bound")
    machine.bootstrap = cluster.kubeconfig("of-worker-3", cluster.token(SPACE, "node-bootstrapper", "--bound-object-kind=Secret",
                                                                       "--bound-object-name=bound"))
    processes.append(machine.start())
    assert ended(processes[-1]) == 0, machine.log.read_text()
    machine.kubectl("create", "-f", write_node(tmp_path, "worker-3"))
    wait_until("its key", lambda: cluster.record("worker-3").get("keys"))
    end_certificate(cluster, tmp_path, machine)
    plane.kubectl("delete", "secret", "-n", SPACE, "bound")
    asked = [plane.payload / "hyperkube", "kubectl", f"--kubeconfig={machine.bootstrap}", "auth", "whoami"]
    wait_until("the end of the token", lambda: subprocess.run(asked, capture_output=True, timeout=DEADLINE).returncode)

    (tmp_path / "server").mkdir()
    world = test_machine_config.World(tmp_path / "server")
    fresh = json.loads(plane.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    fresh["users"][0]["user"] = {"token": cluster.token(SPACE, "node-bootstrapper")}
    (world.assets / "auth/kubeconfig-kubelet").write_text(json.dumps(fresh))
    world.render_operator()
    world.render_pools()
    world.start_server()
    processes.append(world.server)
    (machine.folder / "config-server.json").write_text(json.dumps(
        {"url": f"https://127.0.0.1:{world.ports[0]}/config/master", "ca": (world.assets / "tls/ca.crt").read_text(), "token": sample.TOKEN}))
    start = host_clock.now()
    processes.append(machine.start())
    assert ended(processes[-1]) == 0, machine.log.read_text()
    print(f"\nfrom a credential that is over to a certificate: {host_clock.now() - start:.1f} s")
    assert "got another one from the machine-config-server" in machine.log.read_text()
    assert os.stat(machine.bootstrap).st_mode & 0o777 == 0o600
    assert sample.TOKEN not in machine.log.read_text()
    assert "system:node:worker-3" in machine.kubectl("auth", "whoami", "-o", "json")


def end_certificate(cluster, folder, machine):
    """Replaces the certificate of a machine with an expired one for the same key; returns its text."""
    pem = machine.current.read_text()
    (folder / "key").write_text(pem[pem.index("-----BEGIN EC PRIVATE KEY") if "EC PRIVATE KEY" in pem else pem.index("-----BEGIN PRIVATE KEY"):])
    openssl("req", "-new", "-key", folder / "key", "-subj", f"/O=system:nodes/CN=system:node:{machine.name}", "-out", folder / "csr")
    openssl("x509", "-req", "-in", folder / "csr", "-CA", cluster.plane.ca, "-CAkey", cluster.plane.folder / "ca.key", "-CAcreateserial",
            "-days", "0", "-out", folder / "crt")
    over = (folder / "crt").read_text() + (folder / "key").read_text()
    machine.current.resolve().write_text(over)
    return over


def write_node(folder, name):
    file = folder / f"node-{name}.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    return file


def client_request(folder, object_name, node):
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "/dev/null",
            "-out", folder / "client.csr", "-subj", f"/O=system:nodes/CN=system:node:{node}")
    return json.dumps({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": object_name},
                       "spec": {"request": base64.b64encode((folder / "client.csr").read_bytes()).decode(),
                                "signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"]}})


def serving_request(folder, object_name, names):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder / "serving.key",
            "-out", folder / "serving.csr", "-subj", "/O=system:nodes/CN=system:node:master-3", "-addext", f"subjectAltName={names}")
    return json.dumps({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": object_name},
                       "spec": {"request": base64.b64encode((folder / "serving.csr").read_bytes()).decode(),
                                "signerName": "kubernetes.io/kubelet-serving", "usages": ["digital signature", "server auth"]}})
