"""A bootstrap machine in folders: pods run as under a kubelet, each container with its own mounts. Its root contains the programs of the
images, and only the volumes of the machine."""

import os
import pathlib
import re
import signal
import subprocess
import time

import host_clock
import yaml

# Each wait is for a program that takes one to five seconds on an idle machine.
DEADLINE = 90

OPERATORS = ["cluster-etcd-operator", "cluster-kube-apiserver-operator", "cluster-kube-controller-manager-operator",
             "cluster-kube-scheduler-operator", "cluster-policy-controller"]


class Machine:
    """folder: for all files; address: of the machine; programs: folder with slipway-operator; payload: folder with hyperkube and etcd.

    Does not unmount: its mounts end with its mount namespace.
    """

    def __init__(self, folder, address, programs, payload):
        self.host, self.root, self.logs = folder / "host", folder / "root", folder / "logs"
        self.address, self.processes, self.pods = address, {}, {}
        for path in (self.host, self.root, self.logs):
            path.mkdir()
        self._make_root(programs, payload)

    def run(self, words, mounts=None, environment=None):
        """Runs a container to completion and returns its standard output. mounts: {path on the machine: path in the container}"""
        done = subprocess.run(self._command(words, mounts or {}), capture_output=True, text=True, timeout=DEADLINE,
                              env=self._environment(environment))
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start_pod(self, path):
        """Starts the containers of a static pod."""
        pod = yaml.safe_load(path.read_text())
        self.pods[pod["metadata"]["name"]] = pod
        spec = pod["spec"]
        assert spec["hostNetwork"] and spec["restartPolicy"] == "Always"
        volumes = {volume["name"]: self._volume(volume) for volume in spec["volumes"]}
        for container in spec["containers"]:
            assert container["imagePullPolicy"] == "IfNotPresent"
            values = {entry["name"]: self._value(entry, pod) for entry in container.get("env", [])}
            words = [expand(word, values) for word in container["command"] + container.get("args", [])]
            mounts = {volumes[mount["name"]]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
            self.start(container["name"], words, mounts, values)

    def start(self, name, words, mounts, environment):
        """Starts a container."""
        with open(self.logs / name, "wb") as log:
            self.processes[name] = subprocess.Popen(self._command(words, mounts), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                                    env=self._environment(environment))

    def container(self, pod, name):
        return next(container for container in self.pods[pod]["spec"]["containers"] if container["name"] == name)

    def end(self, name):
        """Sends SIGTERM like the kubelet. Returns the seconds until the container ended."""
        process, begin = self.processes.pop(name), time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=DEADLINE)
        return time.monotonic() - begin

    def wait(self, what, ready, *running):
        """Waits until ready() is true while the named containers run. Returns the value of ready()."""
        deadline = host_clock.now() + DEADLINE
        while True:
            answer = ready()
            if answer:
                return answer
            for name in running:
                code = self.processes[name].poll()
                assert code is None, f"{what}: {name} ended with exit code {code}\n{self.tail(name)}"
            assert host_clock.now() < deadline, f"{what}: not after {DEADLINE} s\n" + "\n".join(self.tail(name) for name in running)
            time.sleep(0.1)

    def tail(self, name):
        return f"--- {name}\n" + "\n".join((self.logs / name).read_text(errors="replace").splitlines()[-30:])

    def _make_root(self, programs, payload):
        for name in ("usr", "proc", "dev", "etc", "tmp", "run", "var/run", "programs"):
            (self.root / name).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.root / name).symlink_to(f"usr/{name}")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
        for source, target in (("/usr", "usr"), ("/proc", "proc"), ("/dev", "dev")):
            subprocess.run(["mount", "--rbind", source, self.root / target], check=True)
        for source in (programs / "slipway-operator", payload / "hyperkube", payload / "etcd", payload / "etcdctl"):
            target = self.root / "programs" / source.name
            target.touch()
            subprocess.run(["mount", "--bind", source, target], check=True)
        for name in OPERATORS:
            (self.root / "programs" / name).symlink_to("slipway-operator")

    def _volume(self, volume):
        if "emptyDir" in volume:
            path = f"/emptydirs/{volume['name']}"
        else:
            path = volume["hostPath"]["path"]
        (self.host / path[1:]).mkdir(parents=True, exist_ok=True)
        return path

    def _value(self, entry, pod):
        if "value" in entry:
            return entry["value"]
        fields = {"status.hostIP": self.address, "metadata.name": pod["metadata"]["name"], "metadata.namespace": pod["metadata"]["namespace"]}
        return fields[entry["valueFrom"]["fieldRef"]["fieldPath"]]

    def _command(self, words, mounts):
        script = ["set -e"]
        for source, target in mounts.items():
            (self.root / target.strip("/")).mkdir(parents=True, exist_ok=True)
            script.append(f"mount --bind '{self.host}/{source[1:]}' '{self.root}/{target.strip('/')}'")
        script.append(f"exec chroot '{self.root}' \"$@\"")
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(script), "container", *words]

    def _environment(self, more):
        return {"PATH": "/programs:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **(more or {})}


def expand(word, values):
    """Expands $(NAME) like the kubelet."""
    return re.sub(r"\$\((\w+)\)", lambda match: values[match.group(1)], word)


def prepare_network(address, virtual_address):
    for command in ("link set lo up", "link add cluster0 type bridge", f"address add {virtual_address}/32 dev cluster0",
                    f"address add {address}/24 dev cluster0", "link set cluster0 up"):
        subprocess.run(["ip", *command.split()], check=True)


def environment_path(name):
    return pathlib.Path(os.environ[name])
