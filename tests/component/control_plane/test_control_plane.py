"""The temporary control plane of a bootstrap machine: the pods and configs of the render commands with the real programs."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest


def test_rendered_control_plane_runs():
    """The test is scenario.py. It runs in its own namespaces: no process outlives it, and port 6443 is free."""
    if os.geteuid() != 0:
        pytest.skip("needs root for namespaces and mounts")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-control-plane-"))
    try:
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
             sys.executable, pathlib.Path(__file__).parent / "scenario.py", folder],
            capture_output=True, text=True, timeout=500)
        print(done.stdout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    finally:
        shutil.rmtree(folder)
