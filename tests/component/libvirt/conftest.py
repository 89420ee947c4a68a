"""The commands run as a user runs them, against a real libvirtd with QEMU. SLIPWAY_LONG=1 kills them after each call that changes something."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/support"))

from libvirt_host import libvirt_host  # noqa: E402


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    with libvirt_host(tmp_path_factory.mktemp("libvirt-host")) as started:
        yield started
