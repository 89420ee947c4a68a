"""The operators service-ca and ingress for objects of users, with a real API server, the accounts and policies of the release, and
kube-controller-manager's garbage collector. openssl verifies what they sign."""

import base64
import json
import os
import pathlib
import subprocess
import sys

import pytest
import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import config_operator  # noqa: E402
from control_plane import ControlPlane  # noqa: E402

BIN, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve(), pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
TYPES = ["operator/v1/zz_generated.crd-manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml",
        "operator/v1/zz_generated.crd-manifests/0000_50_service-ca_02_servicecas.crd.yaml",
        "route/v1/zz_generated.crd-manifests/routes.crd.yaml",
        "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml"]
MANIFESTS = [*config_operator.MANIFESTS, "0000_50_service-ca_03_cr", "0000_50_service-ca_07_clusteroperator", "0000_50_ingress-operator_04_rbac"]
INGRESS_OPERATOR = "openshift-ingress-operator"
SPACES = [config_operator.SPACE, INGRESS_OPERATOR, "openshift-config", "openshift-config-managed", "openshift-ingress", "shop"]
WISH = "service.beta.openshift.io/"
DEADLINE = 60


def service(name="web", secret="web-tls", **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop", "annotations": {f"{WISH}serving-cert-secret-name": secret}},
            "spec": {"ports": [{"name": "https", "port": 443}], **spec}}


def asking(kind, api_version, name, **more):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "annotations": {f"{WISH}inject-cabundle": "true"}}, **more}


class Cluster(ControlPlane):
    def until(self, what, ready):
        return super().until("operator", what, ready)

    def secret(self, name="web-tls", key="tls.crt"):
        found = self.get("secret", name, "-n", "shop") or {}
        return base64.b64decode(found.get("data", {}).get(key, "")).decode()

    def bundle(self, name="trust"):
        return (self.get("configmap", name, "-n", "shop") or {}).get("data", {}).get("service-ca.crt", "")

    def annotation(self, name, of="web"):
        return self.get("service", of, "-n", "shop")["metadata"]["annotations"].get(f"{WISH}{name}", "")

    def events(self, kind, reason):
        return [each["message"] for each in self.get("events", "-n", "shop")["items"]
                if each["involvedObject"]["kind"] == kind and each["reason"] == reason]

    def verify(self, chain, bundle, host="web.shop.svc"):
        """Whether a client with this bundle trusts a server that shows this chain."""
        (self.folder / "chain").write_text(chain)
        (self.folder / "bundle").write_text(bundle)
        done = subprocess.run(["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", host, "-CAfile", self.folder / "bundle",
                               "-untrusted", self.folder / "chain", self.folder / "chain"], capture_output=True, text=True, timeout=DEADLINE)
        return done.returncode == 0

    def routes(self):
        found = self.get("routes", "-n", "shop")["items"]
        return {f"{each['spec']['host']}{each['spec'].get('path', '')}": each for each in found}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service-ca")
    (folder / "ingress-operator").symlink_to(BIN / "slipway-operator")
    # Without tokens of pods for service accounts.
    flags = ["--disable-admission-plugins=ServiceAccount"]
    with Cluster(PAYLOAD, folder, flags=flags, controllers="garbage-collector-controller") as plane:
        plane.install_types(TYPES)
        plane.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in SPACES))
        plane.install_manifests(MANIFESTS)
        config_operator.start(plane, BIN / "slipway-operator")
        ingress = plane.kubeconfig_of("ingress", plane.token(INGRESS_OPERATOR, "ingress-operator"))
        plane.spawn("ingress", [folder / "ingress-operator", "start", f"--kubeconfig={ingress}"],
                    {"HAPROXY_ROUTER_IMAGE": "r.example.com/router@sha256:1", "RELEASE_VERSION": "0.1.0", "POD_NAME": "test"})
        yield plane


def test_the_operator_becomes_available(cluster):
    def told():
        status = cluster.get("clusteroperator", "service-ca").get("status", {})
        return {each["type"]: each["status"] for each in status.get("conditions", [])}, [each["version"] for each in status.get("versions", [])]

    cluster.until("it is Available", lambda: told() == ({"Available": "True", "Progressing": "False", "Degraded": "False"}, ["0.1.0"]))


def test_a_service_gets_a_certificate(cluster):
    cluster.apply(service(), {**asking("ConfigMap", "v1", "trust"), "metadata": {"name": "trust", "namespace": "shop",
                                                                                "annotations": {f"{WISH}inject-cabundle": "true"}}})
    cluster.until("the Secret", cluster.secret)
    cluster.until("the bundle", cluster.bundle)
    assert cluster.verify(cluster.secret(), cluster.bundle())
    assert cluster.verify(cluster.secret(), cluster.bundle(), "web.shop.svc.cluster.local")
    assert not cluster.verify(cluster.secret(), cluster.bundle(), "web.other.svc")
    cluster.until("it is said", lambda: cluster.annotation("serving-cert-signed-by").startswith("openshift-service-serving-signer@"))
    stored = cluster.get("secret", "web-tls", "-n", "shop")
    assert stored["type"] == "kubernetes.io/tls" and f"{WISH}expiry" in stored["metadata"]["annotations"]


def test_nothing_is_written_while_nothing_changes(cluster):
    def versions():
        return [cluster.get(kind, name, "-n", space)["metadata"]["resourceVersion"] for kind, name, space in (
            ("secret", "web-tls", "shop"), ("service", "web", "shop"), ("configmap", "trust", "shop"),
            ("secret", "signing-key", "openshift-service-ca"), ("configmap", "signing-cabundle", "openshift-service-ca"))]

    before = versions()
    cluster.kubectl("annotate", "service", "web", "-n", "shop", "unrelated=1")
    cluster.apply(service("witness", "witness-tls"))
    cluster.until("another Secret", lambda: cluster.secret("witness-tls"))
    before[1] = cluster.get("service", "web", "-n", "shop")["metadata"]["resourceVersion"]
    assert versions() == before


def test_a_lost_or_changed_secret_comes_back(cluster):
    old = cluster.secret()
    cluster.kubectl("delete", "secret", "web-tls", "-n", "shop")
    cluster.until("a new one", lambda: cluster.secret() not in ("", old))
    cluster.kubectl("patch", "secret", "web-tls", "-n", "shop", "--type=merge", "-p", json.dumps({"data": {"tls.crt": "eA=="}}))
    cluster.until("a whole one", lambda: cluster.secret() and cluster.verify(cluster.secret(), cluster.bundle()))


def test_a_foreign_secret_stays_and_the_service_says_so(cluster):
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine", "namespace": "shop"}, "stringData": {"password": "x"}},
                  service("greedy", "mine"))
    cluster.until("an annotation", lambda: "was not created for a Service" in cluster.annotation("serving-cert-generation-error", "greedy"))
    cluster.until("an Event", lambda: cluster.events("Service", "ServingCertificateFailed"))
    assert cluster.secret("mine", "password") == "x" and not cluster.secret("mine")
    cluster.kubectl("delete", "secret", "mine", "-n", "shop")
    cluster.until("the certificate", lambda: cluster.secret("mine"))
    cluster.until("the annotation is gone", lambda: not cluster.annotation("serving-cert-generation-error", "greedy"))


def test_what_the_server_refuses_is_said_and_tried_again(cluster):
    cluster.apply(service("wrong", "NOT A NAME"))
    cluster.until("an annotation", lambda: cluster.annotation("serving-cert-generation-error-num", "wrong") not in ("", "1"))
    assert "NOT A NAME" in cluster.annotation("serving-cert-generation-error", "wrong")
    cluster.kubectl("annotate", "service", "wrong", "-n", "shop", "--overwrite", f"{WISH}serving-cert-secret-name=right-tls")
    cluster.until("the certificate", lambda: cluster.secret("right-tls"))


def test_the_secret_goes_with_its_service(cluster):
    cluster.kubectl("delete", "service", "witness", "-n", "shop")
    cluster.until("the Secret is gone", lambda: not cluster.get("secret", "witness-tls", "-n", "shop"))


def test_a_headless_service(cluster):
    cluster.apply(service("pods", "pods-tls", clusterIP="None"))
    cluster.until("the Secret", lambda: cluster.secret("pods-tls"))
    assert cluster.verify(cluster.secret("pods-tls"), cluster.bundle(), "zero.pods.shop.svc")


def test_webhooks_conversions_and_api_services_get_the_bundle(cluster):
    client = {"service": {"name": "web", "namespace": "shop", "path": "/"}}
    hook = {"admissionReviewVersions": ["v1"], "sideEffects": "None", "clientConfig": client, "failurePolicy": "Ignore",
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}]}
    admission = "admissionregistration.k8s.io/v1"
    crd = asking("CustomResourceDefinition", "apiextensions.k8s.io/v1", "things.example.com", spec={
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]})
    cluster.apply(asking("ValidatingWebhookConfiguration", admission, "checks", webhooks=[{"name": f"{name}.example.com", **hook} for name in "ab"]),
                  asking("MutatingWebhookConfiguration", admission, "changes", webhooks=[{"name": "a.example.com", **hook}]), crd,
                  asking("APIService", "apiregistration.k8s.io/v1", "v1.things.example.com", spec={
                      "group": "things.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
                      "service": {"name": "web", "namespace": "shop"}}))

    def bundles():
        hooks = [each["clientConfig"] for kind, name in (("validatingwebhookconfiguration", "checks"), ("mutatingwebhookconfiguration", "changes"))
                 for each in cluster.get(kind, name)["webhooks"]]
        found = [*hooks, cluster.get("crd", "things.example.com")["spec"]["conversion"]["webhook"]["clientConfig"],
                 cluster.get("apiservice", "v1.things.example.com")["spec"]]
        return [base64.b64decode(each.get("caBundle", "")).decode() for each in found]

    cluster.until("five bundles", lambda: bundles() == [cluster.bundle()] * 5)
    kept = cluster.get("validatingwebhookconfiguration", "checks")["webhooks"]
    assert [(each["name"], each["clientConfig"]["service"]["name"]) for each in kept] == [("a.example.com", "web"), ("b.example.com", "web")]

    # The account may not change more than the bundle: neither who converts the objects, nor whose API it is.
    for kind, name, change, answer in (
            ("crd", "things.example.com", {"spec": {"conversion": {"webhook": {"clientConfig": {"service": {"namespace": "other"}}}}}},
             "may change only spec.conversion.webhook.clientConfig.caBundle"),
            ("crd", "things.example.com", {"spec": {"names": {"shortNames": ["secretly"]}}},
             "may change only spec.conversion.webhook.clientConfig.caBundle"),
            ("crd", "things.example.com", {"metadata": {"finalizers": ["example.com/kept"]}}, "may not change metadata"),
            ("apiservice", "v1.things.example.com", {"spec": {"service": {"namespace": "other"}}}, "may change only spec.caBundle"),
            ("apiservice", "v1.things.example.com", {"spec": {"versionPriority": 99}}, "may change only spec.caBundle"),
            ("apiservice", "v1.things.example.com", {"metadata": {"labels": {"a": "b"}}}, "may not change metadata")):
        assert answer in as_operator(cluster, "patch", kind, name, "--type=merge", "-p", json.dumps(change)).stderr, (kind, change)
    for kind, name in (("validatingwebhookconfiguration", "checks"), ("mutatingwebhookconfiguration", "changes"), ("crd", "things.example.com"),
                       ("apiservice", "v1.things.example.com")):
        cluster.kubectl("delete", kind, name)


def test_a_configmap_with_other_keys_stays(cluster):
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "data": {"mine": "x"},
                   "metadata": {"name": "used", "namespace": "shop", "annotations": {f"{WISH}inject-cabundle": "true"}}})
    cluster.until("an Event", lambda: any("remove mine" in each for each in cluster.events("ConfigMap", "BundleNotInjected")))
    assert cluster.get("configmap", "used", "-n", "shop")["data"] == {"mine": "x"}


def test_a_rotation_with_an_overlap(cluster):
    old_chain, old_bundle = cluster.secret(), cluster.bundle()
    cluster.kubectl("patch", "serviceca", "cluster", "--type=merge", "-p",
                    json.dumps({"spec": {"unsupportedConfigOverrides": {"forceRotation": {"reason": "test"}}}}))
    cluster.until("a new certificate", lambda: cluster.secret() not in ("", old_chain))
    cluster.until("a new bundle", lambda: cluster.bundle() != old_bundle)
    assert cluster.bundle().count("BEGIN CERTIFICATE") == 2
    for chain in (old_chain, cluster.secret()):
        for bundle in (old_bundle, cluster.bundle()):
            assert cluster.verify(chain, bundle)
    signer = cluster.annotation("serving-cert-signed-by")
    cluster.until("all certificates are new", lambda: all(
        each["metadata"]["annotations"].get(f"{WISH}serving-cert-signed-by") == signer for each in cluster.get("services", "-n", "shop")["items"]))


def as_operator(cluster, *words):
    command = [PAYLOAD / "hyperkube", "kubectl", f"--kubeconfig={cluster.folder / 'operator.kubeconfig'}", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


def test_the_account_may_not_write_other_objects(cluster):
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password", "namespace": "shop"}, "type": "kubernetes.io/tls",
                   "stringData": {"tls.crt": "x", "tls.key": "x"}},
                  {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"}, "data": {"a": "b"}})

    def replaced(kind, name, change):
        found = cluster.get(kind, name, "-n", "shop")
        change(found)
        path = cluster.folder / "changed.json"
        path.write_text(json.dumps(found))
        return as_operator(cluster, "replace", "-f", path).stderr

    # An annotation that says that the Secret is the operator's own changes nothing.
    def claim(found):
        found["metadata"]["annotations"] = {f"{WISH}originating-service-uid": "x"}
        found["data"]["tls.crt"] = base64.b64encode(b"y").decode()

    cluster.until("the policy is in force", lambda: "may write only its own Secrets" in replaced("secret", "password", claim))
    assert "may change only its own ConfigMaps" in replaced("configmap", "settings", lambda found: found["data"].update(a="c"))
    assert "may change only annotations of Services" in as_operator(
        cluster, "patch", "service", "web", "-n", "shop", "--type=merge", "-p", json.dumps({"spec": {"externalIPs": ["10.0.0.1"]}})).stderr
    assert "may change only objects with annotation" in as_operator(
        cluster, "patch", "crd", "routes.route.openshift.io", "--type=merge", "-p", json.dumps({"spec": {"preserveUnknownFields": False},
                                                                                              "metadata": {"labels": {"a": "b"}}})).stderr
    assert cluster.secret("password") == "x"


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, labels: {app: web}}
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 443}}}}
      - {path: /exact, pathType: Exact, backend: {service: {name: web, port: {name: https}}}}
  - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 443}}}}]}
"""


def test_an_ingress_becomes_routes(cluster):
    cluster.until("the class", lambda: cluster.get("ingressclass", "openshift-default"))
    ingress = yaml.safe_load(INGRESS)
    cluster.apply(ingress)
    cluster.until("two Routes", lambda: set(cluster.routes()) == {"shop.example.com/", "shop.example.com/exact"})
    assert cluster.get("ingress", "web", "-n", "shop")["spec"]["ingressClassName"] == "openshift-default"
    route = cluster.routes()["shop.example.com/"]["spec"]
    assert (route["to"]["name"], route["port"]["targetPort"], "tls" in route) == ("web", "https", False)
    cluster.until("an Event", lambda: any("spec.rules[1]" in each for each in cluster.events("Ingress", "NotTranslated")))

    # TLS with the certificate of the Service, and one path less.
    del ingress["spec"]["rules"][0]["http"]["paths"][1], ingress["spec"]["rules"][1]
    ingress["spec"]["tls"] = [{"hosts": ["shop.example.com"], "secretName": "web-tls"}]
    cluster.apply(ingress)
    cluster.until("one Route with a certificate", lambda: [each["spec"].get("tls", {}).get("certificate") for each in cluster.routes().values()] ==
                  [cluster.secret()])
    assert cluster.routes()["shop.example.com/"]["spec"]["tls"]["insecureEdgeTerminationPolicy"] == "Redirect"

    del ingress["spec"]["tls"]
    cluster.apply(ingress)
    cluster.until("no TLS", lambda: "tls" not in cluster.routes()["shop.example.com/"]["spec"])


def test_the_status_of_an_ingress_names_the_router(cluster):
    name = cluster.routes()["shop.example.com/"]["metadata"]["name"]
    told = {"ingress": [{"routerName": "default", "routerCanonicalHostname": "router-default.apps.example.com",
                         "conditions": [{"type": "Admitted", "status": "True"}]}]}
    cluster.kubectl("patch", "route", name, "-n", "shop", "--subresource=status", "--type=merge", "-p", json.dumps({"status": told}))
    cluster.until("its address", lambda: cluster.get("ingress", "web", "-n", "shop")["status"]["loadBalancer"] ==
                  {"ingress": [{"hostname": "router-default.apps.example.com"}]})


def test_routes_go_with_their_ingress(cluster):
    cluster.kubectl("delete", "ingress", "web", "-n", "shop")
    cluster.until("no Route", lambda: not cluster.routes())
