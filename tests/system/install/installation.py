"""One cluster, made from an install-config in a folder of its own, and what a test asks it."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway"
KUBECTL = [BUILD / "payload/bin/hyperkube", "kubectl"]
# An idle machine needs below a minute.
DEADLINE = 600


class Installation:
    def __init__(self):
        # Not under /tmp, which may be in memory: machines are hard links of the build directory's files.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-install-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
        self.name = "i" + uuid.uuid4().hex[:7]
        self.dir = self.folder / "assets"
        self.state = self.folder / "state"
        self.dir.mkdir()
        self.ssh_key = self.folder / "ssh-key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.ssh_key)
        self.write("install-config.yaml", f"apiVersion: v1\nmetadata: {{name: {self.name}}}\nbaseDomain: example.com\nplatform: {{local: {{}}}}\n"
                   f"sshKey: {self.ssh_key.with_suffix('.pub').read_text()}")

    @property
    def domain(self):
        return f"{self.name}.example.com"

    def write(self, path, text):
        file = self.dir / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def command(self, *words):
        options = ["--dir", self.dir]
        if words[0] in ("create",):
            options += ["--release", BUILD / "release"]
        if words != ("create", "manifests") and words != ("create", "ignition-configs"):
            options += ["--state", self.state]
        if words[:2] == ("create", "cluster"):
            options += ["--os-repo", BUILD / "payload/os/repo", "--images", BUILD / "payload"]
        return [str(word) for word in [SLIPWAY, *words[:2], *options, *words[2:]]]

    def run(self, *words, check=True):
        return run(*self.command(*words), check=check)

    def start(self, *words):
        return subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def machine(self, name, *command, check=True, **options):
        return run(SLIPWAY, "machine", "shell", name, "--cluster", self.name, "--state", self.state, "--", *command, check=check, **options)

    def machines(self):
        listed = run(SLIPWAY, "machine", "list", "--cluster", self.name, "--state", self.state, "--output", "json")
        return {machine["name"]: machine for machine in json.loads(listed.stdout)["machines"]}

    def kubectl(self, *words, check=True, **options):
        return run(*KUBECTL, "--kubeconfig", self.dir / "auth/kubeconfig", *words, check=check, **options)

    def objects(self, *words):
        return json.loads(self.kubectl("get", *words, "--output", "json").stdout)["items"]

    def disk(self, machine):
        """The machine's disk as the host sees it: (its /etc, its /var)."""
        os_folder = self.state / self.name / "machines" / machine / "sysroot/ostree/deploy/slipway"
        deployments = [path for path in (os_folder / "deploy").iterdir() if path.is_dir()]
        return deployments[0] / "etc", os_folder / "var"

    def wait_until(self, what, look, limit=60):
        """The value of `look` as soon as it is true."""
        deadline = time.monotonic() + limit
        while not (value := look()):
            assert time.monotonic() < deadline, f"not within {limit} s: {what}"
            time.sleep(0.2)
        return value

    def files(self):
        """What stands in the asset directory, without what the user asked to be put there and the lock."""
        return {str(path.relative_to(self.dir)): path.read_bytes() for path in self.dir.rglob("*")
                if path.is_file() and not path.name.startswith(("log-bundle", ".openshift_install.lock"))}

    def remove(self):
        run(SLIPWAY, "machine", "destroy", "--all", "--cluster", self.name, "--state", self.state, check=False)
        shutil.rmtree(self.folder)


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=DEADLINE, **options)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def kill(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
