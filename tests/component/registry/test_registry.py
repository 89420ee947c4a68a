"""`slipway release` with real registries; skopeo checks the result."""
import base64
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import host_clock
import pytest

from sample import MANIFEST, REPOSITORY, VERSION, Layout

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
REGISTRIES = {
    "payload": os.environ.get("SLIPWAY_TEST_REGISTRY", os.environ["SLIPWAY_BUILD"] + "/payload/bin/registry"),
    "debian": "docker-registry",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Registry:
    def __init__(self, program, folder, auth=None, tls=None):
        self.host = f"127.0.0.1:{free_port()}"
        config = {"version": 0.1, "log": {"level": "error", "accesslog": {"disabled": True}},
                  "storage": {"filesystem": {"rootdirectory": str(folder / "storage")}}, "http": {"addr": self.host}}
        if auth:
            config["auth"] = {"htpasswd": {"realm": "test, with a comma", "path": str(auth)}}
        if tls:
            config["http"]["tls"] = {"certificate": str(tls / "server.crt"), "key": str(tls / "server.key")}
        folder.mkdir()
        (folder / "config.yml").write_text(json.dumps(config))
        self.process = subprocess.Popen([program, "serve", str(folder / "config.yml")],
                                        stdout=(folder / "log").open("w"), stderr=subprocess.STDOUT)
        self.await_answer()

    def await_answer(self):
        for _ in range(500):
            try:
                return urllib.request.urlopen(f"http://{self.host}/v2/")
            except urllib.error.HTTPError:
                return None
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the registry does not answer")

    def stop(self):
        self.process.kill()
        self.process.wait()

    @property
    def repository(self):
        return f"{self.host}/slipway/release"

    def get(self, path, method="GET"):
        request = urllib.request.Request(f"http://{self.host}/v2/slipway/release/{path}", headers={"Accept": MANIFEST}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read(), int(answer.headers["Content-Length"])

    def tags(self):
        try:
            return json.loads(self.get("tags/list")[0])["tags"] or []
        except urllib.error.HTTPError as error:
            assert error.code == 404
            return []

    def settled_tags(self):
        """Waits until the server has finished the request of a killed client: it lists a tag shortly before it serves it."""
        deadline = host_clock.now() + 5
        while host_clock.now() < deadline:
            tags = self.tags()
            try:
                for tag in tags:
                    self.get(f"manifests/{tag}", "HEAD")
                return tags
            except urllib.error.HTTPError as error:
                assert error.code == 404
                time.sleep(0.01)
        raise AssertionError(f"a tag without a manifest stays: {tags}")

    def check_whole(self, tag):
        """Checks that all blobs of a tag exist."""
        manifest = json.loads(self.get(f"manifests/{tag}")[0])
        for blob in [manifest["config"], *manifest["layers"]]:
            assert self.get(f"blobs/{blob['digest']}", "HEAD")[1] == blob["size"]
        return manifest


@pytest.fixture(scope="module")
def layout(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("layout") / "release")


@pytest.fixture(params=REGISTRIES)
def registry(request, tmp_path):
    registry = Registry(REGISTRIES[request.param], tmp_path / "registry")
    yield registry
    registry.stop()


def run(*arguments, status=0, **environment):
    result = subprocess.run([SLIPWAY, *arguments], capture_output=True, text=True, timeout=60, env=os.environ | environment)
    assert result.returncode == status, result.stderr
    return result


def mirror(layout, registry, *options, **more):
    return run("release", "mirror", str(layout.folder), "--to", registry.repository, *options, **more)


def skopeo(*arguments):
    return subprocess.run(["skopeo", *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def test_skopeo_finds_every_image_that_was_mirrored(layout, registry, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    result = mirror(layout, registry, TMPDIR=str(temporary))
    assert list(temporary.iterdir()) == []
    assert f"Release: {registry.repository}@{layout.images['']}\n" in result.stdout
    assert result.stdout.endswith(f"imageDigestSources:\n- mirrors:\n  - {registry.repository}\n  source: {REPOSITORY}\n")
    assert sorted(registry.tags()) == sorted(layout.tags())
    for tag, digest in layout.tags().items():
        assert json.loads(skopeo("inspect", "--tls-verify=false", f"docker://{registry.repository}:{tag}"))["Digest"] == digest
        copy = tmp_path / tag
        skopeo("copy", "--src-tls-verify=false", "--preserve-digests", f"docker://{registry.repository}@{digest}", f"dir:{copy}")
        assert (copy / "manifest.json").read_bytes() == layout.path(digest).read_bytes()
        for layer in json.loads((copy / "manifest.json").read_text())["layers"]:
            assert (copy / layer["digest"].removeprefix("sha256:")).read_bytes() == layout.path(layer["digest"]).read_bytes()


def test_info_of_a_mirror_is_that_of_the_folder(layout, registry):
    mirror(layout, registry)
    for output in ("text", "json"):
        expected = run("release", "info", str(layout.folder), "--output", output).stdout
        for image in (f":{VERSION}", f"@{layout.images['']}"):
            assert run("release", "info", registry.repository + image, "--output", output).stdout == expected
    parsed = json.loads(expected)
    assert parsed["version"] == VERSION and parsed["digest"] == layout.images[""]
    assert {c["name"]: c["image"] for c in parsed["components"]} == {n: f"{REPOSITORY}@{d}" for n, d in layout.images.items() if n}
    assert parsed["manifests"] == ["0000_10_a.crd.yaml"]


def test_a_second_mirror_copies_nothing(layout, registry, tmp_path):
    mirror(layout, registry)
    storage = tmp_path / "registry" / "storage"
    before = {path: path.stat().st_mtime_ns for path in storage.rglob("*")}
    assert re.search(r"^Copied:  0 B \(\d+ kB existed already\)$", mirror(layout, registry).stdout, re.M)
    assert {path: path.stat().st_mtime_ns for path in storage.rglob("*")} == before


def test_a_mirror_can_be_mirrored(layout, registry, tmp_path):
    mirror(layout, registry)
    second = f"{registry.host}/other/place"
    run("release", "mirror", f"{registry.repository}:{VERSION}", "--to", second)
    assert json.loads(skopeo("inspect", "--tls-verify=false", f"docker://{second}:{VERSION}-etcd"))["Digest"] == layout.images["etcd"]


def test_what_skopeo_pushed_can_be_read(layout, registry):
    skopeo("copy", "--dest-tls-verify=false", "--preserve-digests", f"oci:{layout.folder}:release", f"docker://{registry.repository}:by-skopeo")
    info = run("release", "info", f"{registry.repository}:by-skopeo").stdout
    assert info == run("release", "info", str(layout.folder)).stdout


@pytest.mark.parametrize("kind", REGISTRIES)
def test_logins_come_from_the_registry_config(layout, tmp_path, kind):
    passwords = tmp_path / "htpasswd"
    subprocess.run(["htpasswd", "-Bbc", str(passwords), "user", "pass:word"], check=True, capture_output=True)
    registry = Registry(REGISTRIES[kind], tmp_path / "registry", passwords)

    def config(password):
        path = tmp_path / "auth.json"
        path.write_text(json.dumps({"auths": {registry.host: {"auth": base64.b64encode(f"user:{password}".encode()).decode()}}}))
        return "--registry-config", str(path)

    try:
        none = mirror(layout, registry, status=1)
        assert f"registry {registry.host} denied access to repository slipway/release" in none.stderr
        assert "(no login for this registry is known)" in none.stderr
        wrong = mirror(layout, registry, *config("wrong"), status=1)
        assert "(user 'user' has no access)" in wrong.stderr and "wrong" not in wrong.stderr
        mirror(layout, registry, *config("pass:word"))
        info = run("release", "info", f"{registry.repository}:{VERSION}", *config("pass:word"))
        assert info.stdout == run("release", "info", str(layout.folder)).stdout
    finally:
        registry.stop()


@pytest.mark.parametrize("kind", REGISTRIES)
def test_tls_is_checked_against_the_ca_file(layout, tmp_path, kind):
    for name in ("server", "stranger"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", str(tmp_path / f"{name}.key"), "-out", str(tmp_path / f"{name}.crt")], check=True, capture_output=True)
    registry = Registry(REGISTRIES[kind], tmp_path / "registry", tls=tmp_path)
    try:
        mirror(layout, registry, "--ca-file", str(tmp_path / "server.crt"))
        image = f"{registry.repository}:{VERSION}"
        info = run("release", "info", image, "--ca-file", str(tmp_path / "server.crt"))
        assert info.stdout == run("release", "info", str(layout.folder)).stdout
        untrusted = run("release", "info", image, "--ca-file", str(tmp_path / "stranger.crt"), status=1)
        assert f"{registry.host}: the server's certificate is not trusted: " in untrusted.stderr
        missing = run("release", "info", image, "--ca-file", "/nowhere.pem", status=1)
        assert "the CA file /nowhere.pem cannot be used" in missing.stderr
    finally:
        registry.stop()


def test_a_stopped_mirror_ends_at_once_and_cleans_up(registry, tmp_path):
    layout = Layout(tmp_path / "layout", large=60_000_000)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    program = subprocess.Popen([SLIPWAY, "release", "mirror", str(layout.folder), "--to", registry.repository],
                               stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(temporary)})
    while not any(temporary.rglob("*/*")):
        assert program.poll() is None
        time.sleep(0.001)
    stopped = host_clock.now()
    program.terminate()
    _, stderr = program.communicate(timeout=120)
    assert (program.returncode, list(temporary.iterdir()), registry.tags()) == (8, [], []), stderr
    assert host_clock.now() - stopped < 1


def test_a_killed_mirror_leaves_no_broken_reference(registry, tmp_path):
    layout = Layout(tmp_path / "layout", large=30_000_000)
    seed = int(os.environ.get("SLIPWAY_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"SLIPWAY_TEST_SEED={seed}")
    chance = random.Random(seed)
    command = [SLIPWAY, "release", "mirror", str(layout.folder), "--to", registry.repository]
    start = host_clock.now()
    subprocess.run([*command[:-1], f"{registry.host}/measured/run"], check=True, capture_output=True)
    whole = host_clock.now() - start
    for _ in range(8):
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(tmp_path)})
        time.sleep(chance.uniform(0, whole))
        program.kill()
        program.wait()
        for tag in registry.settled_tags():
            registry.check_whole(tag)
        if VERSION in registry.tags():
            assert sorted(registry.tags()) == sorted(layout.tags())
            shutil.rmtree(tmp_path / "registry" / "storage" / "docker" / "registry" / "v2" / "repositories" / "slipway")
    mirror(layout, registry)
    assert sorted(registry.tags()) == sorted(layout.tags())
    for tag in registry.tags():
        registry.check_whole(tag)


def test_an_update_graph_is_made_of_releases_and_checked(layout, registry, tmp_path):
    mirror(layout, registry)
    def graph(*words, status=0):
        done = subprocess.run([SLIPWAY, "release", "graph", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    image = f"{registry.repository}@{layout.images['']}"
    made = json.loads(graph(image, "--channel", "stable-0.1").stdout)
    assert made == {"nodes": [{"version": VERSION, "payload": image,
                               "metadata": {"io.openshift.upgrades.graph.release.channels": "stable-0.1"}}], "edges": [], "conditionalEdges": []}
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(made))
    assert "valid: 1 releases, 0 edges" in graph("--check", file, layout.folder).stdout
    file.write_text(json.dumps(made | {"edges": [[0, 1]]}))
    assert "graph.json:1:" in graph("--check", file, status=1).stderr
    # A layout has the name that clusters use.
    assert json.loads(graph(layout.folder).stdout)["nodes"][0]["payload"] == f"{REPOSITORY}@{layout.images['']}"
