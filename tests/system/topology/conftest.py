"""Clusters without workers, whose masters run all pods: first one master, then three, on local machines.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/topology [-k one-master]

-s prints the figures.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Creation, Installation  # noqa: E402

TOPOLOGIES = {"one-master": 1, "three-masters": 3}


def config_of(masters):
    return f"controlPlane: {{name: master, replicas: {masters}}}\ncompute: [{{name: worker, replicas: 0}}]\n"


@pytest.fixture(scope="module", params=TOPOLOGIES.values(), ids=TOPOLOGIES.keys())
def installed(request):
    """The first test of a topology creates its cluster, after the previous cluster was deleted."""
    cluster = Installation(more=config_of(request.param))
    cluster.masters = [f"master-{number}" for number in range(request.param)]
    try:
        cluster.creation = Creation(cluster)
        cluster.creation.complete()
        yield cluster
    finally:
        cluster.remove()
