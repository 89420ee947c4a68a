"""etcd and kube-apiserver of the payload (and kube-controller-manager on request) on loopback ports.

    with ControlPlane(payload, folder) as plane:
        subprocess.run(["...", "--kubeconfig", plane.kubeconfig])

payload is the directory with hyperkube and etcd; folder is an empty directory for all files. The end of the context ends the programs, each
by its PID: those of the control plane are killed, because nothing is left of them but the folder.
"""

import pathlib
import subprocess

import yaml
from api_client import ApiClient
from openshift_api import openshift_api
from programs import Programs, free_port

DEADLINE = 60  # for programs that take one to five seconds on an idle machine
SERVICE_NETWORK = "10.0.0.0/24"
SOURCE = pathlib.Path(__file__).resolve().parents[3]
NAMES = "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1"


class ControlPlane(Programs):
    """kubeconfig: path of the administrator's kubeconfig; api: port; ca, certificate, key: paths of PEM files. flags: additional flags of
    kube-apiserver."""

    deadline, pause = DEADLINE, 0.05

    def __init__(self, payload, folder, flags=(), controllers=None):
        """controllers: controllers of kube-controller-manager, "*" or "namespace,..."; None: do not start it."""
        super().__init__()
        self.payload, self.folder, self.flags, self.controllers = pathlib.Path(payload), pathlib.Path(folder), list(flags), controllers
        self.ca, self.certificate, self.key = (self.folder / name for name in ("ca.crt", "admin.crt", "admin.key"))
        self.kubeconfig = self.folder / "kubeconfig"

    def __enter__(self):
        try:
            self._make_certificates()
            self._start_etcd()
            self._start_api_server()
            if self.controllers is not None:
                self._start_controller_manager()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in reversed(list(self.processes)):
            if name in ("etcd", "kube-apiserver", "kube-controller-manager"):
                self.processes[name].kill()
            self.end(name)

    def kubectl(self, *arguments):
        """A process of a tenth of a second; get(), apply() and patch() need a hundredth of that."""
        command = [self.payload / "hyperkube", "kubectl", f"--kubeconfig={self.kubeconfig}", "--request-timeout=10s", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env={"HOME": str(self.folder)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, *what):
        """The object or the list; None if it does not exist."""
        return self.client.get(*what)

    def apply(self, *objects):
        self.client.apply(*objects)

    def patch(self, kind, name, patch, **more):
        """A merge patch. more: those of ApiClient.patch()."""
        self.client.patch(kind, name, patch, **more)

    def delete_all(self, kind, namespace="default"):
        for each in self.get(kind, "-n", namespace)["items"]:
            self.client.delete(kind, each["metadata"]["name"], namespace)

    def add_types(self, *definitions):
        """Applies CustomResourceDefinitions, and waits until the server has established them."""
        self.apply(*definitions)
        for each in definitions:
            self.wait("kube-apiserver", lambda: self._is_established(each["metadata"]["name"]))  # noqa: B023

    def _is_established(self, name):
        status = self.get("crd", name).get("status", {})  # at first its conditions are null
        return any(each["type"] == "Established" and each["status"] == "True" for each in status.get("conditions") or [])

    def install_types(self, paths):
        """Creates the CustomResourceDefinitions with these paths in openshift_api(), and waits for them."""
        folder = openshift_api()
        self.add_types(*[yaml.load((folder / path).read_text(), yaml.CSafeLoader) for path in paths])

    def install_manifests(self, names):
        """Creates the objects of these manifests of the release."""
        for name in names:
            self.apply(*[each for each in yaml.safe_load_all((SOURCE / f"images/manifests/{name}.yaml").read_text()) if each])

    def token(self, space, account, *more):
        return self.kubectl("create", "token", account, "-n", space, "--duration=2h", *more).strip()

    def kubeconfig_of(self, name, token):
        """The path of a kubeconfig NAME.kubeconfig with this token."""
        kubeconfig = yaml.safe_load(self.kubeconfig.read_text())
        kubeconfig["users"][0]["user"] = {"token": token}
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(kubeconfig))
        return path

    def _start_etcd(self):
        self.etcd, peer = f"https://127.0.0.1:{free_port()}", f"https://127.0.0.1:{free_port()}"
        pair = [f"{flag}={path}" for flag, path in (("cert-file", self.certificate), ("key-file", self.key), ("trusted-ca-file", self.ca))]
        self.spawn("etcd", [
            self.payload / "etcd", "--name=test", f"--data-dir={self.folder}/etcd", f"--initial-cluster=test={peer}", "--unsafe-no-fsync",
            "--heartbeat-interval=20", "--election-timeout=200",  # the only member waits for its own election
            *[f"--{flag}" for flag in pair], "--client-cert-auth", *[f"--peer-{flag}" for flag in pair], "--peer-client-cert-auth",
            f"--listen-client-urls={self.etcd}", f"--advertise-client-urls={self.etcd}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"])
        self.wait("etcd", lambda: self.answers(self.etcd + "/health"))

    def _start_api_server(self):
        self.api = free_port()
        self.server = f"https://127.0.0.1:{self.api}"
        pair = [f"--tls-cert-file={self.certificate}", f"--tls-private-key-file={self.key}"]
        self.spawn("kube-apiserver", [
            self.payload / "hyperkube", "kube-apiserver", f"--etcd-servers={self.etcd}", f"--etcd-cafile={self.ca}",
            f"--etcd-certfile={self.certificate}", f"--etcd-keyfile={self.key}", "--bind-address=127.0.0.1", f"--secure-port={self.api}",
            "--advertise-address=192.0.2.10", "--endpoint-reconciler-type=none", *pair, f"--client-ca-file={self.ca}",
            f"--service-cluster-ip-range={SERVICE_NETWORK}", f"--service-account-key-file={self.folder}/account.pub",
            f"--service-account-signing-key-file={self.folder}/account.key", "--service-account-issuer=https://kubernetes.default.svc",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", *self.flags])
        self.wait("kube-apiserver", lambda: self.answers(self.server + "/readyz"))
        self.client = ApiClient(self.server, self.ca, self.certificate, self.key)
        self.kubeconfig.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
            f"clusters: [{{name: test, cluster: {{server: '{self.server}', certificate-authority: {self.ca}}}}}]\n"
            "contexts: [{name: test, context: {cluster: test, user: test}}]\n"
            f"users: [{{name: test, user: {{client-certificate: {self.certificate}, client-key: {self.key}}}}}]\n")

    def _start_controller_manager(self):
        port = free_port()
        files = [f"--{flag}={self.kubeconfig}" for flag in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")]
        self.spawn("kube-controller-manager", [
            self.payload / "hyperkube", "kube-controller-manager", *files, "--bind-address=127.0.0.1", f"--secure-port={port}",
            f"--cert-dir={self.folder}/controller-manager", "--leader-elect=false", "--use-service-account-credentials",
            f"--controllers={self.controllers}", f"--service-account-private-key-file={self.folder}/account.key",
            f"--root-ca-file={self.ca}", f"--cluster-signing-cert-file={self.ca}", f"--cluster-signing-key-file={self.folder}/ca.key"])
        self.wait("kube-controller-manager", lambda: self.answers(f"https://127.0.0.1:{port}/healthz", verify=False))

    def _make_certificates(self):
        """One CA, one leaf certificate for all servers and the administrator, one key pair for service accounts."""
        f = self.folder
        elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        (f / "leaf.ext").write_text(f"subjectAltName={NAMES}\nextendedKeyUsage=serverAuth,clientAuth\n")
        for arguments in (
            ["req", "-x509", *elliptic, "-keyout", f / "ca.key", "-out", self.ca, "-days", "2", "-subj", "/CN=test-ca"],
            ["req", *elliptic, "-keyout", self.key, "-out", f / "admin.csr", "-subj", "/O=system:masters/CN=system:admin"],
            ["x509", "-req", "-in", f / "admin.csr", "-CA", self.ca, "-CAkey", f / "ca.key", "-CAcreateserial", "-days", "1",
             "-extfile", f / "leaf.ext", "-out", self.certificate],
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f / "account.key"],
            ["ec", "-in", f / "account.key", "-pubout", "-out", f / "account.pub"],
        ):
            subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=DEADLINE)
