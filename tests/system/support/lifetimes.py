"""Certificates that end soon, or have ended: the setting of docs/lifetimes.md, and kubelets whose certificates are over."""

import shutil
import tempfile
from pathlib import Path

from installation import run

SPACE = "/api/v1/namespaces/openshift-config/configmaps"


def set_lifetimes(installed, lifetimes):
    """The setting has these keys and no others; none: there is no setting."""
    path = f"{SPACE}/certificate-lifetimes"
    status, _ = installed.api.call("DELETE", path)
    assert status in (200, 404), status
    if lifetimes:
        installed.api.expect("POST", SPACE, {"metadata": {"name": "certificate-lifetimes"}, "data": lifetimes})


def end_certificate(installed, machine, kind):
    """A kubelet's certificate, "client" or "server", becomes one of long ago for the same key. Who signed it does not matter: it is over."""
    _, var = installed.disk(machine)
    pki = var / "lib/kubelet/pki"
    current = pki / (pki / f"kubelet-{kind}-current.pem").readlink().name
    folder = Path(tempfile.mkdtemp(dir=installed.folder))
    try:
        (folder / "index.txt").touch()
        (folder / "ca.cnf").write_text(f"[ca]\ndefault_ca = own\n[own]\ndatabase = {folder}/index.txt\nnew_certs_dir = {folder}\nrand_serial = yes\n"
                                       "default_md = sha256\npolicy = any\n[any]\norganizationName = optional\ncommonName = supplied\n[req]\n"
                                       "distinguished_name = dn\n[dn]\n")
        (folder / "key.pem").write_text(run("openssl", "pkey", "-in", current).stdout)
        run("openssl", "req", "-new", "-key", folder / "key.pem", "-config", folder / "ca.cnf", "-subj", f"/O=system:nodes/CN=system:node:{machine}", "-out",
            folder / "csr.pem")
        run("openssl", "ca", "-batch", "-config", folder / "ca.cnf", "-selfsign", "-keyfile", folder / "key.pem", "-in", folder / "csr.pem", "-out",
            folder / "crt.pem", "-notext", "-startdate", "20250101000000Z", "-enddate", "20250102000000Z")
        current.write_text((folder / "crt.pem").read_text() + (folder / "key.pem").read_text())
    finally:
        shutil.rmtree(folder)


def ask_for_new_certificates(installed, machine):
    """The kubelet of a running machine gets a new client certificate by its key, and a new serving certificate."""
    installed.machine(machine, "systemctl", "stop", "kubelet")
    for kind in ("client", "server"):
        end_certificate(installed, machine, kind)
    installed.machine(machine, "systemctl", "restart", "kubelet-certificate")
