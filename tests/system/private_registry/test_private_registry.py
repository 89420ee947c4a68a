"""Clusters whose operating system images are in a registry of the user that nothing can use without a login: one builds them there, one
boots an image that exists. The network of the host is a namespace of the test with this registry in it."""

import base64
import json
import pathlib
import re
import sys
import tempfile

import host_network
import pytest
from host_network import ADDRESS, HOST, run
from os_images import layer, new_layout
from release_registry import release_registry

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from image_mode import annotations, boots, write_containerfiles  # noqa: E402
from installation import Creation, Installation  # noqa: E402

USER, PASSWORD = "owner", "secret-of-the-owner"
LOGINS = json.dumps({"auths": {HOST: {"auth": base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()}}})
REPOSITORY = f"{HOST}/team/os"
MARK = "/usr/share/of-the-test"


@pytest.fixture(scope="module")
def authority():
    """The certificate of the registry, which runs."""
    with tempfile.TemporaryDirectory(prefix="slipway-private-", dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        host_network.enter(folder)
        with (host_network.name_server(HOST), release_registry(folder, f"{ADDRESS}:443", (folder / "server.crt", folder / "server.key"), (USER, PASSWORD),
                                                               storage=folder / "storage", takes_pushes=True)):
            yield (folder / "server.crt").read_text()


class Cluster(Installation):
    """One master."""

    def __init__(self, authority, policy, egress):
        bundle = "".join(f"  {line}\n" for line in authority.splitlines())
        super().__init__(more=f"controlPlane: {{name: master, replicas: 1}}\ncompute: [{{name: worker, replicas: 0}}]\n"
                         f"imageMode: {{policy: {policy}}}\npullSecret: '{LOGINS}'\nadditionalTrustBundle: |\n{bundle}")
        if egress:
            config = self.dir / "install-config.yaml"
            config.write_text(config.read_text().replace("{local: {}}", "{local: {egress: true}}"))

    def use(self, image):
        """The registry of the user instead of the cluster's, with its login."""
        for file in (self.dir / "openshift").glob("99_machineosconfig_*"):
            text = file.read_text().replace(f"registry.{self.domain}:5443/os/master@sha256:CHANGE-ME", image)
            text = text.replace(f"registry.{self.domain}:5443/os/master", image.partition("@")[0])
            file.write_text(re.sub(r"(\.dockerconfigjson:) .*", lambda found: f"{found[1]} '{LOGINS}'", text))

    def install(self):
        self.creation = Creation(self)
        self.creation.complete()

    def image_of_node(self):
        found = annotations(self, "master-0")
        assert found["currentImage"] == found["desiredImage"], found
        return found["currentImage"]

    def check(self):
        assert self.machine("master-0", "cat", MARK).stdout == "of the test\n"
        # The first boot, and the start of the image.
        assert boots(self, "master-0") == 2
        builds = self.api.get("/apis/machineconfiguration.openshift.io/v1/machineosbuilds")["items"]
        assert [build["status"]["digestedImagePushSpec"] for build in builds] == [self.image_of_node()]
        jobs = self.objects("jobs", "--namespace", "openshift-machine-config-operator")
        assert not [job for job in jobs if "os-build" in job["metadata"]["name"]], jobs


def test_images_are_built_into_it(authority):
    cluster = Cluster(authority, "BuildOnBootstrap", egress=True)
    try:
        write_containerfiles(cluster, {"master": f'RUN echo "of the test" >{MARK} && chmod 0644 {MARK}\n'})
        cluster.use(f"{REPOSITORY}-built")
        cluster.install()
        image = cluster.image_of_node()
        assert image.startswith(f"{REPOSITORY}-built@sha256:"), image
        run("skopeo", "inspect", f"--creds={USER}:{PASSWORD}", f"docker://{image}")
        cluster.check()
        assert PASSWORD not in cluster.said.read_text()
    finally:
        cluster.remove()


def test_machines_boot_an_image_that_exists(authority):
    cluster = Cluster(authority, "PreBuilt", egress=False)
    try:
        with new_layout() as layout:
            digest = layout.add("prebuilt", layer({MARK[1:]: "of the test\n"})).rpartition("@")[2]
            run("skopeo", "--insecure-policy", "copy", "--preserve-digests", f"--dest-creds={USER}:{PASSWORD}", f"oci:{layout.write()}:prebuilt",
                f"docker://{REPOSITORY}:prebuilt")
        cluster.run("create", "manifests", "--with-machine-os-config")
        cluster.use(f"{REPOSITORY}@{digest}")
        cluster.install()
        assert cluster.image_of_node() == f"{REPOSITORY}@{digest}"
        cluster.check()
    finally:
        cluster.remove()
