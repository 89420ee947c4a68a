"""Masters are replaced, as docs/replace-master.md says: a machine with an empty disk, one that is gone for good, two of three."""

import base64
import json
import random
import signal
import subprocess
import threading
import time

import host_clock
from api import BROKEN
from installation import SLIPWAY, run


def members(cluster):
    """{name: (votes, healthy)}, as the etcd operator sees them."""
    found = cluster.kubectl("get", "configmap", "etcd-members", "-n", "openshift-etcd", "--output", "jsonpath={.data.members}", check=False)
    return {member["name"]: (member["votes"], member["healthy"]) for member in json.loads(found.stdout or "[]")}


def masters(cluster):
    table = cluster.kubectl("get", "configmap", "machine-addresses", "-n", "openshift-config", "--output", "jsonpath={.data.machines}").stdout
    return sorted(row["name"] for row in json.loads(table) if row["role"] == "master")


def unfinished(cluster):
    table = cluster.kubectl("get", "configmap", "machine-addresses", "-n", "openshift-config", "--output", "json", check=False).stdout
    return json.loads(table or "{}").get("metadata", {}).get("annotations", {}).get("slipway.internal/masters-change", "")


def settled(cluster):
    status = {(item["metadata"]["name"], condition["type"]): condition["status"] for item in cluster.objects("clusteroperators")
              for condition in item["status"].get("conditions", [])}
    return all(value == ("True" if kind == "Available" else "False") for (_, kind), value in status.items()
               if kind in ("Available", "Degraded", "Progressing"))


SPACES = ["openshift-etcd", "openshift-kube-apiserver", "openshift-kube-controller-manager", "openshift-kube-scheduler"]


def static_pods(cluster):
    return {(pod["metadata"]["namespace"], pod["spec"]["nodeName"]) for pod in cluster.objects("pods", "--all-namespaces")
            if pod["metadata"]["namespace"] in SPACES and "kubernetes.io/config.mirror" in pod["metadata"].get("annotations", {})}


def check(cluster, names):
    """Three voters on these machines, and a control plane that is complete on each."""
    assert masters(cluster) == names
    cluster.wait_until("they vote", lambda: members(cluster) == {name: (True, True) for name in names}, limit=120,
                       missing=lambda: members(cluster))
    cluster.wait_until("all ClusterOperators are settled", lambda: settled(cluster), limit=900,
                       missing=lambda: cluster.kubectl("get", "clusteroperators", check=False).stdout)
    assert sorted(node["metadata"]["name"] for node in cluster.objects("nodes")) == names
    # The garbage collector of Kubernetes removes the pods of Nodes that are gone.
    cluster.wait_until("their static pods, and no others", lambda: static_pods(cluster) == {(space, name) for space in SPACES for name in names}, limit=180,
                       missing=lambda: static_pods(cluster))
    endpoints = cluster.kubectl("get", "configmap", "etcd-endpoints", "-n", "openshift-etcd", "--output", "jsonpath={.data}").stdout
    assert len(json.loads(endpoints)) == 3
    cluster.masters = names


class Writer(threading.Thread):
    """Writes all the time; what was acknowledged must exist at the end."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.stop, self.written, self.failed, self.longest = cluster, threading.Event(), 0, 0, 0.0
        cluster.kubectl("delete", "configmap", "written", "--ignore-not-found")
        cluster.kubectl("create", "configmap", "written")

    def run(self):
        path = "/api/v1/namespaces/default/configmaps/written"
        while not self.stop.is_set():
            begin = host_clock.now()
            try:
                status, _ = self.cluster.api.call("PATCH", path, {"data": {f"n{self.written}": "x"}}, "application/merge-patch+json")
            except BROKEN:
                status = 0
            self.written, self.failed = self.written + (status == 200), self.failed + (status != 200)
            self.longest = max(self.longest, host_clock.now() - begin)
            time.sleep(0.1)

    def end(self):
        self.stop.set()
        self.join(timeout=60)
        kept = json.loads(self.cluster.kubectl("get", "configmap", "written", "--output", "json").stdout).get("data", {})
        lost = [number for number in range(self.written) if f"n{number}" not in kept]
        assert self.written > 20 and lost == []
        return f"{self.written} writes meanwhile, {self.failed} refused, the longest took {self.longest:.1f} s"


def test_a_master_is_replaced_under_its_own_name(cluster, capsys):
    """The command is killed three times on its way."""
    names = cluster.masters
    _, name, another = names
    writer = Writer(cluster)
    writer.start()
    machine = cluster.machines()[name]
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    dice, begin = random.Random(seed), host_clock.now()
    for number in range(3):
        process = subprocess.Popen(cluster.command("replace", "master", name), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        if number == 0:
            # Otherwise nothing is begun on a busy host, and the other command below would begin.
            cluster.wait_until("the change is begun", lambda: unfinished(cluster), limit=120)
        time.sleep(dice.uniform(0.3, 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
    other = cluster.run("replace", "master", another, check=False)
    assert other.returncode == 1 and "the masters are being changed" in other.stderr, other.stderr
    done = cluster.run("replace", "master", name, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    took = host_clock.now() - begin
    assert f"{name} is a master, and votes in etcd" in done.stdout
    assert unfinished(cluster) == ""
    check(cluster, names)
    assert cluster.machines()[name] != machine
    writes = writer.end()
    with capsys.disabled():
        print(f"\nFIGURE replace master: under its own name, with three kills, in {took:.0f} s; {writes}")


def test_a_master_that_is_gone_for_good(cluster, capsys):
    first, second, gone = cluster.masters
    new = next(name for name in (f"master-{number}" for number in range(9)) if name not in cluster.masters)
    folder = cluster.folder / "stolen"
    folder.mkdir()
    # What a thief of the disk has: the certificate of the kubelet.
    pair = cluster.machine(gone, "cat", "/var/lib/kubelet/pki/kubelet-client-current.pem").stdout
    (folder / "kubelet.pem").write_text(pair)
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder / "key.pem")
    run("openssl", "req", "-new", "-key", folder / "key.pem", "-subj", f"/O=system:nodes/CN=system:node:{gone}", "-out", folder / "request.pem")
    run(SLIPWAY, "machine", "destroy", gone, "--cluster", cluster.name, "--state", cluster.state)
    cluster.wait_until("etcd misses it", lambda: members(cluster).get(gone) == (True, False), limit=120, missing=lambda: members(cluster))
    refused = cluster.run("replace", "master", first, check=False)
    assert refused.returncode == 1 and f"etcd would lose its quorum without {first}" in refused.stderr, refused.stderr
    writer = Writer(cluster)
    writer.start()
    begin = host_clock.now()
    done = cluster.run("replace", "master", gone, "--by", new, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    took = host_clock.now() - begin
    check(cluster, sorted([first, second, new]))
    writes = writer.end()

    # The certificate is of no use: it neither registers the machine again nor is renewed.
    def as_kubelet(*words, **options):
        return cluster.kubectl("--client-certificate", folder / "kubelet.pem", "--client-key", folder / "kubelet.pem", *words, check=False, **options)

    node = as_kubelet("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": gone}}))
    assert node.returncode != 0 and "it is not a machine of this cluster" in node.stderr, node.stderr
    request = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "again"},
               "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"],
                        "request": base64.b64encode((folder / "request.pem").read_bytes()).decode()}}
    renewal = as_kubelet("create", "-f", "-", input=json.dumps(request))
    assert renewal.returncode != 0 and "it is not a machine of this cluster" in renewal.stderr, renewal.stderr
    secrets = as_kubelet("get", "secrets", "-n", "openshift-etcd")
    assert secrets.returncode != 0 and "Forbidden" in secrets.stderr
    with capsys.disabled():
        print(f"\nFIGURE replace master: gone for good, by one of another name, in {took:.0f} s; {writes}")


def test_two_of_three_are_lost(cluster, capsys):
    [survivor, *lost] = cluster.masters
    cluster.kubectl("delete", "configmap", "kept", "--ignore-not-found")
    cluster.kubectl("create", "configmap", "kept", "--from-literal=state=before")
    time.sleep(2)  # the survivor has it, too
    refused = cluster.run("restore", "--yes", "--survivor", survivor, check=False)
    assert refused.returncode == 1 and "answers, so it is not lost" in refused.stderr, refused.stderr
    for name in lost:
        run(SLIPWAY, "machine", "destroy", name, "--cluster", cluster.name, "--state", cluster.state)
    asked = cluster.run("restore", "--survivor", survivor, check=False, stdin=subprocess.DEVNULL)
    assert asked.returncode == 1 and "use --yes" in asked.stderr and "Lost for ever" in asked.stderr, asked.stderr
    begin = host_clock.now()
    done = cluster.run("restore", "--yes", "--survivor", survivor, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    restored = host_clock.now() - begin
    assert cluster.kubectl("get", "configmap", "kept", "--output", "jsonpath={.data.state}").stdout == "before"
    for name in lost:
        done = cluster.run("replace", "master", name, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    took = host_clock.now() - begin
    check(cluster, sorted([survivor, *lost]))
    with capsys.disabled():
        print(f"\nFIGURE replace master: two of three lost: the API works after {restored:.0f} s, three members vote after {took:.0f} s")
