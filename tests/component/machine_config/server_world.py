"""A machine-config-server with the real programs: machine-config-operator bootstrap, machine-config-controller bootstrap,
machine-config-server bootstrap."""
import os
import pathlib
import socket
import subprocess
import time

import host_clock
import sample

OPERATOR = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway-operator"
ACCEPT = "application/vnd.coreos.ignition+json;version="


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **options)
    assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def program(bin_folder, name):
    link = bin_folder / name
    if not link.exists():
        link.symlink_to(OPERATOR)
    return link


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    def __init__(self, folder):
        self.folder, self.assets = folder, folder / "assets"
        self.bin, self.mcc, self.mcs, self.images = folder / "bin", folder / "mcc", folder / "mcs", folder / "os-images"
        for made in (self.bin, self.mcc, self.mcs):
            made.mkdir()
        sample.write_assets(self.assets)
        self.ports = free_port(), free_port()

    def render_operator(self):
        a = self.assets
        run(program(self.bin, "machine-config-operator"), "bootstrap", f"--root-ca={a}/tls/ca.crt", f"--kube-ca={a}/tls/ca.crt",
            f"--config-file={a}/manifests/cluster-config.yaml", f"--dest-dir={a}/mco-bootstrap", "--release-image=release@sha256:0",
            f"--pull-secret={a}/manifests/openshift-config-secret-pull-secret.yaml", f"--image-references={a}/image-references",
            f"--infra-config-file={a}/manifests/cluster-infrastructure-02-config.yml", f"--dns-config-file={a}/manifests/cluster-dns-02-config.yml",
            f"--network-config-file={a}/manifests/cluster-network-02-config.yml", f"--proxy-config-file={a}/manifests/cluster-proxy-01-config.yaml",
            f"--payload-version={sample.VERSION}")
        for source in ("mco-bootstrap/bootstrap/manifests", "openshift", "manifests"):
            for path in (a / source).iterdir():
                (self.mcc / path.name).write_bytes(path.read_bytes())

    def render_pools(self):
        run(program(self.bin, "machine-config-controller"), "bootstrap", f"--manifest-dir={self.mcc}", f"--dest-dir={self.mcs}",
            f"--pull-secret={self.mcc}/machineconfigcontroller-pull-secret", f"--payload-version={sample.VERSION}")

    def start_server(self):
        a = self.assets
        self.log = (self.folder / "server.log").open("w+")
        self.server = subprocess.Popen(
            [program(self.bin, "machine-config-server"), "bootstrap", f"--server-basedir={self.mcs}",
             f"--bootstrap-kubeconfig={a}/auth/kubeconfig-kubelet", f"--cert={a}/tls/tls.crt", f"--key={a}/tls/tls.key",
             f"--token-file={a}/tls/token", f"--worker-token-file={a}/tls/worker-token",
             f"--os-images-dir={self.images}", f"--secure-port={self.ports[0]}", f"--insecure-port={self.ports[1]}"],
            stderr=self.log)
        deadline = host_clock.now() + 10
        while self.curl("/healthz", plain=True)[0] != 200:
            assert self.server.poll() is None and host_clock.now() < deadline, (self.folder / "server.log").read_text()
            time.sleep(0.02)

    def stop_server(self):
        self.server.terminate()
        assert self.server.wait(120) == 0

    def curl(self, path, accept=ACCEPT + "3.2.0", token=sample.TOKEN, method="GET", plain=False):
        url = f"http://127.0.0.1:{self.ports[1]}{path}" if plain else f"https://127.0.0.1:{self.ports[0]}{path}"
        headers = ["-H", f"Accept: {accept}"] if accept else []
        headers += ["-H", f"Authorization: Bearer {token}"] if token else []
        verb = ["--head"] if method == "HEAD" else ["-X", method]
        done = run("curl", "-s", "--cacert", self.assets / "tls/ca.crt", "-o", self.folder / "body", "-w", "%{http_code} %{size_download}", *verb,
                   *headers, url, check=False)
        return int(done.stdout.split()[0]), (self.folder / "body").read_text() if (self.folder / "body").exists() else ""
