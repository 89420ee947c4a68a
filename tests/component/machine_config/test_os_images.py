"""Image mode on the bootstrap machine with the real programs: the config of masters waits for their image, and the machine-config-server
has the image for skopeo and curl."""
import base64
import gzip
import hashlib
import io
import json
import random
import tarfile
import urllib.parse

import pytest
import sample
from server_world import ACCEPT, World, run

REPOSITORY = "registry.example.com/team/os"
LAYER_SIZE = 20_000_000
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OS_CONFIG = f"""apiVersion: machineconfiguration.openshift.io/v1
kind: MachineOSConfig
metadata: {{name: master}}
spec:
  machineConfigPool: {{name: master}}
  imageBuilder: {{imageBuilderType: Job}}
  renderedImagePushSpec: {REPOSITORY}:latest
  renderedImagePushSecret: {{name: push}}
  containerFile:
  - content: |
      FROM configs AS final
      RUN touch /usr/share/mine
---
apiVersion: v1
kind: Secret
metadata: {{name: push, namespace: openshift-machine-config-operator}}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{{"auths": {{"registry.example.com": {{"auth": "{base64.b64encode(b"pusher:pusher-secret").decode()}"}}}}}}'
"""


def write_layout(folder):
    """An OCI layout with an image of one large layer. Returns the digest of its manifest."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def put(content):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        entry = tarfile.TarInfo("usr/share/mine")
        entry.size = LAYER_SIZE
        tar.addfile(entry, io.BytesIO(random.Random(1).randbytes(LAYER_SIZE)))
    layer = put(gzip.compress(packed.getvalue(), 1, mtime=0))
    config = put(json.dumps({"architecture": "amd64", "os": "linux", "config": {},
                             "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(packed.getvalue()).hexdigest()}"]}}).encode())
    manifest = put(json.dumps({"schemaVersion": 2, "mediaType": MANIFEST,
                               "config": {"mediaType": "application/vnd.oci.image.config.v1+json", **config},
                               "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **layer}]}).encode())
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [{"mediaType": MANIFEST, **manifest}]}))
    return manifest["digest"], layer["digest"]


class ImageWorld(World):
    def __init__(self, folder):
        super().__init__(folder)
        (self.assets / "openshift/99-os.yaml").write_text(OS_CONFIG)
        self.render_operator()
        self.render_pools()
        self.start_server()

    def finish_build(self):
        """What the stage os-image-build leaves."""
        output = self.images / "master"
        self.manifest, self.layer = write_layout(output / "oci")
        build = json.loads((self.mcs / "os-builds/master/build.json").read_text())
        record = {"build": build, "digest": self.manifest, "started": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:01:00Z", "bytes": 1,
                  "isPushed": False}
        (output / "image.json").write_text(json.dumps(record))

    def ask(self, path, login=f"slipway:{sample.TOKEN}", headers=(), method="GET"):
        """Status, headers (names in lower case) and body of an answer."""
        words = ["--head"] if method == "HEAD" else ["-X", method]
        words += ["-u", login] if login else []
        for header in headers:
            words += ["-H", header]
        (self.folder / "answer").write_bytes(b"")
        done = run("curl", "-s", "--path-as-is", "--cacert", self.assets / "tls/ca.crt", "-o", self.folder / "answer", "-D", self.folder / "head",
                   "-w", "%{http_code}", *words, f"https://127.0.0.1:{self.ports[0]}{path}")
        lines = (self.folder / "head").read_text().splitlines()[1:]
        found = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines if ":" in line}
        return int(done.stdout), found, (self.folder / "answer").read_bytes()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = ImageWorld(tmp_path_factory.mktemp("os-images"))
    made.waiting = made.ask("/config/master", login=None, headers=[f"Authorization: Bearer {sample.TOKEN}"])
    (made.images / "master").mkdir(parents=True)
    (made.images / "master/failure.json").write_text(json.dumps({"code": "invalid", "message": "Containerfile:2: no such program\nlast lines"}))
    made.failed = made.curl("/config/master")
    made.finish_build()
    yield made
    made.stop_server()


def test_the_controller_writes_the_build(world):
    folder = world.mcs / "os-builds/master"
    assert (folder / "root/etc/user-was-here").read_text() == "yes\n"
    assert "RUN touch /usr/share/mine" in (folder / "Containerfile").read_text()
    logins = world.mcs / "os-logins/master/push.json"
    assert json.loads(logins.read_text())["auths"]["registry.example.com"]
    assert logins.stat().st_mode & 0o777 == 0o600
    # A Containerfile can copy all files of the folder.
    secrets = [path for path in folder.rglob("*") if path.is_file() and b"pusher" in path.read_bytes()]
    assert secrets == []


def test_masters_wait_for_the_image(world):
    status, headers, body = world.waiting
    assert (status, headers["retry-after"]) == (503, "5")
    assert body == b"the operating system image of pool master is being built\n"
    assert world.failed == (503, "the operating system image of pool master could not be built: Containerfile:2: no such program\n")


def test_the_config_names_the_image_and_its_source(world):
    status, text = world.curl("/config/master", accept=ACCEPT + "3.2.0")
    assert status == 200, text
    files = {file["path"]: file for file in json.loads(text)["storage"]["files"]}

    def content(path):
        head, _, data = files[path]["contents"]["source"].partition(",")
        return json.loads(base64.b64decode(data) if head.endswith(";base64") else urllib.parse.unquote(data))

    image = f"{REPOSITORY}@{world.manifest}"
    annotations = content("/etc/machine-config-daemon/node-annotations.json")
    prefix = "machineconfiguration.openshift.io/"
    assert annotations[prefix + "currentImage"] == annotations[prefix + "desiredImage"] == image
    assert content("/etc/ignition-machine-config-encapsulated.json")["spec"]["osImageURL"] == image
    assert content("/etc/mcs-machine-config-content.json")["spec"]["osImageURL"] == sample.IMAGES["machine-os"]
    assert files["/etc/slipway/os-image-source.json"]["mode"] == 0o600
    source = content("/etc/slipway/os-image-source.json")
    assert source == {"image": image, "server": "api-int.demo.example.com:22623", "ca": (world.assets / "tls/ca.crt").read_text(),
                      "username": "slipway", "password": sample.TOKEN}


def copy_with_skopeo(world, tmp_path, login, check=True):
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    (certificates / "ca.crt").write_bytes((world.assets / "tls/ca.crt").read_bytes())
    source = f"docker://127.0.0.1:{world.ports[0]}/team/os@{world.manifest}"
    return run("skopeo", "copy", "--retry-times=0", "--src-cert-dir", certificates, "--src-creds", login, source, f"oci:{tmp_path}/copy:os",
               check=check)


def test_skopeo_reads_the_image(world, tmp_path):
    copy_with_skopeo(world, tmp_path, f"slipway:{sample.TOKEN}")
    blobs = "oci/blobs/sha256"
    for path in (world.images / "master" / blobs).iterdir():
        assert (tmp_path / "copy/blobs/sha256" / path.name).read_bytes() == path.read_bytes()
    assert json.loads((tmp_path / "copy/index.json").read_text())["manifests"][0]["digest"] == world.manifest


@pytest.mark.parametrize("login", ["slipway:guess", f"slipway:{sample.WORKER_TOKEN}", f"other:{sample.TOKEN}"])
def test_skopeo_needs_the_token_of_masters(world, tmp_path, login):
    done = copy_with_skopeo(world, tmp_path, login, check=False)
    assert done.returncode != 0 and "unauthorized" in done.stderr.lower(), done.stderr


def test_answers_have_the_headers_of_the_protocol(world):
    status, headers, body = world.ask(f"/v2/team/os/manifests/{world.manifest}")
    assert (status, headers["content-type"], headers["docker-content-digest"]) == (200, MANIFEST, world.manifest)
    assert hashlib.sha256(body).hexdigest() == world.manifest.removeprefix("sha256:")
    for path in (f"/v2/team/os/manifests/{world.manifest}", f"/v2/team/os/blobs/{world.layer}"):
        whole, head = world.ask(path), world.ask(path, method="HEAD")
        assert head[0] == 200 and int(head[1]["content-length"]) == len(whole[2]), path
    status, headers, body = world.ask("/v2/", login=None)
    assert (status, headers["www-authenticate"]) == (401, 'Basic realm="slipway"')
    assert json.loads(body)["errors"][0]["code"] == "UNAUTHORIZED"


def test_parts_of_a_layer(world):
    path = f"/v2/team/os/blobs/{world.layer}"
    whole = (world.images / "master/oci/blobs/sha256" / world.layer.removeprefix("sha256:")).read_bytes()
    for requested, first, last in [("0-0", 0, 0), ("1000000-", 1000000, len(whole) - 1), ("-5", len(whole) - 5, len(whole) - 1),
                                   (f"7-{len(whole) * 2}", 7, len(whole) - 1)]:
        status, headers, body = world.ask(path, headers=[f"Range: bytes={requested}"])
        assert (status, headers["content-range"]) == (206, f"bytes {first}-{last}/{len(whole)}"), requested
        assert body == whole[first:last + 1], requested
    status, headers, _ = world.ask(path, headers=[f"Range: bytes={len(whole)}-"])
    assert (status, headers["content-range"]) == (416, f"bytes */{len(whole)}")
    assert world.ask(path, headers=["Range: bytes=0-1,5-6"])[2] == whole


def test_no_path_reaches_other_files(world):
    secret = world.images / "master/secret"
    secret.write_text("secret-of-the-machine")
    name = world.layer.removeprefix("sha256:")
    (world.images / "master/oci/blobs/sha256" / ("0" * 64)).symlink_to(secret)
    for path in ("blobs/sha256:../../../secret", "blobs/..%2f..%2f..%2fsecret", "blobs/sha256:..%2f..%2f..%2fsecret", "blobs/%2e%2e/%2e%2e/secret",
                 "manifests/../../secret", f"blobs/sha256:{name}/../../../../secret", "blobs/sha256:" + "0" * 64,
                 "blobs/" + str(secret), "manifests/latest", "tags/list", f"../../os/blobs/{world.layer}"):
        status, _, body = world.ask(f"/v2/team/os/{path}")
        assert status in (400, 404) and b"secret-of-the-machine" not in body, path
    assert world.ask(f"/v2/team/others/blobs/{world.layer}")[0] == 404
    assert world.ask(f"/v2/team/os/blobs/{world.layer}", method="DELETE")[0] == 405
    assert world.ask("/v2/team/os/blobs/uploads/", method="POST")[0] == 405


def test_the_log_has_no_token(world):
    world.ask("/v2/", login="slipway:wrong-guess")
    log = (world.folder / "server.log").read_text()
    assert "refused /v2/" in log and "wrong-guess" not in log and sample.TOKEN not in log and "pusher-secret" not in log
