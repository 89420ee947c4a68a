"""The packages of `make dist`, installed on clean hosts.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s tests/system/package

Debian 12 creates and removes a cluster. Debian 13 installs and validates; with SLIPWAY_LONG=1 it creates a cluster, too.
"""

import concurrent.futures
import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support"), str(pathlib.Path(__file__).resolve().parent)]
from fresh_host import fresh_host  # noqa: E402
from installation import BUILD, SLIPWAY, run  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
VERSION = (SOURCE / "VERSION").read_text().strip()
LONG = bool(os.environ.get("SLIPWAY_LONG"))
CONFIG = r"""cat >install-config.yaml <<YAML
apiVersion: v1
metadata: {name: first}
baseDomain: example.com
controlPlane: {name: master, replicas: 1}
compute: [{name: worker, replicas: 0}]
platform: {local: {}}
YAML
"""
VALIDATE = "mkdir /root/first && cd /root/first\n" + CONFIG + f"""
slipway version | grep --fixed-strings 'slipway {VERSION}'
slipway validate
test -s /usr/share/bash-completion/completions/slipway
slipway release list
"""
DIGEST = json.loads(run(SLIPWAY, "release", "info", BUILD / "release", "--output", "json").stdout)["digest"]
IMPORT = f"""
! slipway release import /mnt/slipway-release_{VERSION}.tar --images-only --store /root/other --digest sha256:{64 * "0"}
test "$(ls /root/other)" = lock
timeout --signal=KILL 3 slipway release import /mnt/slipway-release_{VERSION}.tar || test -e /var/lib/slipway/releases/import.new
test ! -e /var/lib/slipway/releases/default
slipway release import /mnt/slipway-release_{VERSION}.tar --images-only
test ! -e /var/lib/slipway/releases/{VERSION}-*/payload
slipway release import /mnt/slipway-release_{VERSION}.tar --digest {DIGEST}
test -e /var/lib/slipway/releases/{VERSION}-*/payload/os/repo/config
test ! -e /var/lib/slipway/releases/import.new
slipway release list | grep --extended-regexp '^{VERSION}-[0-9a-f]+ +yes '
"""
CREATE = """
cd /root/first
slipway create cluster
slipway machine list --cluster first | grep --extended-regexp '^master-0 +running '
slipway destroy cluster
test ! -e /var/lib/slipway/local/first
"""
# As the user of its unit: it reads the releases of root, and writes only to its state.
ASSIST = """
install --directory --owner=nobody --mode=0700 /var/lib/slipway-assist /srv/first
cd /srv/first
""" + CONFIG + """
chown nobody install-config.yaml
as_nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups env --chdir=/ HOME=/nonexistent"
$as_nobody slipway create ignition-configs --dir /srv/first
$as_nobody slipway-assist serve --state /var/lib/slipway-assist &
service=$!
timeout 20 sh -c 'until slipway-assist status --state /var/lib/slipway-assist && test -e /var/lib/slipway-assist/url; do sleep 0.2; done'
kill $service
wait $service
"""
REMOVE = """
cd /
apt-get purge --quiet --yes slipway
test ! -e /usr/bin/slipway
test ! -e /var/lib/slipway
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_dist():
    start = time.monotonic()
    run(SOURCE / "tools/dist", BUILD)
    return time.monotonic() - start


@pytest.fixture(scope="module")
def dist():
    seconds = make_dist()
    folder = BUILD / "dist"
    package = folder / f"slipway_{VERSION}_amd64.deb"
    release = folder / f"slipway-release_{VERSION}.tar"
    print(f"\nmake dist: {seconds:.1f} s; package {package.stat().st_size / 1e6:.1f} MB, release {release.stat().st_size / 1e6:.1f} MB")
    return package, release


@pytest.fixture(scope="module")
def disk():
    """Not in /tmp, which may be a tmpfs: machines are layers on these files."""
    folder = tempfile.mkdtemp(prefix="slipway-package-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp"))
    yield pathlib.Path(folder)
    shutil.rmtree(folder)


def test_both_are_reproducible(dist):
    before = [digest(path) for path in dist]
    make_dist()
    assert [digest(path) for path in dist] == before
    sums = {name: value for value, name in (line.split() for line in (dist[0].parent / "SHA256SUMS").read_text().splitlines())}
    assert sums == {path.name: value for path, value in zip(dist, before)}


def test_the_package_has_what_its_users_expect(dist, tmp_path):
    run("dpkg-deb", "--extract", dist[0], tmp_path)
    for path in tmp_path.rglob("*"):
        status = path.lstat()
        assert not status.st_mode & 0o022 or path.is_symlink(), f"{path}: others may write"
        assert not status.st_mode & 0o6000, f"{path}: setuid"
    pages = sorted((tmp_path / "usr/share/man/man1").iterdir())
    assert {"slipway.1.gz", "slipway-create-cluster.1.gz", "slipway-release-import.1.gz"} <= {page.name for page in pages}
    assert not [page.name for page in pages if "owner" in page.name], "hidden commands"
    for page in pages:
        judged = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=gzip.decompress(page.read_bytes()), capture_output=True)
        assert not judged.stderr, f"{page.name}: {judged.stderr.decode()}"
    for name, instance_name in [("slipway-cluster@.service", "slipway-cluster@first.service"), ("slipway-assist.service", "slipway-assist.service")]:
        instance = tmp_path / instance_name
        unit = tmp_path / "lib/systemd/system" / name
        instance.write_text(unit.read_text().replace("/usr/bin/slipway", str(tmp_path / "usr/bin/slipway")))
        verified = subprocess.run(["systemd-analyze", "verify", "--man=no", instance], capture_output=True, text=True)
        assert "slipway" not in verified.stderr, verified.stderr


def run_parts(host, parts):
    """All in one set of namespaces: the machines end with them. Prints the seconds of each part."""
    script = "\n".join(f"start=$(date +%s%N)\n{text}\necho \"== {name}: $(( ($(date +%s%N) - start) / 1000000 )) ms\"" for name, text in parts)
    result = host.run(script)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-6000:]
    print("\n" + "\n".join(line for line in result.stdout.splitlines() if line.startswith("== ")))


WHOLE = [("validate", VALIDATE), ("import", IMPORT), ("create and destroy", CREATE), ("assisted service", ASSIST), ("purge", REMOVE)]


@pytest.fixture(scope="module")
def made(dist, disk):
    """For each release of Debian, a clean host with the package. They are made at the same time."""
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor() as pool:
        yield {suite: pool.submit(stack.enter_context, fresh_host(disk, suite, dist[0])) for suite in ("bookworm", "trixie")}


def test_debian_12_creates_and_removes_a_cluster(made):
    start = time.monotonic()
    host = made["bookworm"].result()
    print(f"\nroot with the package: {time.monotonic() - start:.1f} s")
    run_parts(host, WHOLE)


def test_debian_13_installs_and_validates(made):
    run_parts(made["trixie"].result(), WHOLE if LONG else [("validate", VALIDATE), ("purge", REMOVE)])
