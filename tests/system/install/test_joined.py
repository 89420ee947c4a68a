"""The intermediate state: three masters that joined the temporary control plane, before the handover."""

import base64
import json
import re
import subprocess

from installation import API_ADDRESS, MASTERS, SLIPWAY, run
from leaks import assert_no_secrets, names_in, readable_by_others
from user_files import HELLO, LICENSE

BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"


def test_three_masters_are_ready(joined):
    nodes = joined.objects("nodes")
    assert sorted(node["metadata"]["name"] for node in nodes) == MASTERS
    for node in nodes:
        assert {"type": "Ready", "status": "True"}.items() <= next(c for c in node["status"]["conditions"] if c["type"] == "Ready").items()
        assert node["metadata"]["labels"].keys() >= {"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"}
        assert "node-role.kubernetes.io/master" in [taint["key"] for taint in node["spec"]["taints"]]


def test_the_events_tell_every_stage(joined):
    finished = {event["name"]: event.get("duration_ms") for event in joined.creation.events if event["phase"] == "finished" and event["kind"] == "stage"}
    print()
    for name, duration in finished.items():
        print(f"{name:40} {duration:6} ms")
    for stage in ("api-bootstrap", "etcd-bootstrap", "kube-apiserver-bootstrap", "kube-controller-manager-bootstrap", "kube-scheduler-bootstrap",
                  "mco-bootstrap", "cvo-bootstrap", "ingress-operator-bootstrap", "cco-bootstrap"):
        assert stage in finished
        assert joined.machine("bootstrap", "test", "-e", f"/opt/openshift/{stage}.done", check=False).returncode == 0, stage
    records = json.loads(joined.machine("bootstrap", "cat", "/var/log/openshift/bootkube.json").stdout)
    assert records[0]["phase"] == "service start"
    assert {"etcd-bootstrap", "mco-bootstrap"} <= {record.get("stage") for record in records if record.get("result") == "success"}


def test_what_the_user_added_is_there(joined):
    for master in MASTERS:
        assert joined.machine(master, "cat", "/etc/hello").stdout == HELLO
        assert joined.machine(master, "cat", "/etc/license").stdout == LICENSE
    assert joined.wait_until("the widget exists", lambda: joined.kubectl("get", "widgets", "one", check=False).returncode == 0)


def test_the_api_address_is_a_virtual_one_of_the_bootstrap_machine(joined):
    assert f" {API_ADDRESS}/" in joined.machine("bootstrap", "ip", "-oneline", "address").stdout
    for name in ("api", "api-int"):
        assert joined.machine("master-0", "getent", "hosts", f"{name}.{joined.domain}").stdout.split()[0] == API_ADDRESS


def test_the_temporary_control_plane_is_static_pods(joined):
    files = joined.machine("bootstrap", "ls", "/etc/kubernetes/manifests").stdout.split()
    assert {"etcd-member-pod.yaml", "kube-apiserver-pod.yaml", "kube-controller-manager-pod.yaml", "kube-scheduler-pod.yaml",
            "machineconfigoperator-bootstrap-pod.yaml", "bootstrap-pod.yaml", "keepalived.yaml"} <= set(files)


def test_namespaces_get_their_ranges_from_the_policy_controller(joined):
    def annotated():
        namespace = json.loads(joined.kubectl("get", "namespace", "default", "--output", "json").stdout)
        return namespace["metadata"].get("annotations", {}).get("openshift.io/sa.scc.uid-range")
    assert re.fullmatch(r"\d+/\d+", joined.wait_until("namespace default has a range", annotated))


def test_the_log_is_served_to_those_with_a_certificate(joined):
    tls = "/opt/openshift/tls"
    get = ["curl", "--silent", "--insecure", "--max-time", "10", "--output", "/dev/null", "--write-out", "%{http_code}"]
    url = "https://localhost:19531/entries?boot&_SYSTEMD_UNIT=bootkube.service"
    with_certificate = joined.machine("bootstrap", *get, "--cert", f"{tls}/journal-gatewayd.crt", "--key", f"{tls}/journal-gatewayd.key", url)
    assert with_certificate.stdout == "200"
    assert joined.machine("bootstrap", *get, url, check=False).stdout != "200"


def test_people_come_as_core_by_key(joined):
    joined.machine("master-1", "sh", "-c", "umask 077; cat >/run/test-key", input=joined.ssh_key.read_text())
    ssh = ["ssh", "-i", "/run/test-key", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes"]
    try:
        for machine in ("bootstrap", "master-0"):
            assert joined.machine("master-1", *ssh, f"core@{machine}", "sudo", "id", "-un").stdout == "root\n"
    finally:
        joined.machine("master-1", "rm", "/run/test-key")


def test_strangers_get_no_config_and_are_reported(joined):
    url = f"https://{API_ADDRESS}:22623/config/"
    status = ["curl", "--silent", "--insecure", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "10"]
    token = joined.machine("bootstrap", "cat", "/opt/openshift/tls/machine-config-server-token").stdout
    assert joined.machine("master-1", *status, url + "master").stdout == "403"
    assert joined.machine("master-1", *status, "--header", "Authorization: Bearer x" + token[1:], url + "master").stdout == "403"
    # On standard input, so that the token is not visible in the process list.
    with_token = "header = \"Authorization: Bearer " + token + "\"\n"
    assert joined.machine("master-1", *status, "--config", "-", url + "master", input=with_token).stdout == "200"
    assert joined.machine("master-1", *status, "--config", "-", url + "worker", input=with_token).stdout == "500"
    logs = joined.machine("bootstrap", "sh", "-c", "cat /var/log/pods/*machine-config-operator*/machine-config-server/*.log").stdout
    assert re.search(r"10\.97\.77\.12.*(refused|denied|token)", logs), logs[-2000:]


def request(joined, name, subject, names=(), addresses=(), usages=("digital signature", "client auth"),
            signer="kubernetes.io/kube-apiserver-client-kubelet", groups=()):
    """Sends a certificate request with the identity of new machines; with `groups`, as the same user in other groups."""
    san = ",".join([f"DNS:{n}" for n in names] + [f"IP:{a}" for a in addresses])
    made = subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "/dev/null",
                           "-subj", subject, *(["-addext", f"subjectAltName={san}"] if san else [])], capture_output=True, text=True, check=True)
    csr = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
           "spec": {"request": base64.b64encode(made.stdout.encode()).decode(), "signerName": signer, "usages": list(usages)}}
    identity = ["kubeconfig-loopback", "--as", BOOTSTRAPPER, *(f"--as-group={group}" for group in groups)] if groups else ["kubeconfig-kubelet"]
    joined.machine("bootstrap", "kubectl", "--kubeconfig", f"/opt/openshift/auth/{identity[0]}", *identity[1:], "create", "-f", "-",
                      input=json.dumps(csr))


def test_requests_of_strangers_stay_pending_with_an_event(joined):
    node = "/O=system:nodes/CN=system:node:"
    request(joined, "wrong-name", node + "master-9")
    request(joined, "existing-node", node + "master-0")
    request(joined, "extra-names", node + "worker-0", names=["worker-0"])
    request(joined, "wrong-group", node + "worker-0", groups=["system:serviceaccounts"])
    request(joined, "wrong-serving", node + "master-2", names=["master-2"], addresses=["10.97.77.13"], usages=["digital signature", "server auth"],
            signer="kubernetes.io/kubelet-serving")
    for name in ("wrong-name", "existing-node", "extra-names", "wrong-group", "wrong-serving"):
        def told():
            return [e for e in joined.objects("events", "--all-namespaces") if e["involvedObject"].get("name") == name]
        event = joined.wait_until(f"an event about {name}", told)[0]
        print(f"\n{name}: {event['reason']}: {event['message']}", end="")
        csr = json.loads(joined.kubectl("get", "csr", name, "--output", "json").stdout)
        assert not csr.get("status", {}).get("conditions"), name


def test_kubelets_answer_for_logs(joined):
    """Their serving certificates were approved as well."""
    csrs = joined.objects("csr")
    serving = [csr for csr in csrs if csr["spec"]["signerName"] == "kubernetes.io/kubelet-serving" and csr["metadata"]["name"] != "wrong-serving"]
    assert len(serving) >= 3 and all(csr["status"].get("certificate") for csr in serving)


def test_gather_works_before_there_is_an_api(joined):
    names = names_in(joined.early_bundle)
    assert "host/machines.jsonl" in names and any(name.startswith("host/bootstrap.console") for name in names)
    assert any(name.startswith("bootstrap/journals/") for name in names), sorted(names)


def test_gather_works_afterwards_and_has_no_secrets(joined):
    bundle = joined.run("gather", "bootstrap").stdout.strip()
    names = names_in(bundle)
    assert "bootstrap/journals/bootkube.log" in names and "bootstrap/services/bootkube.json" in names
    assert any(name.startswith("resources/nodes") for name in names), sorted(names)
    assert any(name.startswith("control-plane/master-0/") for name in names), sorted(names)
    for archive in (bundle, joined.early_bundle):
        assert_no_secrets(joined, archive)
        # The cluster is not complete, so it has links of `slipway why`, but no fault with a name of its own.
        analyzed = run(SLIPWAY, "analyze", archive, "--output", "json", check=False)
        assert json.loads(analyzed.stdout)["findings"] == [], analyzed.stdout + analyzed.stderr


def test_the_hand_over_waits(joined):
    """The component that the user excluded does not run. The tests use the intermediate state that results from it."""
    assert joined.kubectl("get", "deployment", "--namespace", "openshift-kube-apiserver-operator", "kube-apiserver-operator", check=False).returncode
    assert "bootstrap" in joined.machines()


def test_no_secret_is_readable_by_others(joined):
    assert not readable_by_others(joined, ["bootstrap", *MASTERS])
