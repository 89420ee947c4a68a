"""`slipway create cluster` on platform vsphere as a user runs it, against vcsim. SLIPWAY_LONG=1 kills it after each call that changes something."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from simulator import Simulator  # noqa: E402


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    started = Simulator(tmp_path_factory.mktemp("vcenter"))
    yield started
    started.close()


@pytest.fixture
def cloud(server):
    server.reset()
    return server
