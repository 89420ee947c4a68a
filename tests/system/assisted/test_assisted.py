"""`make demo-assisted`: three machines with empty disks become a cluster, also when the service is killed on the way.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/assisted
"""

import json
import os
import pathlib
import signal
import ssl
import sys
import time
import urllib.request

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from demonstration import Demonstration  # noqa: E402

DEMO = Demonstration("demo-assisted", limit=900)


@pytest.fixture(autouse=True)
def nothing_is_left():
    with DEMO.ends_with_nothing_left():
        yield


def get(path):
    context = ssl.create_default_context(cafile=DEMO.folder / "service/tls/ca.crt")
    token = (DEMO.folder / "service/auth/admin-token").read_text().strip()
    request = urllib.request.Request(f"https://127.0.0.1:8090/api/assisted-install/v2{path}", headers={"X-Secret-Key": token})
    with urllib.request.urlopen(request, context=context, timeout=DEMO.limit) as answer:
        return json.load(answer)


def the_cluster():
    """With its hosts; None before it exists and while the service is away."""
    try:
        found = get("/clusters")
        return get(f"/clusters/{found[0]['id']}") if found else None
    except OSError:
        return None


def stages_of(cluster):
    return [host.get("progress", {}).get("current_stage", "") for host in cluster["hosts"]]


def changes(cluster):
    """When the cluster got each state: {state: seconds}."""
    events = get(f"/events?cluster_id={cluster['id']}")
    found = {}
    for event in events:
        state = event["message"].partition(" to ")[2].partition(" ")[0]
        if event["message"].startswith("Cluster ") and "updated status" in event["message"]:
            found[state] = time.mktime(time.strptime(event["event_time"][:19], "%Y-%m-%dT%H:%M:%S"))
    return found


def test_three_hosts_become_a_cluster(record_property):
    process = DEMO.start()
    output, _ = process.communicate(timeout=DEMO.limit)
    assert process.returncode == 0, output
    assert "Hello from" in output
    cluster = the_cluster()
    assert cluster["status"] == "installed" and stages_of(cluster) == ["Done"] * 3
    when = changes(cluster)
    print(f"from install accepted to installed: {when['installed'] - when['preparing-for-installation']:.0f} s")


def test_one_host_becomes_a_cluster():
    process = DEMO.start("--hosts=1")
    output, _ = process.communicate(timeout=DEMO.limit)
    assert process.returncode == 0, output
    assert "Hello from" in output
    cluster = the_cluster()
    assert cluster["status"] == "installed" and stages_of(cluster) == ["Done"] and cluster["high_availability_mode"] == "None"


def test_the_service_is_killed_in_each_stage():
    """The script stops, too, as its service is gone. The same command starts the service again and continues."""
    killed = set()
    for _ in range(20):
        process = DEMO.start()
        try:
            while process.poll() is None:
                cluster = the_cluster()
                stages = {cluster["status"], *stages_of(cluster)} if cluster else set()
                fresh = stages & {"insufficient", "preparing-for-installation", "Writing image to disk", "Waiting for control plane",
                                  "Waiting for bootkube", "Waiting for controller", "Rebooting"} - killed
                if fresh:
                    killed |= fresh
                    os.kill(int((DEMO.folder / "service.pid").read_text()), signal.SIGKILL)
                    process.terminate()
                    break
                time.sleep(0.05)
            output, _ = process.communicate(timeout=DEMO.limit)
        finally:
            process.kill()
        if process.returncode == 0:
            break
    assert process.returncode == 0 and "Hello from" in output, output
    assert len(killed) >= 4, killed
