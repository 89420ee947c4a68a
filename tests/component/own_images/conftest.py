"""The network of the host is a namespace of the test: an address, a name of it, and an authority that the host trusts."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import tempfile
import uuid

import pytest

# With SLIPWAY_LONG=1 a whole cluster, too.
collect_ignore = [] if "SLIPWAY_LONG" in os.environ else ["test_cluster.py"]

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway"
PAYLOAD = BUILD / "payload"
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
ADDRESS, HOST, METADATA = "192.0.2.1", "registry.example.com", "169.254.169.254"


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **{"timeout": 240} | options)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session", autouse=True)
def host(tmp_path_factory):
    """The folder with the certificate of HOST."""
    folder = tmp_path_factory.mktemp("host")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS | CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    run("mount", "--make-rprivate", "/")
    run("ip", "-batch", "-", input=f"link set lo up\naddress add {METADATA}/32 dev lo\nlink add uplink type bridge\n"
        f"address add {ADDRESS}/24 dev uplink\nlink set uplink up\nroute add default via 192.0.2.254\n")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext",
        f"subjectAltName=DNS:{HOST},DNS:localhost,IP:127.0.0.1", "-keyout", folder / "server.key", "-out", folder / "server.crt")
    files = {"/etc/hosts": f"127.0.0.1 localhost\n{ADDRESS} {HOST}\n", "/etc/resolv.conf": f"nameserver {ADDRESS}\n",
             "/etc/ssl/certs/ca-certificates.crt": (folder / "server.crt").read_text()}
    for path, text in files.items():
        own = folder / pathlib.Path(path).name
        own.write_text(text)
        run("mount", "--bind", own, path)
    return folder


class Cluster:
    def __init__(self, folder):
        self.state, self.name = folder, "i" + uuid.uuid4().hex[:8]
        self.folder = folder / self.name

    def slipway(self, *words, **options):
        words = list(words)
        end = words.index("--") if "--" in words else len(words)
        return run(SLIPWAY, "machine", *words[:end], "--cluster", self.name, "--state", self.state, *words[end:], **options)

    def create(self, *words):
        self.slipway("create", *words, "--os-repo", PAYLOAD / "os/repo", "--wait")

    def shell(self, machine, *command, **options):
        return self.slipway("shell", machine, "--", *command, **options)

    def pull(self, machine, image, check=True):
        return self.shell(machine, "slipway-pull-image", image, check=check)

    def log(self):
        return (self.folder / "registry.log").read_text()


@pytest.fixture(scope="module")
def cluster(host):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-images-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.slipway("destroy", "--all", check=False)
        assert not made.folder.exists()
        shutil.rmtree(folder)
