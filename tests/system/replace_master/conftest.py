"""A cluster of masters only, for tests that replace its masters.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/replace_master

With SLIPWAY_CLUSTER=DIR, the tests use the running cluster of that asset directory
(and of the machine folder SLIPWAY_STATE), and keep it.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Creation, Installation  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    made = Installation(os.environ.get("SLIPWAY_CLUSTER"),
                        more="controlPlane: {name: master, replicas: 3}\ncompute: [{name: worker, replicas: 0}]\n")
    try:
        if not made.borrowed:
            made.creation = Creation(made)
            made.creation.complete()
        made.masters = sorted(made.machines())
        yield made
    finally:
        made.remove()
