"""Machines boot the images that users' Containerfiles make: masters at their first boot, workers when the cluster has built theirs."""

import json

from conftest import MARK
from image_mode import annotations, boots

OPERATORS = "openshift-machine-config-operator"
GROUP = "/apis/machineconfiguration.openshift.io/v1"


def image_of_config(cluster, pool):
    return cluster.api.get(f"{GROUP}/machineosconfigs/{pool}").get("status", {}).get("currentImagePullSpec")


def test_masters_run_the_image_of_the_bootstrap_machine(installed):
    record = json.loads(installed.api.get(f"/api/v1/namespaces/{OPERATORS}/configmaps/os-images-of-bootstrap")["data"]["master"])
    assert record["isPushed"]
    node = annotations(installed, "master-0")
    assert node["currentImage"] == node["desiredImage"] == record["image"]
    assert installed.machine("master-0", "cat", MARK).stdout == "master of the test\n"
    # The first boot, and the start of the image.
    assert boots(installed, "master-0") == 2


def test_the_cluster_takes_it_as_its_own(installed):
    installed.wait_until("the MachineOSConfig of masters has its image", lambda: image_of_config(installed, "master"))
    assert image_of_config(installed, "master") == annotations(installed, "master-0")["currentImage"]
    jobs = [job["metadata"]["name"] for job in installed.objects("jobs", "--namespace", OPERATORS)]
    assert not [name for name in jobs if "master" in name], jobs


def test_workers_get_the_image_that_the_cluster_builds(installed):
    installed.wait_until("the worker runs its image", lambda: image_of_config(installed, "worker") and
                         annotations(installed, "worker-0")["currentImage"] == image_of_config(installed, "worker") and
                         annotations(installed, "worker-0")["state"] == "Done", limit=400)
    assert installed.machine("worker-0", "cat", MARK).stdout == "worker of the test\n"
    builds = installed.api.get(f"{GROUP}/machineosbuilds")["items"]
    for build in builds:
        told = {condition["type"]: condition["status"] for condition in build["status"]["conditions"]}
        assert told == {"Prepared": "False", "Building": "False", "Failed": "False", "Interrupted": "False", "Succeeded": "True"}, build
    assert len(builds) == 2
    # Nobody was started again for an image that it ran.
    assert boots(installed, "master-0") == 2


def test_without_a_machine_os_config_the_system_of_the_release_returns(installed):
    installed.api.expect("DELETE", f"{GROUP}/machineosconfigs/worker")
    installed.wait_until("the worker runs the system of the release", lambda: not annotations(installed, "worker-0")["currentImage"] and
                         annotations(installed, "worker-0")["state"] == "Done", limit=300)
    assert installed.machine("worker-0", "cat", MARK, check=False).returncode != 0
    installed.wait_until("the builds of the worker are removed", lambda: len(installed.api.get(f"{GROUP}/machineosbuilds")["items"]) == 1)
