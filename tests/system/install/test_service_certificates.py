"""Certificates of Services, and Ingress objects that become Routes."""

import base64
import pathlib
import subprocess

import pytest
from test_hand_over import condition

SPACE = "service-certificates"
OPERATOR = "/apis/config.openshift.io/v1/clusteroperators/service-ca"
OBJECTS = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: service-certificates, annotations: {service.beta.openshift.io/serving-cert-secret-name: web-tls}}
spec: {ports: [{name: https, port: 443}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: trust, namespace: service-certificates, annotations: {service.beta.openshift.io/inject-cabundle: "true"}}
---
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: without-ca, namespace: service-certificates}
spec: {host: without-ca.example.com, to: {kind: Service, name: web}, tls: {termination: reencrypt}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: service-certificates}
spec:
  tls: [{}]
  rules: [{host: ingress.example.com, http: {paths: [{path: /shop, pathType: Prefix, backend: {service: {name: web, port: {number: 443}}}}]}}]
"""


@pytest.fixture(scope="module")
def space(installed):
    installed.kubectl("create", "namespace", SPACE)
    try:
        installed.kubectl("apply", "--filename", "-", input=OBJECTS)
        yield f"/api/v1/namespaces/{SPACE}"
    finally:
        installed.kubectl("delete", "namespace", SPACE, "--wait=false")


def test_the_operator_is_content(installed):
    seen = installed.api.get(OPERATOR)
    assert {kind: condition(seen, kind) for kind in ("Available", "Progressing", "Degraded")} == \
        {"Available": "True", "Progressing": "False", "Degraded": "False"}, seen["status"]


def test_a_service_has_a_certificate_that_clients_trust(installed, space, tmp_path: pathlib.Path):
    def data(kind, name):
        found = [each for each in installed.api.get(f"{space}/{kind}")["items"] if each["metadata"]["name"] == name]
        return found[0].get("data", {}) if found else {}

    installed.wait_until("the Secret", lambda: "tls.crt" in data("secrets", "web-tls"), limit=20)
    installed.wait_until("the bundle", lambda: "service-ca.crt" in data("configmaps", "trust"), limit=20)
    (tmp_path / "leaf").write_bytes(base64.b64decode(data("secrets", "web-tls")["tls.crt"]))
    (tmp_path / "bundle").write_text(data("configmaps", "trust")["service-ca.crt"])
    subprocess.run(["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", f"web.{SPACE}.svc", "-CAfile", tmp_path / "bundle",
                    "-untrusted", tmp_path / "leaf", tmp_path / "leaf"], check=True, timeout=30)


def routes(installed):
    return installed.api.get(f"/apis/route.openshift.io/v1/namespaces/{SPACE}/routes")["items"]


def admitted(route):
    return [each["status"] for entry in route.get("status", {}).get("ingress", []) for each in entry["conditions"]]


def test_a_reencrypt_route_needs_no_authority(installed, space):
    installed.wait_until("the Route is admitted",
                         lambda: ["True"] in [admitted(each) for each in routes(installed) if each["metadata"]["name"] == "without-ca"], limit=100)


def test_an_ingress_becomes_a_route(installed, space):
    path = f"/apis/networking.k8s.io/v1/namespaces/{SPACE}/ingresses/web"
    assert installed.api.get(path)["spec"]["ingressClassName"] == "openshift-default"
    installed.wait_until("the Ingress has an address", lambda: installed.api.get(path)["status"]["loadBalancer"].get("ingress"), limit=20)
    [route] = [each for each in routes(installed) if each["spec"]["host"] == "ingress.example.com"]
    assert (route["spec"]["path"], route["spec"]["tls"]["termination"], admitted(route)) == ("/shop", "edge", ["True"])
    installed.api.expect("DELETE", path)
    installed.wait_until("its Route is gone", lambda: not [each for each in routes(installed) if each["spec"]["host"] == "ingress.example.com"],
                         limit=30)
