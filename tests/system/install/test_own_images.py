"""Images of people: loaded, pushed, and run by pods that have no way out of the cluster."""

import json
import os
import pathlib
import subprocess

import pytest

LAYOUT = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve() / "release"
SPACE = "own-images"
# The image `pod` waits for ever, as an application of a test may.
SOURCE = f"oci:{LAYOUT}:pod"


def skopeo(installed, *words, check=True):
    return subprocess.run(["skopeo", "--insecure-policy", *map(str, words)], capture_output=True, text=True, check=check, timeout=120)


@pytest.fixture(scope="module")
def space(installed):
    installed.kubectl("create", "namespace", SPACE)
    try:
        yield SPACE
    finally:
        installed.kubectl("delete", "namespace", SPACE, "--wait=false")


def registry(installed):
    return next(iter(json.loads((installed.dir / "auth/registry.json").read_text())["auths"]))


def start(installed, name, image):
    installed.kubectl("run", name, "--namespace", SPACE, f"--image={image}", "--image-pull-policy=Always", "--restart=Never")


def state(installed, name):
    statuses = installed.api.get(f"/api/v1/namespaces/{SPACE}/pods/{name}")["status"].get("containerStatuses", [{}])
    return statuses[0].get("state", {}), statuses[0].get("imageID", "")


def runs(installed, name):
    installed.wait_until(f"pod {name} runs", lambda: "running" in state(installed, name)[0], missing=lambda: str(state(installed, name)))
    return state(installed, name)[1]


def test_an_image_that_was_loaded(installed, space, tmp_path):
    archive = tmp_path / "app.tar"
    skopeo(installed, "copy", SOURCE, f"docker-archive:{archive}:example.com/team/app:1")
    loaded = installed.run("image", "load", f"docker-archive:{archive}")
    assert loaded.stdout.startswith(f"example.com/team/app:1: loaded from docker-archive:{archive}:example.com/team/app:1, sha256:")
    digest = loaded.stdout.split()[-1]
    start(installed, "archive", "example.com/team/app:1")
    assert runs(installed, "archive").endswith(digest)
    # A name without a registry is what the kubelet makes of it.
    assert installed.run("image", "load", SOURCE, "--name", "app:dev").stdout.startswith(f"docker.io/library/app:dev: loaded from {SOURCE}, ")
    start(installed, "short", "app:dev")
    runs(installed, "short")


def test_an_image_that_was_pushed(installed, space):
    address = registry(installed)
    login = ["--dest-authfile", installed.dir / "auth/registry.json", "--dest-cert-dir", installed.dir / "auth/registry"]
    assert (installed.dir / "auth/registry.json").stat().st_mode & 0o777 == 0o600
    skopeo(installed, "copy", *login, SOURCE, f"docker://{address}/pushed:1")
    start(installed, "pushed", f"{address}/pushed:1")
    runs(installed, "pushed")
    nobody = skopeo(installed, "copy", "--dest-no-creds", *login[2:], SOURCE, f"docker://{address}/pushed:2", check=False)
    assert nobody.returncode != 0 and "authentication required" in nobody.stderr, nobody.stderr
    unknown = skopeo(installed, "copy", *login[:2], "--dest-cert-dir", "/nowhere", SOURCE, f"docker://{address}/pushed:2", check=False)
    assert unknown.returncode != 0 and "certificate" in unknown.stderr, unknown.stderr


def test_the_login_of_machines(installed):
    """tests/component/own_images pushes with such a login."""
    path = installed.dir / "auth/os-registry.json"
    assert path.stat().st_mode & 0o777 == 0o600
    (address, entry), = json.loads(path.read_text())["auths"].items()
    assert address == f"registry.{installed.name}.example.com:5443"
    authority = f"/etc/containerd/certs.d/{address}/ca.crt"
    assert installed.machine("worker-0", "cat", authority).stdout == (installed.dir / "auth/registry/ca.crt").read_text()

    def status(path, login=""):
        config = f'header = "Authorization: Basic {login}"' if login else ""
        return installed.machine("master-0", "sh", "-c", 'echo "$1" | curl --config - --silent --cacert "$2" --output /dev/null --write-out "%{http_code}" "$3"',
                                 "sh", config, authority, f"https://{address}{path}").stdout

    assert status("/v2/") == "401" and status("/v2/", entry["auth"]) == "200"
    assert status("/v2/os/master/tags/list", entry["auth"]) == "404" and status("/v2/quay.io/app/tags/list", entry["auth"]) == "403"


def test_an_image_that_nobody_has(installed, space):
    start(installed, "nobody", "registry.slipway.invalid:5000/none:1")
    installed.wait_until("the pull fails", lambda: state(installed, "nobody")[0].get("waiting", {}).get("reason") in ("ErrImagePull", "ImagePullBackOff"))
    log = (installed.state / installed.name / "registry.log").read_text()
    assert 'slipway image load registry.slipway.invalid:5000/none:1' in log, log[-2000:]


def test_the_store_is_the_clusters(installed):
    folder = installed.state / installed.name
    assert (folder / "own-images/own").is_dir() and folder.stat().st_mode & 0o077 == 0
    assert {path.stat().st_mode & 0o777 for path in (folder / "registry-access").iterdir()} == {0o600}
