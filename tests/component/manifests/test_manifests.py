"""Every manifest of every golden install-config, checked strictly by a real API server with the CRDs of the release: unknown fields are
errors. The program creates the manifests as for users."""
import http.client
import json
import os
import pathlib
import ssl
import stat
import subprocess
import sys
import tarfile
import time

import host_clock
import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
IMAGES = pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "images"
RELEASE = pathlib.Path(os.environ["SLIPWAY_BUILD"]) / "release"
CONFIGS = sorted((pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/golden/install-configs").glob("*.yaml"))
FOLDERS = ("manifests", "openshift", "cluster-api")
DEADLINE = 60
MACHINE_CONFIGS = "machineconfiguration.openshift.io"

# Kinds without a CRD in this release, with the component that brings it: not checked.
NOT_JUDGED = {
    ("cluster.x-k8s.io/v1beta1", "Cluster"): "nobody: the installer's own controllers read it",
    ("infrastructure.cluster.x-k8s.io/v1beta1", "VSphereCluster"): "nobody: the installer's own controllers read it",
}

# Fields that OpenShift's installer writes although the release's CRD lacks them. The server drops them.
DROPPED = {"Scheduler": "spec.profileCustomizations"}
# One of the install-configs enables FIPS, which does not depend on this host.
os.environ["OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION"] = "true"


def release_crds():
    """The CRDs in the release image of the layout."""
    def blob(descriptor):
        return RELEASE / "blobs" / descriptor["digest"].replace(":", "/")

    index = json.loads((RELEASE / "index.json").read_text())
    release = next(each for each in index["manifests"] if each["annotations"]["org.opencontainers.image.ref.name"] == "release")
    crds = {}
    for layer in json.loads(blob(release).read_text())["layers"]:
        with tarfile.open(blob(layer)) as files:
            for entry in files:
                if entry.isfile() and entry.name.endswith(".crd.yaml"):
                    crds[pathlib.Path(entry.name).name] = files.extractfile(entry).read().decode()
    return crds


class Api:
    def __init__(self, plane):
        context = ssl.create_default_context(cafile=plane.ca)
        context.load_cert_chain(plane.certificate, plane.key)
        self.connection = http.client.HTTPSConnection("127.0.0.1", plane.api, context=context, timeout=DEADLINE)
        self.resources = {}

    def ask(self, method, path, body=None, kind="application/yaml"):
        self.connection.request(method, path, body.encode() if body else None, {"Content-Type": kind, "Accept": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else {"message": text}

    def must(self, method, path, body=None, kind="application/yaml"):
        status, answer = self.ask(method, path, body, kind)
        assert status < 300, (method, path, answer.get("message"))
        return answer

    def resource(self, version, kind):
        """The server's name of a kind; None when it is unknown."""
        if version not in self.resources:
            status, answer = self.ask("GET", f"/apis/{version}" if "/" in version else f"/api/{version}")
            self.resources[version] = answer["resources"] if status == 200 else []
        named = [each for each in self.resources[version] if each["kind"] == kind and "/" not in each["name"]]
        return named[0] if named else None

    def has_status(self, version, name):
        return any(each["name"] == f"{name}/status" for each in self.resources[version])

    def path(self, value):
        version = value["apiVersion"]
        resource = self.resource(version, value["kind"])
        space = value["metadata"].get("namespace") if resource["namespaced"] else None
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        return root + (f"/namespaces/{space}" if space else "") + "/" + resource["name"]


@pytest.fixture(scope="session")
def api(tmp_path_factory):
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane")) as plane:
        api = Api(plane)
        crds = release_crds()
        wanted = set()
        for text in crds.values():
            spec = yaml.safe_load(text)["spec"]
            wanted |= {(f"{spec['group']}/{version['name']}", spec["names"]["kind"]) for version in spec["versions"] if version["served"]}
            api.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text)
        listed = sum(bool(line.split("#")[0].strip()) for line in (IMAGES / "crds.txt").read_text().splitlines())
        assert len(crds) == listed + len(list(IMAGES.glob("manifests/*.crd.yaml")))
        deadline = host_clock.now() + DEADLINE
        while missing := [each for each in wanted if not api.resource(*each)]:
            assert host_clock.now() < deadline, missing
            api.resources.clear()
            time.sleep(0.05)
        yield api


def create(target, name, folder):
    (folder / "install-config.yaml").write_text(next(config for config in CONFIGS if config.stem == name).read_text())
    command = [SLIPWAY, "create", target, "--dir", folder, "--release", RELEASE, "--key-type", "ecdsa"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, (name, done.stderr)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """By name of the install-config: (path, text) of all manifests, in the order of creation."""
    all_made = {}
    for config in CONFIGS:
        folder = tmp_path_factory.mktemp(config.stem)
        create("manifests", config.stem, folder)
        files = [path for part in FOLDERS for path in sorted((folder / part).glob("*"))]
        all_made[config.stem] = [(str(path.relative_to(folder)), path.read_text()) for path in files]
    return all_made


def put_status(api, path, value):
    """The server drops `status` when an object is created. Controllers write it afterwards, so it is checked as well."""
    current = api.must("GET", path)
    value = {**value, "metadata": {**value["metadata"], "resourceVersion": current["metadata"]["resourceVersion"]}}
    return api.ask("PUT", f"{path}/status?fieldValidation=Strict", json.dumps(value), "application/json")


def create_object(api, value, text):
    """The path of the object, and the errors of the server."""
    path, kind = api.path(value), value["kind"]
    space = value["metadata"].get("namespace")
    if space:
        api.ask("POST", "/api/v1/namespaces", f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {space}}}\n")
    status, answer = api.ask("POST", f"{path}?fieldValidation=Strict", text)
    if kind in DROPPED:
        field = f'strict decoding error: unknown field "{DROPPED[kind]}"'
        assert answer["message"].endswith(field), f"{kind}: the row in DROPPED is not needed: {answer}"
        status, answer = api.ask("POST", path, text)
    path += f"/{value['metadata']['name']}"
    if status == 201 and "status" in value and api.has_status(value["apiVersion"], api.resource(value["apiVersion"], kind)["name"]):
        status, answer = put_status(api, path, value)
    known = kind == "Namespace" and status == 409
    return path, None if status in (200, 201) or known else answer["message"]


@pytest.mark.parametrize("name", [config.stem for config in CONFIGS])
def test_an_api_server_takes_every_manifest(name, api, made):
    created, problems = [], []
    for file, text in made[name]:
        value = yaml.safe_load(text)
        resource = api.resource(value["apiVersion"], value["kind"])
        if (value["apiVersion"], value["kind"]) in NOT_JUDGED:
            assert resource is None, f"{file}: this release knows {value['kind']}, so it can be judged"
        elif not resource:
            problems.append(f"{file}: nobody knows {value['apiVersion']} {value['kind']}")
        else:
            path, problem = create_object(api, value, text)
            created.append(path)
            problems += [f"{file}: {problem}"] if problem else []
    for path in reversed(created):
        if not path.startswith("/api/v1/namespaces/") or path.count("/") > 4:
            api.ask("DELETE", path)
    assert not problems, "\n".join(problems)
    assert len(created) > 15


def test_what_is_not_judged_is_still_made(made):
    kinds = set()
    for files in made.values():
        for _, text in files:
            value = yaml.safe_load(text)
            kinds.add((value["apiVersion"], value["kind"]))
    assert set(NOT_JUDGED) <= kinds, "rows of the table that no golden install-config gives"


@pytest.mark.parametrize("name, mode", [("vsphere", 0o600), ("baremetal", 0o640)])
def test_metadata_with_logins_is_its_owners_only(name, mode, tmp_path):
    create("ignition-configs", name, tmp_path)
    assert stat.S_IMODE((tmp_path / "metadata.json").stat().st_mode) == mode


def test_a_field_that_nobody_knows_is_refused(api, made):
    """The check detects errors: a field with one letter more is rejected."""
    text = next(text for file, text in made["vsphere"] if file.endswith("cluster-infrastructure-02-config.yml"))
    status, answer = api.ask("POST", "/apis/config.openshift.io/v1/infrastructures?fieldValidation=Strict",
                             text.replace("failureDomains:", "failureDomainz:"))
    assert status == 400 and "failureDomainz" in answer["message"], answer


REPOSITORY = "registry.example.com/team/os"
DIGEST = "@sha256:" + "a" * 64


def os_config(push_spec=f"{REPOSITORY}:latest", pool="infra", builder="Job", **more):
    return {"apiVersion": f"{MACHINE_CONFIGS}/v1", "kind": "MachineOSConfig", "metadata": {"name": "infra"},
            "spec": {"machineConfigPool": {"name": pool}, "imageBuilder": {"imageBuilderType": builder},
                     "renderedImagePushSecret": {"name": "push"}, "renderedImagePushSpec": push_spec, **more}}


def os_build(rendered="rendered-infra-1"):
    return {"apiVersion": f"{MACHINE_CONFIGS}/v1", "kind": "MachineOSBuild", "metadata": {"name": "infra-1"},
            "spec": {"machineConfig": {"name": rendered}, "machineOSConfig": {"name": "infra"},
                     "renderedImagePushSpec": f"{REPOSITORY}:infra-1"}}


def conditions(true):
    return [{"type": each, "status": str(each == true), "reason": each, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for each in ("Prepared", "Building", "Failed", "Interrupted", "Succeeded")]


# Image mode: what src/machineconfig/os_config.cpp refuses or takes, the server does too.
@pytest.mark.parametrize("value, problem", [
    (os_config(), None),
    (os_config("registry.example.com:5000/os:v1_2.3-4"), None),
    (os_config("registry.example.com/a_b-c/my.os:1"), None),
    (os_config("10.0.0.1:5000/os:1"), None),
    (os_config(containerFile=[{"content": "FROM configs AS final"}], baseImagePullSecret={"name": "pull"}), None),
    (os_config("localhost:5000/os:1"), "OCI Image name"),
    (os_config("10.0.0.1:5/os:1"), "OCI Image name"),
    (os_config("registry.example.com/my.team/os:1"), "OCI Image name"),
    (os_config(REPOSITORY), "OCI Image name"),
    (os_config(REPOSITORY + DIGEST), "OCI Image name"),
    (os_config(f"registry.example.com/{'a' * 62}/os:1"), "OCI Image name"),
    (os_config(pool="worker"), "name must match the referenced MachineConfigPool"),
    (os_config(builder="Pod"), "imageBuilderType"),
    (os_config(containerFile=[{"content": "a" * 4097}]), "Too long"),
    (os_config(containerFile=[{"content": "a"}, {"content": "b"}]), "Duplicate value"),
    (os_config(more=1), 'unknown field "spec.more"'),
    (os_build(), None),
    (os_build("rendered"), "at least 10"),
])
def test_types_of_image_mode(api, value, problem):
    path, message = create_object(api, value, json.dumps(value))
    if problem:
        assert message and problem in message
    else:
        assert not message
        api.must("DELETE", path)


def test_results_of_image_mode(api):
    """An image is stored with one part between registry and name, which the server does not ask of a push spec."""
    value = os_config("registry.example.com/a/b/os:1")
    path, problem = create_object(api, value, json.dumps(value))
    assert not problem
    status, answer = put_status(api, path, {**value, "status": {"currentImagePullSpec": f"registry.example.com/a/b/os{DIGEST}"}})
    assert status == 422 and "OCI Image name" in answer["message"]
    status, answer = put_status(api, path, {**value, "status": {"currentImagePullSpec": f"{REPOSITORY}:latest{DIGEST}"}})
    assert status == 422 and "OCI Image name" in answer["message"]
    status, answer = put_status(api, path, {**value, "status": {"currentImagePullSpec": f"{REPOSITORY}{DIGEST}"}})
    assert status == 200, answer["message"]
    api.must("DELETE", path)


def test_what_a_build_said_stays(api):
    value = os_build()
    path, problem = create_object(api, value, json.dumps(value))
    assert not problem
    other = os_build("rendered-infra-2")
    status, answer = api.ask("PATCH", path, json.dumps({"spec": other["spec"]}), "application/merge-patch+json")
    assert status == 422 and "machineOSBuildSpec is immutable once set" in answer["message"]

    def put(**more):
        status, answer = put_status(api, path, {**value, "status": more})
        return None if status == 200 else answer["message"]

    job = {"group": "batch", "resource": "jobs", "namespace": "openshift-machine-config-operator", "name": "build-infra-1"}
    start, end = "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z"
    running = {"conditions": conditions("Building"), "buildStart": start}
    assert "job is required" in put(**running, builder={"imageBuilderType": "Job"})
    running["builder"] = {"imageBuilderType": "Job", "job": job}
    assert put(**running) is None
    assert "buildStart is immutable once set" in put(**{**running, "buildStart": end})
    assert "buildEnd must be after buildStart" in put(**running, buildEnd=start)
    done = {**running, "conditions": conditions("Succeeded"), "buildEnd": end, "digestedImagePushSpec": REPOSITORY + DIGEST}
    assert "sha256" in put(**{**done, "digestedImagePushSpec": f"{REPOSITORY}@sha256:ab"})
    assert put(**done) is None
    assert "once an Succeeded condition is set" in put(**{**done, "conditions": conditions("Failed")})
    api.must("DELETE", path)
