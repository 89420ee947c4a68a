"""A cluster that was off until its certificates expired recovers by itself: one master and one worker, on local machines.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/cold_start

-s prints the duration. tests/system/install/test_cold_start.py tests a cluster that was off for a short time.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Creation, Installation  # noqa: E402


@pytest.fixture(scope="session")
def installed():
    cluster = Installation(more="controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 1}]\n")
    try:
        creation = Creation(cluster)
        try:
            creation.wait()
        finally:
            if creation.process.poll() is None:
                creation.kill()
        yield cluster
        cluster.run("destroy", "cluster")
    finally:
        cluster.remove()
