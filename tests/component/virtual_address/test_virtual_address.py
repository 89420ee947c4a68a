"""Virtual addresses with the release's keepalived and haproxy and slipway's monitor.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/component/virtual_address

-s prints the duration of each move.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

SCENARIOS = ["api", "ingress", "moves"]


def run_scenario(name):
    """Runs a scenario file in its own namespaces, so that no process outlives it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-address-"))
    try:
        return subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
             sys.executable, pathlib.Path(__file__).parent / f"{name}.py", folder],
            capture_output=True, text=True, timeout=300)
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def scenarios():
    """All scenarios, at the same time: they mostly wait."""
    if os.geteuid() != 0:
        pytest.skip("needs root for namespaces and mounts")
    with concurrent.futures.ThreadPoolExecutor(len(SCENARIOS)) as pool:
        return dict(zip(SCENARIOS, pool.map(run_scenario, SCENARIOS)))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_address_is_where_connections_arrive(scenarios, scenario):
    done = scenarios[scenario]
    print(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
