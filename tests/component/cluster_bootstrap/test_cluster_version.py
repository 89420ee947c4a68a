"""cluster-version-operator with a real API server. It applies the manifests of this repository and the CRDs of the release, reports in
ClusterVersion and waits for the ClusterOperators, restores deleted objects, and respects overrides. No operators run: the test sets their
conditions."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import host_clock
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/component/support"))
from openshift_api import openshift_api  # noqa: E402
from release_signature import MANIFEST, Key, signature_image, signature_tag  # noqa: E402

DEADLINE = 90
IMAGE = "registry.example.com/release@sha256:" + "a" * 64
PREFIX = "0000_00_cluster-version-operator_"

# A root with the two folders of a release image, in a mount namespace that ends with the program.
IN_IMAGE = r"""set -e
mount -t tmpfs none "$1"
for folder in usr etc tmp dev; do mkdir "$1/$folder"; mount --rbind "/$folder" "$1/$folder"; done
for link in bin lib lib64; do cp -a "/$link" "$1/$link"; done
mkdir -p "$1$4" && mount --rbind "$4" "$1$4"
cp -r "$2" "$1/release-manifests"; cp -r "$3" "$1/manifests"
shift 4; root=$1; shift
exec chroot "$root" "$@"
"""


def wait_until(what, condition):
    deadline = host_clock.now() + DEADLINE
    while not condition():
        assert host_clock.now() < deadline, f"no {what} after {DEADLINE} s"
        time.sleep(0.05)


INCLUDED = {"include.release.openshift.io/self-managed-high-availability": "true"}
DROPPED = {**INCLUDED, "release.openshift.io/delete": "true"}
# What an earlier release had: an object, a namespace with content of users, and an object of a type that is gone.
DROPPED_OBJECTS = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dropped", "namespace": "default", "annotations": DROPPED}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-dropped", "annotations": DROPPED}},
    {"apiVersion": "gone.example.com/v1", "kind": "Gone", "metadata": {"name": "a", "annotations": DROPPED}},
]


@pytest.fixture(scope="module")
def release_key(tmp_path_factory):
    return Key(tmp_path_factory.mktemp("key"))


@pytest.fixture(scope="module")
def release(tmp_path_factory, release_key):
    """The folders release-manifests and manifests, as payload/images creates them."""
    folder = tmp_path_factory.mktemp("release")
    theirs, own = folder / "release-manifests", folder / "manifests"
    own.mkdir()
    shutil.copytree(ROOT / "images/manifests", theirs)
    api = openshift_api()
    for line in (ROOT / "images/crds.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            name = pathlib.Path(words[-1]).name
            shutil.copy(api / words[0], (own if name.startswith(PREFIX) else theirs) / name)
    keys = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"verifier-public-key-release": release_key.public.read_text()},
            "metadata": {"name": "release-verification", "namespace": "openshift-config-managed",
                         "annotations": {**INCLUDED, "release.openshift.io/verification-config-map": ""}}}
    (theirs / f"{PREFIX}04_release-keys.yaml").write_text(json.dumps(keys))
    for i, dropped in enumerate(DROPPED_OBJECTS):
        (theirs / f"0000_50_dropped_{i}.yaml").write_text(json.dumps(dropped))
    (theirs / "release-metadata").write_text(json.dumps({"kind": "cincinnati-metadata-v0", "version": "1.2.3"}))
    (theirs / "image-references").write_text(json.dumps({
        "kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": "1.2.3"}, "spec": {"tags": []}}))
    return theirs, own


def get(plane, *what):
    return json.loads(plane.kubectl("get", *what, "-o", "json"))


def create(plane, folder, *objects):
    file = folder / "objects.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    plane.kubectl("create", "-f", file)


def config(kind, name, spec=None, **more):
    return {"apiVersion": "config.openshift.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec or {}, **more}


def patch_status(plane, kind, name, status):
    plane.kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))


@contextlib.contextmanager
def operator(plane, programs, release, folder):
    root = folder / "root"
    root.mkdir()
    program = programs / "cluster-version-operator"
    binary = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve().parent
    command = ["unshare", "--mount", "--propagation", "private", "bash", "-c", IN_IMAGE, "bash", root, *release, binary, root, program, "start",
               f"--release-image={IMAGE}", "--enable-auto-update=false", "--listen=", "--v=2", f"--kubeconfig={plane.kubeconfig}"]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen([str(word) for word in command], stderr=log, stdout=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=120)
        print((folder / "log").read_text())


WITHOUT_EFFECT = {
    "Service": ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one", "namespace": "default"},
                 "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}, "this release has no load balancers"),
    "MachineSet": ({"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
                    "metadata": {"name": "more", "namespace": "default"}, "spec": {"replicas": 1}},
                   "machinesets.machine.openshift.io: no controller of this release manages this object"),
}


def kubectl(plane, *words):
    command = [plane.payload / "hyperkube", "kubectl", f"--kubeconfig={plane.kubeconfig}", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)


def look_at_what_has_no_effect(plane, folder, condition):
    """Settings without effect are reported: as a warning of kubectl, or in a condition. Features that the release lacks are rejected."""
    for kind, (thing, words) in WITHOUT_EFFECT.items():
        file = folder / "thing.json"
        file.write_text(json.dumps(thing))
        # Admission loads a new policy with a delay.
        wait_until(f"warning about a {kind}", lambda: words in kubectl(plane, "apply", "--dry-run=server", "-f", file).stderr)
        made = kubectl(plane, "create", "-f", file)
        assert made.returncode == 0 and "Warning: " in made.stderr and words in made.stderr, made.stderr
    scaled = kubectl(plane, "scale", "machineset", "more", "-n", "default", "--replicas=3")
    assert scaled.returncode == 0 and "no controller of this release" in scaled.stderr, scaled.stderr
    for kind, version in (("OAuth", "config.openshift.io/v1"), ("SecurityContextConstraints", "security.openshift.io/v1")):
        file.write_text(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "cluster"}}))
        refused = kubectl(plane, "create", "-f", file)
        assert refused.returncode != 0 and f'no matches for kind "{kind}"' in refused.stderr, refused.stderr

    def ask(spec):
        plane.kubectl("patch", "clusterversion", "version", "--type=merge", "-p", json.dumps({"spec": spec}))

    ask({"desiredUpdate": {"version": "9.9.9"}, "channel": "stable-9"})
    wait_until("refusal", lambda: condition("ReleaseAccepted").get("status") == "False")
    assert "version 9.9.9 is not in status.availableUpdates" in condition("ReleaseAccepted")["message"]
    wait_until("an update service is missed", lambda: condition("RetrievedUpdates").get("reason") == "NoUpstream")
    ask({"desiredUpdate": None, "channel": None})
    wait_until("acceptance", lambda: condition("ReleaseAccepted").get("status") == "True")


def create_inputs(plane, release, folder):
    """The types and objects that the operator reads at its start."""
    theirs, own = release
    for name in ("infrastructures-Default", "featuregates"):
        plane.kubectl("create", "-f", theirs / f"0000_10_config-operator_01_{name}.crd.yaml")
    plane.kubectl("create", "-f", own / f"{PREFIX}01_clusterversions-Default.crd.yaml")
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
    unmanaged = [{"kind": "Namespace", "group": "", "namespace": "", "name": "openshift-infra", "unmanaged": True}]
    create(plane, folder, config("Infrastructure", "cluster"), config("FeatureGate", "cluster"),
           config("ClusterVersion", "version", {"clusterID": "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22", "overrides": unmanaged}))
    patch_status(plane, "infrastructure", "cluster", {"apiServerInternalURI": "https://api-int.demo.example.com:6443"})
    patch_status(plane, "featuregate", "cluster", {"featureGates": [{"version": "1.2.3"}]})


def check_complete(now):
    assert now["desired"] == {"version": "1.2.3", "image": IMAGE}
    conditions = {each["type"]: each["status"] for each in now["conditions"]}
    assert conditions == {"Available": "True", "Progressing": "False", "Failing": "False", "ReleaseAccepted": "True",
                          "RetrievedUpdates": "False"}
    assert now["observedGeneration"] == 1 and now["versionHash"]


def check_objects(plane):
    """The release's namespaces, accounts and Deployment."""
    spaces = {each["metadata"]["name"] for each in get(plane, "namespaces")["items"]}
    assert {"openshift-config", "openshift-machine-config-operator", "openshift-cluster-version"} <= spaces
    assert "openshift-infra" not in spaces
    assert get(plane, "etcd", "cluster")["spec"]["managementState"] == "Managed"
    # One service account for each role, without tokens that never expire.
    accounts = {each["metadata"]["name"] for each in get(plane, "serviceaccounts", "-n", "openshift-machine-config-operator")["items"]}
    assert {"node-bootstrapper", "node-bootstrapper-master"} <= accounts
    secrets = get(plane, "secrets", "-n", "openshift-machine-config-operator")["items"]
    assert not [each["metadata"]["name"] for each in secrets if each["type"] == "kubernetes.io/service-account-token"]
    [container] = get(plane, "deployment", "-n", "openshift-cluster-version", "cluster-version-operator")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == IMAGE
    assert {"name": "KUBERNETES_SERVICE_HOST", "value": "api-int.demo.example.com"} in container["env"]


def create_dropped(plane, folder):
    """The objects that the release drops, before it is applied."""
    plain = {"apiVersion": "v1", "kind": "ConfigMap"}
    create(plane, folder, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-dropped"}},
           {**plain, "metadata": {"name": "dropped", "namespace": "default"}},
           {**plain, "metadata": {"name": "of-a-user", "namespace": "openshift-dropped"}})


def check_dropped(plane, log):
    gone = ("get", "--ignore-not-found", "-o", "name")
    assert not plane.kubectl(*gone, "configmap", "dropped", "-n", "default")
    # A namespace with content of users stays until that is gone.
    assert get(plane, "namespace", "openshift-dropped")["status"]["phase"] == "Active"
    assert "Namespace openshift-dropped is not removed: it contains ConfigMap of-a-user" in log.read_text()
    plane.kubectl("delete", "configmap", "of-a-user", "-n", "openshift-dropped")


class SignatureRegistry:
    """A registry that has nothing but signatures."""

    def __init__(self):
        self.answers, registry = {}, self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, body = registry.answers.get(self.path.split("/")[-1], ("application/json", None))
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.repository = f"127.0.0.1:{self.server.server_port}/release"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, digest, envelope):
        manifest, blobs = signature_image(envelope)
        self.answers[signature_tag(digest)] = MANIFEST, manifest
        self.answers |= {name: ("application/octet-stream", blob) for name, blob in blobs.items()}


def look_at_signatures(plane, folder, condition, key):
    """A release is read only after a trusted key has signed it: beside the image, in a ConfigMap, or not at all with force."""
    registry, foreign = SignatureRegistry(), Key(folder, "foreign")
    digests = [f"sha256:{character * 64}" for character in "bcdef"]

    def ask(digest, **more):
        plane.kubectl("patch", "clusterversion", "version", "--type=merge", "-p",
                      json.dumps({"spec": {"desiredUpdate": {"image": f"{registry.repository}@{digest}", "force": False, **more}}}))

    def accepted(status, words):
        return lambda: condition("ReleaseAccepted").get("status") == status and words in condition("ReleaseAccepted")["message"]

    ask(digests[0])
    wait_until("refusal without a signature", accepted("False", f"The update cannot be verified: {digests[0]}: no signature found"))
    registry.put(digests[1], foreign.envelope(digests[1], "1.2.4"))
    ask(digests[1])
    wait_until("refusal of another key", accepted("False", "not signed by a trusted key (release)"))
    registry.put(digests[2], key.envelope(digests[1], "1.2.4"))
    ask(digests[2])
    wait_until("refusal of another release's signature", accepted("False", f"it is the signature of {digests[1]}"))
    # Accepted so far: the payload is read.
    registry.put(digests[3], key.envelope(digests[3], "1.2.4"))
    ask(digests[3])
    wait_until("a signature beside the image", accepted("Unknown", digests[3]))
    ask(digests[4])
    wait_until("refusal", accepted("False", f"{digests[4]}: no signature found"))
    create(plane, folder, {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "signatures", "namespace": "openshift-config-managed", "labels": {"release.openshift.io/verification-signatures": ""}},
        "binaryData": {signature_tag(digests[4]).removesuffix(".sig") + "-1": base64.b64encode(key.envelope(digests[4], "1.2.4")).decode()}})
    wait_until("a stored signature", accepted("Unknown", digests[4]))
    ask(digests[0], force=True)
    wait_until("force", accepted("Unknown", digests[0]))
    plane.kubectl("patch", "clusterversion", "version", "--type=merge", "-p", '{"spec":{"desiredUpdate":null}}')
    wait_until("acceptance", lambda: condition("ReleaseAccepted").get("status") == "True")
    registry.server.shutdown()


def check_reconciled(plane, status):
    # Restores a deleted object.
    deployment = ["deployment", "-n", "openshift-cluster-version", "cluster-version-operator"]
    plane.kubectl("delete", *deployment)
    start = host_clock.now()
    wait_until("Deployment again", lambda: plane.kubectl("get", "--ignore-not-found", *deployment))
    print(f"FIGURE cluster-version-operator: {host_clock.now() - start:.2f} s to put a Deployment back", file=sys.__stdout__)

    # An object that is created once belongs to the administrator. A managed object is restored, and a change of the spec starts a sync.
    plane.kubectl("patch", "etcd", "cluster", "--type=merge", "-p", '{"spec":{"managementState":"Unmanaged"}}')
    plane.kubectl("label", "namespace", "openshift-config", "pod-security.kubernetes.io/enforce=privileged", "--overwrite")
    start = host_clock.now()
    plane.kubectl("patch", "clusterversion", "version", "--type=merge", "-p", '{"spec":{"overrides":null}}')
    wait_until("new generation", lambda: status()["observedGeneration"] == get(plane, "clusterversion", "version")["metadata"]["generation"] and
               "openshift-infra" in {each["metadata"]["name"] for each in get(plane, "namespaces")["items"]})
    wait_until("namespace as before", lambda: get(plane, "namespace", "openshift-config")["metadata"]["labels"][
        "pod-security.kubernetes.io/enforce"] == "restricted")
    print(f"FIGURE cluster-version-operator: {host_clock.now() - start:.2f} s to follow a change of spec.overrides", file=sys.__stdout__)
    assert get(plane, "etcd", "cluster")["spec"]["managementState"] == "Unmanaged"


def test_the_release_is_applied_and_kept(plane, programs, release, release_key, tmp_path):
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("this needs root")
    create_inputs(plane, release, tmp_path)
    create_dropped(plane, tmp_path)

    def status():
        return get(plane, "clusterversion", "version").get("status", {})

    def condition(kind):
        found = [each for each in status().get("conditions", []) if each["type"] == kind]
        return found[0] if found else {"message": ""}

    start = host_clock.now()
    with operator(plane, programs, release, tmp_path) as process:
        def is_complete():
            assert process.poll() is None, (tmp_path / "log").read_text()
            return any(entry["state"] == "Completed" for entry in status().get("history", []))

        wait_until("all manifests", lambda: " are applied" in (tmp_path / "log").read_text())
        seconds = host_clock.now() - start
        operators = [each["metadata"]["name"] for each in get(plane, "clusteroperators")["items"]]
        if operators:
            assert not is_complete()
            # Lists the first few, in the order of the release.
            wait_until("reason", lambda: any(f"ClusterOperator {name}: not Available" in condition("Progressing")["message"] for name in operators))
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for name in operators:
            available = {"type": "Available", "status": "True", "lastTransitionTime": now, "reason": "AsExpected", "message": "played"}
            patch_status(plane, "clusteroperator", name, {"conditions": [available]})
        wait_until("Completed", is_complete)
        files = [path for folder in release for path in folder.iterdir() if path.suffix == ".yaml"]
        print(f"FIGURE cluster-version-operator: {len(files)} files of the image and its own in {seconds:.2f} s", file=sys.__stdout__)
        check_complete(status())
        check_objects(plane)
        check_dropped(plane, tmp_path / "log")
        look_at_signatures(plane, tmp_path, condition, release_key)
        look_at_what_has_no_effect(plane, tmp_path, condition)
        check_reconciled(plane, status)
        assert len(status()["history"]) == 1
        assert get(plane, "lease", "-n", "openshift-cluster-version", "version")["spec"]["holderIdentity"].startswith("bootstrap_")
    assert not get(plane, "lease", "-n", "openshift-cluster-version", "version")["spec"].get("holderIdentity")
