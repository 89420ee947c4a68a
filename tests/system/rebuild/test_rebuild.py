"""A cluster keeps its release when the build continues: another machine OS and another release replace the files that the cluster was
created from, and then a worker is added.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/rebuild

The build is a copy of the payload's with hard links, on which `make -C payload` runs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import BUILD, SLIPWAY, Creation, Installation, run  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
MORE = "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 0}]\n"
# Written only by programs that replace files. Every other file that make may write in place gets its own inode.
LINKED = ("release/blobs", "payload/os/repo", "payload/containerd/", "payload/registry")


class Build:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-rebuild-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
        self.payload = self.folder / "payload"
        (self.payload / "os/repo/extensions").mkdir(parents=True)
        links = [path.name for path in BUILD.glob("release*")]
        links += [f"payload/{name}" for name in ("bin", "containerd", "containerd.images", "debian", "lib", "registry")]
        # Without the folder installed next to the repository, whose roots are immutable.
        links += [f"payload/os/{path.name}" for path in (BUILD / "payload/os").iterdir() if path.name != "repo"]
        links += [f"payload/os/repo/{path.name}" for path in (BUILD / "payload/os/repo").iterdir() if path.name != "extensions"]
        for name in links:
            run("cp", "--archive", "--link", BUILD / name, (self.folder / name).parent)
        (self.folder / "tools").symlink_to(BUILD / "tools")
        for path in self.folder.rglob("*"):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not path.is_symlink() and not name.startswith(LINKED) and path.stat().st_size < 1_000_000:
                shutil.copy2(path, path.with_name(path.name + ".copy"))
                path.with_name(path.name + ".copy").replace(path)

    def go_on(self):
        """Another file in the machine OS, and another version."""
        (self.folder / "VERSION").write_text("0.1.1\n")
        added = self.folder / "added/usr/share/slipway-next"
        added.parent.mkdir(parents=True)
        added.write_text("the next\n")
        root = self.payload / "os/root.tar"
        shutil.copyfile(root, root.with_name("root.tar.new"))
        run("tar", "--append", "--owner=0", "--group=0", f"--file={root}.new", f"--directory={added.parents[2]}", "./usr/share/slipway-next")
        root.with_name("root.tar.new").replace(root)
        run("make", "-C", SOURCE / "payload", "release", "commit", "preload", f"BUILD={self.folder}", f"VERSION_FILE={self.folder}/VERSION",
            f"SLIPWAY_OPERATOR={(BUILD / 'payload/bin/slipway-operator').resolve()}")

    def digest(self):
        return json.loads(run(SLIPWAY, "release", "info", self.folder / "release", "--output", "json").stdout)["digest"]

    def commit(self):
        return run("ostree", f"--repo={self.payload}/os/repo", "rev-parse", "slipway/machine-os").stdout.strip()

    def cluster(self):
        made = Installation(more=MORE)
        made.masters = ["master-0"]
        made.release, made.os_repo, made.images = self.folder / "release", self.payload / "os/repo", self.payload
        return made

    def remove(self):
        subprocess.run(["chattr", "-R", "-f", "-i", str(self.folder)], check=False)
        shutil.rmtree(self.folder)


@pytest.fixture
def build():
    made = Build()
    try:
        yield made
    finally:
        made.remove()


def record(cluster):
    config = json.loads((cluster.state / cluster.name / "cluster.json").read_text())
    return config["release"].partition("@")[2], config["osCommit"]


def booted(cluster):
    return {name: machine.get("deployment", "").partition(".")[0] for name, machine in cluster.machines().items()}


def test_a_worker_of_a_cluster_that_is_older_than_the_build(build):
    first = build.digest(), build.commit()
    cluster = build.cluster()
    try:
        creation = Creation(cluster)
        try:
            creation.wait()
        finally:
            if creation.process.poll() is None:
                creation.kill()
        assert record(cluster) == first

        build.go_on()
        second = build.digest(), build.commit()
        assert second[0] != first[0] and second[1] != first[1]
        gone = subprocess.run(["ostree", f"--repo={build.payload}/os/repo", "show", first[1]], capture_output=True)
        assert gone.returncode != 0  # it is no longer in the build

        creating = run(SLIPWAY, "create", "worker", "--dir", cluster.dir, "--state", cluster.state)
        assert "worker-0" in creating.stdout + creating.stderr
        assert booted(cluster) == {"master-0": first[1], "worker-0": first[1]}
        node = next(each for each in cluster.objects("nodes") if each["metadata"]["name"] == "worker-0")
        assert {"type": "Ready", "status": "True"}.items() <= next(each for each in node["status"]["conditions"] if each["type"] == "Ready").items()
        assert cluster.machine("worker-0", "sh", "-c", "test ! -e /usr/share/slipway-next; echo $?").stdout == "0\n"
        version = json.loads(cluster.kubectl("get", "clusterversion", "version", "--output", "json").stdout)
        assert version["status"]["desired"]["image"].endswith(first[0])

        # A new owner process and the same command again need nothing from the build.
        (build.folder / "release").rename(build.folder / "elsewhere")
        run(SLIPWAY, "machine", "stop", "--cluster", cluster.name, "--state", cluster.state)
        again = run(SLIPWAY, "create", "cluster", "--dir", cluster.dir, "--state", cluster.state, "--os-repo", build.folder / "none",
                    "--images", build.folder / "none", cwd=cluster.folder)
        assert booted(cluster) == {"master-0": first[1], "worker-0": first[1]} and record(cluster) == first, again.stderr
        (build.folder / "elsewhere").rename(build.folder / "release")
        refused = cluster.run("create", "cluster", check=False)
        assert refused.returncode != 0 and f"the cluster was created with registry.slipway.invalid/slipway/release@{first[0]}" in refused.stderr
    finally:
        cluster.remove()

    # The next cluster uses the next build.
    other = build.cluster()
    try:
        creation = Creation(other)
        try:
            other.wait_until("the bootstrap machine to boot", lambda: (other.state / other.name / "cluster.json").exists()
                             and booted(other).get("bootstrap"), 120)
        finally:
            creation.kill()
        assert record(other) == second and booted(other)["bootstrap"] == second[1]
    finally:
        other.remove()
