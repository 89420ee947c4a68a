"""os/preload: images in the storage format of machines."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import host_clock
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
LAYOUT, REPO, TEMPLATE = BUILD / "release", BUILD / "payload/os/repo", BUILD / "payload/containerd"
RECORD = TEMPLATE.with_name("containerd.images")


@pytest.fixture(autouse=True)
def template():
    if os.geteuid() != 0 or not RECORD.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("build/payload/containerd.images is missing; make payload, as root")


def command(output, layout=LAYOUT):
    return [ROOT / "os/preload", layout, REPO, "slipway/machine-os", output]


def processes_in(folder):
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and str(folder) in (process / "mountinfo").read_text():
                found.append(int(process.name))
        except OSError:
            pass
    return found


def test_record_is_what_the_release_has():
    entries = json.loads((LAYOUT / "index.json").read_text())["manifests"]
    images = {entry["annotations"]["org.opencontainers.image.ref.name"]: entry["digest"] for entry in entries}
    del images["machine-os"], images["machine-os-extensions"]
    assert dict(reversed(line.split()) for line in RECORD.read_text().splitlines()) == images


def test_compressed_layers_are_those_of_the_release():
    blobs = list((TEMPLATE / "images/blobs/sha256").iterdir())
    assert len(blobs) > 20 and all(blob.samefile(LAYOUT / "blobs/sha256" / blob.name) for blob in blobs)


def test_what_machines_get_a_copy_of_has_no_file_of_an_image():
    """Databases, and links to read-only files."""
    state = TEMPLATE / "state"
    files = [path for path in state.rglob("*") if path.is_file() and not path.is_symlink()]
    # Existing clusters keep links to both; each machine gets a copy (test_isolation.py).
    assert {path.name for path in files} == {"meta.db", "metadata.db"}
    links = [path for path in state.rglob("*") if path.is_symlink()]
    assert len(links) > 20
    for link in links:
        target = os.readlink(link)
        assert target.startswith("/var/lib/containerd-images/") and (TEMPLATE / "images" / target.split("/", 4)[4]).exists()


def test_same_images_are_not_made_again():
    before = TEMPLATE.stat(), RECORD.read_text()
    done = subprocess.run(command(TEMPLATE), capture_output=True, text=True, check=True)
    assert done.stdout.endswith("images, as they were\n")
    assert (TEMPLATE.stat().st_ino, RECORD.read_text()) == (before[0].st_ino, before[1])


def test_kill_leaves_the_old_images_and_no_process():
    seed = int(os.environ.get("SLIPWAY_TEST_SEED", time.time_ns() % 1_000_000))
    print("SLIPWAY_TEST_SEED =", seed)
    with tempfile.TemporaryDirectory(prefix="preload-test-", dir=BUILD) as folder:
        output = pathlib.Path(folder, "containerd")
        (output / "old").mkdir(parents=True)
        pathlib.Path(folder, "containerd.images").write_text("of another release\n")
        process = subprocess.Popen(command(output), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.Random(seed).uniform(0.5, 4))  # the time of the kill; the work takes longer
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        deadline = host_clock.now() + 20
        while processes := processes_in(folder):
            assert host_clock.now() < deadline, f"{processes} live on"
            time.sleep(0.02)
        assert [path.name for path in output.iterdir()] == ["old"]

        subprocess.run(command(output), check=True, capture_output=True)
        assert sorted(path.name for path in pathlib.Path(folder).iterdir()) == ["containerd", "containerd.images"]
        assert pathlib.Path(folder, "containerd.images").read_text() == RECORD.read_text()
        assert (output / "state/io.containerd.metadata.v1.bolt/meta.db").exists() and not (output / "old").exists()


def test_what_is_no_release_is_refused(tmp_path):
    shutil.copy(LAYOUT / "index.json", tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    index["manifests"][0]["annotations"]["io.containerd.image.name"] = "elsewhere.invalid/a:b"
    (tmp_path / "index.json").write_text(json.dumps(index))
    done = subprocess.run(command(BUILD / "payload/never", tmp_path), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"os/preload: {tmp_path} has images of 2 repositories, a release is in one\n")
