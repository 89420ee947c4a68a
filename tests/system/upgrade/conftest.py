"""A cluster of three masters and two workers, and releases that it can be updated to."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from application import Application  # noqa: E402
from installation import BUILD, SLIPWAY, Creation, Installation, enough_inotify_instances  # noqa: E402
from recorder import Recorder  # noqa: E402

RELEASE = BUILD / "release"


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
