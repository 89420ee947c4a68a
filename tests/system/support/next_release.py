"""Releases that a cluster can be updated from and to, and whether it got there."""

import json
import os
import pathlib
import tempfile

import yaml
from installation import BUILD, SLIPWAY, run

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
# The build of `make -C payload older-release`.
OLDER = BUILD / "older"
FAILING = """#!/bin/sh
echo "$1: this release cannot start it" >&2
exit 1
"""


def todays_release():
    """(version, folder), as all functions here."""
    return (SOURCE / "VERSION").read_text().strip(), BUILD / "release"


def next_release(patch, *variables):
    """A release with the same programs and a version that is `patch` patches newer. It replaces the one of the call before."""
    major, minor, first = todays_release()[0].split(".")
    version = f"{major}.{minor}.{int(first) + patch}"
    run("make", "-C", SOURCE / "payload", "next-release", f"NEXT_VERSION={version}", f"BUILD={BUILD}",
        f"SLIPWAY_OPERATOR={SLIPWAY.parent / 'slipway-operator'}", *variables, timeout=300)
    return version, BUILD / "release-next"


def release_without_api_server(patch):
    """Such a release whose API server ends with an error when it starts."""
    table = yaml.safe_load((SOURCE / "images/components.yaml").read_text())
    table["layers"]["failing"] = {"files": {"/usr/bin/hyperkube": "failing"}, "made_by": "this test"}
    table["components"]["hyperkube"]["layers"].append("failing")
    with tempfile.TemporaryDirectory() as folder:
        components, program = pathlib.Path(folder, "components.yaml"), pathlib.Path(folder, "failing")
        components.write_text(yaml.safe_dump(table))
        program.write_text(FAILING)
        return next_release(patch, f"NEXT_COMPONENTS={components}", f"NEXT_INPUTS={folder}")


def kubernetes_of(folder):
    """The version of Kubernetes in a release."""
    return json.loads(run(SLIPWAY, "release", "info", folder, "--output", "json").stdout)["versions"]["kubernetes"]


def machine_os_of(layout):
    """The digest of the image machine-os of a release."""
    entries = json.loads((layout / "index.json").read_text())["manifests"]
    return next(entry["digest"] for entry in entries if entry["annotations"]["org.opencontainers.image.ref.name"] == "machine-os")


def check_every_part(cluster, version, folder):
    """Every part of the cluster is that of the release."""
    newest = cluster.api.get("/apis/config.openshift.io/v1/clusterversions/version")["status"]["history"][0]
    assert newest["version"] == version and newest["state"] == "Completed"
    for each in cluster.api.get("/apis/config.openshift.io/v1/clusteroperators")["items"]:
        told = {entry["name"]: entry["version"] for entry in each["status"].get("versions", [])}
        assert told.get("operator", version) == version, each["metadata"]["name"]
    wanted, kubelet = machine_os_of(folder), f"v{kubernetes_of(folder)}"
    for node in cluster.api.get("/api/v1/nodes")["items"]:
        name = node["metadata"]["name"]
        booted = next(line for line in cluster.machine(name, "ostree", "admin", "status").stdout.splitlines() if line.startswith("* "))
        commit = booted.split()[2].partition(".")[0]
        image = cluster.machine(name, "ostree", "--repo=/ostree/repo", "show", "--print-metadata-key=slipway.image", commit).stdout.strip().strip("'")
        assert image == wanted, f"{name} runs {image}"
        assert node["status"]["nodeInfo"]["kubeletVersion"] == kubelet, name
        assert not node["spec"].get("unschedulable"), name
    assert cluster.recorder.check() == []
