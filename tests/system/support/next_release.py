"""Releases that a cluster can be updated to, and whether it got there."""

import json
import os
import pathlib
import subprocess

from installation import BUILD, SLIPWAY

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()


def next_release(patch):
    """A release with the same programs and a version that is `patch` patches newer: (version, folder)."""
    major, minor, first = (SOURCE / "VERSION").read_text().strip().split(".")
    version = f"{major}.{minor}.{int(first) + patch}"
    subprocess.run(["make", "-C", SOURCE / "payload", "next-release", f"NEXT_VERSION={version}", f"BUILD={BUILD}",
                    f"SLIPWAY_OPERATOR={SLIPWAY.parent / 'slipway-operator'}"], check=True, capture_output=True, text=True, timeout=300)
    return version, BUILD / "release-next"


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
    wanted = machine_os_of(folder)
    for node in cluster.api.get("/api/v1/nodes")["items"]:
        name = node["metadata"]["name"]
        booted = next(line for line in cluster.machine(name, "ostree", "admin", "status").stdout.splitlines() if line.startswith("* "))
        commit = booted.split()[2].partition(".")[0]
        image = cluster.machine(name, "ostree", "--repo=/ostree/repo", "show", "--print-metadata-key=slipway.image", commit).stdout.strip().strip("'")
        assert image == wanted, f"{name} runs {image}"
        assert not node["spec"].get("unschedulable"), name
    assert cluster.recorder.check() == []
