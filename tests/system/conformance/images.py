"""The images of conformance tests, built from local files, in the storage of a cluster's registry.

The original images are in public registries. These images have the same names and tags on another host, share one layer on top of the
debian layer of the release (payload/conformance/layer), and start the same programs.
"""

import hashlib
import json

REGISTRY = "registry.slipway.invalid/conformance"
# The command of each image. The layers below the common layer are those of an image of the release: `on`, or an image with only Debian.
IMAGES = {
    "agnhost": {"Entrypoint": ["/agnhost"], "Cmd": ["pause"]},
    "busybox": {"Cmd": ["sh"]},
    "etcd": {"on": "etcd", "Cmd": ["/usr/local/bin/etcd"]},
    "glibc-dns-testing": {"Cmd": ["sleep", "3600"]},
    "nautilus": {"Entrypoint": ["/agnhost"], "Cmd": ["test-webserver"]},
    "nginx": {"Cmd": ["nginx", "-e", "stderr", "-g", "daemon off;"]},
    "nonroot": {"Cmd": ["id", "-u"], "User": "1234"},
    "sample-apiserver": {"Entrypoint": ["/sample-apiserver"]},
}
DEBIAN = "haproxy-router"
# Images of the release that replace original images with another name.
SAME = {"pause": "pod"}


class Storage:
    """The files of the registry's filesystem driver below its root; payload/images/registry.go creates them."""

    def __init__(self, folder):
        self.root = folder / "docker/registry/v2"

    def blob(self, digest):
        return self.root / "blobs/sha256" / digest[7:9] / digest[7:] / "data"

    def read(self, digest):
        return json.loads(self.blob(digest).read_text())

    def release_image(self, component):
        """The digest of an image; tags are VERSION-COMPONENT."""
        tags = self.root / "repositories/slipway/release/_manifests/tags"
        return min(tags.glob(f"*-{component}"), key=lambda tag: len(tag.name)).joinpath("current/link").read_text()

    def add(self, content, kind):
        """Adds a blob; returns its descriptor."""
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        if not self.blob(digest).exists():
            write(self.blob(digest), content)
        return {"mediaType": kind, "digest": digest, "size": len(content)}

    def add_image(self, repository, tag, digest):
        manifest, repository = self.read(digest), self.root / "repositories" / repository
        for each in [manifest["config"], *manifest["layers"]]:
            link(repository / "_layers", each["digest"])
        link(repository / "_manifests/revisions", digest)
        link(repository / "_manifests/tags" / tag / "index", digest)
        write(repository / "_manifests/tags" / tag / "current/link", digest.encode())


def link(folder, digest):
    write(folder / "sha256" / digest[7:] / "link", digest.encode())


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def add_images(storage, layer_file, wanted):
    """Adds those of the images `wanted`, each REGISTRY/NAME:TAG, that can be built to a registry."""
    storage, prefix = Storage(storage), REGISTRY.partition("/")[2]
    # Not compressed: it stays on this host.
    layer = storage.add(layer_file.read_bytes(), "application/vnd.oci.image.layer.v1.tar")
    for image in wanted:
        name, _, tag = image.removeprefix(REGISTRY + "/").partition(":")
        if name in SAME:
            storage.add_image(f"{prefix}/{name}", tag, storage.release_image(SAME[name]))
        elif name in IMAGES:
            storage.add_image(f"{prefix}/{name}", tag, make_image(storage, layer, **IMAGES[name]))


def make_image(storage, layer, on=DEBIAN, **start):
    """Returns the digest."""
    manifest = storage.read(storage.release_image(on))
    base = storage.read(manifest["config"]["digest"])
    config = {"architecture": base["architecture"], "os": base["os"], "config": {"Env": base["config"]["Env"], **start},
              "rootfs": {"type": "layers", "diff_ids": [*base["rootfs"]["diff_ids"], layer["digest"]]}}
    blob = storage.add(json.dumps(config).encode(), manifest["config"]["mediaType"])
    made = {**manifest, "config": blob, "layers": [*manifest["layers"], layer]}
    return storage.add(json.dumps(made).encode(), manifest["mediaType"])["digest"]
