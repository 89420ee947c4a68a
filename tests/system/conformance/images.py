"""The images of conformance tests, made of what there is, in the storage of a cluster's registry.

Upstream's are on other people's registries. Ours have the same names and tags below another host, one layer above the debian layer of
the release (payload/conformance/layer) in common, and start the same programs.
"""

import hashlib
import json

REGISTRY = "registry.slipway.invalid/conformance"
# What a container of each starts. Below the common layer are those of an image of the release: `on`, or one with nothing but Debian.
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
# Images of the release that are what upstream has under another name.
SAME = {"pause": "pod"}


class Storage:
    """What the registry's filesystem driver has below its root; payload/images/registry.go makes it."""

    def __init__(self, folder):
        self.root = folder / "docker/registry/v2"

    def blob(self, digest):
        return self.root / "blobs/sha256" / digest[7:9] / digest[7:] / "data"

    def read(self, digest):
        return json.loads(self.blob(digest).read_text())

    def release_image(self, component):
        """Its digest; tags are VERSION-COMPONENT."""
        tags = self.root / "repositories/slipway/release/_manifests/tags"
        return min(tags.glob(f"*-{component}"), key=lambda tag: len(tag.name)).joinpath("current/link").read_text()

    def add(self, content, kind):
        """A blob; returns its descriptor."""
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
    """Gives a registry those of the images `wanted`, REGISTRY/NAME:TAG each, that can be made."""
    storage, prefix = Storage(storage), REGISTRY.partition("/")[2]
    # Not compressed: it travels within this host.
    layer = storage.add(layer_file.read_bytes(), "application/vnd.oci.image.layer.v1.tar")
    for image in wanted:
        name, _, tag = image.removeprefix(REGISTRY + "/").partition(":")
        if name in SAME:
            storage.add_image(f"{prefix}/{name}", tag, storage.release_image(SAME[name]))
        elif name in IMAGES:
            storage.add_image(f"{prefix}/{name}", tag, make_image(storage, layer, **IMAGES[name]))


def make_image(storage, layer, on=DEBIAN, **start):
    """Its digest."""
    manifest = storage.read(storage.release_image(on))
    base = storage.read(manifest["config"]["digest"])
    config = {"architecture": base["architecture"], "os": base["os"], "config": {"Env": base["config"]["Env"], **start},
              "rootfs": {"type": "layers", "diff_ids": [*base["rootfs"]["diff_ids"], layer["digest"]]}}
    blob = storage.add(json.dumps(config).encode(), manifest["config"]["mediaType"])
    made = {**manifest, "config": blob, "layers": [*manifest["layers"], layer]}
    return storage.add(json.dumps(made).encode(), manifest["mediaType"])["digest"]
