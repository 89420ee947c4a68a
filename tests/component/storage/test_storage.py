"""Local volumes with a real API server, scheduler and controller manager: the operator storage with the account and the policies of the
release, and two machine-config-daemons, each in a root of its own with the token of a pod on its Node.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/storage
"""

import json
import os
import pathlib
import random
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import config_operator  # noqa: E402
import machine_root  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from programs import free_port  # noqa: E402

BIN, PAYLOAD = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve(), pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
TYPES = ["payload-manifests/crds/0000_50_storage_01_storages.crd.yaml", "operator/v1/zz_generated.crd-manifests/0000_50_service-ca_02_servicecas.crd.yaml",
        "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators.crd.yaml"]
MANIFESTS = [*config_operator.MANIFESTS, "0000_50_storage_03_cr", "0000_50_storage_07_clusteroperator", *(
    f"0000_80_machine-config_03_daemon_{name}" for name in ("1_account", "2_role", "3_binding", "4_events-role", "5_events-binding"))]
DAEMONS, STORAGE = "openshift-machine-config-operator", "openshift-cluster-storage-operator"
NODES = ["worker-0", "worker-1"]
DEADLINE = 60
CONTROLLERS = ",".join(f"{name}-controller" for name in (
    "persistentvolume-binder", "persistentvolumeclaim-protection", "persistentvolume-protection", "statefulset"))
# Without reading the object first.
APPLY = ["apply", "--server-side", "--force-conflicts", "--validate=false", "-f", "-"]


def claim(name, size="10Mi", storage_class=None, **spec):
    classes = {"storageClassName": storage_class} if storage_class else {}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **classes, **spec}}


def pod_spec(**more):
    return {"terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "none.invalid/none"}], **more}


def pod(name, node=None):
    selector = {"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
            "spec": pod_spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}], **selector)}


class Cluster(ControlPlane):
    roots = {}

    def until(self, what, ready, program="operator"):
        return super().until(program, what, ready)

    def by(self, account, *words, given=None):
        command = [PAYLOAD / "hyperkube", "kubectl", f"--kubeconfig={self.folder / account}.kubeconfig", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, input=given)

    def add_node(self, name):
        """A Node without a kubelet. Its daemon has a root of its own."""
        self.kubectl("create", "-f", self.written("node", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}}))
        # Admission adds a taint to new Nodes.
        self.kubectl("patch", "node", name, "--type=merge", "-p", json.dumps({"spec": {"taints": None}}))
        self.kubectl("patch", "node", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
            "capacity": {"cpu": "4", "memory": "4Gi", "pods": "110"}, "allocatable": {"cpu": "4", "memory": "4Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "x", "message": "x"}]}}))
        self.kubectl("create", "-f", self.written("pod", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"daemon-{name}", "namespace": DAEMONS},
            "spec": pod_spec(nodeName=name, serviceAccountName="machine-config-daemon")}))
        self.kubeconfig_of(name, self.token(DAEMONS, "machine-config-daemon", "--bound-object-kind=Pod", f"--bound-object-name=daemon-{name}"))
        self.roots[name] = machine_root.make(self.folder / f"root-{name}")
        (self.roots[name] / "var/lib/kubelet").mkdir(parents=True)

    def written(self, name, thing):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(thing))
        return path

    def start_daemon(self, node):
        self.spawn(node, [*machine_root.enter(self.roots[node]), BIN / "slipway-node", "start", f"--node-name={node}",
                          f"--root-mount={self.roots[node]}", f"--kubeconfig={self.folder / node}.kubeconfig"],
                   {"PATH": "/usr/sbin:/usr/bin"})

    def start_operator(self):
        config_operator.start(self, BIN / "slipway-operator")

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=DEADLINE)

    def folders(self, node):
        path = self.roots[node] / "var/lib/slipway/volumes"
        return sorted(each.name for each in path.iterdir()) if path.exists() else []

    def path(self, volume):
        return self.roots[volume["metadata"]["annotations"]["slipway.internal/node"]] / volume["spec"]["local"]["path"].lstrip("/")

    def volumes(self):
        return {each["metadata"]["name"]: each for each in self.get("pv")["items"]}

    def bound(self, name):
        """The volume of a claim that has one."""
        found = self.get("pvc", name, "-n", "shop")
        return self.get("pv", found["spec"]["volumeName"]) if found and found.get("status", {}).get("phase") == "Bound" else None

    def provision(self, name, node=None, **options):
        self.apply(claim(name, **options), pod(name, node))
        return self.until(f"claim {name} has a volume", lambda: self.bound(name))

    def remove(self, name):
        self.kubectl("delete", "pod", name, "-n", "shop", "--force", "--grace-period=0")
        self.kubectl("delete", "pvc", name, "-n", "shop")

    def events(self, kind, name, space="shop"):
        return [f"{each['reason']}: {each['message']}" for each in self.get("events", "-n", space)["items"]
                if (each["involvedObject"]["kind"], each["involvedObject"]["name"]) == (kind, name)]

    def report(self, node):
        found = self.get("configmap", f"state-{node}", "-n", STORAGE)
        return json.loads(found["data"]["state"]) if found else {}

    def orders(self, node):
        found = self.get("configmap", f"wanted-{node}", "-n", STORAGE)
        return json.loads(found["data"]["volumes"]) if found else {}

    def nothing_is_left(self):
        return not self.volumes() and not any(self.folders(node) or self.orders(node) or self.report(node)["volumes"] for node in NODES)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("storage")
    # Without tokens of pods for service accounts.
    with Cluster(PAYLOAD, folder, flags=["--disable-admission-plugins=ServiceAccount"], controllers=CONTROLLERS) as plane:
        plane.install_types(TYPES)
        plane.apply(*({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in
                      (config_operator.SPACE, DAEMONS, "openshift-config", "openshift-config-managed", "shop")))
        plane.install_manifests(MANIFESTS)
        files = [f"--{flag}={plane.kubeconfig}" for flag in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]
        plane.spawn("scheduler", [PAYLOAD / "hyperkube", "kube-scheduler", *files, "--leader-elect=false", "--bind-address=127.0.0.1",
                                  f"--secure-port={free_port()}", f"--cert-dir={folder}/scheduler"])
        plane.start_operator()
        for node in NODES:
            plane.add_node(node)
            plane.start_daemon(node)
        yield plane


def test_the_operator_becomes_available(cluster):
    def told():
        status = cluster.get("clusteroperator", "storage").get("status", {})
        return {each["type"]: each["status"] for each in status.get("conditions", [])}, [each["version"] for each in status.get("versions", [])]

    cluster.until("it is Available", lambda: told() == ({"Available": "True", "Progressing": "False", "Degraded": "False"}, ["0.1.0"]))
    classes = {each["metadata"]["name"]: each for each in cluster.get("storageclass")["items"]}
    assert {name: each["reclaimPolicy"] for name, each in classes.items()} == {"local": "Delete", "local-retain": "Retain"}
    assert classes["local"]["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    cluster.until("nodes have reported", lambda: len(cluster.get("csistoragecapacity", "-n", STORAGE)["items"]) == 4)


def test_a_pod_gets_a_volume_on_its_node(cluster):
    volume = cluster.provision("data", "worker-1")
    spec = volume["spec"]
    assert (spec["storageClassName"], spec["persistentVolumeReclaimPolicy"], spec["claimRef"]["name"]) == ("local", "Delete", "data")
    assert spec["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == ["worker-1"]
    folder = cluster.path(volume)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 and stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert cluster.folders("worker-0") == []
    cluster.until("the pod is on its node", lambda: cluster.get("pod", "data", "-n", "shop")["spec"].get("nodeName") == "worker-1")
    assert cluster.orders("worker-1") == {volume["metadata"]["name"]: {"order": "keep", "bytes": 10 << 20}}


def test_a_stateful_set_gets_three_volumes(cluster):
    template = {"metadata": {"name": "data"}, "spec": claim("x")["spec"]}
    mounts = [{"name": "main", "image": "none.invalid/none", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]
    cluster.apply({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}, "spec": {
        "replicas": 3, "serviceName": "db", "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "db"}},
        "volumeClaimTemplates": [template], "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod_spec(containers=mounts)}}})
    names = [f"data-db-{i}" for i in range(3)]
    cluster.until("three volumes", lambda: all(map(cluster.bound, names)))
    cluster.kubectl("delete", "statefulset", "db", "-n", "shop", "--cascade=background")
    for i, name in enumerate(names):
        cluster.kubectl("delete", "pod", f"db-{i}", "-n", "shop", "--force", "--grace-period=0")
        cluster.kubectl("delete", "pvc", name, "-n", "shop")
    cluster.until("their folders are gone", lambda: sum(len(cluster.folders(node)) for node in NODES) == 1)


def test_nothing_is_written_while_nothing_changes(cluster):
    def versions():
        objects = [cluster.get(*words) for words in (
            *(("configmap", f"{kind}-worker-1", "-n", STORAGE) for kind in ("wanted", "state")), ("pv",), ("storageclass",), ("csidriver",))]
        # The witness may take room of its own node.
        capacities = [each for each in cluster.get("csistoragecapacity", "-n", STORAGE)["items"]
                      if each["nodeTopology"]["matchLabels"]["kubernetes.io/hostname"] == "worker-1"]
        return [each["metadata"]["resourceVersion"] for one in objects for each in one.get("items", [one])] + \
            [each["metadata"]["resourceVersion"] for each in capacities]

    cluster.until("orders are carried out", lambda: cluster.report("worker-1")["volumes"] == {next(iter(cluster.volumes())): {"state": "ready"}})
    before = versions()
    cluster.kubectl("annotate", "pvc", "data", "-n", "shop", "unrelated=1")
    cluster.provision("witness", "worker-0")
    after = versions()
    assert len(after) == len(before) + 1 and len(set(after) - set(before)) == 1, (before, after)
    cluster.remove("witness")
    cluster.until("it is gone", lambda: cluster.folders("worker-0") == [])


def test_a_claim_that_fits_nowhere_says_why(cluster):
    cluster.apply(claim("huge", size="9000Ti"), pod("huge"))
    cluster.until("an Event of the claim", lambda: any("no node has that much room" in each for each in cluster.events("PersistentVolumeClaim", "huge")))
    cluster.until("an Event of the pod", lambda: any("did not have enough free storage" in each for each in cluster.events("Pod", "huge")))
    assert "volume.kubernetes.io/selected-node" not in cluster.get("pvc", "huge", "-n", "shop")["metadata"].get("annotations", {})
    # A claim may name a node by itself, past the scheduler.
    cluster.kubectl("annotate", "pvc", "huge", "-n", "shop", "volume.kubernetes.io/selected-node=worker-0")
    cluster.until("it is given back", lambda: any("node worker-0 has room for" in each for each in cluster.events("PersistentVolumeClaim", "huge")))
    cluster.until("without a node", lambda: "volume.kubernetes.io/selected-node" not in cluster.get("pvc", "huge", "-n", "shop")["metadata"].get("annotations", {}))
    cluster.remove("huge")
    cluster.apply(claim("shared", accessModes=["ReadWriteMany"]))
    cluster.until("an Event", lambda: any("a local volume is on one node" in each for each in cluster.events("PersistentVolumeClaim", "shared")))
    cluster.kubectl("delete", "pvc", "shared", "-n", "shop")
    assert cluster.folders("worker-0") == []


def test_a_removed_volume_removes_nothing_else(cluster):
    """Its owner has put links into it, and exchanges folders for links while it is removed."""
    volume = cluster.provision("hostile", "worker-0")
    folder, root = cluster.path(volume), cluster.roots["worker-0"]
    outside = [root / "etc/kept", cluster.folder / "kept"]
    for path in outside:
        path.mkdir()
        (path / "file").write_text("kept")
    for depth in range(20):
        below = folder / "/".join(["a"] * (depth + 1))
        below.mkdir()
        (below / "file").write_text("x")
        for i, target in enumerate(["/", "/etc/kept", "/etc/kept/file", "../" * 40 + "etc/kept", str(cluster.folder / "kept"), ".."]):
            (below / f"link-{i}").symlink_to(target)
    for i in range(300):
        (folder / f"swap-{i}").mkdir()
        (folder / f"swap-{i}" / "file").write_text("x")
    inside, stopped = os.open(folder, os.O_RDONLY | os.O_DIRECTORY), threading.Event()

    def swap():
        chosen = random.Random(1)
        while not stopped.is_set():
            name = f"swap-{chosen.randrange(300)}"
            try:
                os.rename(name, f"{name}.old", src_dir_fd=inside, dst_dir_fd=inside)
                os.symlink(chosen.choice(["/etc/kept", "..", str(cluster.folder / "kept")]), name, dir_fd=inside)
            except OSError:
                pass

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        cluster.remove("hostile")
        time.sleep(2)
    finally:
        stopped.set()
        thread.join()
        os.close(inside)
    cluster.until("it is gone", lambda: cluster.folders("worker-0") == [] and not cluster.get("pv", volume["metadata"]["name"]))
    assert all((path / "file").read_text() == "kept" for path in outside)
    assert cluster.orders("worker-0") == {}


def test_a_retained_volume_stays_until_its_policy_changes(cluster):
    volume = cluster.provision("retained", "worker-0", storage_class="local-retain")
    name, folder = volume["metadata"]["name"], cluster.path(volume)
    (folder / "file").write_text("kept")
    cluster.remove("retained")
    cluster.until("it is released", lambda: cluster.get("pv", name)["status"]["phase"] == "Released")
    time.sleep(1)
    assert (folder / "file").read_text() == "kept"
    cluster.kubectl("patch", "pv", name, "--type=merge", "-p", json.dumps({"spec": {"persistentVolumeReclaimPolicy": "Delete"}}))
    cluster.until("it is gone", lambda: not folder.exists() and not cluster.get("pv", name))


def test_a_deleted_retained_volume_leaves_its_folder(cluster):
    volume = cluster.provision("left", "worker-0", storage_class="local-retain")
    name, folder = volume["metadata"]["name"], cluster.path(volume)
    cluster.remove("left")
    cluster.until("it is released", lambda: cluster.get("pv", name)["status"]["phase"] == "Released")
    cluster.kubectl("delete", "pv", name)
    cluster.until("an Event names the folder", lambda: any(name in each for each in cluster.events("Node", "worker-0", "default")))
    assert folder.exists()
    folder.rmdir()


def test_kills_at_any_moment_lose_nothing_and_leave_nothing(cluster):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"\nSLIPWAY_TEST_SEED={seed}")
    chosen = random.Random(seed)
    kept = cluster.path(cluster.bound("data"))
    (kept / "file").write_text("kept")

    def kill_some():
        time.sleep(chosen.random() / 2)
        for name in chosen.sample(["operator", *NODES], chosen.randint(1, 2)):
            cluster.kill(name)
            cluster.start_operator() if name == "operator" else cluster.start_daemon(name)

    names = [f"kill-{i}" for i in range(6)]
    for name in names:
        cluster.apply(claim(name), pod(name))
        kill_some()
    cluster.until("all have volumes", lambda: all(map(cluster.bound, names)))
    paths = {name: cluster.path(cluster.bound(name)) for name in names}
    for name, path in paths.items():
        assert stat.S_IMODE(path.stat().st_mode) == 0o777
        for i in range(200):
            (path / f"{i}").mkdir()
            (path / f"{i}/file").write_text(name)
    for name in names:
        cluster.remove(name)
        kill_some()
    cluster.until("all are gone", lambda: list(cluster.volumes()) == [cluster.get("pvc", "data", "-n", "shop")["spec"]["volumeName"]])
    cluster.until("nothing is left", lambda: cluster.folders("worker-0") == [] and cluster.folders("worker-1") == [kept.name])
    cluster.until("no orders are left", lambda: [list(cluster.orders(node)) for node in NODES] == [[], [kept.name]])
    assert (kept / "file").read_text() == "kept"


def test_a_lost_folder_is_reported_and_not_created_again(cluster):
    volume = cluster.provision("lost", "worker-0")
    cluster.until("the order is to keep it", lambda: cluster.orders("worker-0")[volume["metadata"]["name"]]["order"] == "keep")
    cluster.path(volume).rmdir()
    cluster.kill("worker-0")
    cluster.start_daemon("worker-0")
    cluster.until("an Event", lambda: any(each.startswith("VolumeMissing: node worker-0 has no folder") for each in cluster.events("PersistentVolumeClaim", "lost")))
    assert cluster.folders("worker-0") == []
    cluster.remove("lost")
    cluster.until("it is gone", lambda: not cluster.get("pv", volume["metadata"]["name"]))


def test_a_machine_reports_only_itself(cluster):
    def refused(words, *command, given=None, by="worker-0"):
        done = cluster.by(by, *command, given=given)
        return done.returncode != 0 and words in done.stderr

    def config_map(name):
        return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": STORAGE}, "data": {"state": "{}"}})

    own = "this account may write only ConfigMap state-worker-0"
    cluster.until("the policy is in force", lambda: refused(own, *APPLY, given=config_map("state-worker-1")))
    for name in ("wanted-worker-0", "wanted-worker-1", "wanted-worker-9", "state-worker-9"):
        assert refused(own, *APPLY, given=config_map(name)), name
    for verb, kind in (("get", "pv"), ("get", "pvc"), ("delete", "pv"), ("delete", "configmap")):
        assert refused("is forbidden", verb, kind, "any", "-n", STORAGE if kind == "configmap" else "shop")
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "stolen"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}}}
    assert refused("is forbidden", "create", "-f", "-", given=json.dumps(volume))
    # A token that is bound to no pod.
    cluster.kubeconfig_of("unbound", cluster.token(DAEMONS, "machine-config-daemon"))
    assert refused("not bound to a Node", *APPLY, given=config_map("state-worker-0"), by="unbound")
    # A kubelet that takes the name of another machine.
    stolen = subprocess.run([PAYLOAD / "hyperkube", "kubectl", f"--kubeconfig={cluster.kubeconfig}", "--as=system:node:worker-0", "--as-group=system:nodes", "label",
                             "node", "worker-0", "--overwrite", "kubernetes.io/hostname=worker-1"], capture_output=True, text=True, timeout=DEADLINE)
    assert "may not change label kubernetes.io/hostname" in stolen.stderr, stolen.stderr


def test_the_account_of_the_operator_may_not_write_other_volumes(cluster):
    def answer(*command, given=None):
        done = cluster.by("operator", *command, given=given)
        return done.stderr if done.returncode != 0 else "accepted"

    def volume(name, annotated=True, **source):
        notes = {"pv.kubernetes.io/provisioned-by": "local.slipway.internal"} if annotated else {}
        affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}
        return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "annotations": notes}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "nodeAffinity": affinity, **source}}

    words = "this account may write only PersistentVolumes of local.slipway.internal"
    for wrong in (volume("host", hostPath={"path": "/"}), volume("etc", local={"path": "/etc"}), volume("other", annotated=False, local={"path": "/var/lib/slipway/volumes/other"}),
                  volume("up", local={"path": "/var/lib/slipway/volumes/else"})):
        assert words in answer("create", "-f", "-", given=json.dumps(wrong)), wrong
    # A volume of another provisioner.
    cluster.apply(volume("theirs", annotated=False, hostPath={"path": "/srv"}))
    assert words in answer("delete", "pv", "theirs")
    own = cluster.bound("data")["metadata"]["name"]
    assert "may not change spec" in answer("patch", "pv", own, "--type=merge", "-p", json.dumps({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}))
    # The server itself refuses another size: the class cannot expand volumes.
    for words, more in (("may only remove annotation", {"labels": {"a": "b"}}), ("may only remove annotation", {"annotations": {"a": "b"}}), ("", {})):
        spec = {} if more else {"spec": {"resources": {"requests": {"storage": "20Mi"}}}}
        change = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop", **more}, **spec}
        said = answer(*APPLY, "--field-manager=other", given=json.dumps(change))
        assert said != "accepted" and words in said, said
    cluster.kubectl("delete", "pv", "theirs")


def test_nothing_is_left(cluster):
    cluster.remove("data")
    cluster.until("nothing is left", cluster.nothing_is_left)
