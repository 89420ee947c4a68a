"""A kubelet in a local machine runs etcd and the API server of the release, from preloaded images and from images that it pulls from the
registry of its cluster.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/component/kubelet

-s shows the figures.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import uuid

import host_clock
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway"
PAYLOAD = BUILD / "payload"
# On an idle machine it takes ten seconds.
DEADLINE = 240

# PSS of all processes by name, in kB: the memory of a machine, with shared pages divided among their users.
MEMORY = r"""cd /proc; for process in [0-9]*; do
    [ ! -r $process/smaps_rollup ] || echo "$(cat $process/comm) $(sed -n 's/^Pss: *\([0-9]*\).*/\1/p' $process/smaps_rollup)"
done"""
PKI = "/etc/kubernetes/pki"
READYZ = ["curl", "--silent", "--show-error", "--max-time", "5", "--cacert", f"{PKI}/ca.crt", "--cert", f"{PKI}/admin.crt",
          "--key", f"{PKI}/admin.key", "https://localhost:6443/readyz"]


@pytest.fixture(autouse=True)
def payload():
    missing = [path for path in ("os/repo", "containerd", "registry", "bin/registry") if not (PAYLOAD / path).exists()]
    if missing or os.geteuid() != 0:
        reason = f"build/payload lacks {', '.join(missing)}; make payload, as root" if missing else "this needs root"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=DEADLINE, **options)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def disk_use(*paths):
    """Bytes of the last path that are not hard-linked from the earlier ones, without the files that journald preallocates."""
    return int(run("du", "-s", "-B1", "--exclude=journal", *paths).stdout.splitlines()[-1].split()[0])


class Cluster:
    def __init__(self, folder):
        self.state, self.name = folder, "k" + uuid.uuid4().hex[:8]
        self.folder = folder / self.name

    def slipway(self, *words, **options):
        words = list(words)
        end = words.index("--") if "--" in words else len(words)
        return run(SLIPWAY, "machine", *words[:end], "--cluster", self.name, "--state", self.state, *words[end:], **options)

    def shell(self, *command, **options):
        return self.slipway("shell", "m0", "--", *command, **options)

    def wait_for_api(self):
        """Waits until /readyz on the machine returns ok. Polls without a pause: a request takes some tenths of a second."""
        deadline = host_clock.now() + DEADLINE
        while True:
            done = self.shell(*READYZ, check=False)
            if done.stdout == "ok":
                return
            reasons = re.findall(r"^\[-\].*", done.stdout, re.M) or [done.stdout + done.stderr]
            if host_clock.now() > deadline:
                log = self.shell("journalctl", "--no-pager", "--lines=60", "--unit=kubelet", "--unit=containerd", check=False).stdout
                raise AssertionError(f"the API server was not ready after {DEADLINE} s: {'; '.join(reasons)}\n{log}")

    def memory(self):
        used = {}
        for line in self.shell("sh", "-c", MEMORY).stdout.splitlines():
            name, _, size = line.rpartition(" ")
            if size.isdigit():
                used[name] = used.get(name, 0) + int(size) / 1000
        return used

    def requests_to_registry(self):
        return re.findall(r"http\.request\.uri=\"?([^\s\"?]+)", (self.folder / "registry.log").read_text())


@contextlib.contextmanager
def new_cluster():
    # Not in /tmp, which may be a tmpfs: machines are hard links of the build directory's files.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-kubelet-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.slipway("destroy", "--all")
        assert not made.folder.exists()
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def release():
    return json.loads(run(SLIPWAY, "release", "info", BUILD / "release", "--output", "json").stdout)


@pytest.fixture
def config(release, tmp_path):
    document = tmp_path / "release.json"
    document.write_text(json.dumps(release))
    file = tmp_path / "machine.ign"
    file.touch(mode=0o600)
    file.write_text(run(ROOT / "tools/control-plane-ignition", document).stdout)
    return file


def start_api(cluster, config, images, *more):
    start = host_clock.now()
    cluster.slipway("create", "m0", "--os-repo", PAYLOAD / "os/repo", "--images", images, "--ignition", config, "--wait", *more)
    booted = host_clock.now() - start
    cluster.wait_for_api()
    return booted, host_clock.now() - start


def show(how, times, cluster):
    memory = cluster.memory()
    largest = ", ".join(f"{name} {size:.0f}" for name, size in sorted(memory.items(), key=lambda item: -item[1])[:5])
    print(f"\n{how}: create to booted {times[0]:.1f} s, to /readyz {times[1]:.1f} s; memory {sum(memory.values()):.0f} MB ({largest})")


def check_versions(cluster, release):
    kubernetes = release["versions"]["kubernetes"]
    answer = cluster.shell("kubectl", "--kubeconfig=/etc/kubernetes/admin.kubeconfig", "version").stdout
    assert f"Server Version: v{kubernetes}\n" in answer and f"Client Version: v{kubernetes}\n" in answer
    print(answer.rstrip())


def images_by_digest(release, *components):
    return {component["image"] for component in release["components"] if component["name"] in components}


def test_preloaded_images(release, config):
    with new_cluster() as cluster:
        port = free_port()
        times = start_api(cluster, config, PAYLOAD, "--forward", f"{port}:m0:6443")
        show("preloaded", times, cluster)
        check_versions(cluster, release)
        assert cluster.requests_to_registry() == []

        # kubelet, kubectl and the API server in its container are the same file.
        programs = "/usr/bin/hyperkube /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/*/fs/usr/bin/hyperkube"
        assert len(set(cluster.shell("sh", "-c", f"stat --format=%i {programs}").stdout.split())) == 1

        kubeconfig = cluster.folder / "admin.kubeconfig"
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(cluster.shell("cat", "/etc/kubernetes/admin.kubeconfig").stdout)
        answer = run(PAYLOAD / "bin/hyperkube", "kubectl", f"--kubeconfig={kubeconfig}", f"--server=https://localhost:{port}",
                     "get", "--raw=/readyz")
        assert answer.stdout == "ok"

        # After a restart the databases of the machine still contain the images.
        cluster.slipway("reboot", "m0", "--wait")
        cluster.wait_for_api()
        assert cluster.requests_to_registry() == []


def test_images_from_the_clusters_registry(release, config, tmp_path):
    for name in ("registry", "bin"):
        (tmp_path / name).symlink_to(PAYLOAD / name)
    with new_cluster() as cluster:
        show("pulled", start_api(cluster, config, tmp_path), cluster)
        check_versions(cluster, release)
        asked = {uri.rpartition("/")[2] for uri in cluster.requests_to_registry() if "/manifests/" in uri}
        wanted = images_by_digest(release, "pod", "etcd", "hyperkube")
        assert asked == {image.rpartition("@")[2] for image in wanted}
        assert wanted <= set(cluster.shell("ctr", "--namespace=k8s.io", "images", "ls", "--quiet").stdout.split())


def test_what_a_machine_costs(tmp_path):
    """Disk usage beyond the files shared with the build directory, with and without images."""
    for name in ("registry", "bin"):
        (tmp_path / name).symlink_to(PAYLOAD / name)
    shared = [BUILD / "release", PAYLOAD / "os/repo", PAYLOAD / "containerd"]
    costs = {}
    for how, images in {"without images": tmp_path, "with images": PAYLOAD}.items():
        with new_cluster() as cluster:
            cluster.slipway("create", "m0", "--os-repo", PAYLOAD / "os/repo", "--images", images, "--wait")
            cluster.slipway("stop")
            costs[how] = disk_use(*shared, cluster.folder / "machines") / 1e6
            print(f"\ndisk of a machine {how}: {costs[how]:.1f} MB")
    assert costs["without images"] < 10 and costs["with images"] < 12
