"""An assisted installation on virtual machines of QEMU, in a network of their own: see machines.py."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "system/boot"), str(TESTS / "component/assist")]  # virtual_machine.py, assist_client.py

from host_network import CLONE_NEWNET  # noqa: E402
from machines import GATEWAY, LOGIN, REGISTRY_PORT, Lab, make_network  # noqa: E402
from release_registry import release_registry  # noqa: E402


@pytest.fixture(scope="session")
def folder(tmp_path_factory, request):
    """Disks are large: they go when the tests have passed."""
    made = tmp_path_factory.mktemp("assisted")
    yield made
    if not request.session.testsfailed:
        for disk in (*made.glob("*/disk.raw"), *made.glob("*.iso")):
            disk.unlink()


@pytest.fixture(scope="session")
def network(folder):
    """A network namespace, which ends with this process."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    with make_network(folder):
        yield


@pytest.fixture(scope="session")
def registry(network, folder):
    """The mirror of the release, with a login and a certificate of its own authority. Yields the certificate."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=mirror",
                    "-addext", f"subjectAltName=IP:{GATEWAY}", "-keyout", folder / "registry.key", "-out", folder / "registry.pem"],
                   check=True, capture_output=True)
    with release_registry(folder, f"{GATEWAY}:{REGISTRY_PORT}", tls=(folder / "registry.pem", folder / "registry.key"), login=LOGIN):
        yield (folder / "registry.pem").read_text()


@pytest.fixture(scope="session")
def lab(registry, folder):
    running = Lab(folder, registry)
    try:
        yield running
    finally:
        running.close()
