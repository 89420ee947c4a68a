"""`slipway gather bootstrap --bootstrap` with the system's ssh and real SSH servers.

A bootstrap machine and a master: each runs a server and the scripts of the project in its own mount namespace, in a network namespace of
the test."""
import base64
import contextlib
import gzip
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import urllib.parse
import urllib.request

import host_clock
import pytest
from leak_finder import Finder

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "command_line"), str(HERE.parent / "registry")]
from program import CONFIG, SLIPWAY, clean_environment, run  # noqa: E402
from sample import Layout  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
SCRIPTS = SOURCE / "data/bootstrap/files/usr/local/bin"
BOOTSTRAP, MASTER, NOBODY = "127.0.0.1", "127.0.0.2", "127.0.0.3"
LIMIT = 120
# A machine: its own users, programs and scripts, and folders that scripts write to.
MACHINE = """\
set -e
mount --make-rprivate /
mount --bind "$FOLDER" /mnt
mount --bind /mnt/passwd /etc/passwd
mount -t overlay -o lowerdir=/mnt/played:/usr/bin overlay /usr/bin
mount --bind "/mnt/$NAME" /usr/local/bin
for place in /tmp /root /run /opt /var/log; do mount -t tmpfs tmpfs "$place"; done
cp -r /mnt/planted/. /
exec dropbear -F -E -s -r "/mnt/$NAME.key" -p "$ADDRESS:22" -P "/mnt/$NAME.pid"
"""
# /mnt is the same folder on both machines. `lent` lists the keys of the forwarded agent, and a file `hang` stops the script.
PLAYED = {"sudo": 'exec env "$@"\n',
          "journalctl": 'echo "journal $*"\ncat /mnt/journal\n',
          "systemctl": '[ -z "${SSH_AUTH_SOCK:-}" ] || ssh-add -L >/mnt/lent 2>&1\nwhile [ -e /mnt/hang ]; do sleep 0.1; done\n',
          "kubectl": 'case "$*" in *InternalIP* | *raw*) ;; *) cat /mnt/objects ;; esac\n',
          "ctr": "true\n"}
PASSWORD = b"Rg8-kq+2Zt/vX0=a"
LOGIN = base64.b64encode(b"pull:" + PASSWORD).decode()
PROXY = b'p@ss/w"o\\rd &%'
CONFIG_WITH_SECRETS = CONFIG.replace("cHVsbDpzZWNyZXQ=", LOGIN) + f"""\
proxy: {{httpProxy: "http://me:{urllib.parse.quote(PROXY, safe='')}@proxy.example.com:3128", noProxy: example.org}}
"""


class Machines:
    def __init__(self, folder, host_key, planted):
        self.folder, self.ended = folder, contextlib.ExitStack()
        for name in ("played", "bootstrap", "master", "core/.ssh", "planted/opt/openshift/auth", "planted/opt/openshift/openshift",
                     "planted/var/log/pods", "planted/var/log/openshift"):
            (folder / name).mkdir(parents=True)
        for path in SCRIPTS.iterdir():
            shutil.copy(path, folder / "bootstrap")
            (folder / "bootstrap" / path.name).chmod(0o755)
        for name, text in PLAYED.items():
            (folder / "played" / name).write_text("#!/bin/bash\n" + text)
            (folder / "played" / name).chmod(0o755)
        (folder / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\ncore:x:0:0:core:/mnt/core:/bin/bash\n")
        (folder / "core").chmod(0o755)
        self.plant(planted)
        (folder / "given").write_text(host_key)
        subprocess.run(["dropbearconvert", "openssh", "dropbear", folder / "given", folder / "bootstrap.key"], check=True, capture_output=True)
        subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "master.key"], check=True, capture_output=True)
        network = self.start(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"])
        self.expect(network, "up")
        self.enter = [shutil.which("nsenter"), f"--net=/proc/{network.pid}/ns/net"]
        for name, address in (("bootstrap", BOOTSTRAP), ("master", MASTER)):
            server = self.start([*self.enter, "unshare", "--mount", "sh", "-c", MACHINE], FOLDER=folder, NAME=name, ADDRESS=address)
            self.expect(server, "Not backgrounding")

    def plant(self, planted):
        """Puts canaries where the gather script finds them: a journal, logs of containers and services, rendered assets, API objects. The
        script removes files that contain keys, so keys are in separate files."""
        keys, others = planted
        (self.folder / "journal").write_bytes(keys + others)
        (self.folder / "objects").write_bytes(others)
        root = self.folder / "planted"
        (root / "opt/openshift/auth/kubeconfig").write_text("is there\n")
        for name, text in (("keys", keys), ("others", others)):
            (root / f"opt/openshift/openshift/99_{name}.yaml").write_bytes(text)
            (root / f"var/log/pods/{name}.log").write_bytes(text)
            (root / f"var/log/pods/{name}.log.gz").write_bytes(gzip.compress(text))
            (root / f"var/log/openshift/{name}.json").write_bytes(text)

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

    def lent(self):
        """Public keys, without comments, in the agent that the bootstrap machine could use."""
        return sorted(" ".join(line.split()[:2]) for line in (self.folder / "lent").read_text().splitlines())

    def command(self, folder, *words):
        return [str(word) for word in [*self.enter, SLIPWAY, "gather", "bootstrap", "--dir", folder, *words]]

    def gather(self, folder, *words, status=0, **environment):
        (self.folder / "lent").unlink(missing_ok=True)
        done = subprocess.run(self.command(folder, *words), capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL, env=clean_environment(**{"SSH_AUTH_SOCK": "", **environment}))
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done


@pytest.fixture(scope="module")
def machines(tmp_path_factory, assets, planted):
    config = json.loads((assets[0] / "bootstrap.ign").read_text())
    files = {file["path"]: file for file in config["storage"]["files"]}
    made = Machines(tmp_path_factory.mktemp("machines"), content_of(files["/etc/ssh/ssh_host_ecdsa_key"]), planted)
    with made.ended:
        yield made


def content_of(file):
    return urllib.request.urlopen(file["contents"]["source"]).read().decode()


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A directory whose bootstrap machine has its own key, and that key as in the Ignition config."""
    folder = tmp_path_factory.mktemp("assets")
    (folder / "install-config.yaml").write_text(CONFIG_WITH_SECRETS)
    release = Layout(tmp_path_factory.mktemp("release") / "layout").folder
    run("create", "ignition-configs", "--dir", folder, "--release", release, "--key-type", "ecdsa", status=0)
    users = json.loads((folder / "bootstrap.ign").read_text())["passwd"]["users"]
    return folder, users[0]["sshAuthorizedKeys"][-1]


def middle(pem):
    """The middle of a key: a part of it is a leak, too."""
    return "".join(pem.strip().splitlines()[1:-1])[20:60].encode()


@pytest.fixture(scope="module")
def secrets(assets, key):
    """(text on a machine, its secret part) by name: secrets of the directory, of users and of the cluster."""
    folder, _ = assets
    state = json.loads((folder / ".openshift_install_state.json").read_text())
    made = {"login of a registry": LOGIN.encode(), "password of a registry": PASSWORD, "password of the proxy": PROXY, "token of the machine-config-server": state["machineConfigServerToken"].encode(),
            "password of kubeadmin": state["kubeadmin"]["password"].encode()}
    made = {name: (text, text) for name, text in made.items()}
    for name in ("root-ca", "service-account", "bootstrap-ssh", "bootstrap-ssh-host"):
        text = state["tls"][name]["key"]
        made["key " + name] = text.encode(), middle(text)
    made["SSH key of the user"] = key.read_bytes(), middle(key.read_text())
    other = subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout"], check=True, capture_output=True, text=True).stdout
    made["key made in the cluster"] = other.encode(), middle(other)
    return made


# Encodings of a text.
ENCODINGS = {
    "as it is": lambda text: text,
    "percent": lambda text: urllib.parse.quote(text, safe="").encode(),
    "JSON": lambda text: json.dumps(text.decode()).encode(),
    "systemd": lambda text: text.replace(b"%", b"%%"),
    "systemd-escape": lambda text: re.sub(rb"[^A-Za-z0-9:_.]", lambda each: b"\\x%02x" % each[0][0], text),
    **{f"base64, {n} before": (lambda n: lambda text: base64.b64encode(b"abc"[:n] + text + b"xyz"))(n) for n in range(3)},
    "base64 of a URL": lambda text: base64.urlsafe_b64encode(b"a" + text),
    "base64 in lines": lambda text: b"\n" + base64.encodebytes(b"some words before " + text).rstrip(),
    "base64 of gzip": lambda text: base64.b64encode(gzip.compress(text)),
    "base64 of base64": lambda text: base64.b64encode(base64.b64encode(b"login: " + text)),
    "data URL": lambda text: b"data:text/plain;charset=utf-8;base64," + base64.b64encode(text),
    "data URL, percent, JSON": lambda text: json.dumps(json.dumps({"source": "data:," + urllib.parse.quote(text)})).encode(),
    "gzip in a data URL in base64": lambda text: base64.b64encode(b'{"source":"data:;base64,' + base64.b64encode(gzip.compress(text)) + b'"}'),
}
# An unknown secret cannot be distinguished from other text, but it always has one of these encodings.
OF_USERS = [name for name in ENCODINGS if "data URL" in name]


def canaries(secrets):
    """(name, encoding, text)"""
    for name, (text, _) in secrets.items():
        yield from ((name, encoding, encode(text)) for encoding, encode in ENCODINGS.items())
    yield from (("file of a MachineConfig", encoding, ENCODINGS[encoding](FILE_OF_USER)) for encoding in OF_USERS)


FILE_OF_USER = b"license = 7f83b1657ff1fc53b92dc18148a1d65d\n"


@pytest.fixture(scope="module")
def planted(secrets):
    """(lines with keys, lines with others)"""
    lines = [(name, b"canary %s, %s: %s .\n" % (name.encode(), encoding.encode(), text)) for name, encoding, text in canaries(secrets)]
    return tuple(b"".join(line for name, line in lines if ("key" in name) == is_key) for is_key in (True, False))


@pytest.fixture(scope="module")
def finder(secrets):
    return Finder({**{name: part for name, (_, part) in secrets.items()}, "file of a MachineConfig": FILE_OF_USER.strip()})


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A key of the user, in no folder that ssh searches."""
    path = tmp_path_factory.mktemp("keys") / "mine"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


@pytest.fixture(scope="module")
def other_key(key):
    path = key.with_name("other")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


def public(key):
    return pathlib.Path(f"{key}.pub").read_text()


def names_in(done, folder):
    """Paths in the printed archive, without the first folder."""
    archive = pathlib.Path(done.stdout.strip())
    assert archive.parent == folder and re.fullmatch(r"log-bundle-\d{14}\.tar\.gz", archive.name)
    assert archive.stat().st_mode & 0o777 == 0o600
    with tarfile.open(archive) as bundle:
        names = {member.name.partition("/")[2] for member in bundle.getmembers()}
    archive.unlink()
    return names


def agents():
    """Running agents; a zombie has no command line."""
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
    """A master that does not answer is only missing in the archive."""
    machines.let_in(public(key))
    masters = ["--master", MASTER, "--master", NOBODY]
    names = names_in(machines.gather(tmp_path, "--bootstrap", BOOTSTRAP, *masters, "--key", key, "--skipAnalysis"), tmp_path)
    assert "gather.log" in names and f"control-plane/{MASTER}/failed-units.txt" in names, sorted(names)
    assert f"control-plane/{NOBODY}/failed-units.txt" not in names


@contextlib.contextmanager
def agent_with(*keys):
    """The environment of an agent with these keys."""
    started = subprocess.run(["ssh-agent", "-s"], check=True, capture_output=True, text=True).stdout
    environment = dict(re.findall(r"^(SSH_\w+)=([^;]+);", started, re.MULTILINE))
    try:
        for each in keys:
            subprocess.run(["ssh-add", "-q", each], check=True, env={**os.environ, **environment}, capture_output=True)
        yield environment
    finally:
        subprocess.run(["ssh-agent", "-k"], env={**os.environ, **environment}, capture_output=True)


def test_the_users_agent_opens_the_bootstrap_machine_and_is_not_lent_to_it(machines, key, tmp_path):
    machines.let_in(public(key))
    with agent_with(key) as environment:
        names = names_in(machines.gather(tmp_path, "--bootstrap", BOOTSTRAP, "--master", MASTER, "--skipAnalysis", **environment), tmp_path)
    assert "gather.log" in names and f"control-plane/{MASTER}/failed-units.txt" not in names, sorted(names)
    assert machines.lent() == ["The agent"]  # "has no identities."


def test_only_the_keys_that_are_named_are_lent(machines, assets, key, other_key, tmp_path):
    folder, own_key = assets
    machines.let_in(public(key), own_key)
    with agent_with(key, other_key) as environment:
        names = names_in(machines.gather(folder, "--bootstrap", BOOTSTRAP, "--master", MASTER, "--key", key, "--skipAnalysis", **environment), folder)
    assert f"control-plane/{MASTER}/failed-units.txt" in names, sorted(names)
    assert machines.lent() == sorted(" ".join(each.split()[:2]) for each in (public(key), own_key))


def test_the_lent_agent_ends_when_gather_is_killed(machines, assets, tmp_path):
    folder, own_key = assets
    machines.let_in(own_key)
    (machines.folder / "lent").unlink(missing_ok=True)
    (machines.folder / "hang").touch()
    before, sockets = agents(), sockets_of_agents()
    try:
        process = subprocess.Popen(machines.command(folder, "--bootstrap", BOOTSTRAP), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, env=clean_environment(SSH_AUTH_SOCK="", TMPDIR=str(tmp_path)))
        until("the machine has the agent", lambda: (machines.folder / "lent").exists() and machines.lent())
        assert agents() > before and sockets_of_agents() > sockets
        process.send_signal(signal.SIGKILL)
        process.wait()
        # ssh-agent checks its parent every ten seconds.
        until("the agent has ended", lambda: agents() <= before and sockets_of_agents() <= sockets)
    finally:
        (machines.folder / "hang").unlink()


def until(what, look, limit=30):
    deadline = host_clock.now() + limit
    while not look():
        assert host_clock.now() < deadline, f"not within {limit} s: {what}"
        time.sleep(0.1)


def sockets_of_agents():
    return set(pathlib.Path("/tmp").glob("ssh-*/agent.*"))


def test_a_machine_with_another_host_key_is_refused(machines, assets):
    folder, own_key = assets
    machines.let_in(own_key)
    done = machines.gather(folder, "--bootstrap", MASTER, status=1)
    assert f"{MASTER}: the SSH host key differs from the expected one" in done.stderr and "another machine has this address, or the connection is intercepted" in done.stderr, done.stderr
    # The script of an earlier gather that was killed may still use an agent.
    lent = machines.folder / "lent"
    assert not lent.exists() or own_key.split()[1] not in lent.read_text()


def test_where_ignition_gave_no_host_key_the_first_one_counts(machines, key, tmp_path):
    machines.let_in(public(key))
    options = ["--bootstrap", BOOTSTRAP, "--key", key, "--skipAnalysis"]
    machines.gather(tmp_path, *options)
    known = tmp_path / ".slipway/known_hosts"
    assert known.read_text().startswith(f"{BOOTSTRAP} ecdsa-sha2-nistp256 ")
    machines.gather(tmp_path, *options)
    wrong = pathlib.Path(f"{key}.pub").read_text().split()
    known.write_text(f"{BOOTSTRAP} {wrong[0]} {wrong[1]}\n")
    done = machines.gather(tmp_path, *options, status=1)
    assert f"{BOOTSTRAP}: the SSH host key differs from the expected one" in done.stderr, done.stderr


def test_no_secret_is_in_the_bundle_in_any_encoding(machines, assets, secrets, planted, finder):
    folder, own_key = assets
    machines.let_in(own_key)
    # The finder finds every secret that was planted.
    for name, encoding, text in canaries(secrets):
        assert name in {found for found, _ in finder.find(text)}, (name, encoding)
    done = machines.gather(folder, "--bootstrap", BOOTSTRAP, "--master", MASTER, "--skipAnalysis")
    archive = pathlib.Path(done.stdout.strip())
    with tarfile.open(archive) as bundle:
        arrived = {member.name.partition("/")[2]: bundle.extractfile(member).read() for member in bundle if member.isfile()}
    found = finder.find_in_archive(archive)
    archive.unlink()
    assert not found, sorted(found)
    # The planted lines are in the archive, without their secrets.
    lines = planted[1].count(b"canary")
    for path in ("bootstrap/containers/logs/others.log", "bootstrap/containers/logs/others.log.gz", "bootstrap/services/others.json", "resources/pods.json",
                 "rendered-assets/openshift/openshift/99_others.yaml", f"control-plane/{MASTER}/services/others.json"):
        content = gzip.decompress(arrived[path]) if path.endswith(".gz") else arrived[path]
        assert content.count(b"canary") == lines and content.count(b"***") >= lines, (path, content[:2000])
    assert gzip.decompress(arrived["bootstrap/journals/journal.log.gz"]).count(b"canary") > lines


def protected(key):
    path = key.with_name("protected")
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", path], check=True)
    return path


# (options, words of the message); the machine accepts the user's key.
MISTAKES = {
    "no key is taken": (lambda key: ["--bootstrap", BOOTSTRAP], f"{BOOTSTRAP}: ssh failed: "),
    "a key with a passphrase": (lambda key: ["--bootstrap", BOOTSTRAP, "--key", protected(key)], "to use it for the bootstrap machine, run: ssh-add"),
    "nobody listens": (lambda key: ["--bootstrap", NOBODY, "--key", key], "check that the machine is running"),
    "it has no script": (lambda key: ["--bootstrap", MASTER, "--key", key], f"{MASTER}: no gather script found"),
    "no such name": (lambda key: ["--bootstrap", "nobody.invalid", "--key", key], "use an IP address"),
    "no such key": (lambda key: ["--bootstrap", BOOTSTRAP, "--key", "/nowhere"], "--key /nowhere: file not found"),
    "an option for a name": (lambda key: ["--bootstrap=-oProxyCommand=x"], "is not a host name or IP address"),
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
