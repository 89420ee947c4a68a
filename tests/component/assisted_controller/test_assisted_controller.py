"""The controller of an assisted installation between the real service and a real API server, with the account and the roles of the manifests
that the service gives to the host that carries the bootstrap. The test acts as hosts, kubelets and operators.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/assisted_controller
"""

import base64
import contextlib
import copy
import datetime
import json
import pathlib
import shutil
import signal
import sys
import urllib.parse

import pytest
import yaml

COMPONENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(COMPONENTS / "assist"), str(COMPONENTS / "os_builds"), str(COMPONENTS / "support")]
from assist_client import Lab, Refused, Service  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from test_os_builds import BIN, PAYLOAD, install_types  # noqa: E402

SPACE = "assisted-installer"
CONTROLLER = "assisted-installer-controller"
DATE = "2026-11-27T12:00:00Z"
OF_SINGLE_NODE = ["Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting"]


class Cluster(ControlPlane):
    deadline = 180

    def until(self, what, ready):
        return super().until(CONTROLLER, what, ready)

    def status(self, kind, name, status):
        self.patch(kind, name, {"status": status}, subresource="status")


@pytest.fixture(scope="module")
def shared_plane(tmp_path_factory):
    # As in a cluster: who may not delete an object may not set its owner.
    flags = ["--disable-admission-plugins=ServiceAccount", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]
    controllers = "namespace-controller,garbage-collector-controller"
    with Cluster(PAYLOAD, tmp_path_factory.mktemp("plane"), flags=flags, controllers=controllers) as running:
        install_types(running, ["_clusteroperators.", "_clusterversions-"])
        yield running


@pytest.fixture
def plane(shared_plane):
    """Without the objects of the test before, whose controller has removed most of them."""
    if CONTROLLER in shared_plane.processes:
        shared_plane.end(CONTROLLER)
    for kind in ("node", "clusterversion", "clusteroperator"):
        shared_plane.delete_all(kind)
    for kind, name, *space in (("configmap", "default-ingress-cert", "openshift-config-managed"), ("clusterrole", CONTROLLER),
                               ("clusterrolebinding", CONTROLLER), ("namespace", SPACE)):
        if shared_plane.get(kind, name, *(["-n", *space] if space else [])):
            shared_plane.client.delete(kind, name, *space)
    return shared_plane


def files_of(config):
    found = {}
    for each in config["storage"]["files"]:
        kind, _, data = each.get("contents", {}).get("source", "data:,").partition(",")
        found[each["path"]] = base64.b64decode(data).decode(errors="replace") if kind.endswith("base64") else urllib.parse.unquote(data)
    return found


def bootstrap_files(lab):
    return files_of(lab.bootstrap.call("GET", f"/clusters/{lab.id}/downloads/files?file_name=bootstrap.ign"))


def begin_installation(lab):
    """All hosts have restarted, and the API of the cluster is there. Returns the files of the bootstrap."""
    lab.discover()
    lab.install()
    lab.prepare()
    first = bootstrap_files(lab)
    files = bootstrap_files(lab)
    old, new = (yaml.safe_load(each["/opt/openshift/openshift/99_assisted-installer-controller_7_secret.yaml"])["data"] for each in (first, files))
    with pytest.raises(Refused) as refused:  # each download has a new token and revokes the one before
        lab.service.get(f"/clusters/{lab.id}", token=base64.b64decode(old["token"]).decode())
    assert refused.value.status == 401
    assert lab.service.get(f"/clusters/{lab.id}", token=base64.b64decode(new["token"]).decode())["id"] == lab.id
    for host in lab.hosts:
        waits = ["Waiting for control plane", "Waiting for bootkube", "Waiting for controller"] if host is lab.bootstrap else []
        stages = ["Starting installation", "Installing", "Writing image to disk", *waits, "Rebooting"]
        for stage in OF_SINGLE_NODE if len(lab.hosts) == 1 else stages:
            host.stage(stage)
    return files


def single_node(service, folder):
    """Its names resolve nowhere."""
    lab = Lab(service, folder, 1, high_availability_mode="None")
    everything = json.dumps(["all"])
    service.call("PUT", f"/clusters/{lab.id}/ignored-validations", {"host-validation-ids": everything, "cluster-validation-ids": everything})
    return lab


class Begun:
    """An installation that has begun: its service has ended, and copies of the service continue."""

    def __init__(self, folder, make):
        service = Service(folder / "state")
        self.folder, self.port, self.lab = folder, service.port, make(service, folder)
        self.files = begin_installation(self.lab)
        assert service.stop() == 0

    @contextlib.contextmanager
    def continued(self, folder):
        """A running copy of the service with its cluster."""
        shutil.copytree(self.folder / "state", folder / "state")
        service = Service(folder / "state", port=self.port)
        lab = copy.copy(self.lab)
        lab.service, lab.hosts = service, [copy.copy(host) for host in lab.hosts]
        for host in lab.hosts:
            host.service = service
        yield service, lab, self.files
        assert service.stop() == 0


@pytest.fixture(scope="module")
def begun_of_three(tmp_path_factory):
    return Begun(tmp_path_factory.mktemp("three"), Lab)


@pytest.fixture(scope="module")
def begun_of_one(tmp_path_factory):
    return Begun(tmp_path_factory.mktemp("one"), single_node)


@pytest.fixture
def three_hosts(begun_of_three, tmp_path):
    with begun_of_three.continued(tmp_path) as made:
        yield made


@pytest.fixture
def one_host(begun_of_one, tmp_path):
    with begun_of_one.continued(tmp_path) as made:
        yield made


def apply_manifests(plane, files):
    for path in sorted(files):
        if path.startswith("/opt/openshift/openshift/99_assisted-installer-controller_") or path.endswith("/machine-addresses.yaml"):
            plane.apply(yaml.safe_load(files[path]))


class Controller:
    """The program of the Deployment, with its arguments, its Secret and the account of its pod."""

    def __init__(self, plane, files, *options):
        self.plane = plane
        deployment = yaml.safe_load(files["/opt/openshift/assisted-installer-controller.yaml"].replace("{{CONTROLLER_IMAGE}}", "unused"))
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        secret = plane.get("secret", CONTROLLER, "-n", SPACE)["data"]
        mounted = plane.folder / "secret"
        mounted.mkdir(exist_ok=True)
        for name in ("token", "ca.crt"):
            (mounted / name).write_bytes(base64.b64decode(secret[name]))
        token = plane.kubectl("create", "token", CONTROLLER, "-n", SPACE, "--duration=2h").strip()
        kubeconfig = yaml.safe_load(plane.kubeconfig.read_text())
        kubeconfig["users"][0]["user"] = {"token": token}
        (plane.folder / "controller.kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        program = plane.folder / container["command"][0]
        if not program.exists():
            program.symlink_to(BIN / "slipway-operator")
        words = [word.replace("/etc/assisted-installer-controller", str(mounted)) for word in container["args"]]
        self.command = [program, *container["command"][1:], *words, f"--kubeconfig={plane.folder}/controller.kubeconfig", *options]
        self.start()

    def start(self):
        self.plane.spawn(CONTROLLER, self.command, {"POD_NAME": "controller-0"})

    def kill(self):
        process = self.plane.processes.pop(CONTROLLER)
        process.send_signal(signal.SIGKILL)
        process.wait()


def condition(kind, status, message=""):
    return {"type": kind, "status": status, "message": message, "reason": "Test", "lastTransitionTime": DATE}


def is_removed(plane):
    found = [plane.get("namespace", SPACE), plane.get("clusterrole", CONTROLLER), plane.get("clusterrolebinding", CONTROLLER)]
    return not any(found)


def test_a_cluster_is_installed(three_hosts, plane):
    service, lab, files = three_hosts
    apply_manifests(plane, files)
    rows = json.loads(plane.get("configmap", "machine-addresses", "-n", "openshift-config")["data"]["machines"])
    assert sorted((row["name"], row["role"], row["addresses"]) for row in rows) == [
        (f"host-{number}", "master", [f"192.168.126.{10 + number}"]) for number in range(3)]
    controller = Controller(plane, files)
    plane.until("the report that the host with the bootstrap waits for", lambda: [
        event for event in plane.get("events", "-n", SPACE)["items"] if event["reason"] == "AssistedControllerIsReady"])

    def stage_of(host):
        return host.view()["progress"]["current_stage"]

    first, *others = lab.hosts
    plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "host-0"}})
    plane.until("a host that is Joined", lambda: stage_of(first) == "Joined")
    controller.kill()
    plane.status("node", "host-0", {"conditions": [condition("Ready", "True")]})
    controller.start()
    plane.until("a host that is Done", lambda: stage_of(first) == "Done")
    service.restart()
    # The other names of nodes: found by their addresses.
    for host in others:
        plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{host.number}"}})
        plane.status("node", f"node-{host.number}", {"conditions": [condition("Ready", "True")],
                                                     "addresses": [{"type": "InternalIP", "address": host.address}]})
    plane.until("all hosts installed", lambda: {host.view()["status"] for host in lab.hosts} == {"installed"})
    plane.until("finalizing", lambda: service.cluster(lab.id)["status"] == "finalizing")

    plane.apply({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"},
                 "spec": {"clusterID": lab.id}})
    desired = {"desired": {"version": "4.20.1", "image": "a"}, "observedGeneration": 1, "versionHash": "a", "history": [], "availableUpdates": []}
    plane.status("clusterversion", "version", {**desired, "conditions": [condition("Available", "True"), condition("Progressing", "True", "70 %")]})
    plane.apply({"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "etcd"}, "spec": {}})
    plane.status("clusteroperator", "etcd", {"versions": [{"name": "operator", "version": "4.20.1"}], "conditions": [condition("Available", "True")]})

    def operators():
        return {each["name"]: each["status"] for each in service.get(f"/clusters/{lab.id}/monitored-operators")}

    plane.until("reports of operators", lambda: operators() == {"cvo": "progressing", "etcd": "available"})
    assert service.cluster(lab.id)["progress"]["finalizing_stage"] == "Waiting for cluster operators"
    plane.status("clusterversion", "version", {**desired, "conditions": [condition("Available", "True"), condition("Progressing", "False")]})
    plane.until("an available version", lambda: operators()["cvo"] == "available")
    assert service.cluster(lab.id)["status"] == "finalizing", "the routers have no authority yet"
    plane.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "default-ingress-cert", "namespace": "openshift-config-managed"},
                 "data": {"ca-bundle.crt": plane.ca.read_text()}})
    plane.until("an installed cluster", lambda: service.cluster(lab.id)["status"] == "installed")
    [token] = [each for each in service.get("/tokens") if each["kind"] == "controller"]
    left = datetime.datetime.fromisoformat(token["expires_at"]) - datetime.datetime.now(datetime.timezone.utc)
    assert left <= datetime.timedelta(minutes=10), token
    _, _, kubeconfig = service.raw("GET", f"/api/assisted-install/v2/clusters/{lab.id}/downloads/credentials?file_name=kubeconfig",
                                   headers={"X-Secret-Key": service.token})
    trusted = base64.b64decode(yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    assert plane.ca.read_text().strip() in trusted

    plane.until("removal", lambda: is_removed(plane))
    assert service.cluster(lab.id)["controller_logs_collected_at"]
    log = (plane.folder / f"{CONTROLLER}.log").read_text()
    assert "the installation is over: the cluster is installed" in log and "error" not in log, log
    assert base64.b64decode(yaml.safe_load(files["/opt/openshift/openshift/99_assisted-installer-controller_7_secret.yaml"])["data"]["token"]).decode() not in log


def test_the_service_ends_with_its_host(three_hosts, plane):
    service, lab, files = three_hosts
    apply_manifests(plane, files)
    service.kill()
    Controller(plane, files, "--patience=2s", "--service-host=host-0")
    plane.until("a report", lambda: "has not answered since" in plane.get("configmap", f"{CONTROLLER}-report", "-n", SPACE)["data"].get("service", ""))
    plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "host-0"}})
    plane.until("a report of the Node", lambda: "host-0: not Ready" in plane.get("configmap", f"{CONTROLLER}-report", "-n", SPACE)["data"]["nodes"])
    plane.status("node", "host-0", {"conditions": [condition("Ready", "True")]})
    plane.until("removal", lambda: is_removed(plane))
    assert "the installation is over: host-0, which carried the service, is a node" in (plane.folder / f"{CONTROLLER}.log").read_text()
    service.start()


def test_a_single_node_is_installed(one_host, plane):
    """The controller runs on the node only when the live system, with the bootstrap, has ended."""
    service, lab, files = one_host
    apply_manifests(plane, files)
    table = json.loads(plane.get("configmap", "machine-addresses", "-n", "openshift-config")["data"]["machines"])
    assert [(row["name"], row["role"]) for row in table] == [("host-0", "master")], table
    plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "host-0"}})
    plane.status("node", "host-0", {"conditions": [condition("Ready", "True")]})
    Controller(plane, files)
    plane.until("a host that is Done", lambda: lab.hosts[0].view()["progress"]["current_stage"] == "Done")
    assert service.cluster(lab.id)["status"] == "finalizing"
    service.call("POST", f"/clusters/{lab.id}/actions/complete-installation", {"is_success": True}, token=lab.controller())
    plane.until("removal", lambda: is_removed(plane))
    assert service.cluster(lab.id)["status"] == "installed"


def test_the_service_of_a_single_node_has_ended_before_the_controller_begins(one_host, plane):
    service, _, files = one_host
    apply_manifests(plane, files)
    service.kill()
    plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "host-0"}})
    plane.status("node", "host-0", {"conditions": [condition("Ready", "True")]})
    Controller(plane, files, "--service-host=host-0")  # it does not wait for a service that cannot come back
    plane.until("removal", lambda: is_removed(plane))
    service.start()


def test_a_cancelled_installation_leaves_no_controller(three_hosts, plane):
    service, lab, files = three_hosts
    apply_manifests(plane, files)
    Controller(plane, files)
    plane.until("roles that belong to the namespace", lambda: plane.get("clusterrole", CONTROLLER)["metadata"].get("ownerReferences"))
    service.call("POST", f"/clusters/{lab.id}/actions/cancel")
    plane.until("removal", lambda: is_removed(plane))


def test_without_the_service_the_report_is_in_the_cluster(three_hosts, plane):
    service, lab, files = three_hosts
    apply_manifests(plane, files)

    def report():
        return plane.get("configmap", f"{CONTROLLER}-report", "-n", SPACE)["data"]

    assert report() == {"summary": "The service of the installation has the state of this cluster."}
    service.kill()
    controller = Controller(plane, files, "--patience=2s")
    plane.until("a report", lambda: "has not answered since" in report().get("service", ""))
    assert report()["controller"] == "waits for the service, to report this" and "there are no Nodes" in report()["summary"]
    plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "host-0"}})
    plane.until("a report of the Node", lambda: report()["nodes"] == "host-0: not Ready")
    service.start()
    plane.until("a report that the service answers", lambda: "answers again" in report()["summary"])
    plane.until("a host that is Joined", lambda: lab.hosts[0].view()["progress"]["current_stage"] == "Joined")
    controller.kill()
    service.kill()
    controller.command.append("--until=2020-01-01T00:00:00Z")  # the end of its credential
    controller.start()
    plane.until("the end", lambda: "has ended: the installation has taken too long" in report().get("controller", ""))
    plane.until("no more work", lambda: f"see ConfigMap {SPACE}/{CONTROLLER}-report" in (plane.folder / f"{CONTROLLER}.log").read_text())
    assert not is_removed(plane), "the report stays"
    service.start()
