"""One cluster for all tests of this folder, from an install-config to its end, on local machines, as a user would make it:

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/install

-s shows the figures. `slipway create cluster` is killed twice on its way and goes on. The hand-over is held back until the tests of
the half-way state are over: the first user of `installed` lets it go on. All the time somebody writes to the API and reads it.

With SLIPWAY_CLUSTER=DIR it is the cluster of that asset directory (and of the folder of machines SLIPWAY_STATE), which is up, has these workers, and stays.
Tests of how it was made, of the half-way state and of its end are skipped: those that use `joined` or `made_here`.
"""

import os
import pathlib
import sys
import uuid

import host_clock
import pytest
import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import WORKERS, Creation, Installation, enough_inotify_instances  # noqa: E402
from leaks import finder_of  # noqa: E402
from recorder import Recorder  # noqa: E402
from user_files import HELD_BACK, PULL_SECRET, USER_FILES  # noqa: E402

# In this order; each needs what the one before has left.
FILES = [
    "test_joined.py",
    "test_hand_over.py",
    "test_network.py",
    "test_security.py",
    "test_lifetimes.py",
    "test_conformance.py",
    "test_workers.py",
    "test_stolen_worker.py",
    "test_docs.py",
    "test_machine_config.py",
    "test_upkeep.py",
    "test_cold_start.py",
    "test_rotation.py",
    "test_permissions.py",
    "test_destroy.py",
]


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FILES.index(item.path.name) if item.path.name in FILES else -1)


@pytest.fixture(scope="session")
def cluster():
    # With one worker nothing shows that workers change one after another.
    made = Installation(os.environ.get("SLIPWAY_CLUSTER"), more=f"compute: [{{name: worker, replicas: {len(WORKERS)}}}]\npullSecret: '{PULL_SECRET}'\n")
    with enough_inotify_instances():
        try:
            yield made
        finally:
            made.remove()


@pytest.fixture(scope="session")
def joined(cluster):
    """Three masters that joined a temporary control plane. The first `create cluster` was killed before there was an API."""
    if cluster.borrowed:
        pytest.skip("SLIPWAY_CLUSTER: this cluster is installed already")
    cluster.run("create", "manifests")
    for path, text in USER_FILES.items():
        cluster.write(path, text)
    hold_back_hand_over(cluster)
    first = Creation(cluster)
    cluster.wait_until("the bootstrap machine runs", lambda: (cluster.state / cluster.name / "control.sock").exists()
                       and cluster.machines().get("bootstrap", {}).get("state") == "running")
    first.kill()
    cluster.early_bundle = cluster.run("gather", "bootstrap").stdout.strip()
    cluster.recorder = Recorder(cluster.dir / "auth/kubeconfig")
    cluster.recorder.start()
    cluster.recorded = host_clock.Span()
    cluster.creation = Creation(cluster)
    try:
        cluster.creation.wait_for("step", "control-plane-nodes")
        cluster.finder = finder_of(cluster)
        yield cluster
    finally:
        cluster.recorder.stop()
        if cluster.creation.process.poll() is None:
            cluster.creation.kill()


@pytest.fixture(scope="session")
def made_here(joined):
    """The same cluster at its end. The second `create cluster` was killed in the middle of the hand-over, and a third one ended well."""
    assert joined.machines()["bootstrap"]["state"] == "running"
    let_hand_over_go_on(joined)
    joined.creation.wait_for("operator", "KubeAPIServer RevisionCreated")
    joined.creation.kill()
    joined.creation = Creation(joined)
    joined.creation.wait()
    joined.refused_in_hand_over = list(joined.recorder.refused)
    joined.timeline = joined.run("timeline").stdout
    yield joined


@pytest.fixture(scope="session")
def installed(cluster, request):
    """A cluster that is installed: the one made here, or the borrowed one."""
    if not cluster.borrowed:
        yield request.getfixturevalue("made_here")
        return
    cluster.recorder = Recorder(cluster.dir / "auth/kubeconfig", namespace="recorder-" + uuid.uuid4().hex[:5])
    cluster.recorder.start()
    try:
        yield cluster
    finally:
        cluster.recorder.stop()
        cluster.api.expect("DELETE", f"/api/v1/namespaces/{cluster.recorder.namespace}")


def hold_back_hand_over(cluster):
    file = cluster.dir / "manifests/cvo-overrides.yaml"
    version = yaml.safe_load(file.read_text())
    version["spec"]["overrides"] = [HELD_BACK]
    cluster.write("manifests/cvo-overrides.yaml", yaml.safe_dump(version))


def let_hand_over_go_on(cluster):
    """The installer's own overrides stay until the hand-over is done; then it puts back those of the user, which are these."""
    path = "/apis/config.openshift.io/v1/clusterversions/version"
    others = [each for each in cluster.api.get(path)["spec"]["overrides"] if each != HELD_BACK]
    cluster.api.patch(path, {"spec": {"overrides": others}})
