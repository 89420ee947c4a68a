"""The client of the Kubernetes API with the real server: test_kube_live runs the same suite as the fake of the unit tests."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from control_plane import ControlPlane  # noqa: E402


@pytest.fixture(scope="session")
def plane(tmp_path_factory):
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], tmp_path_factory.mktemp("plane")) as plane:
        yield plane


def test_suite(plane, capsys):
    program = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "test_kube_live"
    done = subprocess.run([program, "--gtest_brief=1"], env={**os.environ, "SLIPWAY_KUBECONFIG": str(plane.kubeconfig)},
                          capture_output=True, text=True, timeout=240)
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "FIGURE" in done.stdout
    with capsys.disabled():
        print("", *[line for line in done.stdout.splitlines() if line.startswith("FIGURE")], sep="\n")
