"""What the demonstrations of installations on hosts that report themselves share: local machines with empty disks, and an application.

tools/demo-assisted and tools/demo-agent-based use it.
"""
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

DOMAIN, PORT = "example.com", 8090
API_PORT, APPS_PORT = 6443, 8443  # of 127.0.0.1
GATEWAY, API, INGRESS = "10.97.77.1", "10.97.77.5", "10.97.77.7"
FIRST = "10.97.77.10"  # address of the first machine
# The service wants the login of a registry; the one of the demo reads no login.
PULL_SECRET = '{"auths": {"registry.slipway.invalid": {"auth": "bm9uZTpub25l"}}}'
# Local machines share the CPUs and the disk of this host.
IGNORED = ["has-min-cpu-cores", "has-cpu-cores-for-role", "sufficient-installation-disk-speed"]
BEFORE = ("pending-for-input", "insufficient", "ready")


def step(text):
    print(f"\n== {text}", flush=True)


def parse_arguments(usage):
    """[--destroy] [--hosts=1|3] BIN RELEASE: whether to destroy, and the arguments of HostsDemo."""
    words = sys.argv[1:]
    is_destroy = "--destroy" in words
    hosts = [word.partition("=")[2] for word in words if word.startswith("--hosts=")] or ["3"]
    paths = [word for word in words if not word.startswith("--")]
    if len(paths) != 2 or hosts[-1] not in ("1", "3") or len(words) > 2 + is_destroy + len(hosts):
        sys.exit(usage)
    return is_destroy, (*paths, int(hosts[-1]))


class HostsDemo:
    """A cluster NAME of one or three hosts; its files are in build/NAME."""

    def __init__(self, name, programs, release, count):
        self.name, self.bin, self.release = name, pathlib.Path(programs), pathlib.Path(release)
        self.build = self.release.resolve().parent
        self.folder = self.build / name
        self.hosts = [f"h{number}" for number in range(count)]
        # The only node has no virtual addresses.
        self.is_single_node = count == 1
        self.api, self.ingress = (FIRST, FIRST) if self.is_single_node else (API, INGRESS)
        os.environ["SLIPWAY_STATE"] = str(self.build / "machines")

    def begin(self):
        """A run continues the one before, which must be of the same hosts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        record, hosts = self.folder / "hosts", " ".join(self.hosts)
        if not record.exists():
            record.write_text(hosts + "\n")
        if record.read_text().strip() != hosts:
            sys.exit(f"{self.folder} is of a cluster with hosts {record.read_text().strip()}: make {self.name}-destroy")

    def shown_hosts(self):
        return "one machine with an empty disk" if self.is_single_node else "three machines with empty disks"

    def slipway(self, *words):
        print("slipway", *(re.sub("image_token=.*", "image_token=...", word) for word in words), flush=True)
        subprocess.run([self.bin / "slipway", *words], check=True)

    def live_image(self):
        """Made once for each commit of the machine OS."""
        image = self.folder / "live.iso"
        commit = self.build / "payload/os/commit"
        if not image.exists() or image.stat().st_mtime < commit.stat().st_mtime:
            image.unlink(missing_ok=True)
            self.slipway("image", "create", "--platform", "metal", "--format", "iso", "--output", str(image), "--os-repo",
                         str(self.build / "payload/os/repo"))
        return image

    def open(self, target, method="GET", body=None):
        """An answer of the service. ca_file and token_file are its authority and a token."""
        context = ssl.create_default_context(cafile=self.ca_file)
        request = urllib.request.Request(f"https://127.0.0.1:{PORT}{target}", method=method, headers={"X-Secret-Key": self.token_file.read_text().strip()},
                                         data=None if body is None else json.dumps(body).encode())
        return urllib.request.urlopen(request, context=context, timeout=600)

    def call(self, path, method="GET", body=None):
        try:
            text = self.open("/api/assisted-install/v2" + path, method, body).read()
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.code}: {error.read().decode(errors='replace')}") from None
        return json.loads(text) if text else None

    def ignore_validations(self, cluster):
        """Those that machines of one host cannot fulfil. Not while the cluster is installed already."""
        if self.call(f"/clusters/{cluster}")["status"] in BEFORE:
            self.call(f"/clusters/{cluster}/ignored-validations", "PUT",
                      {"host-validation-ids": json.dumps(IGNORED), "cluster-validation-ids": "[]"})

    def create_machines(self, *options):
        names = [f"{name}.{self.name}.{DOMAIN}={address}" for name, address in (("api", self.api), ("api-int", self.api), ("*.apps", self.ingress))]
        self.slipway("machine", "create", *self.hosts, "--cluster", self.name, "--blank", *options,
                     *(word for name in names for word in ("--name-record", name)),
                     "--forward", f"{API_PORT}:{self.api}:6443", "--forward", f"{APPS_PORT}:{self.ingress}:443",
                     "--os-repo", str(self.build / "payload/os/repo"), "--images", str(self.build / "payload"), "--wait")

    def kubectl(self, kubeconfig):
        """The names of the cluster mean nothing on this host."""
        return [self.build / "payload/bin/hyperkube", "kubectl", "--kubeconfig", kubeconfig, "--server", f"https://127.0.0.1:{API_PORT}",
                "--tls-server-name", f"api.{self.name}.{DOMAIN}"]

    def serve_application(self, kubeconfig):
        kubectl = self.kubectl(kubeconfig)
        subprocess.run([*kubectl, "get", "nodes", "--output", "wide"], check=True)
        release = subprocess.run([self.bin / "slipway", "release", "info", self.release], check=True, capture_output=True, text=True).stdout
        digest = re.search(r"^  haproxy-router +(sha256:[0-9a-f]+)", release, re.MULTILINE)[1]
        host = f"hello.apps.{self.name}.{DOMAIN}"
        text = pathlib.Path(__file__).with_name("demo-application.yaml").read_text()
        text = re.sub("IMAGE$", f"registry.slipway.invalid/slipway/release@{digest}", text, flags=re.MULTILINE)
        text = re.sub("HOST$", host, text, flags=re.MULTILINE)
        subprocess.run([*kubectl, "apply", "--filename", "-"], input=text, check=True, text=True)
        subprocess.run([*kubectl, "rollout", "status", "--namespace", "hello", "deployment/hello", "--timeout", "5m"], check=True)
        subprocess.run(["curl", "--silent", "--show-error", "--fail", "--insecure", "--retry", "30", "--retry-delay", "1", "--retry-all-errors",
                        "--max-time", "10", "--resolve", f"{host}:{APPS_PORT}:127.0.0.1", f"https://{host}:{APPS_PORT}"], check=True)

    def destroy_machines(self):
        subprocess.run([self.bin / "slipway", "machine", "destroy", "--all", "--cluster", self.name], check=True)
