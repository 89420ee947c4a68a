"""Where the first boot gets its config on platforms with a metadata service: the real fetch stage of Ignition, which is the one of the
machine OS, against small services of the same protocol. Everything runs in a network namespace of its own."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

IGNITION = "/usr/lib/dracut/modules.d/30ignition/ignition"
ADDRESS = "169.254.169.254"
CONFIG = {"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/etc/hello", "contents": {"source": "data:,hello"}}]}}
TEXT = json.dumps(CONFIG).encode()

# Platform: (requests that are answered: method, path, a header that the service requires; answer).
SERVICES = {
    "openstack": {("GET", "/openstack/latest/user_data"): ({}, TEXT)},
    "aws": {("PUT", "/latest/api/token"): ({"X-aws-ec2-metadata-token-ttl-seconds": None}, b"the-token"),
            ("GET", "/2019-10-01/user-data"): ({"X-aws-ec2-metadata-token": "the-token"}, TEXT)},
    "gcp": {("GET", "/computeMetadata/v1/instance/attributes/user-data"): ({"Metadata-Flavor": "Google"}, TEXT)},
    # A URL on the kernel command line, for each platform.
    "metal": {("GET", "/worker.ign"): ({}, TEXT)},
}

INSIDE = r"""
set -eu
ip link set lo up
ip address add 169.254.169.254/32 dev lo
mount --bind "$FOLDER/hosts" /etc/hosts
mount --bind "$FOLDER/cmdline" /proc/cmdline
exec /usr/bin/python3 "$SCRIPT" serve "$PLATFORM" "$FOLDER"
"""


class Service(http.server.BaseHTTPRequestHandler):
    answers, journal = {}, []

    def answer(self):
        path = self.path.split("?")[0]
        required, content = self.answers.get((self.command, path), (None, b""))
        has = required is not None and all(name in self.headers and value in (None, self.headers[name]) for name, value in required.items())
        self.journal.append(f"{self.command} {path} {200 if has else 404}")
        self.send_response(200 if has else 404)
        self.send_header("Content-Length", str(len(content) if has else 0))
        self.end_headers()
        if has:
            self.wfile.write(content)

    do_GET = do_PUT = answer

    def log_message(self, *_):
        pass


def serve(platform, folder):
    """Inside of the namespaces: the service, and Ignition beside it."""
    Service.answers = SERVICES[platform]
    server = http.server.ThreadingHTTPServer((ADDRESS, 80), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    done = subprocess.run([IGNITION, "-platform", platform, "-stage", "fetch", "-root", folder / "root", "-config-cache", folder / "config.json",
                           "-state-file", folder / "state", "-neednet", folder / "neednet", "-log-to-stdout"], capture_output=True, text=True, timeout=60)
    print(json.dumps({"status": done.returncode, "output": done.stdout + done.stderr, "journal": Service.journal}))


@pytest.mark.parametrize("platform", SERVICES)
def test_the_config_comes_from_the_service(platform, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} metadata.google.internal metadata.google.internal.\n")
    url = f" ignition.config.url=http://{ADDRESS}/worker.ign" if platform == "metal" else ""
    (tmp_path / "cmdline").write_text(f"root=LABEL=root ignition.firstboot=1 ignition.platform.id={platform}{url}\n")
    environment = {"PATH": os.environ["PATH"], "FOLDER": str(tmp_path), "SCRIPT": __file__, "PLATFORM": platform}
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", INSIDE], env=environment,
                          capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == 0, result["output"]
    cached = json.loads((tmp_path / "config.json").read_text())
    assert "/etc/hello" in [file["path"] for file in cached["storage"]["files"]], cached
    answered = {line.rsplit(" ", 1)[0] for line in result["journal"] if line.endswith(" 200")}
    assert answered == {f"{method} {path}" for method, path in SERVICES[platform]}, result["journal"]


if __name__ == "__main__":
    serve(sys.argv[2], pathlib.Path(sys.argv[3]))
