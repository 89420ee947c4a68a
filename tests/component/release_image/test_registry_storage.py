"""`slipway-images registry`: creates storage from a release that the payload's registry serves unchanged."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import threading
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("SLIPWAY_BUILD", ROOT / "build")).resolve()
TOOLS = BUILD / "payload/bin"
SLIPWAY = pathlib.Path(os.environ.get("SLIPWAY_BIN", BUILD / "cpp/release/bin")) / "slipway"
LAYOUT = BUILD / "release"
NAME = "slipway/release"
CONFIG = """version: 0.1
log: {{level: info, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: '{storage}'}}, maintenance: {{readonly: {{enabled: true}}, uploadpurging: {{enabled: false}}}}}}
http: {{addr: '127.0.0.1:0'}}
"""


@pytest.fixture(autouse=True)
def release():
    missing = [path for path in (TOOLS / "slipway-images", TOOLS / "registry", LAYOUT / "index.json") if not path.exists()]
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{missing[0]} is missing (make payload)")


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def storage():
    """Next to the layout: the storage consists of hard links."""
    with tempfile.TemporaryDirectory(prefix="registry-test-", dir=BUILD) as folder:
        run(TOOLS / "slipway-images", "registry", "--layout", LAYOUT, "--output", f"{folder}/storage")
        yield pathlib.Path(folder, "storage")


@contextlib.contextmanager
def serve(storage, folder):
    """Yields HOST:PORT."""
    config = folder / "registry.yaml"
    config.write_text(CONFIG.format(storage=storage))
    process = subprocess.Popen([TOOLS / "registry", "serve", config], stderr=subprocess.PIPE, text=True)
    try:
        line = next((line for line in process.stderr if "listening on" in line), "")
        assert line, "the registry ended"
        # The registry logs each request; a full pipe would block it.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield line.split("listening on ")[1].split('"')[0]
    finally:
        process.kill()
        process.wait()


def images():
    """{component: (descriptor, tag)}"""
    entries = json.loads((LAYOUT / "index.json").read_text())["manifests"]
    return {entry["annotations"]["org.opencontainers.image.ref.name"]:
            (entry, entry["annotations"]["io.containerd.image.name"].rpartition(":")[2]) for entry in entries}


def test_every_image_by_digest_and_tag(storage, tmp_path):
    with serve(storage, tmp_path) as host:
        for image, tag in images().values():
            raw = (LAYOUT / "blobs" / image["digest"].replace(":", "/")).read_text()
            for reference in (f"@{image['digest']}", f":{tag}"):
                assert run("skopeo", "inspect", "--raw", "--tls-verify=false", f"docker://{host}/{NAME}{reference}") == raw
        tags = json.loads(run("skopeo", "list-tags", "--tls-verify=false", f"docker://{host}/{NAME}"))["Tags"]
        assert sorted(tags) == sorted(tag for _, tag in images().values())


def test_images_are_whole(storage, tmp_path):
    """skopeo compares each blob with its digest."""
    with serve(storage, tmp_path) as host:
        for component in ("pod", "etcd", "release"):
            image, _ = images()[component]
            run("skopeo", "copy", "--quiet", "--src-tls-verify=false", f"docker://{host}/{NAME}@{image['digest']}", f"dir:{tmp_path}/{component}")
            copied = {path.name for path in (tmp_path / component).iterdir()}
            manifest = json.loads((tmp_path / component / "manifest.json").read_text())
            assert {blob["digest"].removeprefix("sha256:") for blob in [manifest["config"], *manifest["layers"]]} <= copied


def test_slipway_reads_the_release_from_it(storage, tmp_path):
    if not SLIPWAY.exists():
        pytest.skip(f"{SLIPWAY} is missing (make)")
    version = images()["release"][1]
    with serve(storage, tmp_path) as host:
        info = json.loads(run(SLIPWAY, "release", "info", f"{host}/{NAME}:{version}", "--output", "json"))
        assert info == json.loads(run(SLIPWAY, "release", "info", LAYOUT, "--output", "json"))


def test_registry_serves_the_new_release_without_a_restart(storage, tmp_path):
    with tempfile.TemporaryDirectory(prefix="registry-test-", dir=BUILD) as folder:
        layout, output = pathlib.Path(folder, "layout"), pathlib.Path(folder, "storage")
        shutil.copytree(LAYOUT, layout, copy_function=os.link)
        run(TOOLS / "slipway-images", "registry", "--layout", layout, "--output", output)
        with serve(output, tmp_path) as host:
            index = json.loads((layout / "index.json").read_text())
            index["manifests"] = [entry for entry in index["manifests"] if entry["annotations"]["org.opencontainers.image.ref.name"] == "pod"]
            (layout / "index.json").unlink()
            (layout / "index.json").write_text(json.dumps(index))
            run(TOOLS / "slipway-images", "registry", "--layout", layout, "--output", output)
            tags = json.loads(run("skopeo", "list-tags", "--tls-verify=false", f"docker://{host}/{NAME}"))["Tags"]
            assert tags == [images()["pod"][1]]


def test_storage_costs_no_blobs(storage):
    for blob in (LAYOUT / "blobs/sha256").iterdir():
        data = storage / "docker/registry/v2/blobs/sha256" / blob.name[:2] / blob.name / "data"
        assert data.samefile(blob)
