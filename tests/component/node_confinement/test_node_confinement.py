"""Who may change which Node: the policies in the release's manifests with a real API server and real tokens of pods.

    SLIPWAY_SOURCE=. SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest tests/component/node_confinement
"""

import base64
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import time

import host_clock
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
POLICIES = sorted((SOURCE / "images/manifests").glob("*_node-confinement_*.yaml"))
# The real role bindings of the daemons on machines.
ROLES = {("openshift-machine-config-operator", "machine-config-daemon"): "machine-config-daemon", ("openshift-flannel", "flannel-kube-proxy"): "openshift-flannel"}
DEADLINE = 60
MERGE = "application/merge-patch+json"


class Cluster:
    def __init__(self, plane):
        self.plane, self.tokens = plane, {}
        self.tls = ssl.create_default_context(cafile=plane.ca)
        self.tls.load_cert_chain(plane.certificate, plane.key)
        self.without_certificate = ssl.create_default_context(cafile=plane.ca)

    def call(self, who, method, path, body=None, kind="application/json"):
        """(status, answer). who: "admin", "user NAME GROUP", or a key of `tokens`."""
        headers = {"Content-Type": kind, "Accept": "application/json"}
        if who.startswith("user "):
            _, headers["Impersonate-User"], headers["Impersonate-Group"] = who.split()
        elif who != "admin":
            headers["Authorization"] = "Bearer " + self.tokens[who]
        tls = self.without_certificate if "Authorization" in headers else self.tls
        connection = http.client.HTTPSConnection("127.0.0.1", self.plane.api, context=tls, timeout=DEADLINE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def must(self, method, path, body=None, kind="application/json"):
        status, answer = self.call("admin", method, path, body, kind)
        assert status < 300 or status == 409, (method, path, status, answer.get("message"))
        return answer

    def account(self, space, name, role, node=None):
        """A service account with a ClusterRole. With a node, its token is that of a pod on the node."""
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
        self.must("POST", f"/api/v1/namespaces/{space}/serviceaccounts", {"metadata": {"name": name}})
        self.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": f"{space}-{name}"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "namespace": space, "name": name}]})
        spec = {}
        if node:
            pod = self.must("POST", f"/api/v1/namespaces/{space}/pods", {
                "metadata": {"name": f"{name}-{node}"},
                "spec": {"serviceAccountName": name, "nodeName": node, "containers": [{"name": "c", "image": "none.invalid/none"}]}})
            spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", "name": f"{name}-{node}", "uid": pod["metadata"]["uid"]}
        key = f"{name}@{node}" if node else name
        self.tokens[key] = self.must("POST", f"/api/v1/namespaces/{space}/serviceaccounts/{name}/token", {"spec": spec})["status"]["token"]


def role_file(name):
    """The file of the release or of its operators that contains this ClusterRole."""
    files = [*SOURCE.glob("images/manifests/*.yaml"), *SOURCE.glob("data/components/*/manifests/*.yaml")]
    found = [file for file in files if f"kind: ClusterRole\nmetadata:\n  name: {name}\n" in file.read_text()]
    assert len(found) == 1, (name, found)
    return found[0]


def node(name, **metadata):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane"), flags=["--disable-admission-plugins=ServiceAccount"]) as plane:
        made = Cluster(plane)
        assert len(POLICIES) == 10, POLICIES
        for file in [*map(role_file, ROLES.values()), *POLICIES]:
            plane.kubectl("create", "--filename", file)
        for name, role in (("master-0", "master"), ("worker-0", "worker"), ("worker-1", "worker")):
            made.must("POST", "/api/v1/nodes", node(name, labels={f"node-role.kubernetes.io/{role}": ""}, annotations={"slipway.internal/kept": "1"}))
        made.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
            "metadata": {"name": "all-of-nodes"}, "rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}]})
        for (space, name), role in ROLES.items():
            made.account(space, name, role, "worker-0")
        # An account of a user with all rights on all Nodes, on a machine and without one.
        made.account("strangers", "labeller", "all-of-nodes", "worker-0")
        made.account("strangers", "outside", "all-of-nodes")
        made.account("strangers", "administrator", "cluster-admin")
        made.account("openshift-machine-config-operator", "machine-config-controller", "all-of-nodes", "master-0")
        # The API server loads each policy separately: each is tested with a change that only it rejects.
        for who, where, key, policy in (("outside", "worker-1", "try", "accounts"), (WORKER_KUBELET, "worker-0", "slipway.internal/try", "marks")):
            deadline = host_clock.now() + DEADLINE
            while WORDS[policy] not in made.call(who, "PATCH", f"/api/v1/nodes/{where}", {"metadata": {"annotations": {key: str(time.time())}}}, MERGE)[1].get("message", ""):
                assert host_clock.now() < deadline, f"the policy {WORDS[policy]} is not enforced"
                time.sleep(0.1)
        yield made


NOTE = {"metadata": {"annotations": {"machineconfiguration.openshift.io/state": "Working"}}}
LABEL = {"metadata": {"labels": {"zone": "here"}}}
ROLE = {"metadata": {"labels": {"node-role.kubernetes.io/master": ""}}}
NO_ROLE = {"metadata": {"labels": {"node-role.kubernetes.io/worker": None}}}
MARK = {"metadata": {"annotations": {"slipway.internal/kubelet-keys": "00"}}}
NO_MARK = {"metadata": {"annotations": {"slipway.internal/kept": None}}}
OWN_LABEL = {"metadata": {"labels": {"slipway.internal/anything": "1"}}}
TAINTS = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
CORDON = {"spec": {"unschedulable": True}}
STATUS = {"status": {"conditions": [{"type": "NetworkUnavailable", "status": "False"}]}}
WORKER_KUBELET = "user system:node:worker-0 system:nodes"

# (who, what, Node[/status], patch, who rejects: None, "accounts" or "marks" for a policy, "policies" for either, "rights" for RBAC,
# "kubernetes" for NodeRestriction)
PATCHES = [
    ("machine-config-daemon@worker-0", "worker-0", NOTE, None),
    ("machine-config-daemon@worker-0", "worker-1", NOTE, "accounts"),
    ("machine-config-daemon@worker-0", "master-0", NOTE, "accounts"),
    ("machine-config-daemon@worker-0", "master-0", CORDON, "accounts"),
    ("machine-config-daemon@worker-0", "worker-0", ROLE, "policies"),
    ("machine-config-daemon@worker-0", "worker-0", LABEL, "accounts"),
    ("machine-config-daemon@worker-0", "worker-0", TAINTS, "accounts"),
    ("machine-config-daemon@worker-0", "worker-0", CORDON, "accounts"),
    ("machine-config-daemon@worker-0", "worker-0", MARK, "marks"),
    ("machine-config-daemon@worker-0", "worker-0", NO_MARK, "marks"),
    ("machine-config-daemon@worker-0", "worker-0/status", STATUS, "rights"),
    ("flannel-kube-proxy@worker-0", "worker-0/status", STATUS, None),
    ("flannel-kube-proxy@worker-0", "worker-0/status", {"metadata": {"annotations": {"flannel.alpha.coreos.com/public-ip": "10.0.0.9"}}}, None),
    ("flannel-kube-proxy@worker-0", "worker-1/status", STATUS, "accounts"),
    # A status update contains metadata.
    ("flannel-kube-proxy@worker-0", "worker-0/status", ROLE, "policies"),
    ("flannel-kube-proxy@worker-0", "worker-0/status", MARK, "marks"),
    ("flannel-kube-proxy@worker-0", "worker-0", NOTE, "rights"),
    ("labeller@worker-0", "worker-0", NOTE, None),
    ("labeller@worker-0", "worker-1", NOTE, "accounts"),
    ("labeller@worker-0", "worker-0", ROLE, "policies"),
    ("labeller@worker-0", "worker-0", MARK, "marks"),
    ("outside", "worker-0", NOTE, "accounts"),
    ("outside", "worker-0", ROLE, "policies"),
    ("administrator", "worker-1", MARK, None),
    ("machine-config-controller@master-0", "worker-1", CORDON, None),
    ("machine-config-controller@master-0", "worker-1", {"spec": {"unschedulable": None}}, None),
    ("admin", "worker-1", LABEL, None),
    (WORKER_KUBELET, "worker-0", NOTE, None),
    (WORKER_KUBELET, "worker-0/status", STATUS, None),
    (WORKER_KUBELET, "worker-0", MARK, "marks"),
    (WORKER_KUBELET, "worker-0", NO_MARK, "marks"),
    (WORKER_KUBELET, "worker-0/status", MARK, "marks"),
    (WORKER_KUBELET, "worker-0", OWN_LABEL, "marks"),
    (WORKER_KUBELET, "worker-0", ROLE, "kubernetes"),
    (WORKER_KUBELET, "worker-0", NO_ROLE, "kubernetes"),
    (WORKER_KUBELET, "worker-0", TAINTS, "kubernetes"),
    (WORKER_KUBELET, "worker-1", NOTE, "kubernetes"),
    # A user with rights to edit Nodes.
    ("user people all", "worker-0", LABEL, None),
    ("user people all", "worker-0", ROLE, "marks"),
    ("user people all", "worker-0", MARK, "marks"),
]
# Texts of answers, by the rejecting component.
WORDS = {"accounts": "node-accounts.slipway.internal", "marks": "node-marks.slipway.internal", "policies": ".slipway.internal' with binding",
         "rights": "cannot patch resource", "kubernetes": "is not allowed to"}


@pytest.mark.parametrize("row", range(len(PATCHES)), ids=lambda row: f"{PATCHES[row][0]} {PATCHES[row][1]}".replace(" ", "_"))
def test_patches(cluster, row):
    who, where, patch, refused = PATCHES[row]
    cluster.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "people"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "all-of-nodes"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "people"}]})
    status, answer = cluster.call(who, "PATCH", f"/api/v1/nodes/{where}", patch, MERGE)
    assert (status, True) == (403, WORDS[refused] in answer["message"]) if refused else (200, True), (status, answer)


def test_nodes_are_neither_made_nor_deleted_from_other_machines(cluster):
    for who in ("labeller@worker-0", "outside"):
        for method, path, body in (("POST", "/api/v1/nodes", node("worker-9")), ("DELETE", "/api/v1/nodes/worker-1", None),
                                   ("DELETE", "/api/v1/nodes/worker-0", None), ("DELETE", "/api/v1/nodes?labelSelector=node-role.kubernetes.io%2Fworker", None)):
            status, answer = cluster.call(who, method, path, body)
            assert status == 403 and WORDS["accounts"] in answer["message"], (who, method, path, status, answer)
    # A token must not create a Node, not even that of its own machine.
    status, answer = cluster.call("labeller@worker-0", "POST", "/api/v1/nodes", node("worker-0"))
    assert status == 403, answer


def test_kubelets_register_without_marks_and_roles(cluster):
    kubelet = "user system:node:worker-7 system:nodes"
    for labels, annotations, refused in (({"slipway.internal/a": "1"}, {}, "marks"), ({}, {"slipway.internal/kubelet-keys": "1"}, "marks"),
                                         ({"node-role.kubernetes.io/master": ""}, {}, "kubernetes"), ({}, {}, None)):
        status, answer = cluster.call(kubelet, "POST", "/api/v1/nodes", node("worker-7", labels=labels, annotations=annotations))
        assert (status == 201) if refused is None else (status == 403 and WORDS[refused] in answer["message"]), (status, answer)


def test_another_account_is_let_through_by_the_role(cluster):
    cluster.account("strangers", "trusted", "all-of-nodes")
    status, answer = cluster.call("trusted", "PATCH", "/api/v1/nodes/worker-1", LABEL, MERGE)
    assert status == 403, answer
    cluster.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "trusted"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "slipway:change-any-node"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "strangers", "name": "trusted"}]})
    deadline = host_clock.now() + DEADLINE
    while cluster.call("trusted", "PATCH", "/api/v1/nodes/worker-1", ROLE, MERGE)[0] != 200:
        assert host_clock.now() < deadline, "the role lets nobody through"
        time.sleep(0.1)
    cluster.must("PATCH", "/api/v1/nodes/worker-1", {"metadata": {"labels": {"node-role.kubernetes.io/master": None}}}, MERGE)


def test_daemons_have_no_right_to_write_elsewhere(cluster):
    for who in ("machine-config-daemon@worker-0", "flannel-kube-proxy@worker-0"):
        for group, resource, verb in (("machineconfiguration.openshift.io", "machineconfignodes", "patch"), ("machineconfiguration.openshift.io", "machineconfigs", "patch"),
                                      ("machineconfiguration.openshift.io", "machineconfigpools", "patch"), ("", "nodes", "delete"), ("", "nodes", "create"),
                                      ("", "secrets", "get"), ("", "pods", "create"), ("", "configmaps", "patch"), ("", "events", "create")):
            review = {"spec": {"resourceAttributes": {"group": group, "resource": resource, "verb": verb, "namespace": "kube-system"}}}
            status, answer = cluster.call(who, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
            assert status == 201 and answer["status"]["allowed"] is False, (who, resource, verb, answer)


ROWS = [{"name": "master-0", "role": "master", "addresses": ["10.97.77.11"]}, {"name": "worker-0", "role": "worker", "addresses": []},
        {"addresses": [], "role": "master", "name": "m.example.com"}]
SPACE = "openshift-static-pod-installer"


@pytest.fixture(scope="module")
def bind(cluster):
    """Binds a new pod to a node like the scheduler: (status, message). The table is the given one; None: no table."""
    path = "/api/v1/namespaces/openshift-config/configmaps"
    for space in (SPACE, "openshift-config", "openshift-machine-config-operator", "people"):
        cluster.must("POST", "/api/v1/namespaces", {"metadata": {"name": space}})
    count = iter(range(1000))

    def bind(node, machines, space=SPACE, prefix="installer"):
        cluster.call("admin", "DELETE", f"{path}/machine-addresses")
        if machines is not None:
            cluster.must("POST", path, {"metadata": {"name": "machine-addresses"}, "data": {"machines": machines}})
        name = f"{prefix}-{next(count)}"
        cluster.must("POST", f"/api/v1/namespaces/{space}/pods", {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "none.invalid/none"}]}})
        status, answer = cluster.call("admin", "POST", f"/api/v1/namespaces/{space}/pods/{name}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}})
        return status, answer.get("message", "")

    deadline = host_clock.now() + DEADLINE
    while bind("worker-0", json.dumps(ROWS))[0] == 201:
        assert host_clock.now() < deadline, "the policy is not enforced"
        time.sleep(0.1)
    return bind


def soon(bind, expected, *words, **options):
    """Retries, because the API server gets the table through a watch."""
    deadline = host_clock.now() + DEADLINE
    while (answer := bind(*words, **options))[0] != expected:
        assert host_clock.now() < deadline, (words, answer)
        time.sleep(0.1)
    return answer


def test_pods_of_the_control_plane_run_on_masters_of_the_table(bind):
    for text in (json.dumps(ROWS), json.dumps(ROWS, separators=(",", ":")), json.dumps(ROWS, indent=2)):
        for node in ("master-0", "m.example.com"):
            soon(bind, 201, node, text)
        for node in ("worker-0", "worker-1", "master-00", "aster-0", "mXexample.com"):
            _, message = soon(bind, 403, node, text)
            assert f"{node} has no row with role master in ConfigMap openshift-config/machine-addresses" in message


def test_a_table_without_masters_and_no_table_leave_it_to_labels(bind):
    soon(bind, 201, "worker-0", None)
    soon(bind, 201, "worker-0", json.dumps(ROWS[1:2]))
    soon(bind, 403, "worker-0", json.dumps(ROWS))


def test_other_pods_run_anywhere(bind):
    soon(bind, 403, "worker-0", json.dumps(ROWS), space="openshift-machine-config-operator", prefix="machine-config-server")
    soon(bind, 201, "worker-0", json.dumps(ROWS), space="openshift-machine-config-operator", prefix="machine-config-daemon")
    soon(bind, 201, "worker-0", json.dumps(ROWS), space="people", prefix="web")


def test_a_machine_that_left_neither_registers_nor_renews(bind, cluster):
    """With the certificate of its kubelet, which is valid for some more hours."""
    left = [*ROWS, {"name": "master-9", "role": "removed", "addresses": ["10.97.77.19"]}]

    def request(name):
        made = subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "/dev/null",
                               "-subj", f"/O=system:nodes/CN=system:node:{name}"], check=True, capture_output=True, timeout=60).stdout
        return {"metadata": {"generateName": "again-"}, "spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"],
                                                                 "request": base64.b64encode(made).decode()}}

    soon(bind, 403, "worker-0", json.dumps(left))
    for name, refused in (("master-9", True), ("master-8", True), ("aster-0", True), ("m-example.com", True), ("master-0", False), ("m.example.com", False)):
        kubelet = f"user system:node:{name} system:nodes"
        for path, body in (("/api/v1/nodes", node(name)), ("/apis/certificates.k8s.io/v1/certificatesigningrequests", request(name))):
            deadline = host_clock.now() + DEADLINE
            while ("is not a machine of this cluster" in (answer := cluster.call(kubelet, "POST", path, body))[1].get("message", "")) is not refused:
                assert host_clock.now() < deadline, (name, path, answer)
                time.sleep(0.1)
            assert answer[0] == 403 if refused else answer[0] in (201, 409), (name, path, answer)
    # Without a table nothing is known of machines.
    soon(bind, 201, "worker-0", None)
    deadline = host_clock.now() + DEADLINE
    while cluster.call("user system:node:master-8 system:nodes", "POST", "/api/v1/nodes", node("master-8"))[0] not in (201, 409):
        assert host_clock.now() < deadline
        time.sleep(0.1)
