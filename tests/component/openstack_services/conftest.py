"""`slipway create cluster` on platform openstack against OpenStack's own services, with Nova's fake driver. A test for hours."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from pypi_packages import use_packages  # noqa: E402

use_packages(pathlib.Path(__file__).resolve().parents[1] / "openstack/requirements.txt")

from services import services  # noqa: E402


@pytest.fixture(scope="session")
def bed(tmp_path_factory):
    with services(tmp_path_factory.mktemp("services")) as started:
        yield started
