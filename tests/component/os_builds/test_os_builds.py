"""machine-config-controller start in image mode, with a real API server, the release's CRDs and roles, and the controllers of Jobs and of
garbage. The test acts as the kubelet, as the pods that build, and as the machine-config-daemon.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/os_builds
"""

import base64
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest
import yaml

COMPONENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(COMPONENTS / "support"))
from control_plane import ControlPlane  # noqa: E402
from openshift_api import crd_paths  # noqa: E402

BIN, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve(), pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
SOURCE = COMPONENTS.parents[1]
VERSION, SPACE, GROUP = "0.1.0", "openshift-machine-config-operator", "machineconfiguration.openshift.io"
CRDS = ["_containerruntimeconfigs.", "_controllerconfigs-", "_kubeletconfigs-", "_machineconfignodes-", "_machineconfigpools-", "_machineconfigs.",
        "_machineosbuilds.", "_machineosconfigs.", "_schedulers-", "_infrastructures-", "_imagedigestmirrorsets.", "_imagetagmirrorsets.",
        "_imagecontentsourcepolicies."]
REPOSITORY = "registry.example.com/team/os"
DIGESTS = ["sha256:" + digit * 64 for digit in "abc"]
DEADLINE = 60
STATE = {"desiredConfig", "desiredImage", "currentConfig", "currentImage"}


class Cluster(ControlPlane):
    def until(self, what, ready):
        return super().until("machine-config-controller", what, ready)

    def start_controller(self):
        self.spawn("machine-config-controller", [self.folder / "machine-config-controller", "start", f"--kubeconfig={self.controller_kubeconfig}"],
                   {"RELEASE_VERSION": VERSION, "NODE_NAME": "master-0", "POD_NAME": "test"})

    def kill_controller(self):
        process = self.processes.pop("machine-config-controller")
        process.kill()
        process.wait()

    def builds(self):
        return self.get(f"machineosbuilds.{GROUP}")["items"]

    def builds_in(self, phase):
        """The builds in this phase, which is their only condition that is True."""
        return [build for build in self.builds()
                if [each["type"] for each in build.get("status", {}).get("conditions", []) if each["status"] == "True"] == [phase]]

    def build(self, phase):
        return next(iter(self.builds_in(phase)), None)

    def condition(self, kind, name, of):
        found = {each["type"]: each for each in self.get(kind, name).get("status", {}).get("conditions", [])}
        return found.get(of, {"status": "", "reason": "", "message": ""})

    def jobs(self):
        return self.get("jobs", "-n", SPACE)["items"]

    def pods(self):
        return self.get("pods", "-n", SPACE)["items"]

    def pod(self):
        return self.until("a pod of the build", lambda: next((each for each in self.pods() if not each["metadata"].get("deletionTimestamp")), None))

    def next_pod(self, before):
        """The pod that the Job makes instead: ten seconds after its first one has ended, twice as long after each further one."""
        return self.until("another pod", lambda: next(
            (each for each in self.pods() if each["metadata"]["uid"] != before["metadata"]["uid"] and "phase" in each.get("status", {})
             and each["status"]["phase"] == "Pending" and not each["metadata"].get("deletionTimestamp")), None))

    def end_pod(self, pod, phase):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        state = {"terminated": {"exitCode": int(phase == "Failed"), "startedAt": now, "finishedAt": now, "reason": "Ended"}}
        self.patch("pod", pod["metadata"]["name"], {"status": {"phase": phase, "startTime": now, "containerStatuses": [
            {"name": "image-build", "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "state": state}]}},
            namespace=SPACE, subresource="status")

    def result(self, name, digest):
        """The result as the pod writes it, from the inputs that the controller wrote."""
        maps = [each for each in self.get("configmaps", "-n", SPACE)["items"] if each["metadata"]["name"].startswith(f"os-build-{name}-")]
        parts = [each["data"]["inputs"] for each in sorted(maps, key=lambda each: int(each["metadata"]["name"].rsplit("-", 1)[1]))]
        inputs = json.loads(gzip.decompress(base64.b64decode("".join(parts))))
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return inputs, {"build": inputs["build"], "digest": digest, "started": now, "ended": now, "bytes": 1, "isPushed": True}

    def as_builder(self, name, build, data):
        """Creates a ConfigMap with the account of the pods."""
        path = self.folder / "result.yaml"
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
                                        "metadata": {"name": name, "namespace": SPACE, "labels": {f"{GROUP}/machine-os-build": build}}}))
        return self.kubectl("create", "-f", path, "--as", f"system:serviceaccount:{SPACE}:machine-os-builder")

    def succeed(self, digest):
        build = self.until("it builds", lambda: self.build("Building"))
        name = build["metadata"]["name"]
        _, image = self.result(name, digest)
        self.as_builder(f"digest-{name}", name, {"image.json": json.dumps(image)})
        self.end_pod(self.pod(), "Succeeded")
        return image

    def node(self):
        notes = self.get("node", "worker-0")["metadata"].get("annotations", {})
        return {key: notes.get(f"{GROUP}/{key}") for key in STATE}

    def note(self, **notes):
        self.patch("node", "worker-0", {"metadata": {"annotations": {f"{GROUP}/{key}": value for key, value in notes.items()}}})

    def play_daemon(self):
        node = self.node()
        self.note(currentConfig=node["desiredConfig"], currentImage=node["desiredImage"], state="Done")


def os_config(content):
    return {"apiVersion": f"{GROUP}/v1", "kind": "MachineOSConfig", "metadata": {"name": "worker"},
            "spec": {"machineConfigPool": {"name": "worker"}, "imageBuilder": {"imageBuilderType": "Job"},
                     "renderedImagePushSecret": {"name": "push"}, "renderedImagePushSpec": f"{REPOSITORY}:latest",
                     "containerFile": [{"containerfileArch": "NoArch", "content": content}]}}


def machine_config_objects(folder):
    """ControllerConfig and pools of the release, from machine-config-operator bootstrap."""
    sys.path.append(str(COMPONENTS / "machine_config"))
    import sample  # the inputs of that command
    assets = folder / "assets"
    sample.write_assets(assets)
    (folder / "machine-config-operator").symlink_to(BIN / "slipway-operator")
    subprocess.run(
        [folder / "machine-config-operator", "bootstrap", f"--root-ca={assets}/tls/ca.crt", f"--kube-ca={assets}/tls/ca.crt",
         f"--config-file={assets}/manifests/cluster-config.yaml", f"--dest-dir={folder}/rendered", "--release-image=release@sha256:0",
         f"--pull-secret={assets}/manifests/openshift-config-secret-pull-secret.yaml", f"--image-references={assets}/image-references",
         f"--infra-config-file={assets}/manifests/cluster-infrastructure-02-config.yml",
         f"--dns-config-file={assets}/manifests/cluster-dns-02-config.yml", f"--network-config-file={assets}/manifests/cluster-network-02-config.yml",
         f"--proxy-config-file={assets}/manifests/cluster-proxy-01-config.yaml", f"--payload-version={VERSION}"], check=True, timeout=DEADLINE)
    manifests = folder / "rendered/bootstrap/manifests"
    objects = [yaml.safe_load((manifests / name).read_text()) for name in
               ("machineconfigcontroller-controllerconfig.yaml", "master.machineconfigpool.yaml", "worker.machineconfigpool.yaml")]
    return objects, yaml.safe_load((assets / "manifests/openshift-config-secret-pull-secret.yaml").read_text())


def as_released(plane):
    """The kubeconfig of the controller's account, with its roles in the release."""
    folder = SOURCE / "images/manifests"
    plane.install_manifests(["0000_10_operators_01_roles", "0000_80_machine-config_04_rbac"] + [
        path.stem for part in ("controller", "builder") for path in sorted(folder.glob(f"0000_80_machine-config_03_{part}_*"))])
    return plane.kubeconfig_of("machine-config-controller", plane.token(SPACE, "machine-config-controller"))


def install_types(plane, names):
    """Creates the CRDs of the release whose paths have one of the names, and the namespaces of machine configuration."""
    plane.install_types(crd_paths(names))
    for name in (SPACE, "openshift-config", "openshift-config-managed", "openshift-machine-api"):
        plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("os-builds")
    objects, pull_secret = machine_config_objects(folder)
    (folder / "machine-config-controller").symlink_to(BIN / "slipway-operator")
    flags = ["--disable-admission-plugins=ServiceAccount", "--allow-privileged"]
    with Cluster(PAYLOAD, folder, flags=flags, controllers="job-controller,garbage-collector-controller") as plane:
        install_types(plane, CRDS)
        plane.apply(pull_secret, *objects,
                    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bootstrap", "namespace": "kube-system"}, "data": {"status": "complete"}},
                    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-0", "labels": {"node-role.kubernetes.io/worker": ""}}})
        plane.patch("node", "worker-0", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")
        plane.controller_kubeconfig = as_released(plane)
        plane.start_controller()
        rendered = plane.until("a rendered config", lambda: plane.get("machineconfigpool", "worker")["spec"].get("configuration", {}).get("name"))
        plane.note(currentConfig=rendered, desiredConfig=rendered, state="Done")
        plane.until("the pool is updated", lambda: plane.condition("machineconfigpool", "worker", "Updated")["status"] == "True")
        yield plane


def test_without_image_mode_nothing_of_it_exists(cluster):
    conditions = {each["type"] for each in cluster.get("machineconfigpool", "worker")["status"]["conditions"]}
    assert "ImageBuildDegraded" not in conditions
    assert cluster.builds() == [] and cluster.jobs() == []
    assert cluster.node()["desiredImage"] is None


def test_an_error_of_the_containerfile_is_reported_and_stops_the_build(cluster):
    cluster.apply(os_config("FROM configs AS final\nRUN false\n"))
    build = cluster.until("it builds", lambda: cluster.build("Building"))
    name, pod = build["metadata"]["name"], cluster.pod()
    assert cluster.condition("machineconfigpool", "worker", "Updated")["reason"] == "WaitingForImage"
    assert cluster.condition("machineconfigpool", "worker", "Updating")["status"] == "False"
    assert pod["spec"]["serviceAccountName"] == "machine-os-builder" and pod["spec"]["containers"][0]["securityContext"]["privileged"]
    inputs, _ = cluster.result(name, DIGESTS[0])
    assert {each["path"] for each in inputs["files"]} >= {"Containerfile"} and inputs["build"]["name"] == name
    cluster.as_builder(f"failure-{pod['metadata']['name']}", name, {"failure": "line 2: RUN false: exit status 1", "isFinal": "true"})
    cluster.until("it failed", lambda: cluster.build("Failed"))
    cluster.until("the Job is gone with its pods", lambda: not cluster.jobs() and not cluster.pods())
    degraded = cluster.until("ImageBuildDegraded", lambda: (found := cluster.condition("machineconfigpool", "worker", "ImageBuildDegraded"))[
        "status"] == "True" and found)
    assert "line 2: RUN false: exit status 1" in degraded["message"]
    assert cluster.condition("machineconfigpool", "worker", "Degraded")["status"] == "True"
    assert cluster.node()["desiredImage"] is None


def test_builders_can_only_create_results(cluster):
    for verb, what in (("get", "configmaps"), ("patch", "configmaps"), ("delete", "configmaps"), ("get", "secrets")):
        command = [PAYLOAD / "hyperkube", "kubectl", f"--kubeconfig={cluster.kubeconfig}", "auth", "can-i", verb, what, "-n", SPACE,
                   "--as", f"system:serviceaccount:{SPACE}:machine-os-builder"]
        assert subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env={"HOME": str(cluster.folder)}).stdout == "no\n"


def test_an_image_goes_to_the_nodes_with_its_config(cluster):
    failed = cluster.builds()[0]["metadata"]["name"]
    cluster.apply(os_config("FROM configs AS final\nRUN true\n"))
    image = cluster.succeed(DIGESTS[0])
    build = cluster.until("it succeeded", lambda: cluster.build("Succeeded"))
    assert build["status"]["digestedImagePushSpec"] == f"{REPOSITORY}@{DIGESTS[0]}"
    assert build["status"]["buildStart"] < build["status"]["buildEnd"]
    assert {each["type"] for each in build["status"]["conditions"]} == {"Prepared", "Building", "Failed", "Interrupted", "Succeeded"}
    assert failed not in [each["metadata"]["name"] for each in cluster.builds()]
    cluster.until("the image is desired", lambda: cluster.node()["desiredImage"] == f"{REPOSITORY}@{DIGESTS[0]}")
    assert cluster.node()["currentImage"] is None
    cluster.play_daemon()
    cluster.until("the pool is updated", lambda: cluster.condition("machineconfigpool", "worker", "Updated")["status"] == "True")
    assert cluster.condition("machineconfigpool", "worker", "ImageBuildDegraded")["status"] == "False"
    status = cluster.get(f"machineosconfigs.{GROUP}", "worker")["status"]
    assert status["currentImagePullSpec"] == f"{REPOSITORY}@{DIGESTS[0]}" and status["machineOSBuild"]["name"] == image["build"]["name"]
    cluster.until("the objects of the build are gone", lambda: not cluster.jobs() and not cluster.pods() and not [
        each for each in cluster.get("configmaps", "-n", SPACE)["items"] if image["build"]["name"] in each["metadata"]["name"]])
    (cluster.folder / "image.json").write_text(json.dumps(image))


def test_rebuild_builds_again_also_when_the_job_is_deleted_and_its_pod_killed(cluster):
    cluster.patch(f"machineosconfigs.{GROUP}", "worker", {"metadata": {"annotations": {f"{GROUP}/rebuild": ""}}})
    first = cluster.until("a Job", cluster.jobs)[0]
    cluster.until("it builds", lambda: cluster.build("Building"))
    assert "--no-cache" in first["spec"]["template"]["spec"]["containers"][0]["command"]
    assert f"{GROUP}/rebuild" not in cluster.get(f"machineosconfigs.{GROUP}", "worker")["metadata"].get("annotations", {})
    cluster.kubectl("delete", "job", first["metadata"]["name"], "-n", SPACE)
    again = cluster.until("another Job", lambda: [each for each in cluster.jobs() if each["metadata"]["uid"] != first["metadata"]["uid"]])
    assert "--no-cache" in again[0]["spec"]["template"]["spec"]["containers"][0]["command"]
    # Its pod is killed.
    pod = cluster.until("its pod", lambda: next((each for each in cluster.pods() if each["metadata"]["ownerReferences"][0]["uid"] == again[0][
        "metadata"]["uid"]), None))
    cluster.kubectl("delete", "pod", pod["metadata"]["name"], "-n", SPACE, "--wait=false")
    cluster.end_pod(pod, "Failed")
    cluster.next_pod(pod)
    cluster.succeed(DIGESTS[1])
    cluster.until("the new image is desired", lambda: cluster.node()["desiredImage"] == f"{REPOSITORY}@{DIGESTS[1]}")
    cluster.play_daemon()
    cluster.until("the pool is updated", lambda: cluster.condition("machineconfigpool", "worker", "Updated")["status"] == "True")


def test_after_kills_of_machines_and_the_controller_the_end_is_the_same(cluster):
    cluster.apply(os_config("FROM configs AS final\nRUN killed\n"))
    cluster.until("it builds", lambda: cluster.build("Building"))
    pod = cluster.pod()
    assert "--no-cache" not in pod["spec"]["containers"][0]["command"]
    # The master that builds is lost, which is not a failure of the build.
    cluster.patch("pod", pod["metadata"]["name"], {"status": {"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}]}}, namespace=SPACE, subresource="status")
    cluster.end_pod(pod, "Failed")
    pod = cluster.next_pod(pod)
    assert not cluster.jobs()[0]["status"].get("failed")
    assert cluster.build("Building")
    # The build ends while there is no controller.
    cluster.kill_controller()
    name = cluster.build("Building")["metadata"]["name"]
    _, image = cluster.result(name, DIGESTS[2])
    cluster.as_builder(f"digest-{name}", name, {"image.json": json.dumps(image)})
    cluster.end_pod(pod, "Succeeded")
    cluster.start_controller()
    cluster.until("it succeeded", lambda: name in [each["metadata"]["name"] for each in cluster.builds_in("Succeeded")])
    # The controller is killed while the image is rolled out.
    cluster.kill_controller()
    cluster.start_controller()
    cluster.until("the image is desired", lambda: cluster.node()["desiredImage"] == f"{REPOSITORY}@{DIGESTS[2]}")
    cluster.play_daemon()
    cluster.until("the pool is updated", lambda: cluster.condition("machineconfigpool", "worker", "Updated")["status"] == "True")
    cluster.until("only this build is left", lambda: [each["metadata"]["name"] for each in cluster.builds()] == [name]
                  and not cluster.jobs() and not cluster.pods())


def test_without_its_machine_os_config_the_pool_leaves_its_image(cluster):
    cluster.kubectl("delete", f"machineosconfigs.{GROUP}", "worker")
    cluster.until("no image is desired", lambda: cluster.node()["desiredImage"] is None)
    assert cluster.node()["desiredConfig"] == cluster.node()["currentConfig"]
    assert cluster.build("Succeeded"), "a node has its image"
    cluster.play_daemon()
    cluster.until("the build is gone", lambda: not cluster.builds())
    cluster.until("the pool is updated", lambda: cluster.condition("machineconfigpool", "worker", "Updated")["status"] == "True")


def test_the_image_of_the_bootstrap_machine_is_taken(cluster):
    image = json.loads((cluster.folder / "image.json").read_text())
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "os-images-of-bootstrap", "namespace": SPACE},
                   "data": {"worker": json.dumps(image)}})
    cluster.apply(os_config("FROM configs AS final\nRUN true\n"))
    build = cluster.until("it succeeded", lambda: cluster.build("Succeeded"))
    assert [each["reason"] for each in build["status"]["conditions"] if each["status"] == "True"] == ["BootstrapImageSeeded"]
    cluster.until("the image is desired", lambda: cluster.node()["desiredImage"] == f"{REPOSITORY}@{DIGESTS[0]}")
    assert cluster.jobs() == []
