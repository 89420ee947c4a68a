import os
import pathlib
import shutil
import tempfile
import uuid

import host_network
import pytest
from host_network import ADDRESS, HOST, METADATA, run  # noqa: F401  tests import them

# With SLIPWAY_LONG=1 a whole cluster, too.
collect_ignore = [] if "SLIPWAY_LONG" in os.environ else ["test_cluster.py"]

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway"
PAYLOAD = BUILD / "payload"


@pytest.fixture(scope="session", autouse=True)
def host(tmp_path_factory):
    """The folder with the certificate of HOST."""
    folder = tmp_path_factory.mktemp("host")
    host_network.enter(folder)
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
