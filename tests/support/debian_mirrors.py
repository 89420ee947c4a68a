"""Where apt of this machine gets Debian from, for roots that mmdebstrap makes."""

import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LIMIT = 120


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=LIMIT).stdout


def mirrors():
    """The mirrors that apt uses on this machine."""
    lines = run("apt-get", "indextargets", "-o", "APT::Get::IndexTargets::OnlyPresent=false", "--format", "$(RELEASE) $(REPO_URI)").splitlines()
    pairs = [line.split() for line in lines]
    return [next(uri for suite, uri in pairs if suite.endswith(ending)) for ending in ("-updates", "-security")]


def proxies():
    """Options of mmdebstrap. While it runs, apt in the root has the network settings of this machine."""
    for scheme in ("http", "https"):
        proxy = run("apt-config", "dump", "--format", "%v", f"Acquire::{scheme}::Proxy")
        if proxy:
            yield f'--aptopt=Acquire::{scheme}::Proxy "{proxy}"'


def sources(suite):
    debian, security = mirrors()
    return [f"deb [signed-by={KEYRING}] {debian} {suite} main", f"deb [signed-by={KEYRING}] {debian} {suite}-updates main",
            f"deb [signed-by={KEYRING}] {security} {suite}-security main"]
