"""KubeletConfigs and ContainerRuntimeConfigs at install time: machine-config-controller bootstrap, then the kubelet and its start script with
the rendered files."""
import re
import subprocess

import pytest
import yaml
from server_world import STARTS, World, kubelet_says

GROUP = "machineconfiguration.openshift.io/v1"
KUBELET, RUNTIME = "/etc/kubernetes/kubelet.conf", "/etc/openshift/kubelet.conf.d/20-container-runtime-config.conf"


def settings(kind, name, pool="worker", **spec):
    labels = {f"pools.operator.machineconfiguration.openshift.io/{pool}": ""}
    return yaml.safe_dump({"apiVersion": GROUP, "kind": kind, "metadata": {"name": name},
                           "spec": {"machineConfigPoolSelector": {"matchLabels": labels}, **spec}})


def rendered(folder, *manifests, check=True):
    world = World(folder, manifests)
    world.render_operator()
    done = world.render_pools(check)
    return world.rendered("worker") if check else done.stderr


def test_the_kubelet_takes_the_settings(tmp_path):
    files = rendered(
        tmp_path, settings("KubeletConfig", "a", logLevel=2, tlsSecurityProfile={"type": "Old", "old": {}}, kubeletConfig={"maxPods": 100}),
        settings("ContainerRuntimeConfig", "b", containerRuntimeConfig={"pidsLimit": 2048, "logSizeMax": "16Mi"}))
    configuration = yaml.safe_load(files[KUBELET][0])
    assert configuration["tlsMinVersion"] == "VersionTLS10" and "TLS_RSA_WITH_3DES_EDE_CBC_SHA" in configuration["tlsCipherSuites"]
    assert configuration["maxPods"] == 100
    assert yaml.safe_load(files[RUNTIME][0])["podPidsLimit"] == 2048 and files[RUNTIME][1] == 0o600
    said = kubelet_says(tmp_path, files[KUBELET][0], [files["/etc/openshift/kubelet.conf.d/10-local.conf"][0], files[RUNTIME][0]])
    assert STARTS in said
    assert "FLAG: --config=" in said, "logLevel"


SIZES = {"2 1": "cpu=0.5,memory=1Gi", "32 8": "cpu=0.5,memory=2Gi", "128 64": "cpu=0.82,memory=8Gi", "256 128": "cpu=1.58,memory=10Gi"}


@pytest.mark.parametrize("sizing, expected", [
    (True, r"--system-reserved=cpu=[0-9.]+,memory=[0-9]+Gi,ephemeral-storage=1Gi"), (False, None), (None, None)])
def test_a_machine_reserves_by_its_size(tmp_path, sizing, expected):
    spec = {} if sizing is None else {"autoSizingReserved": sizing}
    (tmp_path / "world").mkdir()
    files = rendered(tmp_path / "world", settings("KubeletConfig", "a", **spec))
    root, programs = tmp_path / "root", tmp_path / "root/bin"
    programs.mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text("ID=debian\n")
    sizes = files.get("/etc/node-sizing-enabled.env")
    assert (sizes is None) == (sizing is None)
    if sizes:
        (root / "etc/node-sizing-enabled.env").write_text(sizes[0])
    script, mode = files["/usr/local/sbin/dynamic-system-reserved-calc.sh"]
    assert mode == 0o755
    (programs / "dynamic-system-reserved-calc.sh").write_text(script)
    (programs / "kubelet").write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    start = files["/usr/local/bin/kubelet-start"][0].replace("/etc/", f"{root}/etc/").replace("/usr/local/sbin/", f"{programs}/")
    (programs / "start").write_text(start.replace("/usr/bin/kubelet", f"{programs}/kubelet"))
    for path in programs.iterdir():
        path.chmod(0o755)
    words = subprocess.run([programs / "start"], capture_output=True, text=True, check=True, timeout=30).stdout.splitlines()
    reserved = [word for word in words if word.startswith("--system-reserved")]
    assert (re.fullmatch(expected, *reserved) is not None) if expected else reserved == []

    # The sizes of other machines: GiB of memory, CPUs.
    for size, result in SIZES.items():
        command = [programs / "dynamic-system-reserved-calc.sh", *size.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
        assert done.stdout == result + ",ephemeral-storage=1Gi\n"


@pytest.mark.parametrize("manifests, message", [
    ([settings("KubeletConfig", "a", logLevel=2), settings("KubeletConfig", "b", logLevel=3)],
     "pool worker is selected by 2 KubeletConfigs: a, b"),
    ([settings("ContainerRuntimeConfig", "a", containerRuntimeConfig={"defaultRuntime": "runc"})],
     "99-more-0.yaml:7:5: error: spec.containerRuntimeConfig.defaultRuntime: machines of this release have crun only"),
])
def test_what_cannot_be_applied_ends_the_rendering(tmp_path, manifests, message):
    assert message in rendered(tmp_path, *manifests, check=False)
