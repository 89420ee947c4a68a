"""Adding and removing workers: those of the installation join by themselves; one command adds a worker, another removes one."""

import json

import host_clock
import pytest
from installation import SLIPWAY, WORKERS, run
from test_hand_over import condition

TABLE = "/api/v1/namespaces/openshift-config/configmaps/machine-addresses"

ADDED = f"worker-{len(WORKERS)}"  # the next free name


def command(cluster, *words, check=True):
    return run(SLIPWAY, *words, "--dir", cluster.dir, "--state", cluster.state, check=check)


def rows(cluster):
    return {row["name"]: row for row in json.loads(cluster.api.get(TABLE)["data"]["machines"])}


@pytest.mark.parametrize("worker", WORKERS)
def test_workers_of_the_install_config_have_joined(installed, worker):
    node = installed.api.get(f"/api/v1/nodes/{worker}")
    assert condition(node, "Ready") == "True"
    assert "node-role.kubernetes.io/worker" in node["metadata"]["labels"]
    assert not [taint for taint in node["spec"].get("taints", []) if taint["effect"] == "NoSchedule"]
    assert rows(installed)[worker]["addresses"] == [installed.machines()[worker]["address"]]


def test_a_worker_is_added_and_taken_away(installed):
    before, start = set(installed.machines()), host_clock.now()
    said = command(installed, "create", "worker").stdout
    print(f"\nadded in {host_clock.now() - start:.1f} s")
    assert said == f"{ADDED} is Ready\n"
    try:
        assert condition(installed.api.get(f"/api/v1/nodes/{ADDED}"), "Ready") == "True"
        assert rows(installed)[ADDED] == {"name": ADDED, "role": "worker", "addresses": [installed.machines()[ADDED]["address"]]}
        # A second run changes nothing.
        command(installed, "create", "worker", ADDED)
        assert set(installed.machines()) == before | {ADDED}
    finally:
        start = host_clock.now()
        command(installed, "destroy", "worker", ADDED)
        print(f"taken away in {host_clock.now() - start:.1f} s")
    assert installed.api.call("GET", f"/api/v1/nodes/{ADDED}")[0] == 404
    assert ADDED not in rows(installed) and set(installed.machines()) == before


def test_what_is_no_worker_is_refused(installed):
    for name, words in {"master-0": "is a control plane node", "worker-9": "worker worker-9: not found"}.items():
        refused = command(installed, "destroy", "worker", name, check=False)
        assert refused.returncode == 1 and words in refused.stderr, refused.stderr
