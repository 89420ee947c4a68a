"""One cluster for all tests of this folder, from an install-config to its deletion, on local machines:

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/install

-s prints the figures. `slipway create cluster` is killed twice and continues. The handover is held back until the tests of the intermediate
state have run: the first use of `installed` releases it. During the whole time a recorder writes to the API and reads from it.

With SLIPWAY_CLUSTER=DIR, the tests use the running cluster of that asset directory (and of the machine folder SLIPWAY_STATE) with these
workers, and keep it. Tests of the installation, of the intermediate state and of the deletion are skipped: those that use `joined` or
`made_here`.
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

# In this order, files and single tests; each needs the state that the previous one left.
ORDER = [
    "test_joined.py",
    "test_hand_over.py",
    "test_network.py",
    "test_own_images.py",
    "test_security.py",
    "test_lifetimes.py",
    "test_conformance.py",
    "test_upkeep.py",
    "test_cold_start.py",
    "test_workers.py",
    "test_service_certificates.py",
    "test_metrics.py",
    "test_rotation.py::test_lifetimes_become_short",
    "test_docs.py",
    "test_machine_config.py",
    "test_os_update.py",
    "test_rotation.py",
    "test_stolen_worker.py",
    "test_storage.py",
    "test_permissions.py",
    "test_upgrade.py",
    "test_destroy.py",
]


def pytest_collection_modifyitems(items):
    def place(item):
        alone = f"{item.path.name}::{item.name}"
        return ORDER.index(alone if alone in ORDER else item.path.name)
    items.sort(key=place)


@pytest.fixture(scope="session")
def cluster():
    # A roll-out in sequence needs more than one worker.
    made = Installation(os.environ.get("SLIPWAY_CLUSTER"), more=f"compute: [{{name: worker, replicas: {len(WORKERS)}}}]\npullSecret: '{PULL_SECRET}'\n")
    with enough_inotify_instances():
        try:
            yield made
        finally:
            made.remove()


@pytest.fixture(scope="session")
def joined(cluster):
    """Three masters that joined the temporary control plane. The first `create cluster` was killed before the API was reachable."""
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
    """The same cluster after the installation. The second `create cluster` was killed during the handover, and the third one succeeded."""
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
    """An installed cluster: the one created here, or that of SLIPWAY_CLUSTER."""
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
    """The installer's overrides stay until the handover is complete; then the user's overrides, which are these, are restored."""
    path = "/apis/config.openshift.io/v1/clusterversions/version"
    others = [each for each in cluster.api.get(path)["spec"]["overrides"] if each != HELD_BACK]
    cluster.api.patch(path, {"spec": {"overrides": others}})
