"""A ContainerRuntimeConfig on a machine: containerd and a kubelet with the files that machine-config-controller renders from it."""

import base64
import json
import pathlib
import sys

from test_kubelet import PAYLOAD, config, new_cluster, payload, release  # noqa: F401  fixtures

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "machine_config"))
from server_world import World  # noqa: E402

SETTINGS = """apiVersion: machineconfiguration.openshift.io/v1
kind: ContainerRuntimeConfig
metadata: {name: small}
spec:
  machineConfigPoolSelector: {matchLabels: {pools.operator.machineconfiguration.openshift.io/master: ""}}
  containerRuntimeConfig: {pidsLimit: 1234, logLevel: debug, logSizeMax: 1Mi}
"""
DROP_INS = "/etc/openshift/kubelet.conf.d"


def test_limits_and_log_level_are_in_effect(config, tmp_path):  # noqa: F811
    (tmp_path / "world").mkdir()
    world = World(tmp_path / "world", [SETTINGS])
    world.render_operator()
    world.render_pools()
    files = {path: each for path, each in world.rendered("master").items() if "/20-container-runtime-config." in path}
    assert len(files) == 2, files
    machine = json.loads(config.read_text())
    for path, (text, mode) in files.items():
        source = "data:;base64," + base64.b64encode(text.encode()).decode()
        machine["storage"]["files"].append({"path": path, "mode": mode, "contents": {"source": source}})
    [unit] = [each for each in machine["systemd"]["units"] if each["name"] == "kubelet.service"]
    unit["contents"] = unit["contents"].replace("kubelet.json", f"kubelet.json --config-dir={DROP_INS}")
    config.write_text(json.dumps(machine))
    with new_cluster() as cluster:
        cluster.slipway("create", "m0", "--os-repo", PAYLOAD / "os/repo", "--images", PAYLOAD, "--ignition", config, "--wait")
        cluster.wait_for_api()
        dump = cluster.shell("containerd", "config", "dump").stdout
        assert 'level = "debug"' in dump.partition("[debug]")[2].partition("\n[")[0], dump
        # The settings of the image stay.
        assert 'default_runtime_name = "crun"' in dump
        assert "level=debug" in cluster.shell("journalctl", "--no-pager", "--unit=containerd").stdout
        folders = "$(find /sys/fs/cgroup -type d -path '*kubepods*' -name 'pod*')"
        limits = cluster.shell("sh", "-c", f"for pod in {folders}; do [ ! -e $pod/pids.max ] || cat $pod/pids.max; done").stdout.split()
        print(f"\npids.max of pods: {limits}")
        assert set(limits) == {"1234"}
