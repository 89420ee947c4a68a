"""All certificates have expired when the machines start: those of the API server, of its clients, and the client and serving certificates
of kubelets."""

import datetime
import re
import subprocess
import time

import host_clock
from api import BROKEN
from end_state import differences, end_state
from faults import owner_of, power_off_all
from installation import SLIPWAY, run
from lifetimes import end_certificate, set_lifetimes

# Certificates with these lifetimes expire soon after the installation; later ones have the normal lifetimes.
SHORT = {"authority": "10m", "leaf": "5m"}
RESOURCES = "kubernetes/static-pod-resources"
KUBELETS = ["master-0", "worker-0"]
# An authority is replaced after half of its lifetime (five minutes), and the controller manager uses the new one a minute later. The rest is
# for the rollout.
SHORT_WITHIN = 480
# Clients of the control plane reload their certificates every five minutes (client-go).
API_WITHIN, ALL_WITHIN = 120, 600
# Stay valid: the certificate for the recovery itself, and the certificate that the etcd operator maintains.
LASTING = {"localhost-recovery-serving-certkey", "etcd-client"}

ACCOUNT_KEYS = re.compile("sa-token-signing-certs|service-account")

# Nothing deletes this lease.
LEASE_OF_REPAIR = "objects: leases openshift-kube-apiserver/certificate-recovery is too much"


def end_of(pem):
    said = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=pem, capture_output=True, check=True).stdout.decode()
    return datetime.datetime.strptime(said.strip().partition("=")[2], "%b %d %H:%M:%S %Y %Z").replace(tzinfo=datetime.timezone.utc).timestamp()


def ends(installed):
    """The ends of the control plane's certificates on the disk of the master, by name."""
    etc, _ = installed.disk("master-0")
    return {path.parent.name: end_of(path.read_bytes()) for operand in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
            for path in (etc / RESOURCES / f"{operand}-certs/secrets").glob("*/tls.crt")}


def lasting(different):
    """Differences without the keys of service accounts: with these lifetimes they are rotated as well, before or after the power
    failure."""
    return [line for line in different if not ACCOUNT_KEYS.search(line)]


def seen(installed, look):
    try:
        return look()
    except (AssertionError, *BROKEN):
        return None


def test_a_cluster_whose_certificates_are_over_comes_back(installed):
    set_lifetimes(installed, SHORT)
    soon = time.time() + 3600

    def long_ones():
        return [name for name, end in ends(installed).items() if end >= soon and name not in LASTING]

    installed.wait_until("the master has short certificates", lambda: not long_ones(), limit=SHORT_WITHIN, missing=long_ones)
    set_lifetimes(installed, None)
    before = end_state(installed)
    power_off_all(installed)
    installed.wait_until("nothing runs any more", lambda: owner_of(installed) is None)
    for machine in KUBELETS:
        for kind in ("client", "server"):
            end_certificate(installed, machine, kind)
    over = max(end for name, end in ends(installed).items() if name not in LASTING)
    print(f"\noff for {over - time.time():.0f} s")
    while time.time() <= over:
        time.sleep(1)

    run(SLIPWAY, "machine", "start", *KUBELETS, "--cluster", installed.name, "--state", installed.state)
    begun = host_clock.now()
    installed.wait_until("the API answers", lambda: (seen(installed, lambda: installed.api.call("GET", "/api/v1/namespaces/kube-system")) or [0])[0] == 200, limit=ALL_WITHIN)
    api = host_clock.now() - begun
    print(f"API after {api:.1f} s")
    for machine in KUBELETS:
        lease = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{machine}"
        renewed = (seen(installed, lambda: installed.api.get(lease)) or {"spec": {"renewTime": ""}})["spec"]["renewTime"]
        installed.wait_until(f"the kubelet of {machine} is back",
                             lambda: (seen(installed, lambda: installed.api.get(lease)) or {"spec": {"renewTime": renewed}})["spec"]["renewTime"] != renewed,
                             limit=ALL_WITHIN)
        print(f"kubelet of {machine} after {host_clock.now() - begun:.1f} s")
        shows = f"/api/v1/nodes/{machine}/proxy/configz"
        installed.wait_until(f"{machine} shows a valid certificate", lambda: (seen(installed, lambda: installed.api.call("GET", shows)) or [0])[0] == 200, limit=ALL_WITHIN)
        print(f"{machine} shows a valid certificate after {host_clock.now() - begun:.1f} s")
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
