"""A local machine pulls images of other registries, which its cluster fetches over the network of the host. Here the network of the host is
a namespace of the test with one registry in it."""

import hashlib
import io
import json
import subprocess
import tarfile

import pytest
from conftest import ADDRESS, BUILD, HOST, PAYLOAD, run
from web_server import web_server

STORAGE = """version: 0.1
log: {{level: info, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: '{folder}/storage'}}}}
http: {{addr: '{address}:443', tls: {{certificate: '{folder}/server.crt', key: '{folder}/server.key'}}}}
"""


def image_layout(folder, text):
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def add(content, kind):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        entry = tarfile.TarInfo("text")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
    described = add(layer.getvalue(), "layer.v1.tar")
    config = add(json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [described["digest"]]}}).encode(), "config.v1+json")
    manifest = add(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [described]}).encode(),
                   "manifest.v1+json")
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest | {"annotations": {"org.opencontainers.image.ref.name": "app"}}]}))
    return folder


class Upstream:
    """Debian's registry. Its log has each request."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        (folder / "config.yaml").write_text(STORAGE.format(folder=folder, address=ADDRESS))

    def start(self):
        self.process = subprocess.Popen(["docker-registry", "serve", self.folder / "config.yaml"], stderr=(self.folder / "log").open("a"))
        run("curl", "--silent", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", f"https://{HOST}/v2/")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def push(self, name, text):
        """An image with one file, which is in no other image."""
        layout = image_layout(self.folder / f"image-{text}", text)
        run("skopeo", "--insecure-policy", "copy", f"oci:{layout}:app", f"docker://{HOST}/{name}")

    def blobs_sent(self):
        lines = (self.folder / "log").read_text().splitlines()
        return [line for line in lines if "response completed" in line and "http.request.method=GET" in line and "/blobs/sha256" in line]


@pytest.fixture(scope="module")
def upstream(host):
    made = Upstream(host)
    made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module", autouse=True)
def machines(cluster, tmp_path_factory):
    images = tmp_path_factory.mktemp("images")
    for name in ("registry", "bin"):
        (images / name).symlink_to(PAYLOAD / name)
    cluster.create("m0", "m1", "--images", images)


def test_an_image_is_fetched_once_for_all_machines(cluster, upstream):
    upstream.push("team/app:1", "app")
    image = f"{HOST}/team/app:1"
    cluster.pull("m0", image)
    sent = upstream.blobs_sent()
    assert sent
    cluster.pull("m1", image)
    assert upstream.blobs_sent() == sent
    assert image in cluster.slipway("shell", "m1", "--", "ctr", "--namespace=k8s.io", "images", "ls", "--quiet").stdout
    # The images of the release are still there.
    pod = next(entry["digest"] for entry in json.loads((BUILD / "release/index.json").read_text())["manifests"]
               if entry["annotations"]["org.opencontainers.image.ref.name"] == "etcd")
    cluster.pull("m0", f"registry.slipway.invalid/slipway/release@{pod}")


def test_a_tag_that_moves_and_a_registry_that_is_gone(cluster, upstream):
    upstream.push("team/moving:1", "first")
    cluster.pull("m0", f"{HOST}/team/moving:1")
    upstream.push("team/moving:1", "second")
    cluster.pull("m0", f"{HOST}/team/moving:1")
    upstream.stop()
    try:
        cluster.pull("m1", f"{HOST}/team/moving:1")
        missing = cluster.pull("m1", f"{HOST}/team/other:1", check=False)
        assert missing.returncode == 1 and f"{HOST}/team/other:1" in missing.stderr
        assert f"slipway image load {HOST}/team/other:1" in cluster.log()
    finally:
        upstream.start()


def test_an_image_that_does_not_exist(cluster, upstream):
    missing = cluster.pull("m0", f"{HOST}/team/none:1", check=False)
    assert missing.returncode == 1 and "not found" in missing.stderr, missing.stderr


def test_programs_of_the_host_are_not_reached(cluster, host, tmp_path):
    with web_server("127.0.0.1", 8443, tmp_path, (host / "server.crt", host / "server.key")) as requests:
        for name in ("localhost:8443", "127.0.0.1:8443"):
            assert cluster.pull("m0", f"{name}/secret:1", check=False).returncode == 1
        assert requests == []


def test_settings_of_a_cluster_that_exists(cluster):
    """They would have no effect."""
    for setting in ("egress", "offline"):
        refused = cluster.slipway("create", "m2", "--os-repo", PAYLOAD / "os/repo", f"--{setting}", check=False)
        assert refused.returncode == 1 and f"exists without {setting}" in refused.stderr, refused.stderr
