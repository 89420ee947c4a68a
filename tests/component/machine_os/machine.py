"""A minimal machine of the local platform: an OSTree system in a directory, real Ignition, and systemd-nspawn. It runs in its own
namespaces, which end with the `with` block.

The platform has its own code for this; this module contains only what a boot test of the image needs.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import host_clock

CGROUPS = pathlib.Path("/sys/fs/cgroup")
OSNAME = "slipway"


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}"
    return result.stdout


# Runs in the mount namespace of the machine. On cgroup v1 each hierarchy needs a group for the machine, with CPUs and memory nodes in
# cpuset; cgroup v2 has one hierarchy, and the same commands work.
BOOT = r"""
set -eu
for hierarchy in $CGROUPS/ $CGROUPS/*/; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    group=$hierarchy/$GROUP
    mkdir -p "$group"
    for file in cpuset.cpus cpuset.mems; do
        [ ! -e "$hierarchy/cpuset.cpus" ] || cat "$hierarchy/$file" >"$group/$file"
    done
    echo 0 >"$group/cgroup.procs"
done
mount -t tmpfs tmpfs /run             # systemd-nspawn leaves lock files there when it is killed
mount --bind "$SYSROOT" "$SYSROOT"    # systemd-nspawn moves this mount when it pivots
systemd-nspawn --register=no --keep-unit --quiet --directory="$SYSROOT" --machine="$NAME" --uuid="$UUID" \
    --pivot-root="$DEPLOYMENT:/sysroot" --bind="+$STATE:/var" --bind-ro="+$DEPLOYMENT/usr:/usr" \
    --private-network --capability=all --system-call-filter='@mount @keyring bpf' --bind=/dev/kmsg \
    --resolv-conf=off --timezone=off --link-journal=no --console=read-only --boot </dev/null
"""

# Runs before the first boot, like the firmware of a machine: tmpfiles.d of the image creates /var, and Ignition of the image applies a
# config. /sysroot is the new root, including /var.
IGNITE = r"""
set -eu
root=$SYSROOT$DEPLOYMENT
mount --bind "$root" "$root"
mount --bind "$SYSROOT$STATE" "$root/var"
mount --rbind "$root" "$root/sysroot"
mount -t tmpfs tmpfs "$root/run"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
chroot "$root" systemd-tmpfiles --create --prefix=/var 2>&1
cp "$CONFIG" "$root/run/config.ign"
# Ignition wants SELinux to be configured. The image must not have that, or OSTree in the machine looks for a policy.
selinux=$root/sysroot/etc/selinux
mkdir -p "$selinux" "$root/run/bin"
mount -t tmpfs -o mode=0755 tmpfs "$selinux"
mkdir -p "$selinux/targeted/contexts/files"
printf 'SELINUX=disabled\nSELINUXTYPE=targeted\n' >"$selinux/config"
: >"$selinux/targeted/contexts/files/file_contexts"
printf '#!/bin/sh\n' >"$root/run/bin/setfiles"
chmod 755 "$root/run/bin/setfiles"
for stage in fetch files; do
    PATH=/run/bin:$PATH IGNITION_CONFIG_FILE=/run/config.ign chroot "$root" ignition -platform file -stage $stage -root /sysroot \
        -config-cache /run/ignition.json -log-to-stdout
done
"""


class Machine:
    def __init__(self, sysroot):
        self.sysroot = pathlib.Path(sysroot)
        self.name = self.sysroot.name.replace("_", "0")  # a name must not end with "-" or contain "--"
        self.console = self.sysroot.with_suffix(".console")

    def install(self, repository, ref):
        repo = self.sysroot / "ostree/repo"
        run("ostree", "admin", "init-fs", self.sysroot)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "os-init", OSNAME)
        run("ostree", f"--repo={repo}", "config", "set", "sysroot.bootloader", "none")
        run("ostree", f"--repo={repo}", "pull-local", repository, ref)
        run("ostree", "admin", f"--sysroot={self.sysroot}", "deploy", f"--os={OSNAME}", ref)
        entry = max((self.sysroot / "boot/loader/entries").iterdir()).read_text()
        link = entry.split("ostree=")[1].split()[0]  # /ostree/boot.1/slipway/SUM/0
        self.deployment = pathlib.Path("/", (self.sysroot / link.lstrip("/")).resolve().relative_to(self.sysroot))

    @property
    def root(self):
        return self.sysroot / str(self.deployment).lstrip("/")

    @property
    def var(self):
        return self.sysroot / f"ostree/deploy/{OSNAME}/var"

    def environment(self, **more):
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SYSROOT": str(self.sysroot), "DEPLOYMENT": str(self.deployment),
                "STATE": f"/ostree/deploy/{OSNAME}/var", "NAME": self.name, **more}

    def ignite(self, config):
        with tempfile.NamedTemporaryFile("w", suffix=".ign") as file:
            json.dump(config, file)
            file.flush()
            return run("unshare", "--mount", "--propagation", "private", "sh", "-c", IGNITE,
                       env=self.environment(CONFIG=file.name))

    def boot(self, limit, kill_at=None):
        """Boots and waits for the power-off, or until the console shows the words `kill_at`, and kills it then.
        Returns the exit status of systemd-nspawn (0: powered off, None: killed) and seconds."""
        environment = self.environment(UUID="0123456789abcdef0123456789abcdef", GROUP=self.name, CGROUPS=str(CGROUPS))
        start = host_clock.now()
        with self.console.open("wb") as console:
            owner = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
                                      "--propagation", "private", "sh", "-c", BOOT],
                                     env=environment, stdout=console, stderr=console)
            try:
                while kill_at and kill_at not in self.console.read_text(errors="replace"):
                    assert owner.poll() is None and host_clock.now() < start + limit, self.console.read_text(errors="replace")
                    time.sleep(0.01)
                return None if kill_at else owner.wait(limit), host_clock.now() - start
            finally:
                # The kernel kills all processes of a pid namespace when its first one ends.
                owner.send_signal(signal.SIGKILL)
                owner.wait()
                self.remove_cgroups()

    def remove_cgroups(self):
        groups = [path for path in [CGROUPS / self.name, *CGROUPS.glob(f"*/{self.name}")] if path.is_dir()]
        deadline = host_clock.now() + 10
        # Repeated from the start: processes that are ending may create a group below one that was already checked.
        while groups := [group for group in groups if not self.is_removed(group)]:
            assert host_clock.now() < deadline, f"{groups[0]} still has processes"
            time.sleep(0.01)

    @staticmethod
    def is_removed(group):
        for directory, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(directory)
            except OSError:
                return False
        return True

    def remove(self):
        for deployment in self.sysroot.glob(f"ostree/deploy/{OSNAME}/deploy/*.[0-9]"):
            run("chattr", "-i", deployment)
        shutil.rmtree(self.sysroot)
        self.console.unlink(missing_ok=True)


@contextlib.contextmanager
def machine(beside, repository, ref):
    """A machine whose files are hard links of a repository; its directory is created in `beside`, on the same file system."""
    made = Machine(tempfile.mkdtemp(prefix="machine-os-test-", dir=beside))
    try:
        made.install(repository, ref)
        yield made
    finally:
        made.remove()
