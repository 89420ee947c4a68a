"""A cluster of three masters and two workers, and releases that it can be updated to."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from application import Application  # noqa: E402
from installation import BUILD, SLIPWAY, Creation, Installation, enough_inotify_instances  # noqa: E402
from recorder import Recorder  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
RELEASE = BUILD / "release"


def next_release(patch):
    """A release with the same programs and a version that is `patch` patches newer: (version, folder)."""
    major, minor, first = (SOURCE / "VERSION").read_text().strip().split(".")
    version = f"{major}.{minor}.{int(first) + patch}"
    subprocess.run(["make", "-C", SOURCE / "payload", "next-release", f"NEXT_VERSION={version}", f"BUILD={BUILD}",
                    f"SLIPWAY_OPERATOR={SLIPWAY.parent / 'slipway-operator'}"], check=True, capture_output=True, text=True, timeout=300)
    return version, BUILD / "release-next"


@pytest.fixture(scope="module")
def installed():
    cluster = Installation(more="controlPlane: {name: master, replicas: 3}\ncompute: [{name: worker, replicas: 2}]\n")
    with enough_inotify_instances():
        try:
            cluster.creation = Creation(cluster)
            cluster.creation.complete()
            cluster.application = Application(cluster, SLIPWAY, RELEASE)
            cluster.application.deploy()
            cluster.recorder = Recorder(cluster.dir / "auth/kubeconfig")
            cluster.recorder.start()
            try:
                yield cluster
            finally:
                cluster.recorder.stop()
        finally:
            cluster.remove()
