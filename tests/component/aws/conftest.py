"""`slipway create cluster` on platform aws as a user runs it, against moto. SLIPWAY_LONG=1 kills it after each call that changes something."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from pypi_packages import use_packages  # noqa: E402

use_packages(pathlib.Path(__file__).with_name("requirements.txt"))

# Otherwise moto makes hundreds of images with a snapshot each, and looks through them in many calls.
os.environ["MOTO_AMIS_PATH"] = str(pathlib.Path(__file__).with_name("amis.json"))

from cloud import Cloud  # noqa: E402


@pytest.fixture(scope="session")
def server():
    started = Cloud()
    yield started
    started.close()


@pytest.fixture
def cloud(server):
    server.reset()
    return server
