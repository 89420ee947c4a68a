"""A cluster on virtual machines of a real libvirt. With KVM the whole cluster; by emulation the bootstrap machine, then a master."""

import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "system/boot"))  # virtual_machine.py
sys.path.insert(0, str(TESTS / "support"))  # libvirt_host.py

from creation import GATEWAY, LOGIN, PORT  # noqa: E402
from libvirt_host import libvirt_host  # noqa: E402
from release_registry import release_registry  # noqa: E402
from virtual_machine import usable_kvm  # noqa: E402

collect_ignore = ["test_by_emulation.py" if usable_kvm() else "test_with_kvm.py"]


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with libvirt_host(tmp_path_factory.mktemp("libvirt-host"), kvm=usable_kvm()) as started:
        yield started


@pytest.fixture(scope="module")
def registry(host, tmp_path_factory):
    """The mirror of the release, with a login and a certificate of its own authority. Yields the certificate."""
    folder = tmp_path_factory.mktemp("registry")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=mirror",
                    "-addext", f"subjectAltName=IP:{GATEWAY}", "-keyout", folder / "registry.key", "-out", folder / "registry.pem"],
                   check=True, capture_output=True)
    with release_registry(folder, f"0.0.0.0:{PORT}", tls=(folder / "registry.pem", folder / "registry.key"), login=LOGIN, command=host.command):
        yield (folder / "registry.pem").read_text()
