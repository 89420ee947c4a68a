"""`slipway create cluster` on platform openstack as a user runs it, against a small cloud in memory. SLIPWAY_LONG=1 kills it after each call
that changes something."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from pypi_packages import use_packages  # noqa: E402

use_packages(pathlib.Path(__file__).with_name("requirements.txt"))

from cloud import Simulator  # noqa: E402


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    started = Simulator(tmp_path_factory.mktemp("cloud"))
    yield started
    started.close()


@pytest.fixture
def cloud(server):
    server.reset()
    return server
