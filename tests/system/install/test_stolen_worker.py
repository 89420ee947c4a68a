"""Root on a worker gets no access to the rest of the cluster. The test takes every credential from worker-0 (the kubelet's certificate, the
tokens of all pods, the credential for the first certificate, the pointer config) and tries each row of the tables with each of them.

Every request of ATTEMPTS is a dry run that the administrator may make, so that a failure depends on the credential only.
"""

import base64
import json
import pathlib
import subprocess
import tempfile
import uuid

import pytest
from installation import MASTERS

WORKER, MASTER, OTHER = "worker-0", "master-0", "worker-1"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
RBAC, MC = "/apis/rbac.authorization.k8s.io/v1", "/apis/machineconfiguration.openshift.io/v1"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES, SPACES = "/api/v1/nodes", "/api/v1/namespaces"
OPERATORS = "openshift-kube-apiserver-operator"
STORAGE = "openshift-cluster-storage-operator"
CONTROL_PLANE = ("openshift-etcd", "openshift-kube-apiserver", "openshift-kube-controller-manager", "openshift-kube-scheduler")
KEEPERS = ("kube-system", "openshift-config", "openshift-config-managed", "openshift-machine-config-operator", "openshift-cluster-machine-approver",
           "openshift-kube-apiserver-operator", "openshift-etcd-operator", "openshift-ingress-operator", "openshift-metrics-server")


def note(key, value="stolen"):
    return {"metadata": {"annotations": {key: value}}}


def labels(**names):
    return {"metadata": {"labels": {f"node-role.kubernetes.io/{role}": value for role, value in names.items()}}}


def pod(name, node, account=None, mirror=False):
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "none.invalid/none"}], "tolerations": [{"operator": "Exists"}]}
    if account:
        spec["serviceAccountName"] = account
    mark = {"annotations": {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "x"}} if mirror else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **mark}, "spec": spec}


def binding(name, kind="ClusterRole", role="cluster-admin", account="machine-config-daemon", space="openshift-machine-config-operator"):
    return {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": space}]}


# (attempt, method, path, body, content type). Paths may contain names of objects from `names_in`.
ATTEMPTS = [
    # Roles, marks, and Nodes of other machines.
    ("label itself master", "PATCH", f"{NODES}/{WORKER}", labels(master=""), MERGE),
    ("label itself control plane", "PATCH", f"{NODES}/{WORKER}", labels(**{"control-plane": ""}), MERGE),
    ("label itself master by its status", "PATCH", f"{NODES}/{WORKER}/status", labels(master=""), MERGE),
    ("drop its role", "PATCH", f"{NODES}/{WORKER}", labels(worker=None), MERGE),
    ("write what the approver notes", "PATCH", f"{NODES}/{WORKER}", note("slipway.internal/kubelet-keys"), MERGE),
    ("write that by the status", "PATCH", f"{NODES}/{WORKER}/status", note("slipway.internal/kubelet-keys"), MERGE),
    ("label itself in our domain", "PATCH", f"{NODES}/{WORKER}", {"metadata": {"labels": {"slipway.internal/role": "master"}}}, MERGE),
    ("taint itself so that others' pods come", "PATCH", f"{NODES}/{WORKER}", {"spec": {"taints": [{"key": "stolen", "effect": "NoSchedule"}]}}, MERGE),
    ("give a master another config", "PATCH", f"{NODES}/{MASTER}", note("machineconfiguration.openshift.io/desiredConfig"), MERGE),
    ("let a master be drained", "PATCH", f"{NODES}/{MASTER}", note("machineconfiguration.openshift.io/desiredDrain", "drain-stolen"), MERGE),
    ("cordon a master", "PATCH", f"{NODES}/{MASTER}", {"spec": {"unschedulable": True}}, MERGE),
    ("take a master's label away", "PATCH", f"{NODES}/{MASTER}", labels(master=None), MERGE),
    ("move a master's address", "PATCH", f"{NODES}/{MASTER}/status", {"status": {"addresses": [{"type": "InternalIP", "address": "10.97.77.250"}]}}, STRATEGIC),
    ("say that a master is broken", "PATCH", f"{NODES}/{MASTER}/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, STRATEGIC),
    ("delete a master's Node", "DELETE", f"{NODES}/{MASTER}", None, None),
    ("delete its own Node", "DELETE", f"{NODES}/{WORKER}", None, None),
    ("make a Node", "POST", NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "master-9", **labels(master="")["metadata"]}}, None),
    ("change a master's CSINode", "PATCH", f"/apis/storage.k8s.io/v1/csinodes/{MASTER}", note("stolen"), MERGE),
    # Secrets.
    ("list all Secrets", "GET", "/api/v1/secrets", None, None),
    *((f"list Secrets of {space}", "GET", f"{SPACES}/{space}/secrets", None, None) for space in (*CONTROL_PLANE, *KEEPERS)),
    ("read etcd's keys", "GET", f"{SPACES}/openshift-etcd/secrets/etcd-all-certs", None, None),
    ("read the key that signs tokens", "GET", f"{SPACES}/openshift-kube-apiserver/secrets/bound-service-account-signing-key", None, None),
    ("read the key that signs certificates", "GET", f"{SPACES}/openshift-kube-controller-manager/secrets/csr-signer", None, None),
    ("read the config server's key", "GET", f"{SPACES}/openshift-machine-config-operator/secrets/machine-config-server-tls", None, None),
    ("read the pull secret", "GET", f"{SPACES}/openshift-config/secrets/pull-secret", None, None),
    ("write a Secret", "POST", f"{SPACES}/openshift-config/secrets", {"metadata": {"name": "stolen"}}, None),
    ("make a token that lives for ever", "POST", f"{SPACES}/{OPERATORS}/secrets", {
        "metadata": {"name": "stolen", "annotations": {"kubernetes.io/service-account.name": "kube-apiserver-operator"}},
        "type": "kubernetes.io/service-account-token"}, None),
    # The machine table and other ConfigMaps with settings.
    ("read the machine table", "GET", f"{SPACES}/openshift-config/configmaps/machine-addresses", None, None),
    ("make itself a master in the machine table", "PATCH", f"{SPACES}/openshift-config/configmaps/machine-addresses", {"data": {"machines": "[]"}}, MERGE),
    ("read the approver's records", "GET", f"{SPACES}/openshift-cluster-machine-approver/configmaps", None, None),
    ("write among the approver's records", "POST", f"{SPACES}/openshift-cluster-machine-approver/configmaps", {"metadata": {"name": "stolen"}}, None),
    ("change whom API servers trust", "PATCH", f"{SPACES}/openshift-kube-apiserver/configmaps/client-ca", {"data": {"ca-bundle.crt": "x"}}, MERGE),
    ("change the proxy's authorities", "PATCH", f"{SPACES}/kube-system/configmaps/extension-apiserver-authentication", {"data": {"client-ca-file": "x"}}, MERGE),
    # Pods.
    ("run a pod on a master", "POST", f"{SPACES}/default/pods", pod("stolen", MASTER), None),
    ("run a pod with an operator's account", "POST", f"{SPACES}/{OPERATORS}/pods", pod("stolen", WORKER, "kube-apiserver-operator"), None),
    ("run a pod with the installer's account", "POST", f"{SPACES}/openshift-static-pod-installer/pods", pod("stolen", WORKER, "installer"), None),
    ("delete a master's pod", "DELETE", f"{SPACES}/openshift-etcd/pods/etcd-{MASTER}", None, None),
    ("say that a master's pod is not ready", "PATCH", f"{SPACES}/openshift-etcd/pods/etcd-{MASTER}/status", {"status": {"phase": "Failed"}}, MERGE),
    ("change what an operator runs", "PATCH", f"/apis/apps/v1/namespaces/{OPERATORS}/deployments/kube-apiserver-operator", note("stolen"), MERGE),
    ("let the installer run everywhere", "PATCH", "/apis/apps/v1/namespaces/openshift-static-pod-installer/daemonsets/installer",
     {"spec": {"template": {"spec": {"nodeSelector": None}}}}, MERGE),
    ("make a DaemonSet", "POST", "/apis/apps/v1/namespaces/kube-system/daemonsets", {
        "metadata": {"name": "stolen"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "none.invalid/none"}]}}}}, None),
    # Accounts and roles.
    ("become an administrator", "POST", f"{RBAC}/clusterrolebindings", binding("stolen"), None),
    ("become an editor of the control plane", "POST", f"{RBAC}/namespaces/openshift-etcd/rolebindings", binding("stolen"), None),
    ("give its own role more", "PATCH", f"{RBAC}/clusterroles/machine-config-daemon", {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}, MERGE),
    ("be let through by the policies", "POST", f"{RBAC}/clusterrolebindings", binding("stolen", role="slipway:change-any-node"), None),
    ("get a token of the API server's operator", "POST", f"{SPACES}/{OPERATORS}/serviceaccounts/kube-apiserver-operator/token", {"spec": {}}, None),
    ("get a token of the approver", "POST", f"{SPACES}/openshift-cluster-machine-approver/serviceaccounts/machine-approver-sa/token", {"spec": {}}, None),
    ("get a token of the machine-config controller", "POST", f"{SPACES}/openshift-machine-config-operator/serviceaccounts/machine-config-controller/token", {"spec": {}}, None),
    ("get a token of its own daemon bound to no pod", "POST", f"{SPACES}/openshift-machine-config-operator/serviceaccounts/machine-config-daemon/token", {"spec": {}}, None),
    # The configuration of machines.
    ("stop the pool of masters", "PATCH", f"{MC}/machineconfigpools/master", {"spec": {"paused": True}}, MERGE),
    ("write a config for masters", "POST", f"{MC}/machineconfigs", {"apiVersion": MC.removeprefix("/apis/"), "kind": "MachineConfig", "metadata": {
        "name": "99-stolen", "labels": {"machineconfiguration.openshift.io/role": "master"}}, "spec": {"config": {"ignition": {"version": "3.2.0"}}}}, None),
    ("change a config that there is", "PATCH", f"{MC}/machineconfigs/00-master", note("stolen"), MERGE),
    ("delete a config", "DELETE", f"{MC}/machineconfigs/00-master", None, None),
    ("change the controller's config", "PATCH", f"{MC}/controllerconfigs/machine-config-controller", note("stolen"), MERGE),
    ("change a master's MachineConfigNode", "PATCH", f"{MC}/machineconfignodes/{MASTER}", note("stolen"), MERGE),
    ("change its own MachineConfigNode", "PATCH", f"{MC}/machineconfignodes/{WORKER}", note("stolen"), MERGE),
    # Leases, and the address of the API.
    ("lead instead of the controller manager", "PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager", {"spec": {"holderIdentity": "stolen"}}, MERGE),
    ("lead instead of the scheduler", "PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler", {"spec": {"holderIdentity": "stolen"}}, MERGE),
    ("keep a dead master alive", "PATCH", f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{MASTER}", {"spec": {"leaseDurationSeconds": 3600}}, MERGE),
    ("move the API to another address", "PATCH", f"{SPACES}/default/endpoints/kubernetes", note("stolen"), MERGE),
    ("move the API's slice", "PATCH", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes", note("stolen"), MERGE),
    ("answer for another Service", "POST", "/apis/discovery.k8s.io/v1/namespaces/openshift-dns/endpointslices", {
        "metadata": {"name": "stolen", "labels": {"kubernetes.io/service-name": "dns-default"}}, "addressType": "IPv4", "endpoints": [{"addresses": ["10.97.77.250"]}]}, None),
    ("change a Service", "PATCH", f"{SPACES}/default/services/kubernetes", note("stolen"), MERGE),
    # Admission.
    ("take a policy away", "DELETE", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/node-accounts.slipway.internal", None, None),
    ("see every object that is written", "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"metadata": {"name": "stolen"}}, None),
    ("serve a part of the API", "POST", "/apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": "v1.stolen.example.com"}, "spec": {
        "group": "stolen.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "insecureSkipTLSVerify": True,
        "service": {"name": "stolen", "namespace": "default"}}}, None),
    ("let a namespace run anything", "PATCH", f"{SPACES}/default", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}, MERGE),
    ("mount a machine's disk", "POST", "/api/v1/persistentvolumes", {"metadata": {"name": "stolen"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}}}, None),
    # Local volumes.
    ("report the volumes of another machine", "PATCH", f"{SPACES}/{STORAGE}/configmaps/state-{MASTER}", {"data": {"state": "{}"}}, MERGE),
    ("order the removal of volumes", "POST", f"{SPACES}/{STORAGE}/configmaps", {"metadata": {"name": "wanted-stolen"}, "data": {"volumes": "{}"}}, None),
    ("get the pods of another machine's volumes", "PATCH", f"{NODES}/{WORKER}", {"metadata": {"labels": {"kubernetes.io/hostname": MASTER}}}, MERGE),
    ("make local volumes the default of nobody", "PATCH", "/apis/storage.k8s.io/v1/storageclasses/local", note("stolen"), MERGE),
    # Metrics.
    ("see the load of all pods", "GET", "/apis/metrics.k8s.io/v1beta1/pods", None, None),
    ("answer instead of metrics-server", "PATCH", "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io", {"spec": {"service": {"name": "stolen"}}}, MERGE),
    ("get a token of metrics-server", "POST", f"{SPACES}/openshift-metrics-server/serviceaccounts/metrics-server/token", {"spec": {}}, None),
    # Settings of operators.
    ("change what the API server does", "PATCH", "/apis/operator.openshift.io/v1/kubeapiservers/cluster", {"spec": {"logLevel": "TraceAll"}}, MERGE),
    ("say that it runs etcd", "PATCH", "/apis/operator.openshift.io/v1/etcds/cluster/status", note("stolen"), MERGE),
    ("change the cluster's version", "PATCH", "/apis/config.openshift.io/v1/clusterversions/version", {"spec": {"channel": "stolen"}}, MERGE),
    ("say that an operator is well", "PATCH", "/apis/config.openshift.io/v1/clusteroperators/etcd/status", note("stolen"), MERGE),
    ("approve a certificate", "PATCH", f"{CSRS}/{{request}}/approval",
     {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "stolen", "message": "stolen"}]}}, MERGE),
]
# Requests that cannot be a dry run: (attempt, method, path, status for the administrator).
READS = [
    ("ask a master's kubelet by the API server", "GET", f"{NODES}/{MASTER}/proxy/configz", 200),
    ("run a program in a master's pod", "GET", f"{SPACES}/openshift-etcd/pods/etcd-{MASTER}/exec?command=id&container=etcd&stdout=true", 400),
    ("reach a port of a master's pod", "GET", f"{SPACES}/openshift-etcd/pods/etcd-{MASTER}/portforward?ports=2379", 400),
    ("read who did what", "GET", f"{NODES}/{MASTER}/proxy/logs/", None),
]
IDENTITIES = [{"Impersonate-User": "system:admin", "Impersonate-Group": "system:masters"}, {"Impersonate-User": f"system:node:{MASTER}", "Impersonate-Group": "system:nodes"},
              {"Impersonate-User": "system:serviceaccount:kube-system:node-controller"}]

# Cluster-wide write rights of accounts with pods on workers, each with what confines it; other accounts have none.
RIGHTS = {
    "system:serviceaccount:openshift-machine-config-operator:machine-config-daemon": {
        "patch nodes": "its own: ValidatingAdmissionPolicy", "create events": "in default: events say, and do nothing", "patch events": "the same",
        "create configmaps": "in one namespace, its own report: ValidatingAdmissionPolicy", "patch configmaps": "the same"},
    "system:serviceaccount:openshift-flannel:flannel-kube-proxy": {
        "patch nodes/status": "its own: ValidatingAdmissionPolicy", "create events": "events say, and do nothing", "patch events": "the same", "update events": "the same",
        "create events.events.k8s.io": "the same", "patch events.events.k8s.io": "the same", "update events.events.k8s.io": "the same"},
    "system:serviceaccount:openshift-ingress:router": {
        "update routes/status.route.openshift.io": "routers say whether they serve a Route", "patch routes/status.route.openshift.io": "the same",
        "create events": "events say, and do nothing", "update events": "the same", "patch events": "the same",
        "create events.events.k8s.io": "the same", "update events.events.k8s.io": "the same", "patch events.events.k8s.io": "the same"},
}
# (port of a master, path, refusals): an HTTP status, or 35 and 56 of curl: the server ended the handshake.
TLS, RIGHT = ("35", "56"), ("401", "403")
DOORS = [
    (2379, "/health", TLS), (2379, "/v3/kv/range", TLS), (2380, "/members", TLS), (2381, "/v3/cluster/member/list", TLS), (9978, "/metrics", TLS),
    (10250, "/pods", RIGHT), (10250, "/exec/openshift-etcd/etcd-master-0/etcd?command=id&output=1", RIGHT), (10250, "/containerLogs/openshift-etcd/etcd-master-0/etcd", RIGHT),
    (10257, "/configz", RIGHT), (10259, "/configz", RIGHT), (6443, "/metrics", RIGHT), (9099, "/metrics", RIGHT), (22623, "/config/master", ("403",)),
]
# Self reviews, which every user may create.
SELF = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
READING = {"get", "list", "watch"}


class Stolen:
    """kubelet: PEM of certificate and key; bootstrap: the token for joining; tokens: of pods, by account; apis: one for each credential."""

    def __init__(self, installed):
        def read(script):
            return installed.machine(WORKER, "sh", "-c", script).stdout

        self.installed = installed
        self.kubelet = read("cat /var/lib/kubelet/pki/kubelet-client-current.pem")
        tokens = read("cat /etc/kubernetes/kubeconfig | grep -o 'token: *[^ ]*' || true").split()
        self.bootstrap = tokens[-1].strip("'\"") if tokens else None
        found = read("for file in /var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/*/token; do cat $file; echo; done").split()
        # The API server refuses the token of a pod that ends, whatever it asks for.
        running = {pod["metadata"]["uid"] for pod in installed.objects("pods", "--all-namespaces") if "deletionTimestamp" not in pod["metadata"]}
        self.tokens = {claims(token)["sub"]: token for token in found if claims(token)["kubernetes.io"]["pod"]["uid"] in running}
        self.apis = {"kubelet": installed.api.with_credential(pem=self.kubelet)}
        if self.bootstrap:
            self.apis["bootstrap"] = installed.api.with_credential(token=self.bootstrap)
        self.apis |= {subject: installed.api.with_credential(token=token) for subject, token in self.tokens.items()}


def claims(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def dry(path):
    return path + ("&" if "?" in path else "?") + "dryRun=All"


def nodes_as_they_are(installed):
    return {node["metadata"]["name"]: (node["metadata"].get("labels"), node["spec"].get("taints"), node["spec"].get("unschedulable"), node["status"]["addresses"])
            for node in installed.objects("nodes")}


@pytest.fixture(scope="module")
def stolen(installed):
    found = Stolen(installed)
    before = nodes_as_they_are(installed)
    yield found
    assert nodes_as_they_are(installed) == before


@pytest.fixture(scope="module")
def request_of_a_stranger(installed):
    """A certificate request of a signer that does not exist."""
    name = "stolen-" + uuid.uuid4().hex[:6]
    installed.api.expect("POST", CSRS, {"metadata": {"name": name}, "spec": {
        "request": base64.b64encode(signing_request("/CN=stolen")[0]).decode(), "signerName": "example.com/nobody", "usages": ["client auth"]}})
    yield name
    installed.api.expect("DELETE", f"{CSRS}/{name}")


def signing_request(subject):
    """(request, key), PEM."""
    with tempfile.TemporaryDirectory() as folder:
        file, key = pathlib.Path(folder) / "request", pathlib.Path(folder) / "key"
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject,
                        "-keyout", key, "-out", file], check=True, capture_output=True, timeout=60)
        return file.read_bytes(), key.read_bytes()


def test_there_is_something_to_steal(stolen):
    assert stolen.tokens.keys() >= RIGHTS.keys(), stolen.tokens.keys()
    for subject, token in stolen.tokens.items():
        assert claims(token)["kubernetes.io"]["node"]["name"] == WORKER, subject
    print(f"\n{len(stolen.apis)} credentials, {len(ATTEMPTS) + len(READS)} attempts with each: {', '.join(stolen.apis)}")


def test_credentials_work_for_what_they_are_for(stolen):
    daemon = stolen.apis["system:serviceaccount:openshift-machine-config-operator:machine-config-daemon"]
    for api in (daemon, stolen.apis["kubelet"]):
        status, answer = api.call("PATCH", dry(f"{NODES}/{WORKER}"), note("machineconfiguration.openshift.io/reason"), MERGE)
        assert status == 200, answer
    flannel = stolen.apis["system:serviceaccount:openshift-flannel:flannel-kube-proxy"]
    status, answer = flannel.call("PATCH", dry(f"{NODES}/{WORKER}/status"), note("flannel.alpha.coreos.com/public-ip"), MERGE)
    assert status == 200, answer


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt[0].replace(" ", "-"))
def test_what_only_the_control_plane_may(installed, stolen, request_of_a_stranger, attempt):
    _, method, path, body, kind = attempt
    path = dry(path.format(request=request_of_a_stranger)) if method != "GET" else path
    kind = kind or "application/json"
    status, answer = installed.api.call(method, path, body, kind)
    assert 200 <= status < 300, f"the administrator: {status} {answer.get('message')}"
    answers = {who: api.call(method, path, body, kind) for who, api in stolen.apis.items()}
    assert {who: (status, answer.get("message")) for who, (status, answer) in answers.items() if status not in (401, 403)} == {}


@pytest.mark.parametrize("attempt", READS, ids=lambda attempt: attempt[0].replace(" ", "-"))
def test_what_is_asked_of_masters_by_the_api_server(installed, stolen, attempt):
    _, method, path, expected = attempt
    if expected:
        assert installed.api.call(method, path)[0] == expected
    answers = {who: api.call(method, path)[0] for who, api in stolen.apis.items()}
    assert {who: status for who, status in answers.items() if status not in (401, 403)} == {}


@pytest.mark.parametrize("headers", IDENTITIES, ids=lambda headers: headers["Impersonate-User"])
def test_nobody_else_is_impersonated(stolen, installed, headers):
    for who, api in {"administrator": installed.api, **stolen.apis}.items():
        other = installed.api.with_credential() if who == "administrator" else api.with_credential()
        other.tls, other.headers = api.tls, {**api.headers, **headers}
        status, answer = other.call("GET", f"{NODES}/{WORKER}")
        assert status == (200 if who == "administrator" else 403), (who, status, answer)


def test_kubelets_make_no_pods_but_their_own_mirrors(installed, stolen):
    kubelet = stolen.apis["kubelet"]
    for made, space in ((pod("stolen", MASTER, mirror=True), "openshift-etcd"), (pod("stolen", WORKER, "kube-apiserver-operator", mirror=True), OPERATORS),
                        (pod("stolen", WORKER, "installer"), "openshift-static-pod-installer")):
        status, answer = kubelet.call("POST", dry(f"{SPACES}/{space}/pods"), made)
        assert status == 403, answer
    there = installed.objects("pods", "--all-namespaces", f"--field-selector=spec.nodeName={MASTER}")
    for each in there:
        account, space = each["spec"].get("serviceAccountName"), each["metadata"]["namespace"]
        if not account:
            continue
        bound = {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]}}}
        status, answer = kubelet.call("POST", f"{SPACES}/{space}/serviceaccounts/{account}/token", bound)
        assert status == 403, (each["metadata"]["name"], answer)


@pytest.mark.parametrize("subject", [f"/O=system:nodes/CN=system:node:{MASTER}", f"/O=system:nodes/CN=system:node:{OTHER}", "/O=system:nodes/CN=system:node:master-9",
                                     "/O=system:masters/CN=system:admin"], ids=lambda subject: subject.rpartition("=")[2])
def test_no_certificate_of_another_name(installed, stolen, subject):
    made = []
    try:
        for who in ("kubelet", "bootstrap"):
            for signer in ("kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kube-apiserver-client", "kubernetes.io/kubelet-serving"):
                if who not in stolen.apis:
                    continue
                name = "stolen-" + uuid.uuid4().hex[:8]
                usages = ["digital signature", "server auth" if signer.endswith("serving") else "client auth"]
                status, answer = stolen.apis[who].call("POST", CSRS, {"metadata": {"name": name}, "spec": {
                    "request": base64.b64encode(signing_request(subject)[0]).decode(), "signerName": signer, "usages": usages}})
                assert status in (201, 403), answer
                if status == 201:
                    made.append(name)
        # The approver approves within a second.
        installed.wait_until("the approver said why to one of them", lambda: not made or any(
            event["involvedObject"].get("name") in made for event in installed.objects("events", "--namespace", "default")))
        for name in made:
            status = installed.api.get(f"{CSRS}/{name}").get("status", {})
            assert not status.get("certificate") and "Approved" not in [each["type"] for each in status.get("conditions", [])], (name, status)
    finally:
        for name in made:
            installed.api.expect("DELETE", f"{CSRS}/{name}")


def test_doors_of_masters_are_closed(installed, stolen):
    """From the worker, with the kubelet's certificate and with each token."""
    address = installed.machines()[MASTER]["address"]
    pair = "--cert /var/lib/kubelet/pki/kubelet-client-current.pem --key /var/lib/kubelet/pki/kubelet-client-current.pem"
    credentials = [pair, *(f"--header 'Authorization: Bearer {token}'" for token in [stolen.bootstrap, *stolen.tokens.values()] if token)]
    asked = [(door, credential) for door in DOORS for credential in credentials]
    lines = "\n".join(f"curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{{http_code}} ' {credential} 'https://{address}:{port}{path}'; echo $?"
                      for (port, path, _), credential in asked)
    answers = installed.machine(WORKER, "sh", input=lines).stdout.splitlines()
    wrong = [(port, path, credential[:40], answer) for ((port, path, refusals), credential), answer in zip(asked, answers, strict=True)
             if not set(answer.split()) & set(refusals)]
    assert wrong == []


def test_the_pointer_config_of_workers_leads_to_no_config_of_masters(installed, stolen):
    """The pointer config of the worker; the same text is on the machine while Ignition runs."""
    made = installed.api.get(f"{SPACES}/openshift-machine-api/secrets/worker-user-data")
    pointer = json.loads(base64.b64decode(made["data"]["userData"]))
    source = pointer["ignition"]["config"]["merge"][0]
    header = f"Authorization: {next(each['value'] for each in source['httpHeaders'] if each['name'] == 'Authorization')}"
    lines = "".join(f"curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{{http_code}}\\n' --header '{header}' "
                    f"--header 'Accept: application/vnd.coreos.ignition+json;version=3.2.0' {source['source'].rpartition('/')[0]}/{role}\n" for role in ("worker", "master"))
    assert installed.machine(WORKER, "sh", "-c", lines).stdout.split() == ["200", "403"]


def test_rights_of_accounts_on_workers_are_those_of_the_table(installed, stolen):
    """All write verbs in all namespaces, as the API server lists them. The credentials are read again: pods may have been replaced."""
    spaces = [space["metadata"]["name"] for space in installed.objects("namespaces")]
    for subject, api in Stolen(installed).apis.items():
        if subject == "kubelet":
            continue  # authorized by a graph (authorization mode Node)
        seen = {}
        for space in spaces:
            review = api.expect("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": space}})
            for rule in review["status"]["resourceRules"]:
                for group in rule.get("apiGroups", [""]):
                    for resource in rule.get("resources", []):
                        for verb in set(rule["verbs"]) - READING:
                            if resource not in SELF:
                                seen.setdefault(f"{verb} {resource}{'.' + group if group else ''}", set()).add(space)
        allowed = BOOTSTRAP_RIGHTS if subject == "bootstrap" else RIGHTS.get(subject, {})
        assert {right: sorted(places)[:3] for right, places in seen.items() if right not in allowed} == {}, subject


BOOTSTRAP_RIGHTS = {"create certificatesigningrequests.certificates.k8s.io": "the approver judges them"}


def test_configs_of_masters_hold_no_keys_that_a_worker_reads(installed, stolen):
    """The daemon reads all MachineConfigs, so their content is on every machine of the cluster."""
    api = stolen.apis["system:serviceaccount:openshift-machine-config-operator:machine-config-daemon"]
    status, listed = api.call("GET", f"{MC}/machineconfigs")
    assert status == 200
    for config in listed["items"]:
        for file in config["spec"].get("config", {}).get("storage", {}).get("files", []):
            source = file.get("contents", {}).get("source", "")
            assert "PRIVATE%20KEY" not in source and "PRIVATE KEY" not in source, (config["metadata"]["name"], file["path"])
            if ";base64," in source:
                assert b"PRIVATE KEY" not in base64.b64decode(source.partition(";base64,")[2]), (config["metadata"]["name"], file["path"])
