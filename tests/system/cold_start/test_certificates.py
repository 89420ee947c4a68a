"""Everybody's certificates are over when the machine comes on: those of the API server, of its clients, and the kubelet's."""

import datetime
import re
import subprocess
import time

import host_clock
from api import BROKEN
from end_state import differences, end_state
from faults import owner_of, power_off_all
from installation import SLIPWAY, run

# Everything that is signed with these is over so soon after it was made; what comes later lasts as usual.
SHORT = {"signer": "6m", "leaf": "3m"}
SETTINGS = ["kubeapiservers", "kubecontrollermanagers"]
RESOURCES = "kubernetes/static-pod-resources"
# Clients of the control plane read their certificates again every five minutes (client-go).
API_WITHIN, ALL_WITHIN = 120, 600
# Stays valid: without it nobody could repair anything; and what etcd's operator keeps.
LASTING = {"localhost-recovery-serving-certkey", "etcd-client"}

ACCOUNT_KEYS = re.compile("sa-token-signing-certs|service-account")

# Nobody takes it away.
LEASE_OF_REPAIR = "objects: leases openshift-kube-apiserver/certificate-recovery is too much"


def end_of(pem):
    said = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=pem, capture_output=True, check=True).stdout.decode()
    return datetime.datetime.strptime(said.strip().partition("=")[2], "%b %d %H:%M:%S %Y %Z").replace(tzinfo=datetime.timezone.utc).timestamp()


def ends(installed):
    """Of the control plane's certificates on the disk of the master, by their names."""
    etc, _ = installed.disk("master-0")
    return {path.parent.name: end_of(path.read_bytes()) for operand in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
            for path in (etc / RESOURCES / f"{operand}-certs/secrets").glob("*/tls.crt")}


def override(installed, lifetimes):
    for settings in SETTINGS:
        installed.api.patch(f"/apis/operator.openshift.io/v1/{settings}/cluster", {"spec": {"unsupportedConfigOverrides": lifetimes}})


def end_kubelet_certificate(installed):
    """Another certificate for the same key, of yesterday. Who signed it is all the same: it is over."""
    _, var = installed.disk("master-0")
    pki = var / "lib/kubelet/pki"
    current = pki / (pki / "kubelet-client-current.pem").readlink().name
    folder = installed.folder / "ca"
    folder.mkdir()
    (folder / "index.txt").touch()
    (folder / "ca.cnf").write_text(f"[ca]\ndefault_ca = own\n[own]\ndatabase = {folder}/index.txt\nnew_certs_dir = {folder}\nrand_serial = yes\n"
                                   "default_md = sha256\npolicy = any\n[any]\norganizationName = optional\ncommonName = supplied\n[req]\n"
                                   "distinguished_name = dn\n[dn]\n")
    (folder / "key.pem").write_text(subprocess.run(["openssl", "pkey", "-in", current], capture_output=True, text=True, check=True).stdout)
    run("openssl", "req", "-new", "-key", folder / "key.pem", "-config", folder / "ca.cnf", "-subj", "/O=system:nodes/CN=system:node:master-0", "-out", folder / "csr.pem")
    run("openssl", "ca", "-batch", "-config", folder / "ca.cnf", "-selfsign", "-keyfile", folder / "key.pem", "-in", folder / "csr.pem", "-out", folder / "crt.pem",
        "-notext", "-startdate", "20250101000000Z", "-enddate", "20250102000000Z")
    current.write_text((folder / "crt.pem").read_text() + (folder / "key.pem").read_text())


def lasting(different):
    """Without the keys of service accounts: in such lifetimes they are replaced as well, before the power goes or after it is back."""
    return [line for line in different if not ACCOUNT_KEYS.search(line)]


def seen(installed, look):
    try:
        return look()
    except (AssertionError, *BROKEN):
        return None


def test_a_cluster_whose_certificates_are_over_comes_back(installed):
    override(installed, {"certificates": SHORT})
    soon = time.time() + 3600
    installed.wait_until("the master has short certificates", lambda: all(end < soon for name, end in ends(installed).items() if name not in LASTING), limit=180)
    override(installed, None)
    before = end_state(installed)
    power_off_all(installed)
    installed.wait_until("nothing runs any more", lambda: owner_of(installed) is None)
    end_kubelet_certificate(installed)
    over = max(end for name, end in ends(installed).items() if name not in LASTING)
    print(f"\noff for {over - time.time():.0f} s")
    while time.time() <= over:
        time.sleep(1)

    run(SLIPWAY, "machine", "start", "master-0", "--cluster", installed.name, "--state", installed.state)
    begun = host_clock.now()
    installed.wait_until("the API answers", lambda: (seen(installed, lambda: installed.api.call("GET", "/api/v1/namespaces/kube-system")) or [0])[0] == 200, limit=ALL_WITHIN)
    api = host_clock.now() - begun
    print(f"API after {api:.1f} s")
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/master-0"
    renewed = installed.api.get(lease)["spec"]["renewTime"]
    installed.wait_until("the kubelet is back", lambda: (seen(installed, lambda: installed.api.get(lease)) or {"spec": {"renewTime": renewed}})["spec"]["renewTime"] != renewed,
                         limit=ALL_WITHIN)
    print(f"kubelet after {host_clock.now() - begun:.1f} s")
    manifest = installed.disk("master-0")[0] / "kubernetes/manifests/certificate-recovery.yaml"
    installed.wait_until("the repair is over", lambda: not manifest.exists(), limit=ALL_WITHIN)
    print(f"repaired after {host_clock.now() - begun:.1f} s")
    assert all(end > time.time() + 3600 for end in ends(installed).values()), ends(installed)

    deadline = begun + ALL_WITHIN
    while (different := seen(installed, lambda: lasting(differences(before, end_state(installed))))) not in ([], [LEASE_OF_REPAIR]) and host_clock.now() < deadline:
        time.sleep(2)
    print(f"everything after {host_clock.now() - begun:.1f} s")
    assert different in ([], [LEASE_OF_REPAIR]), different
    assert api < API_WITHIN
