"""openshift-router with the release's haproxy, a real API server and pods in Python.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_PAYLOAD_BIN=build/payload/bin /usr/bin/python3 -m pytest -s tests/component/router

-s prints the figures. HAPROXY=PATH tests another haproxy than the release's.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/component/support"))
from openshift_api import openshift_api  # noqa: E402


@pytest.fixture(scope="module")
def definition():
    """The CustomResourceDefinition of Route."""
    return openshift_api() / "route/v1/zz_generated.crd-manifests/routes.crd.yaml"


def test_connections_reach_the_pods_of_their_route(definition):
    """The test is scenario.py. It runs in its own namespaces, so that no process outlives it."""
    if os.geteuid() != 0:
        pytest.skip("needs root for namespaces and mounts")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-router-"))
    try:
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
             sys.executable, pathlib.Path(__file__).parent / "scenario.py", folder, definition],
            capture_output=True, text=True, timeout=280)
        print(done.stdout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    finally:
        shutil.rmtree(folder)
