"""Certificates with short lifetimes, or expired ones: the setting of docs/lifetimes.md, and kubelets with expired certificates."""

import shutil
import tempfile
from pathlib import Path

from installation import run

SPACE = "/api/v1/namespaces/openshift-config/configmaps"


def set_lifetimes(installed, lifetimes):
    """Sets the keys of the setting; without keys, deletes it."""
    path = f"{SPACE}/certificate-lifetimes"
    status, _ = installed.api.call("DELETE", path)
    assert status in (200, 404), status
    if lifetimes:
        installed.api.expect("POST", SPACE, {"metadata": {"name": "certificate-lifetimes"}, "data": lifetimes})


def end_certificate(installed, machine, kind):
    """Replaces a kubelet's certificate, "client" or "server", with an expired one for the same key. Its issuer does not matter, because it
    has expired."""
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
    """Makes the kubelet of a running machine request a new client certificate for its key, and a new serving certificate."""
    installed.machine(machine, "systemctl", "stop", "kubelet")
    for kind in ("client", "server"):
        end_certificate(installed, machine, kind)
    installed.machine(machine, "systemctl", "restart", "kubelet-certificate")
