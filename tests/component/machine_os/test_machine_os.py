"""The machine OS: the content of the commit, and that a machine boots with it.

    SLIPWAY_BUILD=build /usr/bin/python3 -m pytest tests/component/machine_os

Uses the release and the OSTree repository in the build directory. Booting needs root, and creates a directory next to the repository,
because machines are hard links of it.
"""

import base64
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile

import pytest

from machine import CGROUPS, machine, run

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("SLIPWAY_BUILD", ROOT / "build")).resolve()
RELEASE = BUILD / "release"
INPUTS = BUILD / "payload/os"
REPO = INPUTS / "repo"
REF = "slipway/machine-os"


def need(what, there):
    """A missing requirement fails in CI; elsewhere the test is skipped."""
    if not there:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{what} is missing")


@pytest.fixture(scope="module", autouse=True)
def everything_is_built():
    need(f"{RELEASE} (make payload)", (RELEASE / "index.json").exists())
    need(f"{REPO} (make payload, as root)", (REPO / "refs/heads" / REF).exists())
    need("root", os.geteuid() == 0)


def ostree(*arguments):
    return run("ostree", f"--repo={REPO}", *arguments)


@pytest.fixture(scope="module")
def commit():
    """{path: (kind and mode, owner, group, target of a link)} of all files in the commit."""
    listing = {}
    for line in ostree("ls", "--recursive", REF).splitlines():
        mode, owner, group, _, path = re.match(r"(\S+) +(\d+) +(\d+) +(\d+) (.*)", line).groups()
        path, _, target = path.partition(" -> ")
        listing[path] = (mode, int(owner), int(group), target)
    return listing


@pytest.fixture(scope="module")
def checkout():
    """The commit as hard links of the repository. Read-only."""
    with tempfile.TemporaryDirectory(prefix="checkout-", dir=INPUTS) as directory:
        ostree("checkout", "--require-hardlinks", REF, f"{directory}/root")
        yield pathlib.Path(directory, "root")


def below(commit, directory):
    return sorted(path for path in commit if path.startswith(directory + "/"))


def image(name="machine-os"):
    """Descriptor, manifest and config of an image of the release."""
    index = json.loads((RELEASE / "index.json").read_text())
    [descriptor] = [entry for entry in index["manifests"]
                    if entry["annotations"]["org.opencontainers.image.ref.name"] == name]
    manifest = json.loads(blob(descriptor).read_text())
    return descriptor, manifest, json.loads(blob(manifest["config"]).read_text())


def blob(descriptor):
    return RELEASE / "blobs" / descriptor["digest"].replace(":", "/")


# ---- layout -----------------------------------------------------------------------------------------------------------

def test_layout_is_what_ostree_wants(commit):
    links = {path: target for path, (_, _, _, target) in commit.items() if target and path.count("/") == 1}
    assert links == {
        "/bin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib64", "/sbin": "usr/sbin",
        "/home": "var/home", "/root": "var/roothome", "/opt": "var/opt", "/srv": "var/srv", "/mnt": "var/mnt",
        "/media": "run/media", "/ostree": "sysroot/ostree"}
    assert commit["/usr/local"][3] == "../var/usrlocal"
    directories = {path for path, (mode, *_) in commit.items() if mode[0] == "d" and path.count("/") == 1 and path != "/"}
    assert directories == {"/boot", "/dev", "/proc", "/run", "/sys", "/sysroot", "/tmp", "/usr", "/var"}
    for directory in directories - {"/usr"}:
        assert not below(commit, directory), directory
    assert commit["/tmp"][0] == "d01777"
    assert commit["/usr/etc"][0] == "d00755"
    kernels = [path for path in commit if path.startswith("/usr/lib/modules/") and path.endswith("/vmlinuz")]
    assert len(kernels) == 1
    assert kernels[0].replace("vmlinuz", "initramfs.img") in commit
    assert {path.rsplit("/")[-1] for path in below(commit, "/usr/lib/slipway/boot")} == {
        "BOOTX64.EFI", "bios.img", "boot.img", "boot_hybrid.img", "grub.cfg", "live-BOOTX64.EFI", "live-bios.img"}


def test_there_are_files_directories_and_links_only(commit):
    assert {mode[0] for mode, *_ in commit.values()} == {"-", "d", "l"}


def test_owners_and_modes_are_kept(commit, checkout):
    assert commit["/usr/bin/sudo"][0] == "-04755"
    groups = dict(line.split(":")[0:3:2] for line in (checkout / "usr/etc/group").read_text().splitlines())
    assert commit["/usr/etc/shadow"][:3] == ("-00640", 0, int(groups["shadow"]))


def test_every_user_and_group_of_a_file_has_a_name(commit, checkout):
    def numbers(file):
        return {int(line.split(":")[2]) for line in (checkout / "usr/etc" / file).read_text().splitlines()}
    assert {owner for _, owner, _, _ in commit.values()} <= numbers("passwd")
    assert {group for _, _, group, _ in commit.values()} <= numbers("group")


def test_programs_of_the_kubelet_and_of_people_are_there(commit):
    for program in ["kubelet", "kubectl", "containerd", "ctr", "crun", "runc", "podman", "ostree", "ignition", "nft", "iptables",
                    "conntrack", "socat", "ip", "mount", "sshd", "sudo", "curl", "ping"]:
        assert f"/usr/bin/{program}" in commit or f"/usr/sbin/{program}" in commit, program
    assert "/usr/lib/systemd/systemd-journal-gatewayd" in commit
    assert "/usr/lib/cni/bridge" in commit
    for link, (mode, *_, target) in commit.items():
        if mode[0] == "l" and link.startswith("/usr/bin/") and "/" not in target:
            assert f"/usr/bin/{target}" in commit, f"{link} leads nowhere"


def test_links_in_etc_enable_what_the_preset_lists(commit):
    wants = "/usr/etc/systemd/system/multi-user.target.wants"
    assert [os.path.basename(path) for path in below(commit, wants)] == [
        "containerd.service", "slipway-boot-success.service", "slipway-container-kubelet.service", "slipway-first-boot-complete.service",
        "slipway-install-disk.service", "slipway-os-limit.timer", "ssh.service", "systemd-networkd.service"]


# ---- what must not be in the commit ------------------------------------------------------------------------------------

def test_no_secrets(checkout):
    # Libraries contain well-known keys for self-tests. Programs contain the first line of a key as a string; a key has another line after
    # it.
    key = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----\r?\n[A-Za-z0-9+/=:, -]{20}")
    contents = ((path, path.read_bytes()) for path in files(checkout))
    found = [path for path, content in contents if not content.startswith(b"\x7fELF") and key.search(content)]
    assert not found
    assert not list((checkout / "usr/etc/ssh").glob("ssh_host_*"))
    for line in (checkout / "usr/etc/shadow").read_text().splitlines():
        assert line.split(":")[1] in ("*", "!", "!*"), line


def test_nothing_tells_where_it_was_built(checkout):
    for name in ["usr/etc/hostname", "usr/etc/resolv.conf", "usr/etc/apt/sources.list"]:
        assert not (checkout / name).exists(), name
    assert not list((checkout / "usr/etc/apt/sources.list.d").iterdir())
    assert (checkout / "usr/etc/machine-id").read_text() == "uninitialized\n"
    words = [re.escape(str(BUILD)).encode()]
    if len(socket.gethostname()) > 5:  # shorter names occur in keys and words
        words.append(rb"\b" + re.escape(socket.gethostname()).encode() + rb"\b")
    if shutil.which("apt-get"):
        mirrors = run("apt-get", "indextargets", "-o", "APT::Get::IndexTargets::OnlyPresent=false", "--format", "$(REPO_URI)")
        words += [re.escape(mirror.rstrip("/")).encode() for mirror in set(mirrors.split())]
    telling = re.compile(b"|".join(words))
    for directory in ["usr/etc", "usr/lib/sysimage", "usr/lib/systemd", "usr/lib/tmpfiles.d", "usr/share/slipway"]:
        for path in files(checkout / directory):
            assert not telling.search(path.read_bytes()), path


def files(directory):
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path


# ---- /var -------------------------------------------------------------------------------------------------------------

def test_tmpfiles_make_everything_that_packages_ship_below_var(checkout):
    made = set()
    for file in (checkout / "usr/lib/tmpfiles.d").glob("*.conf"):
        made |= {line.split()[1] for line in file.read_text().splitlines() if re.match(r"[dDqQvLC]", line)}
    shipped = set()
    for file in (checkout / "usr/lib/sysimage/dpkg/info").glob("*.list"):
        shipped |= {line for line in file.read_text().splitlines() if line.startswith("/var/")}
    # The state of package managers stays in the image: builds on top of it need it, machines do not.
    managers = re.compile(r"/var/(lib/(dpkg|apt|pam|ucf)|cache/(apt|adduser|debconf|ldconfig)|log/(apt|runit)|backups)(/.*)?$")
    missing = {path for path in shipped - made if not managers.match(path)}
    assert len(shipped) > 20 and not missing


# ---- image and commit -------------------------------------------------------------------------------------------------

def test_commit_carries_the_digest_of_the_image():
    descriptor, _, config = image()
    version = (ROOT / "VERSION").read_text().strip()
    assert ostree("show", "--print-metadata-key=slipway.image", REF) == f"'{descriptor['digest']}'\n"
    assert ostree("show", "--print-metadata-key=version", REF) == f"'{version}'\n"
    labels = config["config"]["Labels"]
    assert labels["io.openshift.build.versions"].split(",")[0] == f"machine-os={version}"
    assert labels["ostree.bootable"] == "true"


def test_commit_has_the_files_of_the_image(commit):
    names = {"/"}
    for layer in image()[1]["layers"]:
        with tarfile.open(blob(layer)) as tar:
            names |= {os.path.normpath("/" + name) for name in tar.getnames()}
    expected = {re.sub(r"^/etc\b", "/usr/etc", name) for name in names if not name.startswith("/var/")}
    assert set(commit) == expected


def test_same_inputs_same_tar_same_commit(tmp_path):
    environment = {"PATH": os.environ["PATH"], "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run(["sh", "-c", 'umask 077 && exec "$@"', "sh", ROOT / "os/layout", INPUTS / "debian/root.tar",
                    INPUTS / "debian/packages.txt", tmp_path / "root.tar"], check=True, env=environment, cwd=tmp_path)
    assert run("cmp", tmp_path / "root.tar", INPUTS / "root.tar") == ""
    with tempfile.TemporaryDirectory(prefix="second-", dir=INPUTS) as second:
        again = run(ROOT / "os/commit", RELEASE, "machine-os", f"{second}/repo", REF, (ROOT / "VERSION").read_text().strip())
        assert again == ostree("rev-parse", REF)


def test_extensions_add_files_and_change_none(commit):
    _, manifest, config = image("machine-os-extensions")
    for name, layer in zip(config["config"]["Labels"]["slipway.extensions"].split(), manifest["layers"], strict=True):
        with tarfile.open(blob(layer)) as tar:
            members = {os.path.normpath("/" + member.name): member for member in tar}
            if name == "kernel-rt":
                # It takes the place of other kernels, and brings what a boot entry needs.
                assert "/usr/lib/modules/.wh..wh..opq" in members and all(path.startswith("/usr/lib/modules") for path in members)
                [kernel] = [path for path in members if path.endswith("/vmlinuz")]
                assert "-rt-" in kernel and kernel.replace("vmlinuz", "initramfs.img") in members
                continue
            known = {path for path, member in members.items() if not member.isdir()} & {re.sub("^/usr/etc", "/etc", path) for path in commit}
            assert not known and not [path for path in members if path.startswith("/var")], name
            paragraphs = tar.extractfile(members[f"/usr/share/slipway/extensions/{name}"]).read().decode()
        packages = re.findall("^Package: (.*)$", paragraphs, re.MULTILINE)
        lists = {re.sub("(:amd64)?.list$", "", os.path.basename(path)) for path in members if path.endswith(".list")}
        assert packages and set(packages) == lists and paragraphs.count("Status: install ok installed") == len(packages), name


def test_commit_of_the_same_image_is_not_made_again():
    before = (REPO / "refs/heads" / REF).stat()
    again = run(ROOT / "os/commit", RELEASE, "machine-os", REPO, REF, (ROOT / "VERSION").read_text().strip())
    assert again == ostree("rev-parse", REF)
    after = (REPO / "refs/heads" / REF).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


# ---- errors for people ------------------------------------------------------------------------------------------------

def layout_fails(tmp_path, *members):
    with tarfile.open(tmp_path / "in.tar", "w") as tar:
        for member in members:
            tar.addfile(member)
    (tmp_path / "packages.txt").touch()
    result = subprocess.run([ROOT / "os/layout", tmp_path / "in.tar", tmp_path / "packages.txt", tmp_path / "out.tar"],
                            capture_output=True, text=True)
    assert result.returncode == 1 and not (tmp_path / "out.tar").exists()
    return result.stderr


def test_a_device_is_refused(tmp_path):
    device = tarfile.TarInfo("./dev/null")
    device.type = tarfile.CHRTYPE
    assert layout_fails(tmp_path, device) == "os/layout: /dev/null is a device or a pipe; the image must not have any\n"


def test_a_pattern_that_matches_nothing_is_named(tmp_path):
    assert "os/layout: leave-out.txt: nothing matches " in layout_fails(tmp_path, tarfile.TarInfo("./file"))


STATUS = "usr/lib/sysimage/dpkg/status"
OF_OS = {STATUS: "Package: a\nArchitecture: all\nVersion: 1\n", "usr/lib/tmpfiles.d/slipway-debian.conf": "d /var/a\n", "etc/a": "a", "etc/ld.so.cache": "1"}


@pytest.mark.parametrize(("changes", "message"), [
    ({"etc/a": "b"}, "which a layer of an extension must not: etc/a"),
    ({"etc/a": None}, "which a layer of an extension must not: etc/a"),
    ({STATUS: OF_OS[STATUS].replace("1", "2")}, "it changes packages of the machine OS: a"),
    ({STATUS: OF_OS[STATUS] + "\nPackage: b\nArchitecture: all\n", "etc/b": "b", "var/lib/b": "b", "etc/ld.so.cache": "2",
      "usr/lib/tmpfiles.d/slipway-debian.conf": "d /var/a\nd /var/b\n"}, None),
])
def test_a_layer_of_an_extension_changes_nothing_of_the_machine_os(changes, message):
    loader = importlib.machinery.SourceFileLoader("extensions", str(ROOT / "os/extensions/build"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("extensions", loader))
    loader.exec_module(module)

    def archive(files):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as tar:
            for path, text in files.items():
                if text is not None:
                    module.add_file(tar, path, text)
        data.seek(0)
        return tarfile.open(fileobj=data)

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as layer:
        if message:
            with pytest.raises(module.Failure, match=message):
                module.write_layer(archive(OF_OS), archive(OF_OS | changes), "name", layer)
            return
        module.write_layer(archive(OF_OS), archive(OF_OS | changes), "name", layer)
    made.seek(0)
    with tarfile.open(fileobj=made) as layer:
        assert {member.name: layer.extractfile(member).read().decode() for member in layer if member.isreg()} == {
            "etc/b": "b", "usr/lib/tmpfiles.d/slipway-debian-name.conf": "d /var/b\n",
            "usr/share/slipway/extensions/name": "Package: b\nArchitecture: all\n"}


def test_an_unknown_image_is_named(tmp_path):
    result = subprocess.run([ROOT / "os/commit", RELEASE, "machine-oz", INPUTS / "repo", REF, "1"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, f"os/commit: {RELEASE} has 0 images of the name machine-oz\n")


# ---- a machine --------------------------------------------------------------------------------------------------------

def data_url(text):
    return "data:;base64," + base64.b64encode(text.encode()).decode()


CONFIG = {
    "ignition": {"version": "3.3.0"},
    "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA probe"]}]},
    "storage": {"files": [
        # Ignition has to follow the link /usr/local into /var.
        {"path": "/usr/local/bin/probe", "mode": 0o755,
         "contents": {"source": data_url((pathlib.Path(__file__).parent / "probe").read_text())}},
        {"path": "/etc/hosts", "overwrite": True, "contents": {"source": data_url("127.0.0.1 localhost probe\n")}},
        {"path": "/etc/hostname", "contents": {"source": data_url("probe\n")}}]},
    "systemd": {"units": [{"name": "probe.service", "enabled": True, "contents":
                           "[Service]\nType=exec\nExecStart=/usr/local/bin/probe\n[Install]\nWantedBy=multi-user.target\n"}]}}

# Kernel settings that files of Debian or of slipway would change if machines were not prevented from it.
HOST_SETTINGS = ["kernel/pid_max", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
                 "kernel/sysrq", "kernel/core_pattern", "kernel/printk", "vm/overcommit_memory", "vm/panic_on_oom",
                 "vm/max_map_count", "fs/protected_hardlinks", "fs/protected_regular", "fs/protected_fifos", "net/ipv4/ip_forward"]


def host_settings():
    values = {}
    for name in HOST_SETTINGS:
        with contextlib.suppress(FileNotFoundError):
            values[name] = pathlib.Path("/proc/sys", name).read_text()
    return values


def answers(made):
    return {path.name: path.read_text() for path in (made.var / "answers").iterdir()}


@pytest.fixture(scope="module")
def booted():
    """A machine that was booted twice. Yields it with the answers of the probe at the first and the second boot."""
    before = host_settings()
    authority = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority",
                    "-keyout", "/dev/null", "-out", "-")
    file = {"path": "/etc/pki/ca-trust/source/anchors/ca.crt", "mode": 0o600, "contents": {"source": data_url(authority)}}
    with machine(INPUTS, REPO, REF) as made:
        ignition = made.ignite(CONFIG | {"storage": {"files": [*CONFIG["storage"]["files"], file]}})
        boots = []
        for _ in range(2):
            status, seconds = made.boot(limit=90)
            console = made.console.read_text(errors="replace")
            assert status == 0, console
            assert (made.var / "answers/state").exists(), f"{ignition}\n{console}"
            boots.append({**answers(made), "console": console, "seconds": seconds})
            print(f"boot, probe and power-off: {seconds:.1f} s; {boots[-1]['time'].strip()}")
            (made.var / "answers/state").unlink()
        yield made, *boots
    assert host_settings() == before


def test_machine_is_made_of_hard_links(booted):
    made = booted[0]
    program = (made.root / "usr/bin/hyperkube").stat()
    assert program.st_nlink >= 3  # the repositories of host and machine, and the deployment
    own = made.sysroot / "ostree/repo"
    shared = [path for path in own.glob("objects/*/*.file") if not path.is_symlink() and path.stat().st_size > 0]
    assert shared and all((REPO / path.relative_to(own)).stat().st_ino == path.stat().st_ino for path in shared)
    assert program.st_ino in {path.stat().st_ino for path in shared}


def test_machine_boots_with_no_failed_unit(booted):
    for boot in booted[1:]:
        assert (boot["state"], boot["failed"]) == ("running\n", ""), boot["console"]
        assert set(boot["active"].split()) == {"active"}
        assert "multi-user.target reached after" in boot["time"]


def test_programs_answer(booted):
    first = booted[1]
    assert "Server:" in first["ctr"]
    assert first["podman"].startswith("podman version ")
    assert first["kubelet"].startswith("Kubernetes v")
    assert "\nii  containerd" in first["dpkg"]


def test_podman_builds_and_containerd_runs(booted):
    assert booted[1]["containers"].endswith("all of it\n"), booted[1]["containers"]


def test_keys_and_machine_id_are_made_once(booted):
    _, first, second = booted
    assert "ED25519" in first["ssh-key"] and first["ssh-key"] == second["ssh-key"]
    assert first["machine-id"] == second["machine-id"] == "0123456789abcdef0123456789abcdef\n"


def test_core_may_do_everything(booted):
    assert "(sudo)" in booted[1]["core"] and "(systemd-journal)" in booted[1]["core"]
    assert booted[1]["sudo"] == "0\n"


def test_authorities_of_the_config_are_trusted(booted):
    assert booted[1]["trust"] == booted[2]["trust"] == "2\n"  # lines of the certificate


def test_a_kubelet_finds_what_it_needs(booted):
    first = booted[1]
    assert (first["cgroups"], first["settings"], first["ip_forward"]) == ("", "", "1\n")
    assert "Read-only file system" in first["usr"]


def test_nothing_is_logged_as_an_error(booted):
    assert booted[1]["errors"] == ""


def test_a_machine_that_is_killed_leaves_nothing():
    with machine(INPUTS, REPO, REF) as made:
        made.boot(limit=60, kill_at="Reached target")
        name = made.sysroot.name
    assert not [path for path in CGROUPS.rglob("*") if path.name == made.name]
    assert name not in pathlib.Path("/proc/self/mounts").read_text()
    assert not made.sysroot.exists()
    processes = subprocess.run(["pgrep", "--full", name], capture_output=True, text=True)
    assert processes.stdout == ""
