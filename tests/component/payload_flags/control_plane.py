"""A control plane of real programs in a temporary directory, on loopback, for test_payload_flags.py."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))  # after this folder, which has a control_plane, too
from programs import Programs, free_port  # noqa: E402

DEADLINE = Programs.deadline

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: recycler}\nspec:\n  containers: [{name: recycler, image: none}]\n  volumes: [{name: vol}]\n"

NAMES = "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:::1"


class ControlPlane(Programs):
    """Starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler; the end of the context ends them and deletes all files.

    testdata   golden cases of the launcher, whose documents are used with their paths and ports rewritten
    gates      what the documents give as feature gates
    """

    def __init__(self, payload, testdata, gates):
        super().__init__()
        self.payload, self.testdata, self.gates = payload, testdata, gates

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-payload-"))
        self.ca, self.certificate, self.key = (self.folder / name for name in ("ca.crt", "leaf.crt", "leaf.key"))
        try:
            self._make_certificates()
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        return self

    def __exit__(self, *_):
        self.end_all()
        shutil.rmtree(self.folder)

    def start_etcd(self, variables):
        """variables: environment of OpenShift's etcd pod; variables with paths or members are replaced."""
        pair = self.folder / "leaf"
        self.etcd, peer = free_port(), f"https://127.0.0.1:{free_port()}"
        tls = [f"--{role}{flag}" for role in ("", "peer-") for flag in
               (f"cert-file={pair}.crt", f"key-file={pair}.key", f"trusted-ca-file={self.folder}/ca.crt", "client-cert-auth=true")]
        environment = {**variables, "ETCD_NAME": "test", "ETCD_DATA_DIR": str(self.folder / "etcd"),
                       "ETCD_INITIAL_CLUSTER": f"test={peer}", "ETCD_INITIAL_CLUSTER_STATE": "new"}
        # The same settings under their old names; a pod has one of the two.
        environment = {name: value for name, value in environment.items() if "_EXPERIMENTAL_" not in name}
        self.spawn("etcd", [
            self.payload / "etcd", "--logger=zap", "--log-level=info", "--metrics=extensive", "--feature-gates=InitialCorruptCheck=true", *tls,
            f"--listen-client-urls=https://127.0.0.1:{self.etcd}", f"--advertise-client-urls=https://127.0.0.1:{self.etcd}",
            f"--listen-client-http-urls=https://127.0.0.1:{free_port()}", f"--listen-metrics-urls=https://127.0.0.1:{free_port()}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"], environment)
        command = [self.payload / "etcdctl", f"--cacert={self.folder}/ca.crt", f"--cert={pair}.crt", f"--key={pair}.key",
                   f"--endpoints=https://localhost:{self.etcd}", "--dial-timeout=1s", "endpoint", "health"]
        self.wait("etcd", lambda: subprocess.run(command, capture_output=True, timeout=DEADLINE).returncode == 0)

    def start_api_server(self):
        """Starts it like the production pod, under watch-termination, with the config of the bootstrap."""
        self.api = free_port()
        document = self._document("bootstrap")
        document = document.replace("0.0.0.0:6443", f"127.0.0.1:{self.api}").replace("localhost:2379", f"localhost:{self.etcd}")
        # There is no load balancer here, so the shutdown needs no delay.
        document = document.replace("shutdown-delay-duration: [70s]", "shutdown-delay-duration: [0s]")
        self.spawn("kube-apiserver", [
            self.payload / "watch-termination", f"--termination-touch-file={self.folder}/.terminating",
            f"--termination-log-file={self.folder}/termination.log", "--graceful-termination-duration=60s", "--",
            self.payload / "hyperkube", "kube-apiserver", f"--openshift-config={self._write('kube-apiserver.yaml', document)}",
            "--advertise-address=192.0.2.10", "-v=2", "--permit-address-sharing"])
        self.wait("kube-apiserver", lambda: self.answers(f"https://127.0.0.1:{self.api}/readyz"))
        self.kubeconfig = self._write("kubeconfig", (
            "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
            f"clusters: [{{name: test, cluster: {{server: 'https://127.0.0.1:{self.api}', certificate-authority: {self.folder}/ca.crt}}}}]\n"
            "contexts: [{name: test, context: {cluster: test, user: test}}]\n"
            f"users: [{{name: test, user: {{client-certificate: {self.folder}/leaf.crt, client-key: {self.folder}/leaf.key}}}}]\n"))

    def start_controller_manager(self):
        port = free_port()
        document = self._document("controller-manager-production").replace('secure-port: ["10257"]', f'secure-port: ["{port}"]')
        self.spawn("kube-controller-manager", [
            self.payload / "hyperkube", "kube-controller-manager",
            f"--openshift-config={self._write('kube-controller-manager.yaml', document)}", "--bind-address=127.0.0.1", "--v=2",
            *self._kubeconfig_flags(), f"--client-ca-file={self.folder}/ca.crt", f"--requestheader-client-ca-file={self.folder}/ca.crt",
            *[f"--feature-gates={gate}" for gate in self.gates]])
        self.wait("kube-controller-manager", lambda: self.answers(f"https://127.0.0.1:{port}/healthz", verify=False))

    def start_scheduler(self):
        port = free_port()
        document = ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                    f"clientConnection: {{kubeconfig: {self.kubeconfig}}}\nenableProfiling: false\nenableContentionProfiling: false\n"
                    "leaderElection: {leaderElect: true, leaseDuration: 137s, renewDeadline: 107s, retryPeriod: 26s, resourceNamespace: kube-system}\n")
        self.spawn("kube-scheduler", [
            self.payload / "hyperkube", "kube-scheduler", f"--openshift-config={self._write('kube-scheduler.yaml', document)}",
            f"--cert-dir={self.folder}/scheduler", f"--secure-port={port}", "--bind-address=127.0.0.1", "--v=2",
            *self._kubeconfig_flags("authentication-", "authorization-")])
        self.wait("kube-scheduler", lambda: self.answers(f"https://127.0.0.1:{port}/healthz", verify=False))

    def kubectl(self, *arguments):
        command = [self.payload / "hyperkube", "kubectl", f"--kubeconfig={self.kubeconfig}", "--request-timeout=5s", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env={"HOME": str(self.folder)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end_api_server(self):
        """Ends it like the kubelet, after its clients have ended."""
        for name in ("kube-scheduler", "kube-controller-manager"):
            self.end(name)
        process = self.processes["kube-apiserver"]
        process.terminate()
        try:
            code = process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"kube-apiserver did not end on TERM\n{self.tail('kube-apiserver')}") from None
        log = (self.folder / "termination.log").read_text()
        assert code == 0 and (self.folder / ".terminating").exists() and "ended: exit status 0" in log, f"exit code {code}\n{log}"

    def _kubeconfig_flags(self, *prefixes):
        return [f"--{prefix}kubeconfig={self.kubeconfig}" for prefix in prefixes or ("", "authentication-", "authorization-")]

    def _make_certificates(self):
        """One CA, one leaf certificate for server and administrator, and one key pair for service accounts."""
        f = self.folder
        elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        extensions = self._write("leaf.ext", f"subjectAltName={NAMES}\nextendedKeyUsage=serverAuth,clientAuth\n")
        for arguments in (
            ["req", "-x509", *elliptic, "-keyout", f"{f}/ca.key", "-out", f"{f}/ca.crt", "-days", "2", "-subj", "/CN=test-ca"],
            ["req", *elliptic, "-keyout", f"{f}/leaf.key", "-out", f"{f}/leaf.csr", "-subj", "/O=system:masters/CN=system:admin"],
            ["x509", "-req", "-in", f"{f}/leaf.csr", "-CA", f"{f}/ca.crt", "-CAkey", f"{f}/ca.key", "-CAcreateserial", "-days", "1",
             "-extfile", str(extensions), "-out", f"{f}/leaf.crt"],
            ["genrsa", "-out", f"{f}/account.key", "2048"],
            ["rsa", "-in", f"{f}/account.key", "-pubout", "-out", f"{f}/account.pub"],
        ):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=DEADLINE)

    def _document(self, case):
        """The config of a golden case: all its files exist below the temporary directory, and the gates are those of the test."""
        text = (self.testdata / case / "config.yaml").read_text()
        text = re.sub(r"feature-gates: \[.*\]", f"feature-gates: [{', '.join(self.gates)}]", text)
        text = re.sub(r"(/etc/kubernetes|/var/log|/var/run)/", rf"{self.folder}\g<0>", text)
        for name in set(re.findall(rf"{self.folder}/etc/kubernetes/[^\s,\]}}]+\.\w+", text)):
            path = pathlib.Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._content(path))
        (self.folder / "var/log/kube-apiserver").mkdir(parents=True, exist_ok=True)
        return text

    def _content(self, path):
        if path.suffix == ".yaml":
            return POD
        if "service-account" in path.name:
            source = "account"
        else:
            source = "ca" if re.search("signer|bundle", str(path)) else "leaf"
        return (self.folder / (source + path.suffix)).read_text()

    def _write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path
