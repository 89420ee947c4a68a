"""Certificates are replaced while somebody works with the cluster."""

import base64
import re
import subprocess
import time

import host_clock
import pytest
from lifetimes import set_lifetimes

# The shortest that docs/lifetimes.md allows: a certificate is replaced after half of it. Everybody has to have read its new certificate
# before the old one is over: two minutes and a half for a leaf, of which API servers take up to one.
LIFETIMES = {"authority": "10m", "leaf": "5m"}
# Until the last one has been replaced: half of the longer lifetime, and some.
LIMIT = 10 * 60
MANAGED = "auth.openshift.io/managed-certificate-type"
# By it repairs are made when all others are over: it lasts.
RECOVERY = "localhost-recovery-serving-certkey"
SIGNER = ("openshift-kube-apiserver-operator", "kube-control-plane-signer")


def serials(installed):
    """Serial numbers of all certificates that somebody rotates, by (namespace, name) of their Secrets; copies that belong to a revision
    and what the bootstrap machine had are none."""
    found = {}
    for secret in installed.api.all("/api/v1/secrets"):
        name = secret["metadata"]["namespace"], secret["metadata"]["name"]
        is_leaf = secret["metadata"].get("labels", {}).get(MANAGED) == "target" and not name[1].endswith("-bootstrap") and name[1] != RECOVERY
        if (is_leaf or name == SIGNER) and "tls.crt" in secret.get("data", {}):
            found[name] = serial(base64.b64decode(secret["data"]["tls.crt"]), "PEM")
    copies = {(space, name) for space, name in found if (number := re.fullmatch(r"(.+)-\d+", name)) and (space, number[1]) in found}
    return {name: value for name, value in found.items() if name not in copies}


def serial(certificate, form):
    """Of the first certificate of a text."""
    return subprocess.run(["openssl", "x509", "-noout", "-serial", "-inform", form], input=certificate, capture_output=True, check=True).stdout


@pytest.fixture
def short_lifetimes(installed):
    yield lambda: set_lifetimes(installed, LIFETIMES)
    set_lifetimes(installed, None)


def test_every_certificate_is_replaced_and_no_call_refused(installed, short_lifetimes):
    first = serials(installed)
    assert SIGNER in first and len(first) > 15, sorted(first)
    served, begun, span = serial(installed.api.certificate(), "DER"), time.time(), host_clock.Span()
    short_lifetimes()

    def old():
        now = serials(installed)
        return sorted(name for name in first if now.get(name) == first[name])

    deadline = host_clock.now() + LIMIT
    while left := old():
        assert host_clock.now() < deadline, f"still the first ones: {left}"
        time.sleep(5)
    installed.wait_until("the API server shows another certificate", lambda: serial(installed.api.certificate(), "DER") != served, limit=180)
    print(f"\n{len(first)} certificates within {time.time() - begun:.0f} s; {installed.recorder.summary()}")
    refused = installed.recorder.refused_since(begun)
    assert not refused or span.excuses(f"{len(refused)} calls refused while certificates were replaced"), installed.explain(refused)
    assert installed.recorder.check() == []
