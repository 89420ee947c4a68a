"""A single node in place: the result of `cluster-bootstrap bootstrap-in-place` on a machine that bootstrapped a cluster, checked by
Ignition, and by an etcd and an API server that start with the files that Ignition wrote."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
import yaml
from control_plane import ControlPlane
from ignition_machine import Machine as IgnitionMachine
from test_cluster_bootstrap import DEADLINE, Machine, config_map

TEMPLATE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "data/bootstrap-variants/in-place/files/opt/openshift/bootstrap-in-place/master-update.fcc"
PAYLOAD = os.environ["SLIPWAY_PAYLOAD_BIN"]
# The config of any master.
MASTER = {"ignition": {"version": "3.2.0"},
          "storage": {"files": [{"path": "/etc/of-masters", "mode": 0o644, "contents": {"source": "data:,hello"}}]},
          "systemd": {"units": [{"name": "kubelet.service", "enabled": True, "contents": "[Service]\nExecStart=/usr/bin/kubelet\n[Install]\nWantedBy=x.target\n"}]}}
ETCD = "etcd-bootstrap/etc-kubernetes"
# Files below the assets, from the stages, the release and installer-gather.sh.
FILES = {
    "original-master.ign": json.dumps(MASTER),
    "original_cvo_overrides.patch": '{"spec": {"overrides": null}}',
    "log-bundle-bootstrap.tar.gz": "logs",
    "bootstrap-in-place/bootstrap-in-place-post-reboot.sh": "#!/bin/bash\n",
    "bin/installer-gather.sh": "#!/bin/bash\n",
    "bin/installer-masters-gather.sh": "#!/bin/bash\n",
    "kubernetes/bootstrap-configs/kube-apiserver-config.yaml": "kind: KubeAPIServerConfig\n",
    f"{ETCD}/manifests/etcd-member-pod.yaml": "kind: Pod # etcd\n",
    f"{ETCD}/static-pod-resources/etcd-member/ca.crt": "ca",
    f"{ETCD}/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-m.key": "SECRET",
    **{f"bootstrap-manifests/{name}-pod.yaml": f"kind: Pod # {name}\n" for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")},
}
# Files of the installed machine: their source and mode.
PLACES = {
    "etc/kubernetes/manifests/etcd-pod.yaml": (f"{ETCD}/manifests/etcd-member-pod.yaml", "-rw-------"),
    "etc/kubernetes/manifests/kube-apiserver-pod.yaml": ("bootstrap-manifests/kube-apiserver-pod.yaml", "-rw-------"),
    "etc/kubernetes/manifests/kube-controller-manager-pod.yaml": ("bootstrap-manifests/kube-controller-manager-pod.yaml", "-rw-------"),
    "etc/kubernetes/manifests/kube-scheduler-pod.yaml": ("bootstrap-manifests/kube-scheduler-pod.yaml", "-rw-------"),
    "etc/kubernetes/bootstrap-secrets/kubeconfig": ("auth/kubeconfig-loopback", "-rw-------"),
    "etc/kubernetes/bootstrap-secrets/ca.key": ("tls/ca.key", "-rw-------"),
    "etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml": ("kubernetes/bootstrap-configs/kube-apiserver-config.yaml", "-rw-------"),
    "etc/kubernetes/static-pod-resources/etcd-member/ca.crt": (f"{ETCD}/static-pod-resources/etcd-member/ca.crt", "-rw-------"),
    "etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-m.key":
        (f"{ETCD}/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-m.key", "-rw-------"),
    "opt/openshift/original_cvo_overrides.patch": ("original_cvo_overrides.patch", "-rw-------"),
    "var/log/log-bundle-bootstrap.tar.gz": ("log-bundle-bootstrap.tar.gz", "-rw-------"),
    "usr/local/bin/bootstrap-in-place-post-reboot.sh": ("bootstrap-in-place/bootstrap-in-place-post-reboot.sh", "-r-xr-xr-x"),
    "usr/local/bin/installer-gather.sh": ("bin/installer-gather.sh", "-r-xr-xr-x"),
    "usr/local/bin/installer-masters-gather.sh": ("bin/installer-masters-gather.sh", "-r-xr-xr-x"),
}


class Node(Machine):
    def make_config(self, programs, output="master.ign", *more):
        return subprocess.run([programs / "cluster-bootstrap", "bootstrap-in-place", f"--asset-dir={self.assets}", f"--input={TEMPLATE}",
                               f"--output={self.assets / output}", *more], capture_output=True, text=True, timeout=DEADLINE)


@pytest.fixture(scope="module")
def node(tmp_path_factory, programs):
    """A machine whose cluster has a ConfigMap, with a stopped etcd."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "plane").mkdir()
    with ControlPlane(PAYLOAD, folder / "plane") as plane:
        node = Node(folder, plane)
        node.put_object("mine.yaml", config_map("mine"))
        done = node.run(programs)
        assert done.returncode == 0 and node.is_clean(), done.stderr
    for path, text in FILES.items():
        node.put(path, text)
    (folder / "plane/etcd").rename(node.assets / "etcd-data")
    return node


def test_the_written_config_makes_the_machine(node, programs, tmp_path):
    done = node.make_config(programs)
    assert done.returncode == 0, done.stderr
    written = node.assets / "master.ign"
    assert written.stat().st_mode & 0o777 == 0o600
    assert "SECRET" not in done.stdout + done.stderr
    judged = subprocess.run(["ignition-validate", written], capture_output=True, text=True, timeout=DEADLINE)
    assert (judged.returncode, judged.stdout, judged.stderr) == (0, "", "")
    # etcd preallocates 64 MB for its log.
    assert sum(path.stat().st_size for path in (node.assets / "etcd-data").rglob("*")) > 50_000_000 > 10 * written.stat().st_size

    def look(root, tree):
        for place, (source, mode) in PLACES.items():
            assert tree[place][:3] == (mode, 0, 0), place
            assert tree[place][-1] == (node.assets / source).read_bytes(), place
        assert tree["etc/of-masters"][0] == "-rw-r--r--" and tree["etc/of-masters"][-1] == b"hello"
        assert {b"enable bootkube.service", b"enable kubelet.service"} <= {
            line for path, entry in tree.items() if path.endswith(".preset") for line in entry[-1]}
        for folder in ["var/lib/etcd", "etc/kubernetes/bootstrap-secrets", "etc/kubernetes/static-pod-resources/etcd-member"]:
            assert tree[folder][0] == "drwx------", folder
        # All other files belong to etcd and are readable by root only.
        for path, entry in tree.items():
            if path.startswith("var/lib/etcd/"):
                assert entry[0] in ("-rw-------", "drwx------"), path
        shutil.copytree(root / "var/lib/etcd", tmp_path / "etcd")

    machine = tmp_path / "machine"
    machine.mkdir()
    IgnitionMachine(machine).apply(written.read_text(), look)
    with ControlPlane(PAYLOAD, tmp_path) as plane:
        assert json.loads(plane.kubectl("get", "configmap", "mine", "--output=json"))["data"] == {"of": "mine"}
        assert "bootstrap-finished" in plane.kubectl("get", "events", "-n", "kube-system", "--output=name")


def test_the_same_machine_gives_the_same_config(node, programs):
    assert node.make_config(programs, "one.ign").returncode == 0
    assert node.make_config(programs, "other.ign", "--pretty=false").returncode == 0
    one, other = ((node.assets / name).read_text() for name in ("one.ign", "other.ign"))
    assert json.loads(one) == json.loads(other) and len(one) > len(other)


def test_a_machine_that_lacks_something_is_told_what(node, programs):
    text = yaml.safe_load(TEMPLATE.read_text())
    assert {tree["local"] for tree in text["storage"]["trees"]} >= {"etcd-data", "kubernetes/bootstrap-configs"}
    lacking = {"kubernetes": "kubernetes/bootstrap-configs", "log-bundle-bootstrap.tar.gz": "log-bundle-bootstrap.tar.gz"}
    for name in lacking:
        (node.assets / name).rename(node.assets / f"{name}.away")
    done = node.make_config(programs, "lacking.ign")
    for name in lacking:
        (node.assets / f"{name}.away").rename(node.assets / name)
    assert done.returncode == 1 and not (node.assets / "lacking.ign").exists()
    for path in lacking.values():
        assert f"{node.assets}/{path}" in done.stderr, done.stderr
    assert "master-update.fcc:1" in done.stderr
