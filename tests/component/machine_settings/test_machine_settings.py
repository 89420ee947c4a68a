"""KubeletConfigs, ContainerRuntimeConfigs and the node disruption policy in a cluster: machine-config-operator and
machine-config-controller with a real API server, the release's CRDs and roles.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/machine_settings
"""

import pathlib
import sys
import urllib.parse

import pytest
import yaml

COMPONENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(COMPONENTS / "os_builds"))
from test_os_builds import (  # noqa: E402
    BIN, CRDS, GROUP, PAYLOAD, SOURCE, SPACE, VERSION, Cluster, as_released, install_types, machine_config_objects)

OPERATOR_CRDS = ["_machineconfigurations.", "_networks-Default", "_dnses-Default", "_proxies.", "_clusterversions-", "_clusteroperators."]
POLICY = "nodeDisruptionPolicy"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine-settings")
    objects, pull_secret = machine_config_objects(folder)
    with Cluster(PAYLOAD, folder, flags=["--disable-admission-plugins=ServiceAccount"]) as plane:
        install_types(plane, CRDS + OPERATOR_CRDS)
        plane.apply(pull_secret, *objects, yaml.safe_load((SOURCE / "images/manifests/0000_80_machine-config_02_operator.cr.yaml").read_text()),
                    {"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "machine-config"}, "spec": {}})
        accounts = {"machine-config-controller": as_released(plane)}
        accounts["machine-config-operator"] = plane.kubeconfig_of("machine-config-operator", plane.token(SPACE, "machine-config-operator"))
        for name, path in accounts.items():
            if not (folder / name).exists():
                (folder / name).symlink_to(BIN / "slipway-operator")
            plane.spawn(name, [folder / name, "start", f"--kubeconfig={path}"],
                        {"RELEASE_VERSION": VERSION, "NODE_NAME": "master-0", "POD_NAME": name})
        plane.until("a rendered config", lambda: target(plane))
        yield plane


def target(plane, pool="worker"):
    return plane.get("machineconfigpool", pool)["spec"].get("configuration", {}).get("name")


def settings(kind, name, pool="worker", **spec):
    labels = {f"pools.operator.machineconfiguration.openshift.io/{pool}": ""}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"machineConfigPoolSelector": {"matchLabels": labels}, **spec}}


def files(plane, config):
    """The files of a MachineConfig, by path; none if it does not exist."""
    found = plane.get("machineconfig", config)
    return found and {each["path"]: urllib.parse.unquote(each["contents"]["source"].partition(",")[2])
                      for each in found["spec"]["config"]["storage"]["files"]}


def accepted(plane, kind, name):
    of = plane.get(kind, name)
    found = plane.condition(kind, name, "Accepted")
    return found if of.get("status", {}).get("observedGeneration") == of["metadata"]["generation"] and found["status"] else None


def test_settings_come_to_their_pool_and_go(cluster):
    before, master = target(cluster), target(cluster, "master")
    cluster.apply(settings("KubeletConfig", "a", logLevel=4, autoSizingReserved=True, tlsSecurityProfile={"type": "Modern", "modern": {}},
                           kubeletConfig={"podPidsLimit": 1000}),
                  settings("ContainerRuntimeConfig", "b", containerRuntimeConfig={"pidsLimit": 500, "logLevel": "debug", "logSizeMax": "20Mi",
                                                                                  "defaultRuntime": "crun"}))
    for kind, name in ("kubeletconfig", "a"), ("containerruntimeconfig", "b"):
        assert cluster.until(f"{kind} is accepted", lambda: accepted(cluster, kind, name))["status"] == "True"
    kubelet = cluster.until("kubelet", lambda: files(cluster, "99-worker-generated-kubelet"))
    configuration = yaml.safe_load(kubelet["/etc/kubernetes/kubelet.conf"])
    assert configuration["logging"] == {"verbosity": 4} and configuration["tlsMinVersion"] == "VersionTLS13"
    assert kubelet["/etc/node-sizing-enabled.env"] == "NODE_SIZING_ENABLED=true\n"
    runtime = cluster.until("runtime", lambda: files(cluster, "99-worker-generated-containerruntime"))
    assert yaml.safe_load(runtime["/etc/openshift/kubelet.conf.d/20-container-runtime-config.conf"]) == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "podPidsLimit": 500, "containerLogMaxSize": str(20 << 20)}
    assert 'level = "debug"' in runtime["/etc/containerd/conf.d/20-container-runtime-config.toml"]
    after = cluster.until("the pool has another config", lambda: target(cluster) != before and target(cluster))
    assert set(kubelet) | set(runtime) <= set(files(cluster, after))
    assert target(cluster, "master") == master
    cluster.kubectl("delete", "kubeletconfig/a", "containerruntimeconfig/b")
    cluster.until("the pool is as before", lambda: target(cluster) == before)
    for name in "99-worker-generated-kubelet", "99-worker-generated-containerruntime":
        cluster.until(f"{name} is deleted", lambda: cluster.get("machineconfig", name) is None)


@pytest.mark.parametrize("made, reason, message", [
    (settings("ContainerRuntimeConfig", "no", containerRuntimeConfig={"overlaySize": "8G"}), "Refused",
     "spec.containerRuntimeConfig.overlaySize: is not supported: containerd cannot limit"),
    (settings("ContainerRuntimeConfig", "no", containerRuntimeConfig={"defaultRuntime": "runc"}), "Refused",
     "machines of this release have crun only"),
    (settings("KubeletConfig", "no", kubeletConfig={"staticPodPath": "/pods"}), "Refused",
     "spec.kubeletConfig.staticPodPath: cannot be changed"),
    (settings("KubeletConfig", "no", pool="gpu", logLevel=3), "NoPool", "spec.machineConfigPoolSelector: selects no pool"),
    ({**settings("KubeletConfig", "no"), "spec": {"logLevel": 3}}, "NoPool", "spec.machineConfigPoolSelector: selects no pool"),
])
def test_what_has_no_effect_says_why(cluster, made, reason, message):
    kind, before = made["kind"].lower(), target(cluster)
    cluster.apply(made)
    found = cluster.until("the condition", lambda: accepted(cluster, kind, "no"))
    assert (found["status"], found["reason"]) == ("False", reason) and message in found["message"], found
    assert target(cluster) == before
    cluster.kubectl("delete", f"{kind}/no")


def policies(plane):
    status = plane.get("machineconfiguration", "cluster").get("status", {})
    merged = status.get(f"{POLICY}Status", {}).get("clusterPolicies")
    return merged and {each["path"]: each["actions"] for each in merged["files"]} | {each["name"]: each["actions"] for each in merged["units"]}


def test_the_policy_of_the_user_is_merged_with_the_defaults(cluster):
    restart = [{"type": "Restart", "restart": {"serviceName": "containerd.service"}}]
    defaults = cluster.until("the defaults", lambda: policies(cluster))
    assert defaults["/etc/containerd/conf.d/10-slipway.toml"] == restart and defaults["/etc/containerd/certs.d"] == [{"type": "None"}]
    mine = {"files": [{"path": "/etc/app", "actions": [{"type": "Drain"}, {"type": "Reload", "reload": {"serviceName": "app.service"}}]},
                      {"path": "/etc/containerd/certs.d", "actions": restart}],
            "units": [{"name": "app.service", "actions": [{"type": "DaemonReload"}]}], "sshkey": {"actions": [{"type": "Reboot"}]}}
    cluster.patch("machineconfiguration", "cluster", {"spec": {POLICY: mine}})
    merged = cluster.until("the policy", lambda: (policies(cluster) or {}).get("/etc/app") and policies(cluster))
    assert merged == defaults | {each.get("path", each.get("name")): each["actions"] for each in mine["files"] + mine["units"]}
    status = cluster.get("machineconfiguration", "cluster")["status"]
    assert status[f"{POLICY}Status"]["clusterPolicies"]["sshkey"] == mine["sshkey"]

    # The API server does not know what a path is.
    cluster.patch("machineconfiguration", "cluster", {"spec": {POLICY: {"files": [{"path": "etc/app", "actions": [{"type": "None"}]}]}}})
    degraded = ("machineconfiguration", "cluster", "NodeDisruptionPolicyDegraded")
    cluster.until("it is refused", lambda: cluster.condition(*degraded)["status"] == "True")
    assert "spec.nodeDisruptionPolicy.files[0].path: 'etc/app' is not an absolute path" in cluster.condition(*degraded)["message"]
    assert policies(cluster) == merged
    cluster.patch("machineconfiguration", "cluster", {"spec": {POLICY: None}})
    cluster.until("the defaults again", lambda: policies(cluster) == defaults and cluster.condition(*degraded)["status"] == "False")
    operator = cluster.get("clusteroperator", "machine-config")
    assert not [each for each in operator["status"]["conditions"] if each["type"] == "SettingsIgnored" and each["status"] == "True"]
