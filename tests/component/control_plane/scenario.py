"""scenario.py FOLDER: renders, starts and ends a temporary control plane; test_control_plane.py runs it in its own namespaces."""

import base64
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import host_clock
from machine import Machine, environment_path, prepare_network

ADDRESS, VIRTUAL_ADDRESS = "10.97.77.10", "10.97.77.5"
A = "/assets"
RENDERS = {
    "etcd": ["cluster-etcd-operator", "render", f"--asset-output-dir={A}/etcd-bootstrap", f"--cluster-configmap-file={A}/manifests/cluster-config.yaml",
             "--etcd-image=etcd", f"--infra-config-file={A}/manifests/cluster-infrastructure-02-config.yml",
             f"--network-config-file={A}/manifests/cluster-network-02-config.yml"],
    "kube-apiserver": [
        "cluster-kube-apiserver-operator", "render", "--manifest-etcd-serving-ca=etcd-ca-bundle.crt",
        "--manifest-etcd-server-urls=https://localhost:2379", "--manifest-image=hyperkube", "--manifest-operator-image=operator",
        f"--asset-input-dir={A}/tls", f"--asset-output-dir={A}/kube-apiserver-bootstrap", f"--config-output-file={A}/kube-apiserver-bootstrap/config",
        f"--cluster-config-file={A}/manifests/cluster-network-02-config.yml",
        f"--cluster-auth-file={A}/manifests/cluster-authentication-02-config.yaml",
        f"--infra-config-file={A}/manifests/cluster-infrastructure-02-config.yml", f"--rendered-manifest-files={A}/manifests",
        "--payload-version=0.1.0", "--operand-kubernetes-version=1.36.3"],
    "kube-controller-manager": [
        "cluster-kube-controller-manager-operator", "render", "--cluster-policy-controller-image=policy", "--manifest-image=hyperkube",
        f"--asset-input-dir={A}/tls", f"--asset-output-dir={A}/kube-controller-manager-bootstrap",
        f"--config-output-file={A}/kube-controller-manager-bootstrap/config",
        f"--cpc-config-output-file={A}/kube-controller-manager-bootstrap/cpc-config",
        f"--cluster-config-file={A}/manifests/cluster-network-02-config.yml", f"--rendered-manifest-files={A}/manifests", "--payload-version=0.1.0"],
    "kube-scheduler": ["cluster-kube-scheduler-operator", "render", "--manifest-image=hyperkube", f"--asset-input-dir={A}/tls",
                       f"--asset-output-dir={A}/kube-scheduler-bootstrap", f"--config-output-file={A}/kube-scheduler-bootstrap/config"],
}


class Scenario:
    def __init__(self, folder):
        prepare_network(ADDRESS, VIRTUAL_ADDRESS)
        self.machine = Machine(folder, ADDRESS, environment_path("SLIPWAY_BIN"), environment_path("SLIPWAY_PAYLOAD_BIN"))
        self.assets = self.machine.host / "opt/openshift"
        self.kubernetes = self.machine.host / "etc/kubernetes"
        subprocess.run([environment_path("SLIPWAY_BIN") / "control_plane_assets", self.assets], check=True)
        self.begin = host_clock.now()

    def tell(self, what):
        print(f"{host_clock.now() - self.begin:6.2f} s  {what}", flush=True)

    def render(self):
        """Runs the render commands and copies their files like bootkube.sh."""
        for name, words in RENDERS.items():
            self.machine.run(words, {"/opt/openshift": A})
            result = self.assets / f"{name}-bootstrap"
            if name == "etcd":
                merge(result / "etc-kubernetes", self.kubernetes)
                merge(result / "tls", self.assets / "tls")
            else:
                merge(result / "bootstrap-manifests", self.assets / "bootstrap-manifests")
                copy(result / "config", self.kubernetes / f"bootstrap-configs/{name}-config.yaml")
            merge(result / "manifests", self.assets / "rendered")
        copy(self.assets / "kube-controller-manager-bootstrap/cpc-config", self.kubernetes / "bootstrap-configs/cluster-policy-controller-config.yaml")
        merge(self.assets / "tls", self.kubernetes / "bootstrap-secrets")
        copy(self.assets / "auth/kubeconfig-loopback", self.kubernetes / "bootstrap-secrets/kubeconfig")
        self.tell("rendered")

    def start_etcd(self):
        self.machine.start_pod(self.kubernetes / "manifests/etcd-member-pod.yaml")
        self.machine.wait("etcd", self._etcd_is_healthy, "etcd")
        members = json.loads(self._etcdctl("member", "list", "--write-out=json"))["members"]
        assert [(m["name"], m["peerURLs"], m["clientURLs"]) for m in members] == [
            ("etcd-bootstrap", [f"https://{ADDRESS}:2380"], [f"https://{ADDRESS}:2379"])], members
        self.tell("etcd healthy")

    def start_api_server(self):
        self._start("kube-apiserver")
        self.machine.wait("kube-apiserver", lambda: get("https://localhost:6443/readyz") == (200, "ok"), "kube-apiserver")
        self.tell("kube-apiserver ready")
        self.machine.wait("insecure-readyz", lambda: get("http://localhost:6080/readyz") == (200, "ok"), "kube-apiserver-insecure-readyz")
        assert get("http://localhost:6080/metrics")[0] == 404
        warnings = [line for line in (self.machine.logs / "kube-apiserver").read_text().splitlines() if line.startswith("dropped")]
        # Modes and gates that only OpenShift has, and two flags that Kubernetes has removed.
        assert all(any(word in line for word in ("authorization modes", "feature gates", "enable-logs-handler", "kubelet-read-only-port"))
                   for line in warnings), warnings

    def start_controllers(self):
        self._start("kube-controller-manager")
        self._start("kube-scheduler")
        for lease, container in (("kube-controller-manager", "kube-controller-manager"), ("kube-scheduler", "kube-scheduler"),
                                 ("cluster-policy-controller-lock", "cluster-policy-controller")):
            self.machine.wait(f"lease {lease}", lambda lease=lease: self._holder(lease), container)
            self.tell(f"lease {lease} is held")
        self._start_second_policy_controller()
        for port in (10257, 10357, 10259, 10358):
            self.machine.wait(f"port {port}", lambda port=port: get(f"https://localhost:{port}/healthz") == (200, "ok"))

    def use_manifests(self):
        """The API server accepts all manifests of the renders."""
        for name in ("openshift-config", "openshift-config-managed"):
            self._kubectl("create", "namespace", name)
        merge(self.assets / "rendered", self.machine.host / "rendered")
        names = sorted(path.name for path in (self.machine.host / "rendered").iterdir())
        spaces = [name for name in names if "-ns.yaml" in name or "_namespace-" in name]
        for name in spaces + [name for name in names if name not in spaces]:
            self._kubectl("apply", "--server-side", f"--filename=/rendered/{name}")
        self.tell(f"{len(names)} manifests applied")
        pods = self.machine.host / "rendered/pods"
        merge(self.assets / "bootstrap-manifests", pods)
        copy(self.kubernetes / "manifests/etcd-member-pod.yaml", pods / "etcd-member-pod.yaml")
        for space in ("kube-system", "openshift-etcd", "openshift-kube-apiserver"):
            self.machine.wait("service account", lambda: self._kubectl("get", "serviceaccounts", "default", f"--namespace={space}", "--ignore-not-found"))
        # As in the release's manifest of this namespace.
        self._kubectl("label", "namespace", "kube-system", "--overwrite", "pod-security.kubernetes.io/enforce=privileged")
        for path in pods.iterdir():
            self._kubectl("create", "--dry-run=server", "--validate=strict", f"--filename=/rendered/pods/{path.name}")
        self.tell("the pods are valid, with no field that Kubernetes does not know")

    def use_controllers(self):
        self.machine.wait("annotations of namespaces", self._all_namespaces_have_blocks, "cluster-policy-controller")
        self.tell("every namespace has a block of user ids")
        self._kubectl("create", "--filename=-", document={"apiVersion": "v1", "kind": "Node", "metadata": {"name": "master-0"}})
        network = self.machine.wait("pod network of a node", lambda: self._get("node", "master-0")["spec"].get("podCIDR"), "kube-controller-manager")
        assert network.startswith("10.12") and network.endswith("/23"), network
        self.machine.wait("service account", lambda: self._kubectl("get", "serviceaccounts", "default", "--ignore-not-found"))
        token = self._kubectl("create", "token", "default").strip()
        header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
        assert header["alg"] == "ES256", header
        review = self._kubectl("create", "--filename=-", "--output=json",
                               document={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}})
        assert json.loads(review)["status"]["user"]["username"] == "system:serviceaccount:default:default", review
        self.tell("node has a pod network, tokens are signed and believed")

    def change_leader(self):
        """The second policy controller waits for the lease, and becomes the leader when the first one releases it."""
        lease = self._get("lease", "cluster-policy-controller-lock", "--namespace=kube-system")["spec"]
        assert lease["renewTime"] > lease["acquireTime"], lease
        took = self.machine.end("cluster-policy-controller")
        begin = host_clock.now()
        second = self.machine.wait("second leader", lambda: self._holder("cluster-policy-controller-lock"), "second-policy-controller")
        assert second != lease["holderIdentity"]
        self.tell(f"cluster-policy-controller ended in {took:.2f} s, the next one led {host_clock.now() - begin:.2f} s later")
        assert host_clock.now() - begin < 5, "the lease was not given back but ran out"
        self._kubectl("create", "namespace", "late")
        self.machine.wait("annotations of a new namespace", self._all_namespaces_have_blocks, "second-policy-controller")

    def end(self):
        """Leases are released, so that a master becomes the leader at once. The API server serves during its shutdown delay and ends within
        its grace period."""
        for container, lease in (("kube-controller-manager", "kube-controller-manager"), ("kube-scheduler", "kube-scheduler"),
                                 ("second-policy-controller", "cluster-policy-controller-lock")):
            took = self.machine.end(container)
            assert self._holder(lease) == "", f"{container} ended without giving back {lease}\n{self.machine.tail(container)}"
            self.tell(f"{container} ended in {took:.2f} s and gave its lease back")
        took = self.machine.end("kube-apiserver")
        assert 2 <= took < 60, f"kube-apiserver ended after {took} s"
        assert get("http://localhost:6080/readyz")[0] == 503
        self.tell(f"kube-apiserver ended in {took:.2f} s")
        assert self.machine.end("kube-apiserver-insecure-readyz") < 30
        self.machine.end("etcdctl")
        self.machine.end("etcd")
        self.tell("all ended")

    def _start(self, name):
        self.machine.start_pod(self.assets / f"bootstrap-manifests/{name}-pod.yaml")

    def _start_second_policy_controller(self):
        """A second one, with a config without a certificate."""
        config = self.kubernetes / "bootstrap-configs/second.yaml"
        config.write_text("servingInfo: {bindAddress: '127.0.0.1:10358'}\n")
        self.machine.start("second-policy-controller", ["cluster-policy-controller", "start", "--config=/config/second.yaml",
                                                        "--kubeconfig=/secrets/kubeconfig", "--namespace=kube-system", "--v=2"],
                           {"/etc/kubernetes/bootstrap-configs": "/config", "/etc/kubernetes/bootstrap-secrets": "/secrets"}, {})

    def _etcdctl(self, *words):
        container = self.machine.container("etcd-bootstrap-member", "etcdctl")
        environment = {entry["name"]: entry["value"] for entry in container["env"]}
        return self.machine.run(["etcdctl", *words], {"/etc/kubernetes/static-pod-resources/etcd-member": "/etc/ssl/etcd"}, environment)

    def _etcd_is_healthy(self):
        try:
            self._etcdctl("endpoint", "health", "--dial-timeout=1s", "--command-timeout=1s")
            return True
        except AssertionError:
            return False

    def _kubectl(self, *words, document=None):
        mounts = {"/etc/kubernetes/bootstrap-secrets": "/etc/kubernetes/secrets"}
        if (self.machine.host / "rendered").exists():
            mounts["/rendered"] = "/rendered"
        if document:
            path = self.machine.host / "documents/document"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(document))
            mounts["/documents"] = "/documents"
            words = [word.replace("--filename=-", "--filename=/documents/document") for word in words]
        return self.machine.run(["hyperkube", "kubectl", "--kubeconfig=/etc/kubernetes/secrets/kubeconfig", "--request-timeout=5s", *words], mounts)

    def _get(self, *words):
        return json.loads(self._kubectl("get", *words, "--output=json"))

    def _holder(self, lease):
        found = self._kubectl("get", "leases", "--namespace=kube-system", lease, "--ignore-not-found", "--output=json")
        return json.loads(found)["spec"]["holderIdentity"] if found else ""

    def _all_namespaces_have_blocks(self):
        key = "openshift.io/sa.scc.uid-range"
        blocks = [item["metadata"].get("annotations", {}).get(key) for item in self._get("namespaces")["items"]]
        return all(blocks) and len(set(blocks)) == len(blocks)


def merge(source, target):
    shutil.copytree(source, target, dirs_exist_ok=True)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def get(url):
    """(status, text) of an answer, (0, reason) without one. The certificate is not verified here; kubectl verifies it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, context=context if url.startswith("https") else None, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()
    except (urllib.error.URLError, OSError) as failure:
        return 0, str(failure)


def main():
    scenario = Scenario(pathlib.Path(sys.argv[1]))
    for step in (scenario.render, scenario.start_etcd, scenario.start_api_server, scenario.start_controllers, scenario.use_manifests,
                 scenario.use_controllers, scenario.change_leader, scenario.end):
        step()


if __name__ == "__main__":
    main()
