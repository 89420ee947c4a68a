"""Certificates are rotated while clients use the cluster and its workers restart. The tests between the two of this file take most of the time
that this needs."""

import base64
import re
import subprocess
import time

import host_clock
import pytest
from lifetimes import set_lifetimes

# The shortest lifetimes that docs/lifetimes.md allows. A certificate is renewed after half of its lifetime, and all programs have to reload
# it before the old one expires: two and a half minutes for a leaf, of which API servers take up to one.
LIFETIMES = {"authority": "10m", "leaf": "5m", "etcd": "5m"}
# Time until the last certificate is renewed: half of the longer lifetime, and a margin.
LIMIT = 10 * 60
MANAGED = "auth.openshift.io/managed-certificate-type"
# Used for recovery when all other certificates have expired, so it has a long lifetime.
RECOVERY = "localhost-recovery-serving-certkey"
SIGNER = ("openshift-kube-apiserver-operator", "kube-control-plane-signer")


def serials(installed):
    """Serial numbers of all rotated certificates, by (namespace, name) of their Secrets, without copies of revisions and without those of
    the bootstrap machine."""
    found = {}
    for secret in installed.api.all("/api/v1/secrets"):
        name = secret["metadata"]["namespace"], secret["metadata"]["name"]
        is_leaf = secret["metadata"].get("labels", {}).get(MANAGED) == "target" and not name[1].endswith("-bootstrap") and name[1] != RECOVERY
        if (is_leaf or name == SIGNER) and "tls.crt" in secret.get("data", {}):
            found[name] = serial(base64.b64decode(secret["data"]["tls.crt"]), "PEM")
    copies = {(space, name) for space, name in found if (number := re.fullmatch(r"(.+)-\d+", name)) and (space, number[1]) in found}
    return {name: value for name, value in found.items() if name not in copies}


def serial(certificate, form):
    """The serial number of the first certificate of a text."""
    return subprocess.run(["openssl", "x509", "-noout", "-serial", "-inform", form], input=certificate, capture_output=True, check=True).stdout


class Rotation:
    """Short lifetimes, and what was there before them. `end` may be called again."""

    def __init__(self, installed):
        self.installed, self.first, self.served = installed, serials(installed), serial(installed.api.certificate(), "DER")
        self.begun, self.span, self.is_over = host_clock.now(), host_clock.Span(), False
        self.begun_at = time.time()
        set_lifetimes(installed, LIFETIMES)

    def left(self):
        """The certificates that are still the first ones."""
        now = serials(self.installed)
        return sorted(name for name in self.first if now.get(name) == self.first[name])

    def end(self):
        if not self.is_over:
            set_lifetimes(self.installed, None)
        self.is_over = True


@pytest.fixture(scope="session")
def rotation(installed):
    made = Rotation(installed)
    yield made
    made.end()


def test_lifetimes_become_short(rotation):
    assert SIGNER in rotation.first and len(rotation.first) > 15, sorted(rotation.first)


def test_every_certificate_is_replaced_and_no_call_refused(installed, rotation):
    try:
        while left := rotation.left():
            assert host_clock.now() - rotation.begun < LIMIT, f"still the first ones: {left}"
            time.sleep(5)
        installed.wait_until("the API server shows another certificate", lambda: serial(installed.api.certificate(), "DER") != rotation.served, limit=180)
    finally:
        rotation.end()
    print(f"\n{len(rotation.first)} certificates within {time.time() - rotation.begun_at:.0f} s; {installed.recorder.summary()}")
    refused = installed.recorder.refused_since(rotation.begun_at)
    assert not refused or rotation.span.excuses(f"{len(refused)} calls refused while certificates were replaced"), installed.explain(refused)
    assert installed.recorder.check() == []
