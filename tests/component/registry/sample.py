"""A small, valid release as an OCI image layout, created without slipway's tools."""
import gzip
import hashlib
import io
import json
import pathlib
import random
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from release_signature import signature_image, signature_tag  # noqa: E402

REPOSITORY = "registry.slipway.invalid/slipway/release"
VERSION = "0.1.0"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def tar_gz(files):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return plain.getvalue(), gzip.compress(plain.getvalue(), compresslevel=1, mtime=0)


class Layout:
    """Writes itself to `folder`; `images` are the digests by component name, "" is the release."""

    def __init__(self, folder, large=0, has_login=False):
        self.folder = folder
        (folder / "blobs" / "sha256").mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
        base = self.layer({"usr/bin/sh": random.Random(1).randbytes(300_000 + large)})
        names = ("etcd", "coredns", "pause") + (("oauth-server",) if has_login else ())
        self.images = {name: self.image([base, self.layer({f"usr/bin/{name}": name.encode()})], name) for name in names}
        references = {
            "kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "metadata": {"name": VERSION},
            "spec": {"tags": [{"name": name, "annotations": {"io.openshift.build.versions": f"{name}=1.2.3"},
                               "from": {"kind": "DockerImage", "name": f"{REPOSITORY}@{digest}"}} for name, digest in self.images.items()]}}
        metadata = {"kind": "cincinnati-metadata-v0", "version": VERSION, "previous": [], "metadata": {"description": "a sample"}}
        documents = self.layer({"release-manifests/image-references": json.dumps(references).encode(),
                                "release-manifests/release-metadata": json.dumps(metadata).encode(),
                                "release-manifests/0000_10_a.crd.yaml": b"kind: CustomResourceDefinition\n"})
        self.images[""] = self.image([base, documents], "release")
        descriptor = self.descriptor(MANIFEST, self.images[""])
        descriptor["annotations"] = {"org.opencontainers.image.ref.name": "release"}
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [descriptor]}))

    def sign(self, key):
        """Puts the signature of the release beside it."""
        tag = signature_tag(self.images[""])
        manifest, blobs = signature_image(key.envelope(self.images[""], VERSION))
        for blob in blobs.values():
            self.add(blob)
        descriptor = self.descriptor(MANIFEST, self.add(manifest))
        descriptor["annotations"] = {"org.opencontainers.image.ref.name": tag}
        index = json.loads((self.folder / "index.json").read_text())
        index["manifests"].append(descriptor)
        (self.folder / "index.json").write_text(json.dumps(index))
        return tag

    def path(self, digest):
        return self.folder / "blobs" / "sha256" / digest.removeprefix("sha256:")

    def add(self, content):
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        self.path(digest).write_bytes(content)
        return digest

    def descriptor(self, media_type, digest):
        return {"mediaType": media_type, "digest": digest, "size": self.path(digest).stat().st_size}

    def layer(self, files):
        plain, zipped = tar_gz(files)
        return self.descriptor("application/vnd.oci.image.layer.v1.tar+gzip", self.add(zipped)), "sha256:" + hashlib.sha256(plain).hexdigest()

    def image(self, layers, title):
        config = {"created": "2026-11-21T09:30:00Z", "architecture": "amd64", "os": "linux", "config": {"Labels": {"title": title}},
                  "rootfs": {"type": "layers", "diff_ids": [diff_id for _, diff_id in layers]}}
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST,
                    "config": self.descriptor("application/vnd.oci.image.config.v1+json", self.add(json.dumps(config).encode())),
                    "layers": [descriptor for descriptor, _ in layers]}
        return self.add(json.dumps(manifest).encode())

    def tags(self):
        return {VERSION + (f"-{name}" if name else ""): digest for name, digest in self.images.items()}
