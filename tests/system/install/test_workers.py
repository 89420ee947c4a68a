"""Workers come and go: what the installation made joins by itself, one more is a command, and so is one less."""

import json

import host_clock
from installation import SLIPWAY, run
from test_hand_over import condition

TABLE = "/api/v1/namespaces/openshift-config/configmaps/machine-addresses"


def command(cluster, *words, check=True):
    return run(SLIPWAY, *words, "--dir", cluster.dir, "--state", cluster.state, check=check)


def rows(cluster):
    return {row["name"]: row for row in json.loads(cluster.api.get(TABLE)["data"]["machines"])}


def test_the_worker_of_the_install_config_has_joined(installed):
    node = installed.api.get("/api/v1/nodes/worker-0")
    assert condition(node, "Ready") == "True"
    assert "node-role.kubernetes.io/worker" in node["metadata"]["labels"]
    assert not [taint for taint in node["spec"].get("taints", []) if taint["effect"] == "NoSchedule"]
    assert rows(installed)["worker-0"]["addresses"] == [installed.machines()["worker-0"]["address"]]


def test_a_worker_is_added_and_taken_away(installed):
    before, start = set(installed.machines()), host_clock.now()
    said = command(installed, "create", "worker").stdout
    print(f"\nadded in {host_clock.now() - start:.1f} s")
    assert said == "worker-1 is Ready\n"
    try:
        assert condition(installed.api.get("/api/v1/nodes/worker-1"), "Ready") == "True"
        assert rows(installed)["worker-1"] == {"name": "worker-1", "role": "worker", "addresses": [installed.machines()["worker-1"]["address"]]}
        # The same again changes nothing.
        command(installed, "create", "worker", "worker-1")
        assert set(installed.machines()) == before | {"worker-1"}
    finally:
        start = host_clock.now()
        command(installed, "destroy", "worker", "worker-1")
        print(f"taken away in {host_clock.now() - start:.1f} s")
    assert installed.api.call("GET", "/api/v1/nodes/worker-1")[0] == 404
    assert "worker-1" not in rows(installed) and set(installed.machines()) == before


def test_what_is_no_worker_is_refused(installed):
    for name, words in {"master-0": "is of the control plane", "worker-9": "there is no worker worker-9"}.items():
        refused = command(installed, "destroy", "worker", name, check=False)
        assert refused.returncode == 1 and words in refused.stderr, refused.stderr
