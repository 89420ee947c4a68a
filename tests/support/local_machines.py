"""A cluster of local machines for a test: created in a folder on a real disk, and always ended and checked for leftovers afterwards."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import host_clock

SLIPWAY = os.path.join(os.environ["SLIPWAY_BIN"], "slipway")
OS_REPO = os.environ.get("SLIPWAY_OS_REPO", os.path.join(os.environ["SLIPWAY_BUILD"], "payload/os/repo"))
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def processes():
    return [path for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def until(what, look, limit=10):
    """Polls until a condition is true."""
    end = host_clock.now() + limit
    while not (seen := look()):
        assert host_clock.now() < end, f"{what}: not within {limit} s"
        time.sleep(0.02)
    return seen


class Cluster:
    def __init__(self, folder):
        self.state = str(folder / "state")
        self.name = "t" + uuid.uuid4().hex[:8]
        self.folder = pathlib.Path(self.state) / self.name
        self.id = None

    def command(self, *words):
        words = list(words)
        if words[0] == "create":
            words[1:1] = ["--images", "/nowhere"]  # machines with images: tests/component/kubelet
        end = words.index("--") if "--" in words else len(words)
        return [SLIPWAY, "machine", *words[:end], "--cluster", self.name, "--state", self.state, *words[end:]]

    def run(self, *words, check=True, **more):
        done = subprocess.run(self.command(*words), text=True, capture_output=True, timeout=300, **more)
        self.remember_id()
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}\n{read(self.folder / 'owner.log')}"
        return done

    def create(self, *words, **more):
        return self.run("create", *words, "--os-repo", OS_REPO, "--wait", **more)

    def shell(self, machine, script, check=True):
        return self.run("shell", machine, "--", "sh", "-c", script, check=check)

    def list(self):
        return {row["name"]: row for row in json.loads(self.run("list", "--output", "json").stdout)["machines"]}

    def state_of(self, machine):
        """The state in the list; nothing when the machine does not exist."""
        done = self.run("list", "--output", "json", check=False)
        rows = json.loads(done.stdout)["machines"] if done.returncode == 0 else []
        return next((row["state"] for row in rows if row["name"] == machine), None)

    def remember_id(self):
        text = read(self.folder / "cluster.json")
        if text:
            self.id = json.loads(text)["id"]

    def owner(self):
        text = read(self.folder / "owner.json")
        return json.loads(text)["pid"] if text else None

    def cgroups(self):
        # Only through the mounts of hierarchies: a walk through all groups races with groups that are deleted.
        return [path for place in ("", "*/") for path in CGROUPS.glob(f"{place}slipway/{self.id}")] if self.id else []

    def members(self):
        """PIDs of all processes of the cluster, from its cgroups."""
        found = set()
        for top in self.cgroups():
            for group, _, _ in os.walk(top):  # os.walk ignores deleted groups
                found |= {int(line) for line in read(pathlib.Path(group, "cgroup.procs")).split()}
        return found

    def init_of(self, machine):
        for pid in self.members():
            path = pathlib.Path(f"/proc/{pid}")
            spaces = [line.split()[1:] for line in read(path / "status").splitlines() if line.startswith("NSpid:")]
            in_machine = f"/slipway/{self.id}/{machine}" in read(path / "cgroup")
            if in_machine and spaces and len(spaces[0]) == 3 and spaces[0][-1] == "1":
                return pid
        return None

    def live_things(self):
        """What must end with the owner: processes and mounts, and with them namespaces and their network links."""
        found = [f"process {pid} {read(pathlib.Path(f'/proc/{pid}/comm')).strip()}" for pid in self.members()]
        for process in processes():
            # Namespaces live as long as their processes; a mount of the cluster is visible in the namespace of its user.
            if self.state in read(process / "mountinfo"):
                found.append(f"mounts of process {process.name}")
            if f"machine-owner\0--cluster\0{self.name}" in read(process / "cmdline"):
                found.append(f"owner {process.name}")
        return found

    def leftovers(self):
        return self.live_things() + [str(path) for path in self.cgroups()] + ([str(self.folder)] if self.folder.exists() else [])

    def end(self):
        """Ends a cluster without slipway after a failed test: by the owner's PID, then by cgroup."""
        self.remember_id()
        for pid in sorted(self.members(), key=lambda pid: "\t1\n" not in read(pathlib.Path(f"/proc/{pid}/status"))):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until("the cluster's processes to end", lambda: not self.members())
        for top in self.cgroups():
            for path in sorted(top.glob("**/"), reverse=True):
                path.rmdir()


@contextlib.contextmanager
def new_cluster():
    # Not in /tmp, which may be a tmpfs: disks are hard links into the repository.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-machines-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    made = Cluster(folder)
    try:
        yield made
        made.run("destroy", "--all")
        assert made.leftovers() == []
    finally:
        if made.leftovers():
            made.end()
            subprocess.run(["chattr", "-R", "-f", "-i", str(folder)], check=False)
        shutil.rmtree(folder)
