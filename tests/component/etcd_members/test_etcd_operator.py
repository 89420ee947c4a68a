"""cluster-etcd-operator operator with a real API server whose etcd it moves.

The test acts as the installers on the nodes: it writes the files of a revision and starts its pod.
"""

import base64
import json
import pathlib
import shutil
import subprocess
import sys
import time

import host_clock
import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402
from members import ADDRESSES, BIN, BOOTSTRAP, MASTERS, PAYLOAD, SOURCE, Members, address_of  # noqa: E402

INSTALL_CONFIG = "controlPlane: {replicas: 3}\nnetworking: {machineNetwork: [{cidr: 127.97.77.0/24}]}\nplatform: {none: {}}\n"


class Plane(ControlPlane):
    """The API server with the etcd of the bootstrap machine."""

    def __init__(self, members, folder):
        super().__init__(PAYLOAD, folder, flags=["--disable-admission-plugins=ServiceAccount"])
        self.members = members

    def _start_etcd(self):
        self.ca, self.certificate, self.key = self.members.ca, self.members.certificate, self.members.key
        self.etcd = ",".join(f"https://{address}:2379" for address in ADDRESSES)

    def conditions(self):
        found = self.get("etcds", "cluster") or {}
        return {it["type"]: it["status"] for it in found.get("status", {}).get("conditions", [])}


def definition(group, plural, kind):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Cluster", "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                     "versions": [version]}}


def backup_definitions():
    return [yaml.safe_load((SOURCE / "images/manifests" / name).read_text())
            for name in ("0000_10_config-operator_01_backups.crd.yaml", "0000_10_etcd_01_etcdbackups.crd.yaml")]


def an_object(kind, name, space=None, version="v1", **members):
    metadata = {"name": name, **({"namespace": space} if space else {}), **members.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **members}


def secret(name, certificate, key):
    data = {"tls.crt": certificate.read_bytes(), "tls.key": key.read_bytes()}
    return an_object("Secret", name, "openshift-etcd", type="kubernetes.io/tls",
                     data={name: base64.b64encode(value).decode() for name, value in data.items()})


def fill(plane, members):
    """Creates the objects of the bootstrap machine and of the cluster-version operator."""
    plane.apply(*[an_object("Namespace", name) for name in ("openshift-etcd", "openshift-etcd-operator", "openshift-config")])
    plane.add_types(definition("operator.openshift.io", "etcds", "Etcd"), definition("operator.openshift.io", "kubeapiservers", "KubeAPIServer"),
                    definition("config.openshift.io", "infrastructures", "Infrastructure"),
                    definition("config.openshift.io", "clusteroperators", "ClusterOperator"), *backup_definitions())
    ca = {"ca-bundle.crt": members.ca.read_text()}
    plane.apply(
        an_object("ConfigMap", "cluster-config-v1", "kube-system", data={"install-config": INSTALL_CONFIG}),
        an_object("ConfigMap", "etcd-ca-bundle", "openshift-etcd", data=ca),
        an_object("ConfigMap", "etcd-metrics-ca-bundle", "openshift-etcd", data=ca),
        an_object("ConfigMap", "etcd-endpoints", "openshift-etcd",
                  metadata={"annotations": {"alpha.installer.openshift.io/etcd-bootstrap": BOOTSTRAP}}),
        secret("etcd-signer", members.ca, members.folder / "ca.key"), secret("etcd-metric-signer", members.ca, members.folder / "ca.key"),
        secret("etcd-client", members.certificate, members.key),
        an_object("Etcd", "cluster", version="operator.openshift.io/v1", spec={"managementState": "Managed"}),
        an_object("Infrastructure", "cluster", version="config.openshift.io/v1"),
        an_object("ClusterOperator", "etcd", version="config.openshift.io/v1"))


def add_node(plane, number):
    name = f"master-{number}"
    plane.apply(an_object("Node", name, metadata={"labels": {"node-role.kubernetes.io/master": ""}}))
    status = {"status": {"addresses": [{"type": "InternalIP", "address": address_of(number)}], "conditions": [{"type": "Ready", "status": "True"}]}}
    plane.patch("node", name, status, subresource="status")


def write_parts(plane, folder, parts, suffix):
    for kind, name in parts:
        found = plane.get(kind, f"{name}{suffix}", "-n", "openshift-etcd")
        assert found, (kind, name)
        for key, value in found["data"].items():
            path = folder / f"{kind}s" / name / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(value) if kind == "secret" else value.encode())


def install(plane, members, number, revision):
    home = members.folder / f"master-{number}"
    write_parts(plane, home / "static-pod-resources", [("configmap", "etcd-pod"), ("configmap", "etcd-all-bundles")], f"-{revision}")
    write_parts(plane, home / "static-pod-certs", [("secret", "etcd-all-certs"), ("configmap", "etcd-scripts")], "")
    members.run_pod(number, (home / "static-pod-resources/configmaps/etcd-pod/pod.yaml").read_text().replace("REVISION", str(revision)))


def report_pod(plane, number, revision):
    """Creates the mirror pod, like the kubelet."""
    name = f"etcd-master-{number}"
    plane.apply(an_object("Pod", name, "openshift-etcd", metadata={"labels": {"app": "etcd", "revision": str(revision)}},
                           spec={"nodeName": f"master-{number}", "hostNetwork": True, "containers": [{"name": "etcd", "image": "etcd"}]}))
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    plane.patch("pod", name, {"status": ready}, namespace="openshift-etcd", subresource="status")


def wait_for(plane, operator, what, limit=60):
    deadline = host_clock.now() + limit
    while not (found := what()):
        assert operator.poll() is None, (plane.folder / "operator.log").read_text()
        if host_clock.now() > deadline:
            raise AssertionError("\n".join([(plane.folder / "operator.log").read_text(), plane.kubectl("get", "etcds", "-o", "yaml")]))
        time.sleep(0.1)
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operator")
    members = Members(tmp_path_factory.mktemp("etcd"))
    try:
        members.start_bootstrap()
        with Plane(members, folder) as plane:
            fill(plane, members)
            (folder / "cluster-etcd-operator").symlink_to(BIN / "slipway-operator")
            plane.spawn("operator", [folder / "cluster-etcd-operator", "operator", f"--kubeconfig={plane.kubeconfig}"],
                        {"IMAGE": "etcd", "OPERATOR_IMAGE": "operator", "OPERATOR_IMAGE_VERSION": "1", "OPERAND_IMAGE_VERSION": "1"})
            yield plane, members, plane.processes["operator"]
    finally:
        members.end_all()


def test_hand_over(world, capsys):
    plane, members, operator = world
    start = host_clock.now()
    for number in range(3):
        add_node(plane, number)

    # The first revision is targeted at all nodes at once.
    wait_for(plane, operator, lambda: plane.get("etcds", "cluster").get("status", {}).get("latestAvailableRevision") == 1)
    targeted = host_clock.now() - start
    for number in range(3):
        install(plane, members, number, 1)
    wait_for(plane, operator, lambda: all(members.readyz(address) == 200 for address in MASTERS))
    for number in range(3):
        report_pod(plane, number, 1)
    wait_for(plane, operator, lambda: plane.conditions().get("EtcdRunningInCluster") == "True")
    took = host_clock.now() - start
    assert plane.conditions()["EtcdBootstrapMemberRemoved"] == "False"
    done = subprocess.run([plane.folder / "cluster-etcd-operator", "wait-for-ceo", f"--kubeconfig={plane.kubeconfig}"], timeout=120)
    assert done.returncode == 0

    plane.apply(an_object("ConfigMap", "bootstrap", "kube-system", data={"status": "complete"}))
    wait_for(plane, operator, lambda: plane.conditions().get("EtcdBootstrapMemberRemoved") == "True")
    assert sorted(members.members(MASTERS[0])) == ["master-0", "master-1", "master-2"]
    with capsys.disabled():
        print(f"\nFIGURE etcd operator: the first revision is there after {targeted:.1f} s, etcd runs in the cluster after {took:.1f} s")


def test_what_it_leaves(world):
    plane, _, operator = world
    wait_for(plane, operator, lambda: "annotations" not in plane.get("configmap", "etcd-endpoints", "-n", "openshift-etcd")["metadata"])
    assert sorted(plane.get("configmap", "etcd-endpoints", "-n", "openshift-etcd")["data"].values()) == MASTERS
    assert plane.get("configmap", "etcd-serving-ca", "-n", "openshift-config")
    assert plane.get("secret", "etcd-client", "-n", "openshift-config")
    # There is exactly one revision.
    assert plane.get("configmap", "revision-status-1", "-n", "openshift-etcd")
    assert plane.get("configmap", "revision-status-2", "-n", "openshift-etcd") is None
    wait_for(plane, operator, lambda: plane.get("etcds", "cluster")["status"]["readyReplicas"] == 3)
    cluster_operator = wait_for(plane, operator, lambda: plane.get("clusteroperators", "etcd").get("status"))
    assert {it["type"]: it["status"] for it in cluster_operator["conditions"]}["Available"] == "True"
    events = [it["reason"] for it in plane.get("events", "-A")["items"]]
    for reason in ("MemberAdded", "MemberPromoted", "LeaderMoved", "BootstrapMemberRemoved"):
        assert reason in events
    assert "PRIVATE KEY" not in (plane.folder / "operator.log").read_text()


def put_table(plane, roles):
    """The machine table: a role for each number of a master."""
    rows = [{"name": f"master-{number}", "role": role, "addresses": [address_of(number)]} for number, role in roles.items()]
    plane.apply(an_object("ConfigMap", "machine-addresses", "openshift-config", data={"machines": json.dumps(rows)}))


def listed(plane):
    found = plane.get("configmap", "etcd-members", "-n", "openshift-etcd")
    return {member["name"]: member for member in json.loads(found["data"]["members"])} if found else {}


def votes(plane, name):
    member = listed(plane).get(name, {})
    return member.get("votes") and member.get("healthy")


def progress(plane):
    conditions = plane.get("etcds", "cluster")["status"]["conditions"]
    return next((it.get("message", "") for it in conditions if it["type"] == "EtcdMembersProgressing"), "")


def join(plane, members, operator, number):
    """A machine without data: node, installer and kubelet."""
    add_node(plane, number)
    certificate = f"etcd-peer-master-{number}.crt"
    wait_for(plane, operator, lambda: certificate in plane.get("secret", "etcd-all-certs", "-n", "openshift-etcd")["data"])
    wait_for(plane, operator, lambda: address_of(number) in plane.get("configmap", "etcd-scripts", "-n", "openshift-etcd")["data"]["etcd.env"])
    install(plane, members, number, 1)
    wait_for(plane, operator, lambda: votes(plane, f"master-{number}"))
    report_pod(plane, number, 1)


def test_a_master_that_left_is_replaced(world, capsys):
    plane, members, operator = world
    masters = {number: "master" for number in range(3)}
    put_table(plane, masters)
    members.end("master-1")
    # Neither the Node nor the row alone cost etcd a member.
    plane.kubectl("delete", "node", "master-1")
    wait_for(plane, operator, lambda: listed(plane)["master-1"]["healthy"] is False)
    begin = host_clock.now()
    put_table(plane, {**masters, 1: "removed"})
    wait_for(plane, operator, lambda: "master-1" not in listed(plane))
    removed = host_clock.now() - begin
    assert sorted(members.members(MASTERS[0])) == ["master-0", "master-2"]
    assert plane.get("secret", "etcd-peer-master-1", "-n", "openshift-etcd") is None, "the next machine of this name gets another key"
    wait_for(plane, operator, lambda: "etcd-peer-master-1.crt" not in plane.get("secret", "etcd-all-certs", "-n", "openshift-etcd")["data"])
    shutil.rmtree(members.folder / "master-1/data")
    begin = host_clock.now()
    put_table(plane, masters)
    join(plane, members, operator, 1)
    assert sorted(members.members(MASTERS[0])) == ["master-0", "master-1", "master-2"]
    events = [it["reason"] for it in plane.get("events", "-A")["items"]]
    assert "MemberRemoved" in events
    with capsys.disabled():
        print(f"\nFIGURE etcd operator: the member of a dead master is removed after {removed:.1f} s; a new one votes {host_clock.now() - begin:.1f} s later")


def test_three_masters_become_five_and_three_again(world):
    plane, members, operator = world
    masters = {number: "master" for number in range(3)}
    for number in (3, 4):
        masters[number] = "master"
        put_table(plane, masters)
        join(plane, members, operator, number)
    assert len(members.members(MASTERS[0])) == 5
    for number in (3, 4):
        put_table(plane, {**masters, number: "removed"})
        # It stays until its machine is off: without it, the API server of that machine would hang.
        wait_for(plane, operator, lambda: "when its machine is off" in progress(plane))
        wait_for(plane, operator, lambda: listed(plane)[f"master-{number}"]["leaves"])  # noqa: B023
        all_certificates = plane.get("secret", "etcd-all-certs", "-n", "openshift-etcd")["data"]
        assert f"etcd-peer-master-{number}.crt" in all_certificates, "its member reads the files for each connection"
        members.end(f"master-{number}")
        wait_for(plane, operator, lambda: f"master-{number}" not in listed(plane))  # noqa: B023
        masters.pop(number)
        plane.kubectl("delete", "node", f"master-{number}")
        plane.kubectl("delete", "pod", f"etcd-master-{number}", "-n", "openshift-etcd", "--force")
        put_table(plane, masters)
    assert sorted(members.members(MASTERS[0])) == ["master-0", "master-1", "master-2"]
    wait_for(plane, operator, lambda: plane.conditions().get("EtcdMembersProgressing") == "False")


def test_a_backup_becomes_jobs_of_the_masters(world):
    plane, _, operator = world
    etcd = {"schedule": "20 3 * * *", "timeZone": "UTC", "pvcName": "", "retentionPolicy": {"retentionType": "RetentionNumber",
                                                                                           "retentionNumber": {"maxNumberOfBackups": 3}}}
    plane.apply(an_object("Backup", "default", version="config.openshift.io/v1alpha1", spec={"etcd": etcd}),
                an_object("EtcdBackup", "one", version="operator.openshift.io/v1alpha1", spec={"pvcName": ""}))
    names = [f"etcd-backup-default-master-{number}" for number in range(3)]
    wait_for(plane, operator, lambda: all(plane.get("cronjob", name, "-n", "openshift-etcd") for name in names))
    job = wait_for(plane, operator, lambda: plane.get("job", "etcd-backup-requested-one", "-n", "openshift-etcd"))
    assert job["spec"]["template"]["spec"]["nodeName"] == "master-0"
    wait_for(plane, operator, lambda: plane.get("etcdbackup", "one").get("status", {}).get("backupJob", {}).get("name") == job["metadata"]["name"])
    plane.apply(an_object("Backup", "default", version="config.openshift.io/v1alpha1", spec={"etcd": {**etcd, "pvcName": "claim"}}))
    wait_for(plane, operator, lambda: plane.conditions().get("BackupControllerDegraded") == "True")
    wait_for(plane, operator, lambda: not any(plane.get("cronjob", name, "-n", "openshift-etcd") for name in names))


def test_it_gives_its_lease_back(world):
    plane, _, operator = world
    operator.terminate()
    assert operator.wait(timeout=120) == 0
    lease = plane.get("lease", "cluster-etcd-operator-lock", "-n", "openshift-etcd-operator")
    assert not lease["spec"].get("holderIdentity")
