"""A machine with RHEL CoreOS or an image for bootc: a root folder with the programs of host_os_programs.py, in which the real slipway-node runs.

    with HostMachine(folder, {"rpm-ostree"}) as machine:
        machine.os("fetch", IMAGES["second"])

Needs root. Each command has mounts of its own, so nothing is left to remove but the folder.
"""

import fcntl
import hashlib
import json
import os
import pathlib
import py_compile
import shutil
import subprocess

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
PROGRAM = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway-node"
REGISTRY = "registry.example.com"
KERNEL = ["kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra"]
REALTIME = ["kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra"]
PACKAGES_FOLDER = "/usr/share/rpm-ostree/extensions/"
CHANGING = ("etc", "run", "sysroot", "var")
RECORD = "var/lib/slipway/os-update.json"

# The programs of this host are in /usr/hostbin, the stand-ins in /usr/bin.
MOUNTS = """set -e
mount --bind "$0" "$0"
cd "$0"
for name in lib lib64 sbin libexec share; do [ ! -d "/usr/$name" ] || mount --rbind "/usr/$name" "usr/$name"; done
mount --bind /usr/bin usr/hostbin
mount --rbind /dev dev
mount -t proc proc proc
mount --bind boot-id proc/sys/kernel/random/boot_id
exec "$@"
"""

# Compiled, and without the packages of this host, because a test starts a thousand of them.
STAND_IN = """#!/usr/hostbin/python3 -BIS
import sys
sys.path.insert(0, "/usr/lib-stand-ins")
import host_os_programs
sys.exit(host_os_programs.main())
"""


def digest_of(name):
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def image_of(name):
    return f"{REGISTRY}/team/{name}@{digest_of(name)}"


def os_image(version, **etc):
    return {"version": version, "packages": [*KERNEL, "systemd"], "etc": etc, "kargs": []}


def extensions_image(packages, has_metadata=True):
    files = {f"{PACKAGES_FOLDER}{name}-1.0-1.el9.x86_64.rpm": "" for name in packages}
    if has_metadata:
        files[PACKAGES_FOLDER + "repodata/repomd.xml"] = "<repomd/>"
    return {"version": "", "packages": [], "etc": {}, "files": files}


CONTENT = {
    "first": os_image("1.0", **{"issue": "first\n", "which": "first\n"}),
    "second": os_image("2.0", **{"issue": "second\n", "which": "second\n", "added.conf": "default\n"}),
    "no-os": {"version": "", "packages": [], "etc": {}},
    "extensions": extensions_image(["usbguard", "sysstat", *REALTIME]),
    "poor-extensions": extensions_image(["sysstat"]),
}
IMAGES = {name: image_of(name) for name in CONTENT}


class HostMachine:
    def __init__(self, folder, programs):
        """programs: "rpm-ostree", "bootc"."""
        self.root = pathlib.Path(folder) / "root"
        for name in ("usr/bin", "usr/hostbin", "usr/lib", "usr/lib64", "usr/sbin", "usr/libexec", "usr/share", "usr/local/bin", "dev", "proc", "run",
                     "tmp", "boot", "var/lib/kubelet", "etc/systemd/system", "etc/machine-config-daemon", "etc/yum.repos.d", "sysroot"):
            (self.root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.root / name).symlink_to(f"usr/{name}")
        (self.root / "usr/bin/sh").symlink_to("/usr/hostbin/sh")
        stand_ins = self.root / "usr/lib-stand-ins"
        stand_ins.mkdir()
        py_compile.compile(SOURCE / "tests/support/host_os_programs.py", stand_ins / "host_os_programs.pyc", doraise=True)
        (stand_ins / "programs").write_text(STAND_IN)
        (stand_ins / "programs").chmod(0o755)
        for program in ("ostree", "podman", "systemctl", "nsenter", *programs):
            (self.root / "usr/bin" / program).symlink_to("/usr/lib-stand-ins/programs")
        shutil.copy(PROGRAM, self.root / "usr/local/bin/slipway-node")  # as the daemon does
        self.put("boot-id", "boot-0\n")
        self.put("var/lib/kubelet/config.json", json.dumps({"auths": {REGISTRY: {"auth": "dTpw"}}}), 0o600)
        self.put("etc/issue", "first\n")
        self.put("etc/which", "mine\n")  # a person has changed it
        self.put("etc/passwd", "root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n")
        self.put("etc/group", "root:x:0:\ncore:x:1000:\n")
        image = f"ostree-unverified-registry:{IMAGES['first']}" if "rpm-ostree" in programs else IMAGES["first"]
        booted = {"osname": "rhcos", "checksum": "f" * 64, "serial": 0, "booted": True, "staged": False, "pinned": False, "image": image,
                  "digest": digest_of("first"), "packages": [], "base_removals": [], "kargs": ["root=x", "quiet"]}
        self.write({"deployments": [booted], "images": {digest_of(name): content for name, content in CONTENT.items()}, "storage": {},
                    "containers": {}, "is_offline": False, "protected": [REGISTRY], "down": [], "asked": [], "update_driver": "", "journal": [],
                    "failed_units": [], "kill": None, "is_finalizer_active": False, "can_finalize": True, "wants_reboot": False})
        origin = self.folder_of(booted).with_name(self.folder_of(booted).name + ".origin")
        origin.parent.mkdir(parents=True)
        origin.write_text(f"[origin]\ncontainer-image-reference={image}\n")
        self.starts = 0

    def put(self, path, text, mode=0o644):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)

    def text(self, path):
        return (self.root / path).read_text()

    # ---- the state of the stand-ins --------------------------------------------------------------------------------------

    def read(self):
        return json.loads(self.text("state.json"))

    def write(self, state):
        self.put("state.json.own", json.dumps(state))
        (self.root / "state.json.own").rename(self.root / "state.json")

    def change(self, **news):
        """Also while programs run."""
        with open(self.root / "state.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.write({**self.read(), **news})

    def deployments(self):
        return self.read()["deployments"]

    def booted(self):
        return next(each for each in self.deployments() if each["booted"])

    def next(self):
        return self.deployments()[0]

    def folder_of(self, deployment):
        return self.root / f"sysroot/ostree/deploy/{deployment['osname']}/deploy/{deployment['checksum']}.{deployment['serial']}"

    # ---- the machine -----------------------------------------------------------------------------------------------------

    def command(self, *words):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNTS, self.root, *words]

    def environment(self):
        return {"PATH": "/usr/bin:/usr/hostbin:/usr/sbin", "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *words, check=True):
        done = subprocess.run(self.command("chroot", self.root, *words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env=self.environment())
        if check:
            assert done.returncode == 0, f"{words}: {done.stderr}\n{self.read()['journal']}"
        return done

    def os(self, *words, check=True):
        return self.run("/usr/local/bin/slipway-node", "os", *words, check=check)

    def trial(self):
        return json.loads(self.os("trial").stdout)

    def config(self, name, image, arguments=(), motd="", **more):
        ignition = {"ignition": {"version": "3.2.0"}, "storage": {"files": [
            {"path": "/etc/motd", "mode": 0o644, "overwrite": True, "contents": {"source": "data:," + motd}}]}}
        return {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": name},
                "spec": {"osImageURL": IMAGES.get(image, image), "kernelArguments": list(arguments), "config": ignition, **more}}

    def want(self, current, wanted):
        for name, config in (("currentconfig", current), ("nextconfig", wanted)):
            self.put(f"etc/machine-config-daemon/{name}", json.dumps(config), 0o600)

    def save(self, folder):
        """Copies what changes; restore() brings it back."""
        shutil.rmtree(folder, ignore_errors=True)
        for name in CHANGING:
            shutil.copytree(self.root / name, folder / name, symlinks=True)
        for name in ("state.json", "boot-id"):
            shutil.copy(self.root / name, folder / name)

    def restore(self, folder):
        for name in CHANGING:
            shutil.rmtree(self.root / name)
            shutil.copytree(folder / name, self.root / name, symlinks=True)
        for name in ("state.json", "boot-id"):
            shutil.copy(folder / name, self.root / name)

    def has_to_reboot(self):
        return self.read()["wants_reboot"]

    def power_cut(self):
        """The machine starts again. What is staged is lost; the first deployment boots with its own /etc."""
        state = self.read()
        booted = next(each for each in state["deployments"] if each["booted"])
        state["deployments"] = [each for each in state["deployments"] if not each["staged"]]
        first = state["deployments"][0]
        if first is not booted:
            kept = self.folder_of(booted)
            shutil.rmtree(kept / "etc", ignore_errors=True)
            kept.mkdir(parents=True, exist_ok=True)
            (self.root / "etc").rename(kept / "etc")
            (self.folder_of(first) / "etc").rename(self.root / "etc")
            booted["booted"], first["booted"] = False, True
        state.update(wants_reboot=False, is_finalizer_active=False, containers={})
        self.write(state)
        shutil.rmtree(self.root / "run")
        (self.root / "run").mkdir()
        self.starts += 1
        self.put("boot-id", f"boot-{self.starts}\n")

    def reboot(self):
        self.run("systemctl", "stop", "ostree-finalize-staged.service")
        self.power_cut()
