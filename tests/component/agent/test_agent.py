"""slipway-agent on hosts in network namespaces, against a small working service."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_certificates(folder):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(folder, "req", "-x509", *key, "-subj", "/CN=ca", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, "req", *key, "-subj", "/CN=service", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=IP:192.168.126.1\n")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names",
            "-out", "server.pem")


@pytest.fixture
def disk(tmp_path):
    """A loop device, whose file is in memory if possible: the check of its speed writes a lot."""
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else tmp_path
    with tempfile.NamedTemporaryFile(dir=folder, prefix="slipway-agent-") as file:
        file.truncate(64 << 20)
        device = subprocess.run(["losetup", "--find", "--show", file.name], check=True, capture_output=True, text=True).stdout.strip()
        yield device
        subprocess.run(["losetup", "--detach", device], check=True)


def test_agent(tmp_path, disk):
    make_certificates(tmp_path)
    # The namespaces, the hosts' ones among them, end with the first process in them.
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                           sys.executable, HERE / "scenario.py", tmp_path, disk], capture_output=True, text=True, timeout=280,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "no_proxy": "*"})
    print(done.stdout)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout[-8000:] + done.stderr[-4000:]
