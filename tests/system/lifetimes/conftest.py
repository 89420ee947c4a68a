"""A cluster with certificate lifetimes of minutes: three masters and a worker, on local machines.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/lifetimes

-s prints how often each certificate was renewed. With SLIPWAY_CLUSTER=DIR, the test uses the cluster of that asset directory (and of the
machine folder SLIPWAY_STATE) and keeps it.
"""

import os
import pathlib
import sys
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Creation, Installation  # noqa: E402
from recorder import Recorder  # noqa: E402


@pytest.fixture(scope="session")
def installed():
    cluster = Installation(os.environ.get("SLIPWAY_CLUSTER"))
    try:
        if not cluster.borrowed:
            create(cluster)
        cluster.recorder = Recorder(cluster.dir / "auth/kubeconfig", namespace="recorder-" + uuid.uuid4().hex[:5])
        cluster.recorder.start()
        try:
            yield cluster
        finally:
            cluster.recorder.stop()
        if not cluster.borrowed:
            cluster.run("destroy", "cluster")
    finally:
        cluster.remove()


def create(cluster):
    creation = Creation(cluster)
    try:
        creation.wait()
    finally:
        if creation.process.poll() is None:
            creation.kill()
