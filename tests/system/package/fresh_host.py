"""A host as its users have it: a clean Debian root with the package installed, in namespaces of its own."""

import contextlib
import pathlib
import shutil
import subprocess

from debian_mirrors import proxies, sources
from installation import run

# The mounts of the host are below the root; nothing of the root is mounted outside.
ENTER = r"""
set -eu
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /sys "$ROOT/sys"
mount --rbind /dev "$ROOT/dev"
mount -t tmpfs tmpfs "$ROOT/run"
mkdir -p "$ROOT/mnt"
mount --bind "$DIST" "$ROOT/mnt"
exec env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive chroot "$ROOT" /bin/bash -euc "$SCRIPT"
"""


class FreshHost:
    def __init__(self, folder, suite, package, variant, include):
        self.root, self.dist = folder / suite, package.parent
        # mmdebstrap turns recommended packages off.
        run("mmdebstrap", "--quiet", f"--variant={variant}", *(f"--include={name}" for name in include), *proxies(), f"--customize-hook=copy-in {package} /tmp",
            "--customize-hook=chroot \"$1\" apt-get install --quiet --yes --option APT::Install-Recommends=true /tmp/" + package.name,
            "--skip=cleanup/tmp", suite, self.root, *sources(suite))

    def run(self, script, **options):
        """Runs a script of bash in the root. Processes that it leaves behind end with it."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "ROOT": str(self.root), "DIST": str(self.dist), "SCRIPT": script}
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", ENTER],
                              env=environment, capture_output=True, text=True, **options)


@contextlib.contextmanager
def fresh_host(folder, suite, package, variant="apt", include=()):
    """variant: of mmdebstrap. include: names of more packages."""
    host = FreshHost(pathlib.Path(folder), suite, package, variant, include)
    try:
        yield host
    finally:
        # OSTree makes the roots of deployments immutable.
        for root in host.root.glob("var/lib/slipway/**/ostree/deploy/*/deploy/*.0"):
            subprocess.run(["chattr", "-i", root], capture_output=True)
        shutil.rmtree(host.root, ignore_errors=True)
        assert not host.root.exists()
