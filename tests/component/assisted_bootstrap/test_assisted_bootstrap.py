"""Hosts of an assisted installation until they restart from their disks: the real service and real agents, one of which carries the bootstrap
of the cluster in its live system."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "agent"))
from test_agent import make_certificates  # noqa: E402

HOSTS = 4


@contextlib.contextmanager
def loop_device(size):
    """Its file is sparse, and in memory if possible: the check of its speed writes a lot."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None, prefix="slipway-disk-") as file:
        file.truncate(size)
        device = subprocess.run(["losetup", "--find", "--show", file.name], check=True, capture_output=True, text=True).stdout.strip()
        try:
            yield device
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.parametrize(("case", "hosts"), [("installed", HOSTS), ("failed", HOSTS), ("single", 1)])
def test_bootstrap(tmp_path, case, hosts):
    make_certificates(tmp_path)
    with contextlib.ExitStack() as stack:
        disks = [stack.enter_context(loop_device(120 << 30)) for _ in range(hosts)]
        # The namespaces, the hosts' ones among them, end with the first process in them.
        done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                               sys.executable, HERE / "scenario.py", tmp_path, *disks], capture_output=True, text=True, timeout=500,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "no_proxy": "*", "CASE": case})
    print(done.stdout)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout[-8000:] + done.stderr[-4000:]
