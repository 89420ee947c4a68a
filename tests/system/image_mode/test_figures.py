"""What image mode costs an installation: three masters without workers, with two packages in their image, and the same configuration without
image mode beside it. The packages come from a MachineConfig, so the build needs no package server.

ROUNDS=3  pairs of installations, of which the medians count; one when it is not set
"""

import base64
import datetime
import json
import os
import pathlib
import statistics
import subprocess

import host_clock
from image_mode import POLICY, write_containerfiles
from installation import MASTERS, Creation, Installation, enough_inotify_instances

ROUNDS = int(os.environ.get("ROUNDS") or 1)
POOLS = "controlPlane: {name: master, replicas: 3}\ncompute: [{name: worker, replicas: 0}]\n"
PACKAGES = ("slipway-test-one", "slipway-test-two")
FOLDER = "/etc/slipway-test"  # of the packages
CONTAINERFILE = f"RUN dpkg --install {FOLDER}/*.deb\n"
ALLOWED = 10  # seconds in addition to those of the build


def packages(folder):
    """The packages, by name: small ones with a file each."""
    made = {}
    for name in PACKAGES:
        root = folder / name
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: test <test@example.com>\nDescription: test\n")
        (root / f"usr/share/{name}").mkdir(parents=True)
        (root / f"usr/share/{name}/file").write_text(f"{name}\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, folder / f"{name}.deb"], check=True, capture_output=True)
        made[name] = (folder / f"{name}.deb").read_bytes()
    return made


def machine_config(contents):
    files = [{"path": f"{FOLDER}/{name}.deb", "mode": 0o644,
              "contents": {"source": "data:application/octet-stream;base64," + base64.b64encode(content).decode()}}
             for name, content in contents.items()]
    return json.dumps({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                       "metadata": {"name": "99-packages", "labels": {"machineconfiguration.openshift.io/role": "master"}},
                       "spec": {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": files}}}})


def moment(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


def install(contents, with_images):
    """(seconds until three masters serve without the bootstrap machine, seconds of the build or None)"""
    cluster = Installation(more=POOLS + (POLICY if with_images else ""))
    try:
        if with_images:
            write_containerfiles(cluster, {"master": CONTAINERFILE})
        cluster.write("openshift/99_packages.yaml", machine_config(contents))
        creation = Creation(cluster)
        creation.complete()
        begun = moment(creation.events[0])
        done = moment(creation.find("step", "api-servers")) - begun
        if not with_images:
            return done, None
        for master in MASTERS:
            for name in PACKAGES:
                assert cluster.machine(master, "cat", f"/usr/share/{name}/file").stdout == f"{name}\n"
        build = moment(creation.find("stage", "os-image-build")) - moment(creation.find("stage", "os-image-build", "started"))
        return done, build
    finally:
        cluster.remove()


def test_an_installation_takes_the_time_of_the_build_more(tmp_path):
    contents = packages(pathlib.Path(tmp_path))
    span = host_clock.Span()
    with enough_inotify_instances():
        plain = [install(contents, False)[0] for _ in range(ROUNDS)]
        with_images = [install(contents, True) for _ in range(ROUNDS)]
    t1, with_image, build = (statistics.median(each) for each in (plain, [done for done, _ in with_images], [build for _, build in with_images]))
    more = with_image - t1 - build
    print(f"\nthree masters: T1 {t1:.1f} s; with an image of two packages {with_image:.1f} s, of which the build with its push {build:.1f} s; "
          f"{more:+.1f} s in addition (allowed {ALLOWED}); {100 * span.share():.0f}% of the time was stolen")
    assert more <= ALLOWED or span.excuses("the time of an installation in image mode")
