"""The application of `make demo` on a cluster, requested from outside through the router, like a user."""

import base64
import os
import pathlib
import re
import subprocess
import time

import host_clock
import yaml

FILE = pathlib.Path(os.environ.get("SLIPWAY_SOURCE", pathlib.Path(__file__).resolve().parents[3])) / "tools/demo-application.yaml"
SPACE = "hello"
# Routers get a Route and its pods within seconds; on an idle machine within one.
LIMIT = 60


class Application:
    """cluster: an Installation. slipway: the program; release: the layout of the cluster's release."""

    def __init__(self, cluster, slipway, release):
        self.cluster, self.slipway, self.host = cluster, slipway, f"{SPACE}.apps.{cluster.domain}"
        told = subprocess.run([slipway, "release", "info", release], capture_output=True, text=True, check=True, timeout=60).stdout
        digest = re.search(r"^ +haproxy-router +(sha256:[0-9a-f]+)", told, re.MULTILINE)[1]
        manifest = re.sub(r"HOST$", self.host, FILE.read_text(), flags=re.MULTILINE)
        self.manifest = re.sub(r"IMAGE$", f"registry.slipway.invalid/slipway/release@{digest}", manifest, flags=re.MULTILINE)

    def deploy(self):
        self.cluster.kubectl("apply", "--filename", "-", input=self.manifest)
        self.cluster.kubectl("rollout", "status", "--namespace", SPACE, f"deployment/{SPACE}", "--timeout", "5m")

    def command(self):
        """The command that requests the application once. Verified with the CAs of the kubeconfig."""
        known = yaml.safe_load((self.cluster.dir / "auth/kubeconfig").read_text())["clusters"][0]["cluster"]["certificate-authority-data"]
        authorities = self.cluster.folder / "authorities.pem"
        authorities.write_bytes(base64.b64decode(known))
        listed = subprocess.run([self.slipway, "machine", "list", "--cluster", self.cluster.name, "--state", self.cluster.state],
                                capture_output=True, text=True, check=True, timeout=60).stdout
        address, port = re.search(r"^([0-9.]+):([0-9]+) is forwarded to .*:443$", listed, re.MULTILINE).groups()
        return ["curl", "--silent", "--show-error", "--fail", "--cacert", authorities, "--max-time", "10", "--resolve", f"{self.host}:{port}:{address}",
                f"https://{self.host}:{port}"]

    def fetch(self):
        """The answer of the application, after the router has its Route."""
        command = self.command()
        deadline = host_clock.now() + LIMIT
        while True:
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
            if done.returncode == 0:
                return done.stdout
            assert host_clock.now() < deadline, f"not within {LIMIT} s: {self.host} answers: {done.stderr}"
            time.sleep(0.2)

    def remove(self):
        self.cluster.kubectl("delete", "namespace", SPACE)
