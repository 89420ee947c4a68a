"""The operator metrics-server and metrics-server itself behind a real API server, with the accounts, policies and certificates of the
release; and the metrics of operators, which machine-config-server serves. Only the kubelets are Python."""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[0] / "support"))
import config_operator  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from network_namespaces import in_own_network  # noqa: E402
from openshift_api import crd_paths  # noqa: E402
from programs import free_port  # noqa: E402

BIN, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve(), pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
MANIFESTS = [*config_operator.MANIFESTS, "0000_50_service-ca_03_cr", "0000_50_service-ca_07_clusteroperator",
             *(f"0000_50_metrics-server_{name}" for name in ("03_rbac", "05_network-policy", "05_service", "07_clusteroperator")),
             *(f"0000_80_machine-config_03_server_{name}" for name in ("1_account", "2_role", "3_binding")), "0000_80_machine-config_05_metrics-service"]
SERVER, CONFIGS = "openshift-metrics-server", "openshift-machine-config-operator"
SPACES = [config_operator.SPACE, "openshift-config", "openshift-config-managed", CONFIGS, "shop", "monitoring"]
# Names of certificates and addresses. The second kubelet's certificate is of an authority that the cluster does not know.
NODES = {"worker-0": ("kubelet", "192.0.2.50"), "stranger": ("stranger", "192.0.2.51")}
API_SERVICE = "v1beta1.metrics.k8s.io"
LONG_AGO = "2026-01-01T00:00:00Z"
DEADLINE = 60


def run(*words, check=True):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=DEADLINE)
    assert not check or done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done


class Cluster(ControlPlane):
    def __init__(self, folder):
        front = ["requestheader-client-ca-file=front.crt", "requestheader-allowed-names=front-proxy",
                 "requestheader-extra-headers-prefix=X-Remote-Extra-", "requestheader-group-headers=X-Remote-Group",
                 "requestheader-username-headers=X-Remote-User", "proxy-client-cert-file=front-proxy.crt", "proxy-client-key-file=front-proxy.key"]
        # Without tokens of pods for service accounts.
        flags = ["--disable-admission-plugins=ServiceAccount", *(f"--{flag}" for flag in front)]
        super().__init__(PAYLOAD, folder, flags=flags, controllers="horizontal-pod-autoscaler-controller")

    def _make_certificates(self):
        super()._make_certificates()
        for name in ("front", "kubelets", "strangers", "clients"):
            run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", self.folder / f"{name}.key", "-out", self.folder / f"{name}.crt")
        self.sign("front", "front-proxy", "extendedKeyUsage=clientAuth")
        self.sign("clients", "system:openshift-metrics-server", "extendedKeyUsage=clientAuth")
        for authority, (name, address) in zip(("kubelets", "strangers"), NODES.values()):
            self.sign(authority, name, f"subjectAltName=IP:{address}")

    def sign(self, authority, name, extensions):
        path = self.folder / name
        path.with_suffix(".ext").write_text(f"{extensions}\n")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", path.with_suffix(".key"), "-out", path.with_suffix(".csr"))
        run("openssl", "x509", "-req", "-in", path.with_suffix(".csr"), "-CA", self.folder / f"{authority}.crt", "-CAkey", self.folder / f"{authority}.key",
            "-CAcreateserial", "-days", "1", "-extfile", path.with_suffix(".ext"), "-out", path.with_suffix(".crt"))

    def show(self, name):
        """The Secret with a client certificate, as the kube-apiserver operator writes it."""
        data = {f"tls.{part}": base64.b64encode((self.folder / f"{name}.{part}").read_bytes()).decode() for part in ("crt", "key")}
        self.apply({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": data,
                    "metadata": {"name": "metrics-server-client-cert-key", "namespace": "openshift-config-managed"}})
        return data

    def until(self, what, ready):
        return super().until("operator", what, ready)

    def account(self, space, name):
        """The kubeconfig of an account."""
        return self.kubeconfig_of(name, self.token(space, name))

    def set_status(self, kind, name, status, space="default"):
        self.patch(kind, name, {"status": status}, namespace=space, subresource="status")

    def set_history(self, state):
        """What the cluster-version operator writes."""
        entry = {"state": state, "startedTime": LONG_AGO, "completionTime": "2026-01-01T00:01:00Z", "image": "r/release@sha256:1", "version": "0.1.0",
                 "verified": False}
        self.set_status("clusterversion", "version", {"desired": {"image": "r/release@sha256:1", "version": "0.1.0"}, "history": [entry],
                                                      "observedGeneration": 1, "versionHash": "x", "availableUpdates": []})

    def set_pods(self, pods):
        """What kube-controller-manager writes about the Deployment."""
        generation = self.get("deployment", "metrics-server", "-n", SERVER)["metadata"]["generation"]
        condition = {"type": "Available", "status": "True" if pods else "False", "lastTransitionTime": LONG_AGO, "lastUpdateTime": LONG_AGO}
        self.set_status("deployment", "metrics-server", {
            "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1, "availableReplicas": pods, "readyReplicas": pods,
            "conditions": [condition]}, SERVER)

    def told(self):
        """The conditions of the ClusterOperator."""
        status = self.get("clusteroperator", "metrics-server").get("status", {})
        return {each["type"]: (each["status"], each.get("reason", "")) for each in status.get("conditions", [])}

    def mounted(self, kind, name, space):
        """Writes a Secret or a ConfigMap as a kubelet does, and returns its folder."""
        folder = self.folder / f"{kind}-{name}"
        folder.mkdir(exist_ok=True)
        found = self.until(f"{kind} {name}", lambda: self.get(kind, name, "-n", space))
        for key, text in found["data"].items():
            (folder / key).write_bytes(base64.b64decode(text) if kind == "secret" else text.encode())
        return folder

    def attempt(self, *words, kubeconfig=None):
        """kubectl, which may fail."""
        return run(PAYLOAD / "hyperkube", "kubectl", f"--kubeconfig={kubeconfig or self.kubeconfig}", *words, check=False)

    def secure_get(self, path, *words):
        return run("curl", "--silent", "--max-time", "10", "--write-out", "\n%{http_code}", *words, path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    (folder / "machine-config-server").symlink_to(BIN / "slipway-operator")
    with in_own_network(), Cluster(folder) as plane:
        plane.install_types(crd_paths(["_servicecas.", "_clusteroperators.", "_clusterversions-"]))
        plane.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in SPACES))
        plane.install_manifests(MANIFESTS)
        # In place of kube-proxy.
        plane.service = plane.get("service", "metrics-server", "-n", SERVER)["spec"]["clusterIP"]
        for address in (plane.service, *(address for _, address in NODES.values())):
            run("ip", "address", "add", f"{address}/32", "dev", "lo")
        # What the cluster-version operator and the kube-apiserver operator create.
        plane.show("system:openshift-metrics-server")
        plane.apply({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
                     "spec": {"clusterID": "0ad1d1a1-0000-4000-8000-000000000000"}},
                    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kubelet-serving-ca", "namespace": "openshift-config-managed"},
                     "data": {"ca-bundle.crt": (folder / "kubelets.crt").read_text()}})
        plane.set_history("Partial")
        config_operator.start(plane, BIN / "slipway-operator")
        yield plane


def start_nodes(cluster):
    for node, (pair, address) in NODES.items():
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        cluster.set_status("node", node, {
            "addresses": [{"type": "InternalIP", "address": address}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "capacity": {"cpu": "2", "memory": "2Gi", "pods": "100"}, "allocatable": {"cpu": "2", "memory": "2Gi", "pods": "100"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "Test", "message": "", "lastHeartbeatTime": LONG_AGO, "lastTransitionTime": LONG_AGO}]})
        cluster.spawn(node, [sys.executable, HERE / "fake_kubelet.py", address, cluster.folder / f"{pair}.crt", cluster.folder / f"{pair}.key",
                             cluster.folder / "clients.crt"])
        cluster.wait(node, lambda: "ready" in cluster.log(node))


def start_application(cluster):
    """ReplicaSet shop/web, whose pod uses 250 % of its request, and a HorizontalPodAutoscaler. No controller makes pods."""
    template = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": "32Mi"}}}]}
    labels = {"app": "web"}
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "labels": labels},
                   "spec": {"nodeName": "worker-0", **template}},
                  {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"},
                   "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": template}}},
                  {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web", "namespace": "shop"},
                   "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}, "minReplicas": 1, "maxReplicas": 10,
                            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}})
    cluster.set_status("pod", "web", {"phase": "Running", "startTime": LONG_AGO, "conditions": [
        {"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}]}, "shop")


def start_metrics_server(cluster):
    """The program with the arguments of its Deployment; its account is in a kubeconfig, and it measures more often."""
    pod = cluster.get("deployment", "metrics-server", "-n", SERVER)["spec"]["template"]["spec"]
    [container] = pod["containers"]
    folders = {}
    for volume in pod["volumes"]:
        [path] = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == volume["name"]]
        folders[path] = cluster.mounted("secret", volume["secret"]["secretName"], SERVER) if "secret" in volume else \
            cluster.mounted("configmap", volume["configMap"]["name"], SERVER)
    # What kube-controller-manager makes for a pod that is ready: the API server asks no Service without it. Its address is not used.
    cluster.apply({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "ports": [{"name": "https", "port": 10250}],
                   "metadata": {"name": "metrics-server", "namespace": SERVER, "labels": {"kubernetes.io/service-name": "metrics-server"}},
                   "endpoints": [{"addresses": ["192.0.2.60"], "conditions": {"ready": True}}]})
    account = cluster.account(SERVER, "metrics-server")
    replaced = {"--secure-port=10250": "--secure-port=443", "--metric-resolution=30s": "--metric-resolution=10s", **folders}
    words = []
    for word in container["args"]:
        for before, after in replaced.items():
            word = word.replace(before, str(after))
        words.append(word)
    assert not [word for word in words if "/etc/" in word or "insecure" in word], words
    cluster.spawn("metrics-server", [PAYLOAD / "metrics-server", *words, "--kubelet-request-timeout=5s", f"--bind-address={cluster.service}",
                                     f"--kubeconfig={account}", f"--authentication-kubeconfig={account}", f"--authorization-kubeconfig={account}"])


def test_nothing_runs_during_the_installation(cluster):
    cluster.until("it is Available", lambda: cluster.told().get("Available", ("", ""))[0] == "True")
    assert [each["version"] for each in cluster.get("clusteroperator", "metrics-server")["status"]["versions"]] == ["0.1.0", "0.1.0"]
    assert cluster.get("deployments", "-n", SERVER)["items"] == [] and cluster.get("apiservice", API_SERVICE) is None


def test_it_starts_after_the_installation(cluster):
    cluster.set_history("Completed")
    cluster.until("the Deployment", lambda: cluster.get("deployment", "metrics-server", "-n", SERVER))
    cluster.until("the authorities of kubelets", lambda: cluster.get("configmap", "kubelet-serving-ca", "-n", SERVER))
    cluster.until("the certificate for kubelets", lambda: cluster.get("secret", "metrics-server-client-cert-key", "-n", SERVER))
    assert cluster.get("apiservice", API_SERVICE) is None, "nobody is asked before there is a pod"


def test_kubectl_top(cluster):
    start_nodes(cluster)
    start_application(cluster)
    start_metrics_server(cluster)
    cluster.set_pods(1)

    def is_served():
        found = cluster.get("apiservice", API_SERVICE)
        return found and "caBundle" in found["spec"] and not found["spec"].get("insecureSkipTLSVerify") and \
            [each["status"] for each in found.get("status", {}).get("conditions", []) if each["type"] == "Available"] == ["True"]

    cluster.wait("metrics-server", is_served)
    cluster.wait("metrics-server", lambda: "worker-0" in cluster.attempt("top", "nodes").stdout)
    cluster.until("the pod", lambda: "web" in cluster.attempt("top", "pods", "-n", "shop").stdout)
    nodes = [line.split() for line in cluster.kubectl("top", "nodes").splitlines()]
    print("\n".join(map(" ".join, nodes)))
    assert [line[0] for line in nodes[1:]] == ["stranger", "worker-0"] or [line[0] for line in nodes[1:]] == ["worker-0", "stranger"]
    [node] = [line for line in nodes if line[0] == "worker-0"]
    assert 450 <= int(node[1].removesuffix("m")) <= 550 and node[3] == "512Mi", node
    [stranger] = [line for line in nodes if line[0] == "stranger"]
    assert stranger[1] == "<unknown>", stranger
    [pod] = [line.split() for line in cluster.kubectl("top", "pods", "-n", "shop", "--no-headers").splitlines()]
    assert pod[0] == "web" and 200 <= int(pod[1].removesuffix("m")) <= 300 and pod[2] == "64Mi", pod
    cluster.until("it says so", lambda: cluster.told().get("Progressing", ("", ""))[0] == "False")
    assert {name: status for name, (status, _) in cluster.told().items() if name in ("Available", "Degraded")} == {"Available": "True", "Degraded": "False"}


def test_an_application_is_scaled(cluster):
    cluster.until("more replicas", lambda: cluster.get("replicaset", "web", "-n", "shop")["spec"]["replicas"] > 1)
    status = cluster.until("the decision", lambda: (found := cluster.get("hpa", "web", "-n", "shop")["status"]).get("desiredReplicas", 0) > 1 and found)
    print(cluster.kubectl("get", "hpa", "web", "-n", "shop"))
    # A pod that uses 250 % of its request: 3.1 of 80 % each.
    assert status["desiredReplicas"] == cluster.get("replicaset", "web", "-n", "shop")["spec"]["replicas"] == 4, status
    assert {each["type"]: each["status"] for each in status["conditions"]}["ScalingActive"] == "True", status
    assert 200 <= status["currentMetrics"][0]["resource"]["current"]["averageUtilization"] <= 300, status


def test_kubelets_get_a_certificate_and_no_token(cluster):
    def requests(node):
        return {line for line in cluster.log(node).splitlines() if line.startswith("/")}

    assert requests("worker-0") == {"/metrics/resource system:openshift-metrics-server None"}
    assert requests("stranger") == set(), "its certificate is of another authority"
    assert "certificate signed by unknown authority" in cluster.log("metrics-server")
    user, account = "system:openshift-metrics-server", f"system:serviceaccount:{SERVER}:metrics-server"

    def may(who, verb, what, part=""):
        return cluster.attempt("auth", "can-i", verb, what, f"--subresource={part}", "-A", f"--as={who}").stdout.strip() == "yes"

    assert may(user, "get", "nodes", "metrics") and not may(account, "get", "nodes", "metrics")
    assert may(account, "list", "pods") and not may(user, "list", "pods")
    for who in (user, account):
        for asked in (("create", "nodes", "proxy"), ("get", "nodes", "proxy"), ("get", "nodes", "log"), ("get", "secrets"), ("create", "pods")):
            assert not may(who, *asked), (who, asked)


def test_a_replaced_certificate_is_used_within_seconds(cluster):
    """The certificate may live for five minutes only (docs/lifetimes.md)."""
    cluster.sign("clients", "replaced", "extendedKeyUsage=clientAuth")
    shown = cluster.show("replaced")
    cluster.until("the copy", lambda: cluster.get("secret", "metrics-server-client-cert-key", "-n", SERVER)["data"] == shown)
    cluster.mounted("secret", "metrics-server-client-cert-key", SERVER)
    cluster.wait("metrics-server", lambda: "/metrics/resource replaced None" in cluster.log("worker-0"))


def test_it_does_not_start_with_a_token_only(cluster):
    done = run(PAYLOAD / "metrics-server", f"--kubeconfig={cluster.folder}/metrics-server.kubeconfig", check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "metrics-server: --kubelet-client-certificate and --kubelet-client-key are required: kubelets do not get the token"


def test_metrics_are_for_those_who_may_view_the_namespace(cluster):
    cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "viewer", "namespace": "shop"}},
                  {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "viewer", "namespace": "shop"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "openshift-metrics-reader"},
                   "subjects": [{"kind": "ServiceAccount", "name": "viewer", "namespace": "shop"}]})
    viewer = cluster.account("shop", "viewer")

    def ask(path):
        return cluster.attempt("get", "--raw", f"/apis/metrics.k8s.io/v1beta1/{path}", kubeconfig=viewer)

    cluster.until("the role counts", lambda: ask("namespaces/shop/pods").returncode == 0)
    for path in ("namespaces/monitoring/pods", "nodes"):
        assert "Forbidden" in ask(path).stderr, path
    # Without the API server, metrics-server knows nobody by a header.
    forged = cluster.secure_get(f"https://{cluster.service}/apis/metrics.k8s.io/v1beta1/nodes", "--insecure", "--header", "X-Remote-User: admin",
                                "--header", "X-Remote-Group: system:masters")
    assert forged.stdout.endswith("\n403"), forged.stdout


def register(cluster, name, space):
    """An attempt to create an APIService with the account of the config operator."""
    version, _, group = name.partition(".")
    path = cluster.folder / "service.json"
    path.write_text(json.dumps({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
        "spec": {"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 15, "service": {"namespace": space, "name": "web"}}}))
    return cluster.attempt("apply", "--server-side", "-f", path, kubeconfig=cluster.folder / "operator.kubeconfig")


def test_a_long_outage_does_not_hold_up_the_cluster(cluster):
    cluster.set_pods(0)
    cluster.until("the APIService is removed", lambda: cluster.get("apiservice", API_SERVICE) is None)
    cluster.until("it says so", lambda: cluster.told()["Available"] == ("False", "MetricsServer_NoPodAvailable"))
    refused = register(cluster, API_SERVICE, "shop")
    assert "may change only objects with annotation" in refused.stderr, "another Service in its place"
    cluster.set_pods(1)
    cluster.until("it is there again", lambda: cluster.get("apiservice", API_SERVICE))
    cluster.until("it is Available", lambda: cluster.told()["Available"][0] == "True")


def test_the_account_may_not_register_other_servers(cluster):
    assert "cannot create" in register(cluster, "v1.example.com", SERVER).stderr


LINE = re.compile(r'^(slipway_[a-z_]+)\{([a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*)?\} ([0-9.e+-]+)$')


def parsed(text):
    """The samples by name and labels. Each family has its type once, before its samples."""
    samples, family, seen = {}, "", set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            family = line.split()[2]
            assert family not in seen and line.split()[3] in ("counter", "gauge"), line
            seen.add(family)
            continue
        match = LINE.match(line)
        assert match and match[1] == family, line
        samples[family, tuple(sorted(re.findall(r'([a-z]+)="([^"]*)"', match[2] or "")))] = float(match[3])
    return samples


def test_operators_are_scraped_with_a_token(cluster):
    serving = cluster.mounted("secret", "operator-metrics-tls", CONFIGS)
    (cluster.folder / "token").write_text("secret of machines\n")
    port, account = free_port(), cluster.account(CONFIGS, "machine-config-server")
    cluster.spawn("configs", [
        cluster.folder / "machine-config-server", "start", f"--kubeconfig={account}", f"--secure-port={free_port()}", f"--insecure-port={free_port()}",
        f"--cert={cluster.certificate}", f"--key={cluster.key}", f"--token-file={cluster.folder}/token", f"--metrics-port={port}",
        f"--metrics-cert={serving}/tls.crt", f"--metrics-key={serving}/tls.key"])
    cluster.wait("configs", lambda: "serving metrics" in cluster.log("configs"))
    bundle = cluster.folder / "service-ca.crt"
    bundle.write_text(cluster.get("configmap", "signing-cabundle", "-n", "openshift-service-ca")["data"]["ca-bundle.crt"])
    name = f"operator-metrics.{CONFIGS}.svc"

    def scrape(token=None, path="/metrics"):
        words = ["--header", f"Authorization: Bearer {token}"] if token else []
        done = cluster.secure_get(f"https://{name}:{port}{path}", "--cacert", bundle, "--resolve", f"{name}:{port}:127.0.0.1", *words)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), text

    for account in ("prometheus", "nobody"):
        cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": "monitoring"}})
    cluster.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "prometheus"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:monitoring"},
                   "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"}]})
    token, other = cluster.token("monitoring", "prometheus"), cluster.token("monitoring", "nobody")
    assert scrape()[0] == 401
    assert scrape("wrong")[0] == 401
    assert scrape(other)[0] == 403
    assert scrape(token, "/")[0] == 404
    cluster.until("the role counts", lambda: scrape(token)[0] == 200)

    program = ("program", "cluster-config-operator")
    before = parsed(scrape(token)[1])
    assert before["slipway_leader", (("lease", f"{config_operator.SPACE}/cluster-config-operator-lock"), program)] == 1
    assert before["slipway_build_info", (program, ("version", "0.1.0"))] == 1
    assert before["slipway_api_requests_total", (("code", "2xx"), program, ("verb", "PATCH"))] > 0
    assert before["slipway_watches_total", (program, ("resource", "clusterversions"))] >= 1
    assert 1e6 < before["slipway_memory_bytes", (program,)] < 1e9
    done = ("slipway_reconciles_total", (("controller", "metrics-server"), program, ("result", "done")))
    assert before[done] > 0
    cluster.set_pods(0)
    cluster.until("another reconciliation", lambda: parsed(scrape(token)[1])[done] > before[done])

    # A program that has ended leaves nothing behind.
    cluster.end("operator")
    assert scrape(token) == (200, "")
