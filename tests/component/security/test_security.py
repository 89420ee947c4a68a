"""The settings of the programs of the control plane and of nodes, compared with the table of tests/component/support/security.py without a
cluster. The settings come from the golden files of operators and render commands and from data/machine-config; Kubernetes prints its
effective flags. Also tests the rights of the accounts of the release."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from security import CHECKS, EXCEPTIONS, PRIVILEGED, failures, flattened  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
HYPERKUBE = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve() / "payload/bin/hyperkube"
KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def golden(name):
    return yaml.safe_load((SOURCE / f"tests/golden/components/{name}.yaml").read_text())


def rendered(component, path):
    """A file that a render command writes on the bootstrap machine."""
    return golden(component)[path]["content"]


def bootstrap_pod(name):
    return rendered(f"cluster-{name}-operator", f"/assets/{name}-bootstrap/bootstrap-manifests/{name}-pod.yaml")


MASTERS = golden("masters")
PODS = {
    "bootstrap/etcd": rendered("cluster-etcd-operator", "/assets/etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml"),
    **{f"bootstrap/{name}": bootstrap_pod(name) for name in KUBERNETES},
    "master/etcd": MASTERS["openshift-etcd/etcd-pod"],
    "master/kube-apiserver": MASTERS["openshift-kube-apiserver/kube-apiserver-pod"],
    "master/kube-controller-manager": MASTERS["openshift-kube-controller-manager/kube-controller-manager-pod"],
    "master/kube-scheduler": MASTERS["openshift-kube-scheduler/kube-scheduler-pod"],
}
CONFIGS = {
    "bootstrap/kube-apiserver": rendered("cluster-kube-apiserver-operator", "/assets/kube-apiserver-bootstrap/config"),
    "bootstrap/kube-controller-manager": rendered("cluster-kube-controller-manager-operator", "/assets/kube-controller-manager-bootstrap/config"),
    "master/kube-apiserver": MASTERS["openshift-kube-apiserver/config"],
    "master/kube-controller-manager": MASTERS["openshift-kube-controller-manager/config"],
    "master/kube-scheduler": MASTERS["openshift-kube-scheduler/config"],
}


def container(place):
    name = place.partition("/")[2]
    return next(each for each in PODS[place]["spec"]["containers"] if each["name"] == name)


def kubernetes_settings(place, folder):
    """All effective flags of a program, from its own output. The words before its name in the container and the paths of files do not
    matter."""
    program = place.partition("/")[2]
    words = container(place).get("command", []) + container(place).get("args", [])
    words = words[words.index(program, words.index("hyperkube") if "hyperkube" in words else 0) + 1:]
    if program in words:
        words = words[words.index(program) + 1:]
    config = folder / "config.yaml"
    # Folders of public keys are read.
    (folder / "keys").mkdir()
    (folder / "keys/a.pub").write_text("")
    document = dict(CONFIGS.get(place, {}))
    if "serviceAccountPublicKeyFiles" in document:
        document["serviceAccountPublicKeyFiles"] = [str(folder / "keys")]
    config.write_text(yaml.safe_dump(document))
    words = [re.sub(r"^--openshift-config=.*", f"--openshift-config={config}", word).replace("$(HOST_IP)", "10.97.77.11") for word in words]
    # Its files do not exist, so it ends right after it printed its flags.
    done = subprocess.run([HYPERKUBE, program, *words, "--v=2"], capture_output=True, text=True, timeout=60, cwd=folder, env={"TMPDIR": str(folder)})
    flags = dict(re.findall(r'FLAG: --([a-z0-9-]+)="(.*)"$', done.stderr, re.MULTILINE))
    assert len(flags) > 50, f"{place}: {words}\n{done.stderr[-3000:]}"
    # The scheduler reads other settings from its own config.
    if document.get("kind") == "KubeSchedulerConfiguration" and flags["config"]:
        flags["profiling"] = str(document["enableProfiling"]).lower()
    return flags


def etcd_settings(place):
    etcd = container(place)
    # Flags of the programs before etcd have other names.
    flags = dict(re.findall(r"--([a-z-]+)=(\S+)", "\n".join(etcd["command"] + etcd.get("args", []))))
    variables = {each["name"].removeprefix("ETCD_").lower().replace("_", "-"): each.get("value") for each in etcd["env"] if each["name"].startswith("ETCD_")}
    return variables | flags


def kubelet_settings():
    folder = SOURCE / "data/machine-config/common/01-kubelet"
    files = [folder / "_base/files/etc/kubernetes/kubelet.conf", *folder.glob("*/files/etc/openshift/kubelet.conf.d/*")]
    settings = {}
    for file in files:
        settings |= flattened(yaml.safe_load(re.sub(r"\{\{\w+\}\}", "hole", file.read_text())))
    return settings


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    found = {place: kubernetes_settings(place, tmp_path_factory.mktemp("program")) for place in PODS if place.partition("/")[2] in KUBERNETES}
    found |= {place: etcd_settings(place) for place in PODS if place.endswith("/etcd")}
    found["master/kubelet"] = kubelet_settings()
    return found


def test_all_is_as_it_should_be_but_for_the_exceptions(places):
    assert [str(failure) for failure in failures(places) if failure.check.key not in EXCEPTIONS] == []


def test_each_exception_is_needed(places):
    assert set(EXCEPTIONS) <= {failure.check.key for failure in failures(places)}


def test_the_table_notices():
    """No check accepts everything, and no two checks have the same name."""
    bad = ["", "0", "0s", "true", "false", "AlwaysAllow", "AlwaysAdmit", "http://0.0.0.0:1", "/metrics", "NodeRestriction", "RotateKubeletServerCertificate=false"]
    assert [check for check in CHECKS if all(check.good(value) for value in bad)] == []
    assert len({check.key for check in CHECKS}) == len(CHECKS)


def test_the_kubelet_of_the_bootstrap_machine_listens_to_nobody():
    settings = flattened(yaml.safe_load((SOURCE / "data/bootstrap/files/etc/kubernetes/kubelet.conf").read_text()))
    assert {name: settings.get(name) for name in ("enableServer", "readOnlyPort", "authentication.anonymous.enabled")} == \
        {"enableServer": "false", "readOnlyPort": "0", "authentication.anonymous.enabled": "false"}


def test_privileged_containers_have_a_reason():
    """Of static pods, and of objects that the release and the operators create."""
    manifests = dict(PODS)
    for file in [*SOURCE.glob("images/manifests/*.yaml"), *SOURCE.glob("data/**/*.yaml")]:
        text = re.sub(r"\{\{\w+\}\}", "hole", file.read_text())
        manifests |= {f"{file} {number}": each for number, each in enumerate(yaml.safe_load_all(text)) if isinstance(each, dict)}
    privileged = set()
    for manifest in manifests.values():
        spec = manifest.get("spec") or {}
        spec = spec.get("template", {}).get("spec") if "template" in spec else spec
        # Without a name: a template of a pod in PODS.
        if not isinstance(spec, dict) or manifest.get("metadata", {}).get("name") in (None, "hole"):
            continue
        privileged |= {(manifest["metadata"]["name"], each["name"]) for each in [*spec.get("initContainers", []), *spec.get("containers", [])]
                       if each.get("securityContext", {}).get("privileged")}
    assert privileged == set(PRIVILEGED)


# Administrators, and why (docs/security.md).
ADMINISTRATORS = {
    "openshift-cluster-version/cluster-version-operator": "it applies what a release holds, roles included",
}


def access():
    """Roles and bindings of the release, of operands and of render commands; by file."""
    files = [*SOURCE.glob("images/manifests/*.yaml"), *SOURCE.glob("data/components/**/*.yaml")]
    for file in files:
        for document in yaml.safe_load_all(re.sub(r"\{\{\w+\}\}", "hole", file.read_text())):
            is_removed = isinstance(document, dict) and "release.openshift.io/delete" in document.get("metadata", {}).get("annotations", {})
            if isinstance(document, dict) and str(document.get("apiVersion", "")).startswith("rbac.authorization.k8s.io/") and not is_removed:
                yield f"{file.relative_to(SOURCE)}: {document['kind']} {document['metadata']['name']}", document


def test_nobody_else_is_cluster_admin():
    bound = [f"{subject.get('namespace', '')}/{subject['name']}" for _, each in access()
             if each["kind"].endswith("Binding") and each["roleRef"]["name"] == "cluster-admin" for subject in each["subjects"]]
    assert sorted(bound) == sorted(ADMINISTRATORS)


def test_no_role_is_as_good_as_cluster_admin():
    """No right to grant rights, to impersonate, or to read the Secrets of all namespaces, except of two operators that need it."""
    given = {(place, rule["resources"][0] if rule.get("resources") else "", verb) for place, each in access() if not each["kind"].endswith("Binding")
             for rule in each["rules"] for verb in rule["verbs"]
             if verb in ("*", "escalate", "bind", "impersonate") or "*" in rule["apiGroups"] or
             (verb not in ("get", "list", "watch") and "rbac.authorization.k8s.io" in rule["apiGroups"])}
    assert given == set()
    tokens = {place for place, each in access() if not each["kind"].endswith("Binding") for rule in each["rules"]
              if "serviceaccounts/token" in rule["resources"] and not rule.get("resourceNames")}
    assert tokens == set()
    namespaced = {each["roleRef"]["name"] for _, each in access() if each["kind"] == "RoleBinding"}
    everywhere = {each["roleRef"]["name"] for _, each in access() if each["kind"] == "ClusterRoleBinding"}
    reading = {each["metadata"]["name"]: place for place, each in access() if each["kind"] == "ClusterRole"
               for rule in each["rules"] if {"secrets", "*"} & set(rule["resources"]) and {"", "*"} & set(rule["apiGroups"])}
    # Certificates of Services, and of Ingress objects. Which Secrets the first one may write is in an admission policy.
    assert {name for name in reading if name in everywhere} == {"openshift-service-ca", "openshift-ingress-operator"}
    assert "openshift-static-pod-operator" in reading and "openshift-static-pod-operator" in namespaced
