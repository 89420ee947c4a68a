"""`make demo-agent-based`: three machines with empty disks that boot one image become a cluster, also when the service on the first of them is
killed on the way.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/agent_based
"""
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from demonstration import BUILD, PROGRAMS, Demonstration  # noqa: E402

DEMO = Demonstration("demo-agent-based", limit=1200)


@pytest.fixture(autouse=True)
def nothing_is_left():
    with DEMO.ends_with_nothing_left():
        yield


def kubectl(*words):
    done = subprocess.run([BUILD / "payload/bin/hyperkube", "kubectl", "--kubeconfig", DEMO.folder / "assets/auth/kubeconfig", *words], check=True,
                          capture_output=True, text=True, timeout=60)
    return done.stdout


def shell(machine, command):
    return subprocess.run([PROGRAMS / "slipway", "machine", "shell", machine, "--cluster", "demo-agent-based", "--", "sh", "-c", command],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "SLIPWAY_STATE": str(BUILD / "machines")})


def check_cluster(output, machines=("h0", "h1", "h2")):
    assert "Hello from" in output, output
    assert sorted(kubectl("get", "nodes", "--output", "name").split()) == [f"node/{machine}" for machine in machines]
    # The controller has no service to report to, and removes itself.
    end = time.monotonic() + 300
    while "assisted-installer" in kubectl("get", "namespaces", "--output", "name"):
        assert time.monotonic() < end, kubectl("get", "pods", "--all-namespaces")
        time.sleep(2)
    for machine in machines:
        assert shell(machine, "ls /etc/slipway-rendezvous").returncode != 0, "the secrets of the image ended with the live system"


def test_one_image_becomes_a_cluster():
    process = DEMO.start()
    output, _ = process.communicate(timeout=DEMO.limit)
    assert process.returncode == 0, output
    check_cluster(output)


def test_one_image_becomes_a_single_node():
    """The only machine bootstraps the cluster in memory, writes its disk, and boots into the node."""
    process = DEMO.start("--hosts=1")
    output, _ = process.communicate(timeout=DEMO.limit)
    assert process.returncode == 0, output
    check_cluster(output, ["h0"])
    # The rest of the bootstrap on the node ends by itself.
    end = time.monotonic() + 300
    while shell("h0", "test ! -e /etc/kubernetes/bootstrap-secrets").returncode != 0:
        assert time.monotonic() < end, shell("h0", "journalctl --no-pager --unit bootkube --lines 20").stdout
        time.sleep(2)


def test_the_service_is_killed_on_the_way(tmp_path):
    output = tmp_path / "output"  # nothing reads a pipe meanwhile: it could become full
    with open(output, "wb") as file:
        process = DEMO.start(output=file)
    kills, end = 0, time.monotonic() + DEMO.limit
    while process.poll() is None and kills < 3:
        assert time.monotonic() < end
        time.sleep(15)
        if (BUILD / "machines/demo-agent-based").exists():
            kills += shell("h0", "systemctl kill --signal=KILL slipway-rendezvous.service").returncode == 0
    assert process.wait(DEMO.limit) == 0 and kills > 0, (kills, output.read_text())
    check_cluster(output.read_text())
