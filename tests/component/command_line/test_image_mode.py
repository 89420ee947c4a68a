"""Image mode from an install-config to the config of the bootstrap machine, as a user goes through it."""
import base64
import json
import pathlib
import sys
import urllib.parse

import pytest
from program import CONFIG, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "registry"))
from sample import Layout  # noqa: E402

LOGIN = base64.b64encode(b"builder:s3cret").decode()
DIGEST = "sha256:" + 64 * "a"
FILES = [f"openshift/99_machineosconfig_{name}.yaml" for name in ("master", "secret_master", "secret_worker", "worker")]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True).folder


class Directory:
    def __init__(self, path, release):
        self.path, self.release = path, release

    def configure(self, more, workers=1):
        (self.path / "install-config.yaml").write_text(f"{CONFIG}compute: [{{name: worker, replicas: {workers}}}]\n{more}")

    def create(self, target, *options, status=0):
        """What the command said, without its progress."""
        result = run("create", target, "--dir", self.path, "--release", self.release, "--key-type", "ecdsa", *options, status=status)
        return result.stderr

    def manifests(self, *options, status=0):
        return self.create("manifests", *options, status=status)

    def change(self, name, *changes):
        path = self.path / name
        text = path.read_text()
        for before, after in changes:
            assert before in text, (name, before)
            text = text.replace(before, after)
        path.write_text(text)

    def complete(self, *changes):
        for role in ("master", "worker"):
            self.change(f"openshift/99_machineosconfig_{role}.yaml", ("registry.example.com/CHANGE-ME", "quay.example.com/team"), *changes)
            self.change(f"openshift/99_machineosconfig_secret_{role}.yaml", ("registry.example.com", "quay.example.com"), ("CHANGE-ME", LOGIN))

    def on_bootstrap(self):
        """The files in /opt/openshift of the bootstrap machine that image mode adds."""
        root = "/opt/openshift/"
        files = json.loads((self.path / "bootstrap.ign").read_text())["storage"]["files"]
        sources = {each["path"].removeprefix(root): each["contents"]["source"] for each in files if each["path"].startswith(root)}
        wanted = {path: source for path, source in sources.items() if "image-mode" in path or "machineosconfig" in path}
        return {path: content(source) for path, source in wanted.items()}


def content(source):
    kind, _, data = source.partition(",")
    return base64.b64decode(data).decode() if kind.endswith(";base64") else urllib.parse.unquote(data)


@pytest.fixture
def directory(tmp_path, release):
    return Directory(tmp_path, release)


def test_a_containerfile_reaches_the_bootstrap_machine(directory):
    directory.configure("imageMode: {policy: BuildOnBootstrap}\n")
    assert "`slipway create manifests --with-machine-os-config`" in directory.manifests()
    said = directory.create("ignition-configs", status=1)
    for role in ("master", "worker"):
        assert f"openshift/99_machineosconfig_{role}.yaml: error: missing: imageMode.policy BuildOnBootstrap needs a MachineOSConfig for pool {role}" in said
    assert not (directory.path / "bootstrap.ign").exists()

    said = directory.manifests("--with-machine-os-config")
    assert f"complete {', '.join(FILES)}: replace CHANGE-ME in them" in said
    assert all((directory.path / name).stat().st_mode & 0o777 == 0o600 for name in FILES)
    said = directory.create("ignition-configs", status=1)
    assert said.count("still has CHANGE-ME") == len(FILES), said

    directory.complete(("FROM configs AS final", "FROM configs AS final\n      RUM true"))
    before = {name: (directory.path / name).read_text() for name in FILES}
    said = directory.manifests("--with-machine-os-config", status=1)
    line = before[FILES[0]].splitlines().index("      RUM true") + 1
    assert all(f"{name}:{line}:1: error: spec.containerFile[0].content: " in said for name in (FILES[0], FILES[3])), said
    assert LOGIN not in said and "s3cret" not in said
    for role in ("master", "worker"):
        directory.change(f"openshift/99_machineosconfig_{role}.yaml", ("RUM true", "RUN true"))
    complete = {name: (directory.path / name).read_text() for name in FILES}
    assert "machineosconfig" not in directory.manifests()
    assert {name: (directory.path / name).read_text() for name in FILES} == complete

    directory.create("ignition-configs")
    files = directory.on_bootstrap()
    assert json.loads(files.pop("image-mode.json")) == {"policy": "BuildOnBootstrap"}
    assert files == complete


def test_images_that_exist_are_named(directory):
    directory.configure("imageMode: {policy: PreBuilt}\n", workers=0)
    directory.manifests("--with-machine-os-config")
    assert sorted(each.name for each in (directory.path / "openshift").glob("99_machineosconfig_*")) == [pathlib.Path(name).name for name in FILES[:2]]
    directory.change(FILES[0], ("registry.example.com/CHANGE-ME", "quay.example.com/team"), ("sha256:CHANGE-ME", DIGEST))
    said = directory.create("ignition-configs", status=1)
    assert said.count("error: stringData") == 1 and FILES[1] in said, said
    directory.change(FILES[1], ("registry.example.com", "quay.example.com"), ("CHANGE-ME", LOGIN))
    directory.create("ignition-configs")
    assert json.loads(directory.on_bootstrap()["image-mode.json"]) == {"policy": "PreBuilt"}


def test_without_image_mode_nothing_is_different(directory):
    """And a MachineOSConfig is an error."""
    made = []
    for more in ("", "imageMode: {policy: None}\n"):
        directory.configure(more)
        directory.create("ignition-configs")
        assert directory.on_bootstrap() == {}
        made.append({path.name: path.read_bytes() for path in directory.path.glob("*.ign")})
    assert made[0].keys() == {"bootstrap.ign", "master.ign", "worker.ign"} and made[0] == made[1]
    said = directory.manifests("--with-machine-os-config", status=1)
    assert said.count("MachineOSConfig has no effect without imageMode in the install-config (set imageMode.policy to") == 2, said
