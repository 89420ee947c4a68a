"""From an install-config to three masters that joined a temporary control plane, on local machines, as a user would do it.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/install

-s shows the figures. One cluster for all tests: it is killed once on its way, and goes on.
"""

import base64
import json
import re
import subprocess
import tarfile
import time

import pytest
from installation import Installation, kill, run

MASTERS = ["master-0", "master-1", "master-2"]
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
HELLO = "from the user's MachineConfig\n"
USER_FILES = {
    "openshift/99-hello.yaml": f"""apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {{name: 99-master-hello, labels: {{machineconfiguration.openshift.io/role: master}}}}
spec:
  config:
    ignition: {{version: 3.2.0}}
    storage: {{files: [{{path: /etc/hello, mode: 420, contents: {{source: "data:;base64,{base64.b64encode(HELLO.encode()).decode()}"}}}}]}}
""",
    # A kind that slipway has never heard of, before the type that it is of.
    "manifests/00-widget.yaml": """apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 3}
""",
    "manifests/99-widgets.yaml": """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""",
}
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@pytest.fixture(scope="module")
def installed():
    made = Installation()
    try:
        made.run("create", "manifests")
        for path, text in USER_FILES.items():
            made.write(path, text)
        # The program is killed while the bootstrap machine works, long before there is an API.
        first = made.start("create", "cluster")
        made.wait_until("the bootstrap machine runs", lambda: (made.state / made.name / "control.sock").exists()
                        and made.machines().get("bootstrap", {}).get("state") == "running")
        kill(first)
        made.early_bundle = made.run("gather", "bootstrap").stdout.strip()
        start = time.monotonic()
        second = made.run("create", "cluster", "--output", "json")
        made.seconds = time.monotonic() - start
        made.events = [json.loads(line) for line in second.stdout.splitlines()]
        yield made
    finally:
        made.remove()


def test_three_masters_are_ready(installed):
    print(f"\n{installed.seconds:.1f} s after the kill")
    nodes = installed.objects("nodes")
    assert sorted(node["metadata"]["name"] for node in nodes) == MASTERS
    for node in nodes:
        assert {"type": "Ready", "status": "True"}.items() <= next(c for c in node["status"]["conditions"] if c["type"] == "Ready").items()
        assert node["metadata"]["labels"].keys() >= {"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"}
        assert "node-role.kubernetes.io/master" in [taint["key"] for taint in node["spec"]["taints"]]


def test_the_events_tell_every_stage(installed):
    finished = {event["name"]: event.get("duration_ms") for event in installed.events if event["phase"] == "finished" and event["kind"] == "stage"}
    print()
    for name, duration in finished.items():
        print(f"{name:40} {duration:6} ms")
    for stage in ("api-bootstrap", "etcd-bootstrap", "kube-apiserver-bootstrap", "kube-controller-manager-bootstrap", "kube-scheduler-bootstrap",
                  "mco-bootstrap", "cvo-bootstrap", "ingress-operator-bootstrap", "cco-bootstrap"):
        assert stage in finished
        assert installed.machine("bootstrap", "test", "-e", f"/opt/openshift/{stage}.done", check=False).returncode == 0, stage
    records = json.loads(installed.machine("bootstrap", "cat", "/var/log/openshift/bootkube.json").stdout)
    assert records[0]["phase"] == "service start"
    assert {"etcd-bootstrap", "mco-bootstrap"} <= {record.get("stage") for record in records if record.get("result") == "success"}


def test_the_same_command_again_changes_nothing(installed):
    before = installed.files()
    start = time.monotonic()
    installed.run("create", "cluster")
    print(f"\n{time.monotonic() - start:.1f} s")
    assert installed.files() == before


def test_what_the_user_added_is_there(installed):
    for master in MASTERS:
        assert installed.machine(master, "cat", "/etc/hello").stdout == HELLO
    assert installed.wait_until("the widget exists", lambda: installed.kubectl("get", "widgets", "one", check=False).returncode == 0)


def test_the_api_address_is_a_virtual_one_of_the_bootstrap_machine(installed):
    assert " 10.97.77.5/" in installed.machine("bootstrap", "ip", "-oneline", "address").stdout
    for name in ("api", "api-int"):
        assert installed.machine("master-0", "getent", "hosts", f"{name}.{installed.domain}").stdout.split()[0] == "10.97.77.5"


def test_the_temporary_control_plane_is_static_pods(installed):
    files = installed.machine("bootstrap", "ls", "/etc/kubernetes/manifests").stdout.split()
    assert {"etcd-member-pod.yaml", "kube-apiserver-pod.yaml", "kube-controller-manager-pod.yaml", "kube-scheduler-pod.yaml",
            "machineconfigoperator-bootstrap-pod.yaml", "bootstrap-pod.yaml", "keepalived.yaml"} <= set(files)


def test_namespaces_get_their_ranges_from_the_policy_controller(installed):
    def annotated():
        namespace = json.loads(installed.kubectl("get", "namespace", "default", "--output", "json").stdout)
        return namespace["metadata"].get("annotations", {}).get("openshift.io/sa.scc.uid-range")
    assert re.fullmatch(r"\d+/\d+", installed.wait_until("namespace default has a range", annotated))


def test_the_log_is_served_to_those_with_a_certificate(installed):
    tls = "/opt/openshift/tls"
    get = ["curl", "--silent", "--insecure", "--max-time", "10", "--output", "/dev/null", "--write-out", "%{http_code}"]
    url = "https://localhost:19531/entries?boot&_SYSTEMD_UNIT=bootkube.service"
    with_certificate = installed.machine("bootstrap", *get, "--cert", f"{tls}/journal-gatewayd.crt", "--key", f"{tls}/journal-gatewayd.key", url)
    assert with_certificate.stdout == "200"
    assert installed.machine("bootstrap", *get, url, check=False).stdout != "200"


def test_people_come_as_core_by_key(installed):
    installed.machine("master-1", "sh", "-c", "umask 077; cat >/run/test-key", input=installed.ssh_key.read_text())
    ssh = ["ssh", "-i", "/run/test-key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes"]
    try:
        for machine in ("bootstrap", "master-0"):
            assert installed.machine("master-1", *ssh, f"core@{machine}", "sudo", "id", "-un").stdout == "root\n"
    finally:
        installed.machine("master-1", "rm", "/run/test-key")


def test_strangers_get_no_config_and_are_reported(installed):
    url = "https://10.97.77.5:22623/config/"
    status = ["curl", "--silent", "--insecure", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "10"]
    token = installed.machine("bootstrap", "cat", "/opt/openshift/tls/machine-config-server-token").stdout
    assert installed.machine("master-1", *status, url + "master").stdout == "403"
    assert installed.machine("master-1", *status, "--header", "Authorization: Bearer x" + token[1:], url + "master").stdout == "403"
    # On its standard input, so that the token stands in no list of processes.
    with_token = "header = \"Authorization: Bearer " + token + "\"\n"
    assert installed.machine("master-1", *status, "--config", "-", url + "master", input=with_token).stdout == "200"
    assert installed.machine("master-1", *status, "--config", "-", url + "worker", input=with_token).stdout == "500"
    logs = installed.machine("bootstrap", "sh", "-c", "cat /var/log/pods/*machine-config-operator*/machine-config-server/*.log").stdout
    assert re.search(r"10\.97\.77\.12.*(refused|denied|token)", logs), logs[-2000:]


def request(installed, name, subject, names=(), addresses=(), usages=("digital signature", "client auth"),
            signer="kubernetes.io/kube-apiserver-client-kubelet", groups=()):
    """Sends a certificate request with the identity that new machines have; with `groups`, as the same user in other groups."""
    san = ",".join([f"DNS:{n}" for n in names] + [f"IP:{a}" for a in addresses])
    made = subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "/dev/null",
                           "-subj", subject, *(["-addext", f"subjectAltName={san}"] if san else [])], capture_output=True, text=True, check=True)
    csr = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
           "spec": {"request": base64.b64encode(made.stdout.encode()).decode(), "signerName": signer, "usages": list(usages)}}
    identity = ["kubeconfig-loopback", "--as", BOOTSTRAPPER, *(f"--as-group={group}" for group in groups)] if groups else ["kubeconfig-kubelet"]
    installed.machine("bootstrap", "kubectl", "--kubeconfig", f"/opt/openshift/auth/{identity[0]}", *identity[1:], "create", "-f", "-",
                      input=json.dumps(csr))


def test_requests_of_strangers_stay_pending_with_an_event(installed):
    node = "/O=system:nodes/CN=system:node:"
    request(installed, "wrong-name", node + "master-9")
    request(installed, "existing-node", node + "master-0")
    request(installed, "extra-names", node + "worker-0", names=["worker-0"])
    request(installed, "wrong-group", node + "worker-0", groups=["system:serviceaccounts"])
    request(installed, "wrong-serving", node + "master-2", names=["master-2"], addresses=["10.97.77.13"], usages=["digital signature", "server auth"],
            signer="kubernetes.io/kubelet-serving")
    for name in ("wrong-name", "existing-node", "extra-names", "wrong-group", "wrong-serving"):
        def told():
            return [e for e in installed.objects("events", "--all-namespaces") if e["involvedObject"].get("name") == name]
        event = installed.wait_until(f"an event about {name}", told)[0]
        print(f"\n{name}: {event['reason']}: {event['message']}", end="")
        csr = json.loads(installed.kubectl("get", "csr", name, "--output", "json").stdout)
        assert not csr.get("status", {}).get("conditions"), name


def test_kubelets_answer_for_logs(installed):
    """Their serving certificates were approved, too."""
    csrs = installed.objects("csr")
    serving = [csr for csr in csrs if csr["spec"]["signerName"] == "kubernetes.io/kubelet-serving" and csr["metadata"]["name"] != "wrong-serving"]
    assert len(serving) >= 3 and all(csr["status"].get("certificate") for csr in serving)


def names_in(bundle):
    with tarfile.open(bundle) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def test_gather_works_before_there_is_an_api(installed):
    names = names_in(installed.early_bundle)
    assert "host/machines.jsonl" in names and any(name.startswith("host/bootstrap.console") for name in names)
    assert any(name.startswith("bootstrap/journals/") for name in names), sorted(names)


def test_gather_works_afterwards_and_has_no_secrets(installed):
    bundle = installed.run("gather", "bootstrap").stdout.strip()
    names = names_in(bundle)
    assert "bootstrap/journals/bootkube.log" in names and "bootstrap/services/bootkube.json" in names
    assert any(name.startswith("resources/nodes") for name in names), sorted(names)
    assert any(name.startswith("control-plane/master-0/") for name in names), sorted(names)
    for archive in (bundle, installed.early_bundle):
        assert_no_secrets(installed, archive)


def secrets_of(installed):
    """Texts that nobody else may read, as they are and in base64."""
    token = installed.machine("bootstrap", "cat", "/opt/openshift/tls/machine-config-server-token").stdout.strip()
    password = (installed.dir / "auth/kubeadmin-password").read_text().strip()
    plain = [token.encode(), password.encode()]
    return plain + [base64.b64encode(text) for text in plain]


def assert_no_secrets(installed, archive):
    found, secrets = [], secrets_of(installed)
    with tarfile.open(archive) as bundle:
        for member in bundle:
            content = bundle.extractfile(member).read() if member.isfile() else b""
            if PRIVATE_KEY.search(content) or b"LS0tLS1CRUdJTiBFQyBQUklWQVRF" in content or any(secret in content for secret in secrets):
                found.append(member.name)
    assert not found


def test_no_secret_is_readable_by_others(installed):
    secrets = secrets_of(installed)
    roots = [installed.dir, installed.state / installed.name / "owner.log", installed.state / installed.name / "events.jsonl"]
    readable = []
    for root in roots:
        for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
            if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077:
                content = path.read_bytes()
                if PRIVATE_KEY.search(content) or any(secret in content for secret in secrets):
                    readable.append(str(path))
    # On the machines: whatever others can reach, by the modes of all folders above it.
    for machine in ["bootstrap", *MASTERS]:
        script = ("find /etc /var /run /opt /tmp -xdev \\( -type d ! -perm -o=x -prune \\) -o -type f -perm -o=r -size -4096k -print0 2>/dev/null"
                  " | grep --null-data --invert-match -e ^/var/lib/containerd/ -e ^/var/lib/containers/"
                  " | xargs -0 grep --files-with-matches --text -e 'BEGIN [A-Z ]*PRIVATE KEY' -e LS0tLS1CRUdJTiBFQyBQUklWQVRF 2>/dev/null || true")
        readable += [f"{machine}:{path}" for path in installed.machine(machine, "sh", "-c", script).stdout.split()]
        journal = installed.machine(machine, "journalctl", "--no-pager", "--quiet", "--all").stdout.encode()
        assert not PRIVATE_KEY.search(journal) and not any(secret in journal for secret in secrets), machine
    assert not readable


def test_destroy_leaves_nothing(installed):
    installed.run("destroy", "cluster")
    assert not (installed.state / installed.name).exists()
    assert list(installed.files()) == ["install-config.yaml"]
    assert installed.name not in run("mount").stdout
