"""`slipway upgrade --release` fills the registry of a cluster, from which machines then get both releases. The API is a small server."""
import base64
import http.server
import json
import socket
import ssl
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from sample import MANIFEST, Layout
from release_signature import Key, signature_tag
from test_registry import REGISTRIES, SLIPWAY, Registry, mirror

RELEASE_HOST = "registry.slipway.invalid"
OBJECT = "/apis/config.openshift.io/v1/clusterversions/version"


class Api:
    """Serves the ClusterVersion `object`; a merge patch changes its spec."""

    def __init__(self, certificate):
        self.object = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version", "generation": 1}, "spec": {},
                       "status": {"conditions": [{"type": "Progressing", "status": "False", "message": "Cluster version is 0.1.0"}]}}
        self.applied = []  # ConfigMaps
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = json.dumps(api.object).encode()
                self.send_response(200 if self.path.startswith(OBJECT) else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = answer

            def do_PATCH(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if "/configmaps/" in self.path:
                    api.applied.append(body)
                    body = json.dumps(body).encode()
                    self.send_response(201)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                api.object["spec"] |= body["spec"]
                self.answer()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "ca.crt", certificate / "server.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kubeconfig(self, certificate):
        return json.dumps({"clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.server.server_port}",
                                                                  "certificate-authority": str(certificate / "ca.crt")}}],
                           "users": [{"name": "u", "user": {"token": "t"}}],
                           "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "current-context": "c"})


class Cluster:
    """The registry of a cluster with a release, an API, and the asset directory."""

    def __init__(self, folder, storage):
        self.directory, certificate = folder / "demo", folder / "demo/auth/registry"
        certificate.mkdir(parents=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate / "server.key", "-out", certificate / "ca.crt"],
                       check=True, capture_output=True)
        (folder / "logins").write_text(subprocess.run(["htpasswd", "-Bbn", "dev", "secret"], check=True, capture_output=True, text=True).stdout)
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.machines, self.people = (f"127.0.0.1:{each.getsockname()[1]}" for each in sockets)
        machines, people = (each.fileno() for each in sockets)
        (folder / "cluster.json").write_text(json.dumps({
            "releaseHost": RELEASE_HOST, "releaseStorage": str(storage), "store": str(folder / "store"), "machinesSocket": machines, "offline": True,
            "people": {"socket": people, "name": self.people, "certificate": str(certificate / "ca.crt"), "key": str(certificate / "server.key"),
                       "logins": str(folder / "logins")}}))
        self.process = subprocess.Popen([REGISTRIES["payload"], "cluster", folder / "cluster.json"], pass_fds=[machines, people],
                                        stdout=(folder / "log").open("w"), stderr=subprocess.STDOUT)
        self.api = Api(certificate)
        (self.directory / "auth/kubeconfig").write_text(self.api.kubeconfig(certificate))
        self.log_in("ZGV2OnNlY3JldA==")

    def log_in(self, login):
        (self.directory / "auth/registry.json").write_text(json.dumps({"auths": {self.people: {"auth": login}}}))

    def upgrade(self, *words, status=0):
        done = subprocess.run([SLIPWAY, "upgrade", *words, "--dir", self.directory], capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def manifest(self, digest):
        """The status of a machine's request for an image of the release."""
        request = urllib.request.Request(f"http://{self.machines}/v2/slipway/release/manifests/{digest}?ns={RELEASE_HOST}", headers={"Accept": MANIFEST})
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status
        except urllib.error.HTTPError as failed:
            return failed.code

    def close(self):
        self.api.server.shutdown()
        self.process.kill()
        self.process.wait()


@pytest.fixture
def cluster(tmp_path):
    running = Layout(tmp_path / "running")
    maker = Registry(REGISTRIES["payload"], tmp_path / "maker")
    mirror(running, maker)
    maker.stop()
    made = Cluster(tmp_path, tmp_path / "maker/storage")
    made.running = running
    yield made
    made.close()


def test_a_release_is_copied_and_requested(cluster, tmp_path):
    newer = Layout(tmp_path / "newer", large=1)
    assert set(newer.images.values()).isdisjoint(cluster.running.images.values())
    assert cluster.manifest(newer.images["etcd"]) == 404
    assert cluster.upgrade("--release", newer.folder).stdout == "Requested update to 0.1.0\n"
    image = f"{RELEASE_HOST}/slipway/release@{newer.images['']}"
    assert cluster.api.object["spec"]["desiredUpdate"] == {"image": image, "version": "0.1.0", "force": None, "architecture": None}
    for digest in [*newer.images.values(), *cluster.running.images.values()]:
        assert cluster.manifest(digest) == 200
    assert "0 B copied" in cluster.upgrade("--release", newer.folder).stderr


def test_the_signature_goes_with_the_release(cluster, tmp_path):
    newer, key = Layout(tmp_path / "newer", large=1), Key(tmp_path)
    tag = newer.sign(key)
    cluster.upgrade("--release", newer.folder)
    assert cluster.manifest(newer.images[""]) == 200 and cluster.manifest(tag) == 200, "machines read both"
    [stored] = cluster.api.applied
    assert stored["metadata"]["namespace"] == "openshift-config-managed"
    assert stored["metadata"]["labels"] == {"release.openshift.io/verification-signatures": ""}
    [(name, envelope)] = stored["binaryData"].items()
    assert name == signature_tag(newer.images[""]).removesuffix(".sig") + "-1"
    assert key.verify(base64.b64decode(envelope)) == {"digest": newer.images[""], "identity": "slipway/release", "version": "0.1.0"}


def test_nothing_is_copied_for_a_request_that_is_refused(cluster, tmp_path):
    newer = Layout(tmp_path / "newer", large=1)
    cluster.api.object["status"]["conditions"][0]["status"] = "True"
    refused = cluster.upgrade("--release", newer.folder, status=1)
    assert "already updating" in refused.stderr and "--allow-upgrade-with-warnings" in refused.stderr
    assert cluster.manifest(newer.images[""]) == 404
    cluster.upgrade("--release", newer.folder, "--allow-upgrade-with-warnings", "--force")
    assert cluster.api.object["spec"]["desiredUpdate"]["force"] is True


def test_copying_needs_the_login(cluster, tmp_path):
    newer = Layout(tmp_path / "newer", large=1)
    cluster.log_in("ZGV2Ondyb25n")
    assert "denie" in cluster.upgrade("--release", newer.folder, status=1).stderr
    assert cluster.api.object["spec"] == {} and cluster.manifest(newer.images[""]) == 404


def test_the_report(cluster):
    assert cluster.upgrade().stdout.startswith("Cluster version is 0.1.0\n\nNo updates available.")
    assert "not one of the available updates" in cluster.upgrade("--to", "0.1.1", status=1).stderr
