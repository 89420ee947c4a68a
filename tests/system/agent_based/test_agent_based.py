"""`make demo-agent-based`: three machines with empty disks that boot one image become a cluster, also when the service on the first of them is
killed on the way.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/agent_based
"""
import os
import pathlib
import subprocess
import time

import pytest

BUILD, PROGRAMS = (pathlib.Path(os.environ[name]).resolve() for name in ("SLIPWAY_BUILD", "SLIPWAY_BIN"))
SOURCE = pathlib.Path(__file__).resolve().parents[3]
DEMO = BUILD / "demo-agent-based"
LIMIT = 1200


def demo(*words, output=subprocess.PIPE):
    return subprocess.Popen([SOURCE / "tools/demo-agent-based", *words, PROGRAMS, BUILD / "release"], stdout=output,
                            stderr=subprocess.STDOUT, text=True)


@pytest.fixture(autouse=True)
def nothing_is_left():
    assert not DEMO.exists(), f"{DEMO} exists: make demo-agent-based-destroy"
    yield
    ended = demo("--destroy")
    assert ended.wait(LIMIT) == 0, ended.stdout.read()
    assert not DEMO.exists() and not (BUILD / "machines/demo-agent-based").exists()


def kubectl(*words):
    done = subprocess.run([BUILD / "payload/bin/hyperkube", "kubectl", "--kubeconfig", DEMO / "assets/auth/kubeconfig", *words], check=True,
                          capture_output=True, text=True, timeout=60)
    return done.stdout


def shell(machine, command):
    return subprocess.run([PROGRAMS / "slipway", "machine", "shell", machine, "--cluster", "demo-agent-based", "--", "sh", "-c", command],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "SLIPWAY_STATE": str(BUILD / "machines")})


def check_cluster(output):
    assert "Hello from" in output, output
    assert sorted(kubectl("get", "nodes", "--output", "name").split()) == ["node/h0", "node/h1", "node/h2"]
    # The controller has no service to report to, and removes itself.
    end = time.monotonic() + 300
    while "assisted-installer" in kubectl("get", "namespaces", "--output", "name"):
        assert time.monotonic() < end, kubectl("get", "pods", "--all-namespaces")
        time.sleep(2)
    for machine in ("h0", "h1", "h2"):
        assert shell(machine, "ls /etc/slipway-rendezvous").returncode != 0, "the secrets of the image ended with the live system"


def test_one_image_becomes_a_cluster():
    process = demo()
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, output
    check_cluster(output)


def test_the_service_is_killed_on_the_way(tmp_path):
    output = tmp_path / "output"  # a pipe that nobody reads meanwhile could become full
    with open(output, "wb") as file:
        process = demo(output=file)
    kills, end = 0, time.monotonic() + LIMIT
    while process.poll() is None and kills < 3:
        assert time.monotonic() < end
        time.sleep(15)
        if (BUILD / "machines/demo-agent-based").exists():
            kills += shell("h0", "systemctl kill --signal=KILL slipway-rendezvous.service").returncode == 0
    assert process.wait(LIMIT) == 0 and kills > 0, (kills, output.read_text())
    check_cluster(output.read_text())
