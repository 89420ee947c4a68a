"""A registry with one image, on loopback. Arguments: port, folder for a file that says that it listens."""

import hashlib
import http.server
import json
import pathlib
import sys

LAYER = b"layer" * 200_000
CONFIG = b'{"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}'


def descriptor(content, kind):
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}


MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
MANIFEST = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": descriptor(CONFIG, "config.v1+json"),
                       "layers": [descriptor(LAYER, "layer.v1.tar")]}).encode()
CONTENT = {f"/v2/own/image/blobs/{descriptor(blob, '')['digest']}": ("application/octet-stream", blob) for blob in (LAYER, CONFIG)}
CONTENT["/v2/own/image/manifests/1.0"] = (MANIFEST_TYPE, MANIFEST)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, content = CONTENT.get(self.path, ("application/json", b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}'))
        self.send_response(200 if self.path in CONTENT else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    pathlib.Path(sys.argv[2], "registry-listens").touch()
    server.serve_forever()
