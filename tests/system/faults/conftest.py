"""Tests each fault on its own cluster of one master without workers:

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/faults [-k wrong-name]

Without SLIPWAY_FAULTS=all: only the faults that are reported before anything is created, and one random fault; SLIPWAY_TEST_SEED selects it
again. SLIPWAY_KEEP=DIR keeps the reports, the events and the bundle of each fault.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Installation  # noqa: E402

ONE_MASTER = "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 0}]\n"


@pytest.fixture
def cluster():
    made = Installation(more=ONE_MASTER)
    try:
        yield made
    finally:
        made.remove()
