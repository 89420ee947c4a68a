"""Virtual addresses with the release's keepalived and haproxy and slipway's monitor.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/component/virtual_address

-s prints the duration of each move.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest


@pytest.mark.parametrize("scenario", ["api", "ingress", "moves"])
def test_address_is_where_connections_arrive(scenario):
    """The test is the scenario file. It runs in its own namespaces, so that no process outlives it."""
    if os.geteuid() != 0:
        pytest.skip("needs root for namespaces and mounts")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-address-"))
    try:
        done = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
             sys.executable, pathlib.Path(__file__).parent / f"{scenario}.py", folder],
            capture_output=True, text=True, timeout=300)
        print(done.stdout)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    finally:
        shutil.rmtree(folder)
