"""A cluster under test, and its queries."""

import contextlib
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid

import host_clock
from api import Api

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve() / "slipway"
KUBECTL = [BUILD / "payload/bin/hyperkube", "kubectl"]
# An idle machine needs less than two minutes.
DEADLINE = 900
MASTERS = ["master-0", "master-1", "master-2"]
MACHINES = [*MASTERS, "worker-0"]
# Of tests/system/install.
WORKERS = ["worker-0", "worker-1"]
ALL_MACHINES = [*MASTERS, *WORKERS]
API_ADDRESS = "10.97.77.5"
# Programs between a client and its answer.
ON_THE_WAY = ["haproxy", "keepalived", "monitor", "kube-apiserver", "etcd"]


# Three workers need more than the default of 128 inotify instances of a host.
INOTIFY_LIMIT, INOTIFY_INSTANCES = pathlib.Path("/proc/sys/fs/inotify/max_user_instances"), 256


@contextlib.contextmanager
def enough_inotify_instances():
    """Sets the limit that the preflight check requires; restores it afterwards."""
    before = INOTIFY_LIMIT.read_text()
    if int(before) < INOTIFY_INSTANCES:
        INOTIFY_LIMIT.write_text(str(INOTIFY_INSTANCES))
    try:
        yield
    finally:
        INOTIFY_LIMIT.write_text(before)


class Installation:
    """A new cluster, or the running one of an asset directory, which is kept."""

    def __init__(self, borrowed=None, more=""):
        """more: additional lines of the install-config."""
        # Not in /tmp, which may be a tmpfs: machines are hard links of the build directory's files.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-install-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
        self.borrowed = bool(borrowed)
        self.release, self.os_repo, self.images = BUILD / "release", BUILD / "payload/os/repo", BUILD / "payload"
        if borrowed:
            self.dir, self.state = pathlib.Path(borrowed).resolve(), pathlib.Path(os.environ["SLIPWAY_STATE"]).resolve()
            self.name = json.loads((self.dir / "metadata.json").read_text())["clusterName"]
            return
        self.name = "i" + uuid.uuid4().hex[:7]
        self.dir = self.folder / "assets"
        self.state = self.folder / "state"
        self.dir.mkdir()
        self.ssh_key = self.folder / "ssh-key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.ssh_key)
        self.write("install-config.yaml", f"apiVersion: v1\nmetadata: {{name: {self.name}}}\nbaseDomain: example.com\nplatform: {{local: {{}}}}\n"
                   f"sshKey: {self.ssh_key.with_suffix('.pub').read_text()}{more}")

    @property
    def domain(self):
        return f"{self.name}.example.com"

    def write(self, path, text):
        file = self.dir / path
        file.parent.mkdir(exist_ok=True)
        file.touch(mode=0o600)  # the file may contain a secret
        file.write_text(text)

    def command(self, *words):
        options = ["--dir", self.dir]
        if words[0] in ("create",) and words[1] not in ("worker", "master"):
            options += ["--release", self.release]
        if words[0] not in ("wait-for", "timeline", "image", "upgrade") and words[:2] not in (("create", "manifests"), ("create", "ignition-configs")):
            options += ["--state", self.state]
        if words[:2] == ("create", "cluster"):
            options += ["--os-repo", self.os_repo, "--images", self.images]
        named = 1 if words[0] in ("upgrade", "backup", "restore", "why") else 2
        return [str(word) for word in [SLIPWAY, *words[:named], *options, *words[named:]]]

    def run(self, *words, check=True, **options):
        return run(*self.command(*words), check=check, **options)

    def start(self, *words):
        """In its own process group; standard error is written to the file `said`."""
        with open(self.said, "a") as said:
            return subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True)

    @property
    def said(self):
        return self.folder / "standard-error"

    @functools.cached_property
    def api(self):
        return Api(self.dir / "auth/kubeconfig", timeout=30)

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
        """The machine's disk as seen from the host: (changes of /etc, /var)."""
        folder = self.state / self.name / "machines" / machine
        deployments = [path for path in (folder / "disk/ostree/deploy/slipway/deploy").iterdir() if path.is_dir()]
        return deployments[0] / "etc", folder / "var"

    def explain(self, refused):
        """Failed calls, each with the log lines of the programs on its way, from two seconds before to one second after it."""
        logs = [(f"{master} {log.parent.name}", log.read_text(errors="replace").splitlines()) for master in MASTERS
                for log in sorted((self.disk(master)[1] / "log/pods").glob("*/*/*.log")) if log.parent.name in ON_THE_WAY]
        lines = []
        for call in refused:
            since, until = (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) for moment in (call.time - 2, call.time + call.seconds + 1))
            for who, log in logs:
                # The certificates are logged at each change.
                lines += [f"  {who}: {line[11:250]}" for line in log if since <= line[:19] <= until and "certDetail=" not in line][-15:]
            lines.append(str(call))
        # Repeated at the end, because the text may be cut.
        return "\n".join([*lines, f"{len(refused)} calls refused:", *map(str, refused)])

    def wait_until(self, what, look, limit=60, missing=lambda: ""):
        """Waits until `look` returns a true value; returns it. `missing` describes the unmet condition."""
        deadline = host_clock.now() + limit
        while not (value := look()):
            assert host_clock.now() < deadline, f"not within {limit} s: {what} {missing()}"
            time.sleep(0.2)
        return value

    def files(self):
        """The files of the asset directory, without those of the user, the log and `.slipway/`."""
        return {str(path.relative_to(self.dir)): path.read_bytes() for path in self.dir.rglob("*")
                if path.is_file() and not path.name.startswith(("log-bundle", ".openshift_install.log")) and ".slipway" not in path.parts}

    def remove(self):
        if not self.borrowed:
            run(SLIPWAY, "machine", "destroy", "--all", "--cluster", self.name, "--state", self.state, check=False)
        shutil.rmtree(self.folder)


class Creation:
    """A running `create cluster` with its events."""

    def __init__(self, installation):
        self.installation, self.events, self.news = installation, [], threading.Condition()
        self.begun, self.stolen_before = host_clock.now(), host_clock.stolen()
        self.process = installation.start("create", "cluster", "--output", "json")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            if not line.endswith("\n"):
                break  # cut by a kill
            with self.news:
                self.events.append({**json.loads(line), "seen": time.time()})
                self.news.notify_all()

    def find(self, kind, name, phase="finished"):
        wanted = {"kind": kind, "name": name, "phase": phase}
        return next((event for event in self.events if wanted.items() <= event.items()), None)

    def wait_for(self, kind, name, phase="finished", limit=DEADLINE):
        deadline = host_clock.now() + limit
        with self.news:
            while not (found := self.find(kind, name, phase)):
                assert self.reader.is_alive(), f"it ended before {kind} {name} was {phase}:\n{self.words()}"
                assert host_clock.now() < deadline, f"not within {limit} s: {kind} {name} {phase}\n{self.words()}"
                self.news.wait(1)
        return found

    def wait(self):
        """Waits for the end, which must be successful."""
        deadline = host_clock.now() + DEADLINE
        while self.process.poll() is None:
            assert host_clock.now() < deadline, f"not within {DEADLINE} s: create cluster ends\n{self.words()}"
            time.sleep(0.1)
        self.reader.join()
        self.process.stdout.close()
        assert self.process.returncode == 0, self.words()
        self.seconds = host_clock.now() - self.begun
        # Times recorded by Kubernetes include these seconds.
        self.stolen = host_clock.stolen() - self.stolen_before

    def complete(self):
        """Waits; after a failure of the test nothing goes on."""
        try:
            self.wait()
        finally:
            if self.process.poll() is None:
                self.kill()

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()

    def words(self):
        last = "\n".join(json.dumps(event) for event in self.events[-15:])
        return f"{last}\n{self.installation.said.read_text()[-4000:]}"


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **{"timeout": DEADLINE} | options)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
