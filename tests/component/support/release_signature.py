"""Signatures of releases by openssl, for comparison with slipway's own."""
import base64
import hashlib
import json
import subprocess

ENVELOPE = "application/vnd.dsse.envelope.v1+json"
TEXT = "application/vnd.slipway.release.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=60).stdout


def encoded(text):
    return f"DSSEv1 {len(TEXT)} {TEXT} {len(text)} ".encode() + text


class Key:
    def __init__(self, folder, name="release"):
        self.folder, self.private, self.public = folder, folder / f"{name}.key", folder / f"{name}.pem"
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", self.private)
        self.private.chmod(0o600)
        run("openssl", "pkey", "-in", self.private, "-pubout", "-out", self.public)

    def envelope(self, digest, version):
        text = json.dumps({"digest": digest, "identity": "slipway/release", "version": version}).encode()
        (self.folder / "text").write_bytes(encoded(text))
        signature = run("openssl", "pkeyutl", "-sign", "-inkey", self.private, "-rawin", "-in", self.folder / "text")
        encode = lambda data: base64.b64encode(data).decode()  # noqa: E731
        return json.dumps({"payloadType": TEXT, "payload": encode(text), "signatures": [{"sig": encode(signature)}]}).encode()

    def verify(self, envelope):
        """The signed document. Fails if the signature is not of this key."""
        read = json.loads(envelope)
        text = base64.b64decode(read["payload"])
        (self.folder / "text").write_bytes(encoded(text))
        (self.folder / "signature").write_bytes(base64.b64decode(read["signatures"][0]["sig"]))
        run("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", self.public, "-rawin", "-in", self.folder / "text", "-sigfile", self.folder / "signature")
        return json.loads(text)


def signature_tag(digest):
    return digest.replace(":", "-") + ".sig"


def signature_image(envelope):
    """(manifest, blobs by digest) of the image with a signature."""
    blobs = {"sha256:" + hashlib.sha256(blob).hexdigest(): blob for blob in (b"{}", envelope)}
    config, layer = blobs
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST,
                "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": config, "size": 2},
                "layers": [{"mediaType": ENVELOPE, "digest": layer, "size": len(envelope)}]}
    return json.dumps(manifest).encode(), blobs
