"""ingress-operator with a real API server, the release's CRDs and the controllers of Deployments. The test acts as the kubelet."""

import base64
import json
import os
import pathlib
import sys
import time

import pytest
import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402

BIN, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve(), pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
TYPES = ["operator/v1/zz_generated.crd-manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml",
        "payload-manifests/crds/0000_10_config-operator_01_ingresses-Default.crd.yaml",
        "payload-manifests/crds/0000_10_config-operator_01_infrastructures-Default.crd.yaml",
        "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml"]
OPERATOR, ROUTERS = "openshift-ingress-operator", "openshift-ingress"
OWNER = "ingresscontroller.operator.openshift.io/owning-ingresscontroller"
CLUSTER = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-ingress-operator}}
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-ingress}}
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-config}}
- {apiVersion: v1, kind: Namespace, metadata: {name: openshift-config-managed}}
- {apiVersion: config.openshift.io/v1, kind: Ingress, metadata: {name: cluster}, spec: {domain: apps.demo.example.com}}
- {apiVersion: config.openshift.io/v1, kind: Infrastructure, metadata: {name: cluster}, spec: {platformSpec: {type: None}}}
- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: ingress}, spec: {}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-0, labels: {kubernetes.io/os: linux, node-role.kubernetes.io/worker: ""}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-1, labels: {kubernetes.io/os: linux, node-role.kubernetes.io/worker: ""}}}
"""
INFRASTRUCTURE = {"apiServerInternalURI": "https://api-int.demo.example.com:6443", "controlPlaneTopology": "HighlyAvailable",
                  "infrastructureTopology": "HighlyAvailable", "infrastructureName": "demo", "etcdDiscoveryDomain": "",
                  "apiServerURL": "https://api.demo.example.com:6443", "platform": "None", "platformStatus": {"type": "None"}}


class Cluster(ControlPlane):
    def conditions(self, *what):
        found = self.get(*what) or {}
        return {each["type"]: each for each in found.get("status", {}).get("conditions", [])}

    def until(self, what, ready):
        return super().until("ingress-operator", what, ready)

    def make_ready(self):
        """Sets the status that kubelets would set for all routers."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for pod in self.get("pods", "-n", ROUTERS)["items"]:
            conditions = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in ("PodScheduled", "ContainersReady", "Ready")]
            self.kubectl("patch", "pod", pod["metadata"]["name"], "-n", ROUTERS, "--subresource=status", "--type=merge", "-p",
                         json.dumps({"status": {"phase": "Running", "conditions": conditions}}))

    def controller(self, name, spec):
        self.apply({"apiVersion": "operator.openshift.io/v1", "kind": "IngressController",
                    "metadata": {"name": name, "namespace": OPERATOR}, "spec": spec})

    def change(self, spec):
        """Patches the default controller."""
        self.patch("ingresscontroller", "default", {"spec": spec}, namespace=OPERATOR)

    def says(self, name, kind, status):
        """A function that returns whether a controller has the condition."""
        return lambda: self.conditions("ingresscontroller", name, "-n", OPERATOR).get(kind, {}).get("status") == status

    def is_told(self, **expected):
        """The same for the ClusterOperator."""
        def ready():
            told = self.conditions("clusteroperator", "ingress")
            return all(told.get(kind, {}).get("status") == status for kind, status in expected.items())

        return ready

    def default_pod(self):
        return self.get("deployment", "router-default", "-n", ROUTERS)["spec"]["template"]["spec"]

    def variables(self):
        return {each["name"]: each["value"] for each in self.default_pod()["containers"][0]["env"]}

    def certificate_secret(self):
        return self.default_pod()["volumes"][0]["secret"]["secretName"]

    def trusted(self):
        return self.get("configmap", "default-ingress-cert", "-n", "openshift-config-managed")["data"]["ca-bundle.crt"]


def as_released(plane):
    """The kubeconfig of the operator's account, with its roles in the release."""
    plane.install_manifests(("0000_10_operators_01_roles", "0000_50_ingress-operator_04_rbac"))
    return plane.kubeconfig_of("operator", plane.token(OPERATOR, "ingress-operator"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ingress")
    (folder / "ingress-operator").symlink_to(BIN / "slipway-operator")
    # Without kube-scheduler and without tokens of pods for service accounts.
    flags = ["--disable-admission-plugins=ServiceAccount"]
    with Cluster(PAYLOAD, folder, flags=flags, controllers="deployment-controller,replicaset-controller") as plane:
        plane.install_types(TYPES)
        plane.apply(*yaml.safe_load_all(CLUSTER))
        for kind, status in (("infrastructure", INFRASTRUCTURE), ("ingress.config", {"defaultPlacement": "Workers"})):
            plane.kubectl("patch", kind, "cluster", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
        plane.spawn("ingress-operator", [folder / "ingress-operator", "start", f"--kubeconfig={as_released(plane)}"],
                    {"HAPROXY_ROUTER_IMAGE": "r.example.com/router@sha256:1", "RELEASE_VERSION": "0.1.0", "POD_NAME": "test"})
        yield plane


def test_cluster_operator_becomes_available(cluster):
    cluster.until("it is Progressing", cluster.is_told(Progressing="True", Available="False"))
    cluster.until("two pods", lambda: len(cluster.get("pods", "-n", ROUTERS)["items"]) == 2)
    assert not cluster.get("clusteroperator", "ingress")["status"].get("versions")
    cluster.make_ready()
    cluster.until("it is Available", cluster.is_told(Progressing="False", Available="True", Degraded="False"))
    versions = cluster.get("clusteroperator", "ingress")["status"]["versions"]
    assert {each["name"]: each["version"] for each in versions} == {"operator": "0.1.0", "ingress-controller": "0.1.0"}
    default = cluster.get("ingresscontroller", "default", "-n", OPERATOR)["status"]
    assert default["availableReplicas"] == 2 and default["domain"] == "apps.demo.example.com"
    assert default["endpointPublishingStrategy"]["type"] == "HostNetwork"
    assert cluster.get("poddisruptionbudget", "router-default", "-n", ROUTERS)["spec"]["maxUnavailable"] == "50%"
    assert "BEGIN CERTIFICATE" in cluster.trusted()


def test_nothing_is_written_while_nothing_changes(cluster):
    def versions():
        found = [cluster.get("ingresscontroller", "default", "-n", OPERATOR), cluster.get("deployment", "router-default", "-n", ROUTERS),
                 cluster.get("service", "router-internal-default", "-n", ROUTERS)]
        # While the operator deletes a counter-sign, SyncDegraded reports that an object differs.
        told = cluster.get("clusteroperator", "ingress")["status"]
        told["extension"]["conditions"] = [each for each in told["extension"]["conditions"] if each["type"] != "SyncDegraded"]
        return [each["metadata"]["resourceVersion"] for each in found] + [told]

    before = versions()
    # Another change makes it plan again.
    cluster.kubectl("annotate", "node", "worker-0", "test=1")
    cluster.kubectl("annotate", "secret", "router-certs-default", "-n", ROUTERS, "test=1")
    # It deletes objects of a deleted controller. A plan in progress may delete the first one; the second one needs a new plan.
    for name in "counter-sign-1", "counter-sign-2":
        cluster.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": ROUTERS, "labels": {OWNER: "gone"}},
                                  "spec": {"ports": [{"port": 80}]}})
        cluster.until(f"{name} is removed", lambda: cluster.get("service", name, "-n", ROUTERS) is None)
    assert versions() == before


def test_scale_subresource_and_selector_fit(cluster):
    cluster.kubectl("scale", "ingresscontroller/default", "-n", OPERATOR, "--replicas=3")
    cluster.until("three pods", lambda: len(cluster.get("pods", "-n", ROUTERS)["items"]) == 3)
    cluster.make_ready()
    cluster.until("three routers", lambda: cluster.get("ingresscontroller", "default", "-n", OPERATOR)["status"]["availableReplicas"] == 3)


def test_fields_that_are_not_asked_for_any_more_go(cluster):
    cluster.change({"tuningOptions": {"threadCount": 3}, "nodePlacement": {"tolerations": [{"operator": "Exists"}]}})
    cluster.until("it is told", lambda: cluster.variables().get("ROUTER_THREADS") == "3")
    assert cluster.default_pod()["tolerations"] == [{"operator": "Exists"}]
    cluster.change({"tuningOptions": {"threadCount": None}, "nodePlacement": None})
    cluster.until("it is not told", lambda: "ROUTER_THREADS" not in cluster.variables())
    assert "tolerations" not in cluster.default_pod()


def test_another_controller_comes_and_goes(cluster):
    cluster.controller("shard", {"domain": "shard.example.com", "endpointPublishingStrategy": {"type": "NodePortService"}})
    cluster.until("it is admitted", cluster.says("shard", "Admitted", "True"))
    cluster.until("its Service", lambda: cluster.get("service", "router-nodeport-shard", "-n", ROUTERS))
    cluster.until("its Deployment", lambda: cluster.get("deployment", "router-shard", "-n", ROUTERS))
    assert "hostNetwork" not in cluster.get("deployment", "router-shard", "-n", ROUTERS)["spec"]["template"]["spec"]
    cluster.kubectl("delete", "ingresscontroller", "shard", "-n", OPERATOR)
    for kind, name in (("service", "router-nodeport-shard"), ("service", "router-internal-shard"), ("deployment", "router-shard"),
                       ("poddisruptionbudget", "router-shard"), ("secret", "router-certs-shard")):
        cluster.until(f"{kind} {name} goes", lambda: cluster.get(kind, name, "-n", ROUTERS) is None)
    assert cluster.get("deployment", "router-default", "-n", ROUTERS)


def test_what_cannot_be_done_is_refused(cluster):
    cluster.controller("cloud", {"domain": "cloud.example.com", "endpointPublishingStrategy": {"type": "LoadBalancerService"}})
    cluster.until("it is refused", cluster.says("cloud", "Admitted", "False"))
    refused = cluster.conditions("ingresscontroller", "cloud", "-n", OPERATOR)["Admitted"]
    assert "creates no load balancers" in refused["message"] and refused["reason"] == "Invalid"
    assert cluster.get("deployment", "router-cloud", "-n", ROUTERS) is None
    cluster.kubectl("delete", "ingresscontroller", "cloud", "-n", OPERATOR)


def test_certificate_of_an_administrator_is_served(cluster):
    cluster.change({"defaultCertificate": {"name": "mine"}})
    cluster.until("it is missing", cluster.says("default", "Degraded", "True"))
    assert cluster.certificate_secret() == "router-certs-default"
    cluster.kubectl("create", "secret", "tls", "mine", "-n", ROUTERS, f"--cert={cluster.certificate}", f"--key={cluster.key}")
    cluster.until("it is there", lambda: cluster.certificate_secret() == "mine")
    cluster.until("clients trust it", lambda: cluster.trusted() == cluster.certificate.read_text())


def test_broken_certificate_is_made_anew(cluster):
    before = cluster.get("secret", "router-certs-default", "-n", ROUTERS)["data"]["tls.crt"]
    cluster.kubectl("patch", "secret", "router-certs-default", "-n", ROUTERS, "--type=merge", "-p",
                    json.dumps({"data": {"tls.crt": base64.b64encode(b"nonsense").decode()}}))
    cluster.until("another", lambda: cluster.get("secret", "router-certs-default", "-n", ROUTERS)["data"]["tls.crt"]
                  not in (before, base64.b64encode(b"nonsense").decode()))
