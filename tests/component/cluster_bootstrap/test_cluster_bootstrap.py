"""cluster-bootstrap with a real API server: what it creates, what it waits for, and what remains afterwards.

    SLIPWAY_BIN=... SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/cluster_bootstrap

-s prints the figures. The test creates the required pods and revisions through the API: there is no kubelet.
"""

import json
import re
import subprocess
import sys
import time

import host_clock
import pytest

DEADLINE = 60
GROUP = "test.slipway.invalid"
STATIC_POD = "kube-apiserver-pod.yaml"
ETCD = {"etcds": "Etcd"}
OPERATORS = {"kubeapiservers": "KubeAPIServer", "kubecontrollermanagers": "KubeControllerManager", "kubeschedulers": "KubeScheduler"}


def crd(group, version, plural, kind, scope="Cluster"):
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": scope, "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": free}}]}}


def config_map(name, space="default"):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": space}, "data": {"of": name}}


class Machine:
    """The folders of a bootstrap machine. With one master, the machine becomes that master, and no operator is waited for."""

    def __init__(self, folder, plane, masters=1):
        self.assets, self.kubernetes = folder / "assets", folder / "kubernetes"
        self.pods, self.secrets = self.kubernetes / "manifests", self.kubernetes / "bootstrap-secrets"
        self.pods.mkdir(parents=True)
        for name in ("kubeconfig", "kubeconfig-loopback"):
            self.put(f"auth/{name}", plane.kubeconfig.read_text())
        self.put("tls/ca.key", "key")
        self.put(f"bootstrap-manifests/{STATIC_POD}", "kind: Pod\n")
        install_config = {"controlPlane": {"replicas": masters}, "networking": {"machineNetwork": [{"cidr": "10.0.0.0/16"}]}}
        if masters == 1:
            install_config["bootstrapInPlace"] = {"installationDisk": "/dev/vda"}
        self.put_object("cluster-config.yaml", {**config_map("cluster-config-v1", "kube-system"),
                                                "data": {"install-config": json.dumps(install_config)}})

    def put(self, path, text):
        path = self.assets / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def put_object(self, name, *objects):
        self.put(f"manifests/{name}", "---\n".join(json.dumps(each) + "\n" for each in objects))

    def command(self, programs, *more):
        return [programs / "cluster-bootstrap", "start", "--tear-down-early=false", f"--asset-dir={self.assets}",
                f"--pod-manifest-path={self.pods}", *(more or ["--required-pods="])]

    def run(self, programs, *more):
        return subprocess.run(self.command(programs, *more), capture_output=True, text=True, timeout=DEADLINE)

    def is_clean(self):
        return not self.secrets.exists() and not (self.pods / STATIC_POD).exists()


@pytest.fixture
def machine(tmp_path, plane):
    yield Machine(tmp_path, plane)
    plane.kubectl("delete", "events", "-n", "kube-system", "--all")


def wait_until(what, condition):
    deadline = host_clock.now() + DEADLINE
    while not condition():
        assert host_clock.now() < deadline, f"no {what} after {DEADLINE} s"
        time.sleep(0.02)


def names(plane, *what):
    return {each["metadata"]["name"]: each for each in json.loads(plane.kubectl("get", *what, "-o", "json"))["items"]}


def writes(plane, *resources):
    """The number of successful writes in the metrics of the API server; creating an existing object is rejected."""
    pattern = r'apiserver_request_total\{(.*)\} (\S+)'
    total = 0
    for labels, count in re.findall(pattern, plane.kubectl("get", "--raw", "/metrics")):
        wanted = [r'verb="(POST|PUT|PATCH|APPLY|DELETE)"', r'code="2\d\d"', rf'resource="({"|".join(resources)})"']
        if all(re.search(each, labels) for each in wanted):
            total += float(count)
    return total


def show(text):
    print(text, file=sys.__stdout__)


def test_everything_is_created_whatever_its_order_and_once(machine, plane, programs):
    count = 400
    for i in range(count):
        machine.put_object(f"b-{i:03}.yaml", config_map(f"cm-{i:03}", "late"))
    machine.put_object("a-thing.yaml", {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "first"}, "status": {"is": "set"}})
    machine.put_object("y-several.json", config_map("one"), config_map("two"))
    machine.put_object("z-namespace.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "late"}})
    machine.put_object("z-thing.crd.yaml", crd(GROUP, "v1", "things", "Thing"))

    start = host_clock.now()
    done = machine.run(programs)
    seconds = host_clock.now() - start
    assert done.returncode == 0, done.stderr
    assert len(names(plane, "configmaps", "-n", "late")) == count
    assert names(plane, f"things.{GROUP}")["first"]["status"] == {"is": "set"}
    assert {"one", "two"} <= set(names(plane, "configmaps"))
    assert "y-several.json: contains several documents" in done.stderr
    assert {"bootstrap-success", "bootstrap-finished"} <= set(names(plane, "events", "-n", "kube-system"))
    assert machine.is_clean()
    show(f"FIGURE cluster-bootstrap: {count + 7} manifests in {seconds:.2f} s, {(count + 7) / seconds:.0f} a second, start to end")

    before = writes(plane, "configmaps", "namespaces", "things", "customresourcedefinitions")
    start = host_clock.now()
    again = machine.run(programs)
    assert again.returncode == 0, again.stderr
    show(f"FIGURE cluster-bootstrap: again, nothing to do, in {host_clock.now() - start:.2f} s")
    assert writes(plane, "configmaps", "namespaces", "things", "customresourcedefinitions") == before >= count
    assert machine.is_clean()


def test_broken_manifests_are_named_before_anything_is_touched(machine, plane, programs):
    machine.put("manifests/broken.yaml", "a: b: c\n")
    machine.put("manifests/no-kind.yaml", "metadata: {name: x}\n")
    done = machine.run(programs)
    assert done.returncode == 1
    assert "broken.yaml:1" in done.stderr and "no-kind.yaml" in done.stderr, done.stderr
    assert not any(machine.pods.iterdir()) and not machine.secrets.exists()


def test_a_refused_manifest_is_told_and_the_others_are_created(machine, plane, programs):
    machine.put_object("a-refused.yaml", config_map("Not_A_Name"))
    machine.put_object("b-fine.yaml", config_map("fine"))
    machine.put_object("c-typeless.yaml", {"apiVersion": "nobody.invalid/v1", "kind": "Gone", "metadata": {"name": "x"}})
    done = machine.run(programs, "--required-pods=", "--assets-create-timeout=2s")
    assert done.returncode == 1
    last = done.stderr[done.stderr.rindex("cluster-bootstrap:"):]
    assert "creating manifests" in last and "Not_A_Name" in last and "Gone" in last, done.stderr
    assert "fine" in names(plane, "configmaps")
    assert "bootstrap-finished" not in names(plane, "events", "-n", "kube-system")
    assert machine.is_clean()


def test_static_pods_of_others_stay(machine, plane, programs):
    (machine.pods / STATIC_POD).write_text("of somebody\n")
    done = machine.run(programs)
    assert done.returncode == 1 and "was not written by cluster-bootstrap" in done.stderr, done.stderr
    assert (machine.pods / STATIC_POD).read_text() == "of somebody\n"


def make_pod(plane, folder, space, name, ready):
    """Creates or updates a pod."""
    file = folder / "pod.json"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space},
           "spec": {"nodeName": "master-0", "containers": [{"name": "c", "image": "i"}]}}
    file.write_text(json.dumps(pod))
    if name not in names(plane, "pods", "-n", space):
        plane.kubectl("create", "-f", file)
    status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}}
    plane.kubectl("patch", "pod", name, "-n", space, "--subresource=status", "--type=merge", "-p", json.dumps(status))


def test_it_waits_for_pods_and_revisions_and_goes_on_after_a_kill(tmp_path, plane, programs):
    machine = Machine(tmp_path, plane, masters=3)
    machine.put_object("0-namespace.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "api"}})
    for plural, kind in {**OPERATORS, **ETCD}.items():
        machine.put_object(f"{plural}.crd.yaml", crd("operator.openshift.io", "v1", plural, kind))
        machine.put_object(f"{plural}.yaml", {"apiVersion": "operator.openshift.io/v1", "kind": kind, "metadata": {"name": "cluster"}})
    command = machine.command(programs, "--required-pods=api/kube-apiserver,Scheduler:api/scheduler|api/other")

    def start(log):
        return subprocess.Popen(command, stderr=open(tmp_path / log, "w"))

    def told(log, text):
        return lambda: text in (tmp_path / log).read_text()

    def is_marked(name):
        return name in names(plane, "events", "-n", "kube-system")

    with start("killed") as killed:
        wait_until("manifests", told("killed", "manifests exist"))
        killed.kill()
    assert (machine.pods / STATIC_POD).exists() and machine.secrets.exists()
    assert (machine.secrets / "ca.key").stat().st_mode & 0o777 == 0o600

    machine.put(f"bootstrap-manifests/{STATIC_POD}", "kind: Pod\n# rendered again\n")
    with start("stopped") as stopped:
        wait_until("pods' states", told("stopped", "DoesNotExist"))
        stopped.terminate()
    assert stopped.returncode == 1
    assert "rendered again" in (machine.pods / STATIC_POD).read_text(), "a stop leaves what the next start goes on with"

    with start("finished") as finished:
        make_pod(plane, tmp_path, "api", "kube-apiserver-guard-master-0", ready=True)
        make_pod(plane, tmp_path, "api", "kube-apiserver-master-0", ready=False)
        make_pod(plane, tmp_path, "api", "other-master-0", ready=True)
        wait_until("verdict", told("finished", "api/kube-apiserver: RunningNotReady\n"))
        make_pod(plane, tmp_path, "api", "kube-apiserver-master-1", ready=True)
        wait_until("ready pods", told("finished", "all required pods are Ready"))
        assert not is_marked("bootstrap-success")
        for plural in OPERATORS:
            assert finished.poll() is None and not is_marked("bootstrap-success")
            nodes = [{"nodeName": f"master-{i}", "currentRevision": revision} for i, revision in enumerate([1, 2, 0])]
            patch = json.dumps({"status": {"nodeStatuses": nodes}})
            plane.kubectl("patch", f"{plural}.operator.openshift.io", "cluster", "--subresource=status", "--type=merge", "-p", patch)
        assert finished.poll() is None and not is_marked("bootstrap-success")
        condition = {"type": "EtcdRunningInCluster", "status": "True"}
        plane.kubectl("patch", "etcds.operator.openshift.io", "cluster", "--subresource=status", "--type=merge", "-p",
                      json.dumps({"status": {"conditions": [condition]}}))
        start_of_end = host_clock.now()
        finished.wait(timeout=DEADLINE)
        show(f"FIGURE cluster-bootstrap: {host_clock.now() - start_of_end:.2f} s from etcd on the masters to the end")
    assert finished.returncode == 0, (tmp_path / "finished").read_text()
    assert is_marked("bootstrap-success") and is_marked("bootstrap-finished")
    assert machine.is_clean()
