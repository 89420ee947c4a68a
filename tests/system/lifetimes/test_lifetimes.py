"""For fifteen minutes, every certificate that can have a lifetime of minutes has one, and is renewed repeatedly."""

import base64
import re
import subprocess
import time

import host_clock
from api import BROKEN
from certificates import describe, shown_by_ports
from faults import inits
from figures import cgroup
from installation import MACHINES
from lifetimes import ask_for_new_certificates, set_lifetimes

KUBELETS = {"kubelet": "5m"}
ALL = {"kubelet": "5m", "leaf": "5m", "authority": "10m", "etcd": "5m"}
WATCHED_FOR = 15 * 60
MANAGED = "auth.openshift.io/managed-certificate-type"
# Certificates that the setting does not affect, for the reasons in docs/lifetimes.md.
LASTING = {"localhost-recovery-serving-certkey", "localhost-recovery-serving-signer", "localhost-serving-signer", "service-network-serving-signer",
           "loadbalancer-serving-signer", "kube-apiserver-to-kubelet-signer", "node-system-admin-signer", "etcd-signer", "etcd-metric-signer", "router-ca"}
# The installer's certificates have no label.
AUTHORITIES = {"aggregator-client-signer", "kube-control-plane-signer", "csr-signer"}
PKI = "lib/kubelet/pki/kubelet-{}-current.pem"
ROUTER_PORT = 443


def serial(pem):
    return subprocess.run(["openssl", "x509", "-noout", "-serial"], input=pem, capture_output=True, check=True).stdout


def of_kubelets(installed):
    found = {}
    for machine in MACHINES:
        _, var = installed.disk(machine)
        for kind in ("client", "server"):
            file = var / PKI.format(kind)
            try:
                found[machine, kind] = serial((file.parent / file.readlink().name).read_bytes())
            except (OSError, subprocess.CalledProcessError):
                pass  # it is being replaced
    return found


def long_ones(installed):
    """Kubelet certificates that have expired, or with a longer lifetime than the controller manager signs now; the start is backdated by
    five minutes."""
    found = []
    for machine in MACHINES:
        _, var = installed.disk(machine)
        for kind in ("client", "server"):
            file = var / PKI.format(kind)
            try:
                about = describe((file.parent / file.readlink().name).read_text())
            except OSError:
                about = None
            if about is None or not time.time() < about[4] or about[4] - about[3] > 11 * 60:
                found.append(f"{machine} {kind}")
    return found


def of_secrets(installed):
    """Certificates and CAs that an operator rotates, without copies of revisions and without those of the bootstrap machine."""
    found = {}
    for secret in installed.api.all("/api/v1/secrets"):
        space, name = secret["metadata"]["namespace"], secret["metadata"]["name"]
        is_rotated = secret["metadata"].get("labels", {}).get(MANAGED) in ("target", "signer") or name in AUTHORITIES and space.endswith("-operator")
        if is_rotated and name not in LASTING and not name.endswith("-bootstrap") and "tls.crt" in secret.get("data", {}):
            found[space, name] = serial(base64.b64decode(secret["data"]["tls.crt"]))
    copies = {(space, name) for space, name in found if (number := re.fullmatch(r"(.+)-\d+", name)) and (space, number[1]) in found}
    return {name: value for name, value in found.items() if name not in copies}


def shown(installed):
    """The certificate of a router for an unknown name."""
    processes = inits(cgroup(installed.state / installed.name))
    return {("port", str(port)): serial(pem.encode()) for port, pem in shown_by_ports(processes["worker-0"], [f"x.apps.{installed.domain}"])
            if port == ROUTER_PORT}


def unready(installed):
    nodes = {node["metadata"]["name"]: {each["type"]: each["status"] for each in node["status"].get("conditions", [])}
             for node in installed.api.get("/api/v1/nodes")["items"]}
    return sorted(machine for machine in MACHINES if nodes.get(machine, {}).get("Ready") != "True")


def pending(installed, older_than=60):
    """Requests without a decision for that long."""
    found = []
    for request in installed.api.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")["items"]:
        made = time.mktime(time.strptime(request["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
        if not request["status"].get("certificate") and time.time() - made > older_than:
            found.append(f"{request['metadata']['name']} of {request['spec']['username']} for {request['spec']['signerName']}")
    return found


def test_everything_is_renewed_again_and_again(installed):
    set_lifetimes(installed, KUBELETS)
    config = "/api/v1/namespaces/openshift-kube-controller-manager/configmaps/config-{}"
    settings = "/apis/operator.openshift.io/v1/kubecontrollermanagers/cluster"

    def rolled_out():
        status = installed.api.get(settings)["status"]
        latest = status["latestAvailableRevision"]
        code, copy = installed.api.call("GET", config.format(latest))
        is_everywhere = all(node.get("currentRevision") == latest for node in status["nodeStatuses"])
        return code == 200 and "300s" in copy["data"]["config.yaml"] and is_everywhere

    installed.wait_until("every controller manager signs for five minutes", rolled_out, limit=300)
    for machine in MACHINES:
        ask_for_new_certificates(installed, machine)
    installed.wait_until("every kubelet has short certificates", lambda: not long_ones(installed), limit=300)
    installed.wait_until("every node is Ready", lambda: not unready(installed), limit=120)

    set_lifetimes(installed, ALL)
    begun, span, deadline = time.time(), host_clock.Span(), host_clock.now() + WATCHED_FOR
    seen, not_ready, stuck = {}, [], []
    while host_clock.now() < deadline:
        try:
            now = {**of_kubelets(installed), **of_secrets(installed), **shown(installed)}
            not_ready += [f"{time.time() - begun:.0f} s: {machine}" for machine in unready(installed)]
            stuck += pending(installed)
        except BROKEN as error:
            now = {}
            print(f"{time.time() - begun:.0f} s: {error}")
        for name, value in now.items():
            seen.setdefault(name, []).append(value) if value not in seen.get(name, []) else None
        time.sleep(5)

    renewed = {name: len(values) - 1 for name, values in seen.items()}
    print(f"\n{len(seen)} certificates, renewed {min(renewed.values())} to {max(renewed.values())} times in {time.time() - begun:.0f} s; {installed.recorder.summary()}")
    for name, count in sorted(renewed.items()):
        print(f"  {count}  {'/'.join(name)}")
    assert not not_ready, not_ready
    assert not stuck, stuck
    # Those of kubelets, the three CAs, and about thirty Secrets.
    assert len(seen) > 30, sorted(seen)
    assert not (rarely := sorted(name for name, count in renewed.items() if count < 2)), rarely
    refused = installed.recorder.refused_since(begun)
    assert not refused or span.excuses(f"{len(refused)} calls refused while certificates of kubelets were renewed"), installed.explain(refused)
    assert installed.recorder.check() == []
    for machine in MACHINES:
        # Through the API server, which trusts the current CA of kubelets.
        assert "kubeletconfig" in installed.api.get(f"/api/v1/nodes/{machine}/proxy/configz")
