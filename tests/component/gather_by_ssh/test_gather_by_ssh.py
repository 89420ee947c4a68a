"""`slipway gather bootstrap --bootstrap` by the system's ssh, against real SSH servers.

A bootstrap machine and a master: each the server and the scripts of the project in a mount namespace of its own, in a network that only this test
has."""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "command_line"), str(HERE.parent / "registry")]
from program import CONFIG, SLIPWAY, clean_environment, run  # noqa: E402
from sample import Layout  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
SCRIPTS = SOURCE / "data/bootstrap/files/usr/local/bin"
BOOTSTRAP, MASTER, NOBODY = "127.0.0.1", "127.0.0.2", "127.0.0.3"
LIMIT = 120
# On a machine: its own users, programs, scripts, and places that scripts write to.
MACHINE = """\
set -e
mount --make-rprivate /
mount --bind "$FOLDER" /mnt
mount --bind /mnt/passwd /etc/passwd
mount -t overlay -o lowerdir=/mnt/played:/usr/bin overlay /usr/bin
mount --bind "/mnt/$NAME" /usr/local/bin
for place in /tmp /root /run; do mount -t tmpfs tmpfs "$place"; done
exec dropbear -F -E -s -r /mnt/host.key -p "$ADDRESS:22" -P "/mnt/$NAME.pid"
"""
PLAYED = {"sudo": 'exec env "$@"\n', "journalctl": 'echo "journal $*"\n', "systemctl": "true\n", "kubectl": "exit 1\n", "ctr": "true\n"}


class Machines:
    def __init__(self, folder):
        self.folder, self.ended = folder, contextlib.ExitStack()
        for name in ("played", "bootstrap", "master", "core/.ssh"):
            (folder / name).mkdir(parents=True)
        for path in SCRIPTS.iterdir():
            shutil.copy(path, folder / "bootstrap")
            (folder / "bootstrap" / path.name).chmod(0o755)
        for name, text in PLAYED.items():
            (folder / "played" / name).write_text("#!/bin/bash\n" + text)
            (folder / "played" / name).chmod(0o755)
        (folder / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\ncore:x:0:0:core:/mnt/core:/bin/bash\n")
        (folder / "core").chmod(0o755)
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "host.key"], check=True, capture_output=True)
        network = self.start(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"])
        self.expect(network, "up")
        self.enter = [shutil.which("nsenter"), f"--net=/proc/{network.pid}/ns/net"]
        for name, address in (("bootstrap", BOOTSTRAP), ("master", MASTER)):
            server = self.start([*self.enter, "unshare", "--mount", "sh", "-c", MACHINE], FOLDER=folder, NAME=name, ADDRESS=address)
            self.expect(server, "Not backgrounding")

    def start(self, command, **environment):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env={**os.environ, **{name: str(value) for name, value in environment.items()}})
        self.ended.callback(process.wait)
        self.ended.callback(process.kill)
        return process

    def expect(self, process, words):
        said = b""
        while words.encode() not in said:
            assert select.select([process.stdout], [], [], LIMIT)[0], f"it does not say '{words}' but {said}"
            piece = os.read(process.stdout.fileno(), 65536)
            assert piece, f"it ended without '{words}': {said}"
            said += piece

    def let_in(self, *public_keys):
        path = self.folder / "core/.ssh/authorized_keys"
        path.write_text("".join(key.strip() + "\n" for key in public_keys))
        path.chmod(0o600)

    def gather(self, folder, *words, status=0, **environment):
        done = subprocess.run([str(word) for word in [*self.enter, SLIPWAY, "gather", "bootstrap", "--dir", folder, *words]], capture_output=True,
                              text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, env=clean_environment(**{"SSH_AUTH_SOCK": "", **environment}))
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    made = Machines(tmp_path_factory.mktemp("machines"))
    with made.ended:
        yield made


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A directory whose bootstrap machine has a key of its own, and that key as its Ignition config has it."""
    folder = tmp_path_factory.mktemp("assets")
    (folder / "install-config.yaml").write_text(CONFIG)
    release = Layout(tmp_path_factory.mktemp("release") / "layout").folder
    run("create", "ignition-configs", "--dir", folder, "--release", release, "--key-type", "ecdsa", status=0)
    users = json.loads((folder / "bootstrap.ign").read_text())["passwd"]["users"]
    return folder, users[0]["sshAuthorizedKeys"][-1]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """One of the user's, in no place where ssh looks."""
    path = tmp_path_factory.mktemp("keys") / "mine"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


def public(key):
    return pathlib.Path(f"{key}.pub").read_text()


def names_in(done, folder):
    """Paths in the archive that it names, without the first folder."""
    archive = pathlib.Path(done.stdout.strip())
    assert archive.parent == folder and re.fullmatch(r"log-bundle-\d{14}\.tar\.gz", archive.name)
    assert archive.stat().st_mode & 0o777 == 0o600
    with tarfile.open(archive) as bundle:
        names = {member.name.partition("/")[2] for member in bundle.getmembers()}
    archive.unlink()
    return names


def agents():
    """Those that run: of one that is only not buried yet there is no command line."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(b"ssh-agent\0"):
                found.add(path.parent.name)
    return found


def test_the_key_of_the_directory_opens_the_bootstrap_machine_and_the_masters(machines, assets):
    folder, own_key = assets
    machines.let_in(own_key)
    before = agents()
    names = names_in(machines.gather(folder, "--bootstrap", BOOTSTRAP, "--master", MASTER), folder)
    assert {"gather.log", "failed-units.txt", "bootstrap/network/ip-addr.txt", f"control-plane/{MASTER}/failed-units.txt",
            f"control-plane/{MASTER}/journals/journal.log.gz", "host/expected.json"} <= names, sorted(names)
    assert not list((machines.folder / "core").glob("log-bundle*"))
    assert agents() <= before


def test_a_key_of_the_users_does_too_without_anything_in_the_directory(machines, key, tmp_path):
    """And a master that does not answer is only missing."""
    machines.let_in(public(key))
    masters = ["--master", MASTER, "--master", NOBODY]
    names = names_in(machines.gather(tmp_path, "--bootstrap", BOOTSTRAP, *masters, "--key", key, "--skipAnalysis"), tmp_path)
    assert "gather.log" in names and f"control-plane/{MASTER}/failed-units.txt" in names, sorted(names)
    assert f"control-plane/{NOBODY}/failed-units.txt" not in names


def test_the_users_agent_does_too(machines, key, tmp_path):
    machines.let_in(public(key))
    agent = subprocess.run(["ssh-agent", "-s"], check=True, capture_output=True, text=True).stdout
    environment = dict(re.findall(r"^(SSH_\w+)=([^;]+);", agent, re.MULTILINE))
    try:
        subprocess.run(["ssh-add", "-q", key], check=True, env={**os.environ, **environment}, capture_output=True)
        names = names_in(machines.gather(tmp_path, "--bootstrap", BOOTSTRAP, "--master", MASTER, **environment), tmp_path)
    finally:
        subprocess.run(["ssh-agent", "-k"], env={**os.environ, **environment}, capture_output=True)
    assert f"control-plane/{MASTER}/failed-units.txt" in names, sorted(names)


def protected(key):
    path = key.with_name("protected")
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", path], check=True)
    return path


# (options, words of the message); who is let in is the user's key.
MISTAKES = {
    "no key is taken": (lambda key: ["--bootstrap", BOOTSTRAP], f"{BOOTSTRAP} does not let ssh in: "),
    "a key with a passphrase": (lambda key: ["--bootstrap", BOOTSTRAP, "--key", protected(key)], "has to be in your agent: ssh-add"),
    "nobody listens": (lambda key: ["--bootstrap", NOBODY, "--key", key], "see whether the machine is on"),
    "it has no script": (lambda key: ["--bootstrap", MASTER, "--key", key], f"{MASTER} has no gather script"),
    "no such name": (lambda key: ["--bootstrap", "nobody.invalid", "--key", key], "name it by an address"),
    "no such key": (lambda key: ["--bootstrap", BOOTSTRAP, "--key", "/nowhere"], "--key: there is no file /nowhere"),
    "an option for a name": (lambda key: ["--bootstrap=-oProxyCommand=x"], "neither the name nor the address of a machine"),
    "a command for a name": (lambda key: ["--bootstrap", BOOTSTRAP, "--master", "a;b"], "--master: 'a;b'"),
    "masters alone": (lambda key: ["--master", MASTER], "--bootstrap HOST"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_wrong_is_said(machines, key, tmp_path, name):
    machines.let_in(public(key))
    options, words = MISTAKES[name]
    done = machines.gather(tmp_path, *options(key), status=1)
    assert words in done.stderr, done.stderr
    assert not list(tmp_path.glob("log-bundle*")) and done.stdout == ""


def test_a_host_without_ssh_is_told_how_to_get_it(machines, key, tmp_path):
    (tmp_path / "bin").mkdir()
    done = machines.gather(tmp_path, "--bootstrap", BOOTSTRAP, status=1, PATH=tmp_path / "bin")
    assert "apt-get install openssh-client" in done.stderr, done.stderr
