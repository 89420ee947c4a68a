"""A machine-config-server with the real programs: machine-config-operator bootstrap, machine-config-controller bootstrap,
machine-config-server bootstrap."""
import base64
import os
import pathlib
import socket
import subprocess
import time
import urllib.parse

import host_clock
import sample
import yaml

OPERATOR = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway-operator"
HYPERKUBE = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve() / "payload/bin/hyperkube"
STARTS = "kubelet-ca.crt: no such file"  # says a kubelet that accepts its configuration
ACCEPT = "application/vnd.coreos.ignition+json;version="


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **options)
    assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def kubelet_says(folder, configuration, drop_ins, more=""):
    """What a kubelet says: it checks every value, then fails at a file that only machines have. It checks only the values of drop-ins, so
    the fields of slipway's drop-ins are copied into the file."""
    text = configuration.replace("/etc/kubernetes/kubelet-ca.crt", f"{folder}/kubelet-ca.crt")
    for drop_in in drop_ins:
        replaced = [line.split(":")[0] for line in drop_in.splitlines() if line[:1].isalpha()]
        text = "".join(line for line in text.splitlines(True) if line.split(":")[0] not in replaced) + drop_in
    (folder / "drop-ins").mkdir(exist_ok=True)
    (folder / "kubelet.conf").write_text(text + more)
    done = run(HYPERKUBE, "kubelet", f"--config={folder}/kubelet.conf", f"--config-dir={folder}/drop-ins", "--enable-server=false",
               "--authentication-token-webhook=false", "--authorization-mode=AlwaysAllow", "--rotate-server-certificates=false",
               "--hostname-override=m0", "--node-ip=10.97.77.11", "--register-with-taints=node-role.kubernetes.io/master:NoSchedule",
               "--node-labels=node.openshift.io/os_id=debian", f"--cert-dir={folder}", check=False)
    assert done.returncode != 0
    return done.stderr


def program(bin_folder, name):
    link = bin_folder / name
    if not link.exists():
        link.symlink_to(OPERATOR)
    return link


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def content_of(file):
    head, _, data = file["contents"]["source"].partition(",")
    return base64.b64decode(data).decode() if head.endswith(";base64") else urllib.parse.unquote(data)


class World:
    def __init__(self, folder, manifests=()):
        """manifests: more manifests of the user, as texts."""
        self.folder, self.assets = folder, folder / "assets"
        self.bin, self.mcc, self.mcs, self.images = folder / "bin", folder / "mcc", folder / "mcs", folder / "os-images"
        for made in (self.bin, self.mcc, self.mcs):
            made.mkdir()
        sample.write_assets(self.assets)
        for number, manifest in enumerate(manifests):
            (self.assets / f"openshift/99-more-{number}.yaml").write_text(manifest)
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

    def render_pools(self, check=True):
        return run(program(self.bin, "machine-config-controller"), "bootstrap", f"--manifest-dir={self.mcc}", f"--dest-dir={self.mcs}",
            f"--pull-secret={self.mcc}/machineconfigcontroller-pull-secret", f"--payload-version={sample.VERSION}", check=check)

    def rendered(self, pool):
        """The files of the rendered config of a pool, by path: (content, mode)."""
        [path] = (self.mcs / "machine-configs").glob(f"rendered-{pool}-*.yaml")
        files = yaml.safe_load(path.read_text())["spec"]["config"]["storage"]["files"]
        return {file["path"]: (content_of(file), file["mode"]) for file in files}

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
