"""One first boot is in `make test`; SLIPWAY_LONG=1 adds the others."""

import ctypes
import os
import subprocess

import pytest
from disk import build

collect_ignore = [] if "SLIPWAY_LONG" in os.environ else ["test_control_plane.py", "test_later_boots.py", "test_live.py", "test_os_update.py"]


CLONE_NEWNET = 0x40000000


@pytest.fixture(scope="session", autouse=True)
def own_network():
    """Machines reach nothing but the loopback interface of a network namespace, which ends with this process."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    return build(tmp_path_factory.mktemp("image"))


@pytest.fixture
def folder(tmp_path, request):
    """Disks are large: they go when a test has passed."""
    yield tmp_path
    if not request.session.testsfailed:
        for disk in tmp_path.glob("*.raw"):
            disk.unlink()
