import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    # The tests create pods without service accounts.
    flags = ["--disable-admission-plugins=ServiceAccount"]
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane"), flags=flags) as plane:
        yield plane


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """slipway-operator under the names that it has in images."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("cluster-bootstrap", "cluster-version-operator"):
        (folder / name).symlink_to(pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway-operator")
    return folder
