"""A machine gets another operating system out of an OCI image, keeps its files, and goes back by itself if the new one does not work.
The machine-config-daemon gives the same commands (src/node/os_update/command.h)."""

import json
import os
import random
import shutil

import host_clock
import pytest
from os_images import BROKEN, ON_MACHINE, PAYLOAD, REPOSITORY, is_last_layer_only, layer, limit_of_trial, new_layout, want
from local_machines import new_cluster, until

SLIPWAY_NODE = "/usr/local/bin/slipway-node"
RECORD = "/var/lib/slipway/os-update.json"
KILLS = 10 if "SLIPWAY_LONG" in os.environ else 2  # of each kind
NEW_FILES = {
    "usr/share/which-one": "second\n",
    "usr/share/common-licenses/GPL-3": None,
    "etc/added.conf": "default\n",
    "etc/issue": "issue of the second\n",
    "var/lib/dropped/file": "belongs to the machine\n",
    "usr/bin/set-uid": {"mode": 0o4755},
    "usr/share/link-to-which": {"type": b"2", "linkname": "which-one"},
}
# Different files, in a folder of their own and beside those of the base.
LARGE = {path: random.Random(path).randbytes(1 << 20).hex() for path in (f"usr/{folder}/large-{number}" for folder in ("bin", "lib/large") for number in range(8))}


class Machine:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name

    def shell(self, script, check=True):
        return self.cluster.shell(self.name, script, check=check)

    def os(self, *words, check=True):
        return self.shell(" ".join([SLIPWAY_NODE, "os", *words]), check=check)

    def trial(self):
        return json.loads(self.os("trial").stdout)

    def boots(self):
        return self.cluster.list()[self.name]["boots"]

    def deployment(self):
        return self.cluster.list()[self.name]["deployment"]

    def until_started(self, is_it):
        """is_it: whether it is the start that is waited for, of the machine's row."""
        rows = []

        def look():
            rows[:] = [self.cluster.list()[self.name]]
            return rows[0]["state"] == "running" and is_it(rows[0])

        try:
            until("the machine runs", look, 90)
        except AssertionError as late:
            raise AssertionError(f"{late}: {rows}") from late
        self.shell(f"systemd-run --unit=images {ON_MACHINE}/registry serve {ON_MACHINE}/config.yaml")

    def reboot(self):
        boots = self.boots()
        self.shell("systemctl reboot", check=False)
        self.until_started(lambda row: row["boots"] > boots)

    def want(self, current, wanted):
        self.shell(want(current, wanted))


@pytest.fixture(scope="module")
def layout():
    with new_layout() as made:
        yield made


@pytest.fixture(scope="module")
def images(layout):
    arm = "arm64"
    return {
        "second": layout.add("second", layer(NEW_FILES)),
        # Its first own layer is that of the second image.
        "third": layout.add("third", layer(NEW_FILES), layer({"usr/share/which-one": "third\n", "usr/share/big": "x" * (1 << 20)})),
        "large": layout.add("large", layer(LARGE)),
        "broken": layout.add("broken", layer(BROKEN)),
        "no-os": layout.add("no-os", layer({"usr/lib/systemd/systemd": None})),
        "device": layout.add("device", layer({"usr/lib/device": {"type": b"3", "devmajor": 1, "devminor": 3}})),
        "other-architecture": layout.add("other-architecture", layer({"usr/share/x": "x"}), config={"architecture": arm}),
        "machine-os": f"{REPOSITORY}@{layout.base}",
        "extensions": f"{REPOSITORY}@{layout.take('machine-os-extensions')[0]}",
    }


@pytest.fixture(scope="module")
def machine(layout, images):
    with new_cluster() as cluster:
        cluster.create("m0")
        local = cluster.folder / "machines/m0/var/usrlocal"
        for source, place in ((PAYLOAD / "bin/slipway-node", "bin"), *((path, "lib/slipway") for path in (PAYLOAD / "lib/slipway").glob("*.so*"))):
            (local / place).mkdir(parents=True, exist_ok=True)
            shutil.copy(source, local / place)
        layout.serve(cluster, "m0")
        yield Machine(cluster, "m0")


def commit_of(machine, ref):
    return machine.shell(f"ostree --repo=/ostree/repo rev-parse {ref}").stdout.strip()


def refs(machine):
    """Those of images; ostree has its own for deployments."""
    return machine.shell("ostree --repo=/ostree/repo refs --list slipway").stdout.split()


def disk_use(machine):
    return int(machine.shell("du -s -B1 /sysroot/ostree/repo/objects").stdout.split()[0])


def test_the_image_of_the_release_is_known_and_its_import_gives_the_same_commit(machine, images, capsys):
    first = commit_of(machine, "slipway/machine-os")
    machine.os("fetch", images["machine-os"])
    assert refs(machine) == ["slipway/machine-os"]

    # On a machine that knows nothing about the image, from nothing.
    machine.shell("unshare -m sh -c 'mount -o remount,bind,rw /sysroot && ostree --repo=/ostree/repo refs --delete slipway/machine-os'")
    start = host_clock.now()
    machine.os("fetch", images["machine-os"])
    with capsys.disabled():
        print(f"\nimport of the machine OS from nothing: {host_clock.now() - start:.1f} s")
    ref = "slipway/os/" + images["machine-os"].rpartition(":")[2]
    assert commit_of(machine, ref) == first, machine.shell(f"ostree --repo=/ostree/repo diff {first} {ref}").stdout


def test_a_layer_on_a_known_image(machine, images, capsys):
    before = disk_use(machine)
    start = host_clock.now()
    fetched = machine.os("fetch", images["second"])
    took = host_clock.now() - start
    assert is_last_layer_only(fetched.stderr), fetched.stderr
    ref = "slipway/os/" + images["second"].rpartition(":")[2]
    with capsys.disabled():
        print(f"\nimport of a layer on a known image: {took:.1f} s, {(disk_use(machine) - before) / 1e6:.1f} MB of disk")

    def mode(path):
        """As in ls, with the target of a link; nothing if the image does not have it."""
        found = machine.shell(f"ostree --repo=/ostree/repo ls {ref} {path}", check=False)
        return " ".join(found.stdout.split()[:1] + found.stdout.split()[5:]) if found.returncode == 0 else None
    assert mode("/usr/share/which-one") == "-00644" and mode("/usr/etc/added.conf") == "-00644" and mode("/usr/bin/set-uid") == "-04755"
    assert mode("/usr/share/link-to-which") == "l00777 -> which-one"
    assert mode("/usr/share/common-licenses/GPL-3") is None and mode("/usr/share/common-licenses/.wh.GPL-3") is None and mode("/usr/share/common-licenses/GPL-2")
    assert mode("/var") and mode("/var/lib") is None and mode("/etc") is None
    # Fetched again, and with only one more layer.
    machine.os("fetch", images["second"])
    third = machine.os("fetch", images["third"]).stderr
    assert is_last_layer_only(third), third


def test_a_second_image_of_the_same_base_costs_its_own_layers(machine, images, capsys):
    own, before = sum(map(len, LARGE.values())), disk_use(machine)
    machine.os("fetch", images["large"])
    cost = disk_use(machine) - before
    with capsys.disabled():
        print(f"\na second image of the same base: {cost / 1e6:.1f} MB of disk, its own layer has {own / 1e6:.1f} MB")
    assert own <= cost <= 1.1 * own


@pytest.mark.parametrize(("image", "message"), [
    ("no-os", "it is no machine OS, because it has no /usr/lib/systemd/systemd"),
    ("device", "usr/lib/device"),
    ("other-architecture", "it is for arm64, and this machine is amd64"),
    ("registry.example.com/team/os:second", "has no digest"),
    ("registry.example.com/team/os@sha256:" + "0" * 64, "registry.example.com/team/os"),
    ("registry.example.com/team/os@sha256:" + "0" * 63, "osImageURL"),
])
def test_what_is_no_image_of_a_machine_is_refused(machine, images, image, message):
    refused = machine.os("fetch", images.get(image, image), check=False)
    assert refused.returncode == 1 and message in refused.stderr, refused.stderr
    assert machine.shell("ls /ostree/repo/tmp/slipway-os/tree 2>/dev/null | wc -l").stdout == "0\n"


def test_killed_at_drawn_moments_the_same_command_finishes(machine, images, request):
    ref = "slipway/os/" + images["second"].rpartition(":")[2]
    expected = commit_of(machine, ref)
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    for _ in range(KILLS):
        machine.shell(f"unshare -m sh -c 'mount -o remount,bind,rw /sysroot && ostree --repo=/ostree/repo refs --delete {ref}'")
        delay = draw.uniform(0.05, 2)
        machine.shell(f"timeout --signal=KILL {delay:.2f} {SLIPWAY_NODE} os fetch {images['second']}", check=False)
        machine.os("fetch", images["second"])
        assert commit_of(machine, ref) == expected, f"seed {seed}, killed after {delay:.2f} s"


def test_it_is_booted_with_its_config_and_the_old_one_stays(machine, images, capsys):
    first = machine.deployment()
    machine.shell("echo mine > /etc/kept.conf; mkdir -p /var/lib/kept && echo data > /var/lib/kept/file")
    machine.want(("rendered-1", images["machine-os"], (), "one"), ("rendered-2", images["second"], ("slipway.test=1",), "two"))
    start = host_clock.now()
    machine.os("stage", "next-config")
    staged = host_clock.now() - start
    assert machine.trial()["state"] == "none"
    assert machine.shell("cat /etc/motd 2>/dev/null; true").stdout != "two"
    start = host_clock.now()
    machine.reboot()
    with capsys.disabled():
        print(f"\nstage {staged:.1f} s, reboot {host_clock.now() - start:.1f} s")
    assert machine.deployment() != first
    assert machine.trial() == {"state": "on-trial", "config": "rendered-2", "reason": ""}
    assert machine.shell("cat /usr/share/which-one /etc/added.conf /etc/kept.conf /var/lib/kept/file /etc/motd").stdout == "second\ndefault\nmine\ndata\ntwo"
    assert machine.shell("cat /etc/issue").stdout == "issue of the second\n"
    assert "slipway.test=1" in machine.shell("cat /proc/cmdline").stdout.split()
    machine.os("accept")
    assert machine.trial()["state"] == "none"
    machine.shell(f"test ! -e {RECORD}")
    assert len(refs(machine)) == 2 and "slipway/os/" + images["third"].rpartition(":")[2] not in refs(machine), refs(machine)
    assert first in machine.shell("ostree admin status").stdout
    machine.reboot()
    assert machine.shell("cat /usr/share/which-one").stdout == "second\n"


def test_one_that_nobody_accepts_is_left_in_time(machine, images):
    good = machine.deployment()
    machine.shell(limit_of_trial(3))
    machine.want(("rendered-2", images["second"], ("slipway.test=1",), "two"), ("rendered-3", images["broken"], (), "three"))
    machine.os("fetch", images["broken"])
    machine.os("stage", "next-config")
    boots = machine.boots()
    machine.shell("systemctl reboot", check=False)
    # A start that ends early may be tried again, up to three times.
    machine.until_started(lambda row: row["boots"] >= boots + 2 and row["deployment"] == good)
    trial = machine.trial()
    assert trial["state"] == "failed" and trial["config"] == "rendered-3"
    assert images["broken"] in trial["reason"] and "kubelet-stand-in.service" in trial["reason"], trial
    assert machine.shell("cat /etc/motd").stdout == "two" and "slipway.test=1" in machine.shell("cat /proc/cmdline").stdout
    machine.os("forget")
    assert machine.trial()["state"] == "none"
    machine.reboot()
    assert machine.deployment() == good
    # The trials of other tests end when they are accepted, also on a busy host.
    machine.shell(limit_of_trial(600))


def test_kernel_arguments_alone(machine, images):
    machine.want(("rendered-2", images["second"], ("slipway.test=1",), "two"), ("rendered-4", images["second"], ("slipway.other=a b",), "four"))
    commit = machine.deployment().rpartition(".")[0]
    machine.os("stage", "next-config")
    machine.reboot()
    assert machine.deployment().startswith(commit)
    words = machine.shell("cat /proc/cmdline").stdout.split()
    assert "slipway.test=1" not in words and {"slipway.other=a", "b"} <= set(words), words
    machine.os("accept")


def test_extensions_that_an_image_does_not_have_are_refused(machine, images):
    # On an image that is on the machine.
    refused = machine.os("fetch", images["second"], images["extensions"], "usbguard", "two-node-ha", check=False)
    assert refused.returncode == 1 and "it has no extension two-node-ha; it has: extension ipsec, extension kerberos, " in refused.stderr, refused.stderr
    refused = machine.os("fetch", images["second"], images["second"], "usbguard", check=False)
    assert refused.returncode == 1 and "it is no image of extensions" in refused.stderr, refused.stderr
    assert not [ref for ref in refs(machine) if ref.startswith("slipway/extended/")]


def test_extensions_are_there_after_a_reboot(machine, images, capsys):
    image = f"{images['extensions']}"
    spec = {"baseOSExtensionsContainerImage": image, "extensions": ["usbguard", "sysstat"]}
    machine.shell("! command -v usbguard && ! command -v mpstat && ! dpkg -s usbguard 2>/dev/null")
    machine.want(("rendered-4", images["second"], ("slipway.other=a b",), "four"), ("rendered-5", images["second"], (), "five", spec))
    missing = machine.os("stage", "next-config", check=False)
    assert missing.returncode == 1 and "with sysstat, usbguard of" in missing.stderr and "is not on this machine" in missing.stderr, missing.stderr
    before = disk_use(machine)
    start = host_clock.now()
    fetched = machine.os("fetch", images["second"], image, "sysstat", "usbguard")
    with capsys.disabled():
        print(f"\nextensions: {host_clock.now() - start:.1f} s, {(disk_use(machine) - before) / 1e6:.1f} MB of disk")
    assert "extension usbguard: " in fetched.stderr and "ipsec" not in fetched.stderr, fetched.stderr
    assert machine.os("fetch", images["second"], image, "sysstat", "usbguard").stderr.count("layer ") == 0
    machine.os("stage", "next-config")
    machine.reboot()
    assert machine.trial() == {"state": "on-trial", "config": "rendered-5", "reason": ""}
    machine.os("accept")
    # Programs with libraries of their own, what systemd and tmpfiles.d know of them, dpkg's database, and the image below.
    assert "usbguard 1." in machine.shell("usbguard --version").stdout
    assert "CPU" in machine.shell("mpstat").stdout
    assert machine.shell("systemctl is-enabled usbguard", check=False).stdout == "disabled\n" and machine.shell("stat -c %F /var/log/usbguard").stdout == "directory\n"
    assert "Status: install ok installed" in machine.shell("dpkg -s usbguard libusbguard1 sysstat openssh-server").stdout
    assert machine.shell("dpkg --audit").stdout == ""
    assert machine.shell("cat /usr/share/which-one /etc/motd /etc/kept.conf").stdout == "second\nfivemine\n"


def test_killed_at_drawn_moments_extensions_are_fetched(machine, images):
    words = f"fetch {images['second']} {images['extensions']} kerberos usbguard"
    machine.os(words)
    [ref] = [ref for ref in refs(machine) if ref.startswith("slipway/extended/") and "kerberos" in machine.shell(
        f"ostree --repo=/ostree/repo show --print-metadata-key=slipway.extensions {ref}").stdout]
    expected = commit_of(machine, ref)
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    for _ in range(KILLS):
        machine.shell(f"unshare -m sh -c 'mount -o remount,bind,rw /sysroot && ostree --repo=/ostree/repo refs --delete {ref}'")
        delay = draw.uniform(0.05, 2)
        machine.shell(f"timeout --signal=KILL {delay:.2f} {SLIPWAY_NODE} os {words}", check=False)
        machine.os(words)
        assert commit_of(machine, ref) == expected, f"seed {seed}, killed after {delay:.2f} s"
    # Images, deployments and extensions share objects: none of them has changed, also after the kills of both tests.
    machine.shell("ostree --repo=/ostree/repo fsck --quiet")


def boot_entry(machine):
    """The kernel of the deployment that boots next."""
    return machine.shell("grep -h ^linux $(ls /boot/loader/entries/*.conf | sort -V | tail -n 1)").stdout


def test_the_real_time_kernel_is_booted_and_left(machine, images):
    spec = {"baseOSExtensionsContainerImage": images["extensions"], "kernelType": "realtime"}
    with_extensions = {"baseOSExtensionsContainerImage": images["extensions"], "extensions": ["usbguard", "sysstat"]}
    usual = boot_entry(machine)
    assert "-amd64" in usual and "-rt-" not in usual
    machine.want(("rendered-5", images["second"], (), "five", with_extensions), ("rendered-6", images["second"], (), "six", spec))
    assert "kernelType realtime: " in machine.os("fetch", images["second"], images["extensions"], "kernel-rt").stderr
    machine.os("stage", "next-config")
    assert "-rt-amd64" in boot_entry(machine)
    machine.reboot()
    machine.os("accept")
    [modules] = machine.shell("ls /usr/lib/modules").stdout.split()
    assert modules.endswith("-rt-amd64") and {"initramfs.img", "vmlinuz", "modules.dep"} <= set(machine.shell(f"ls /usr/lib/modules/{modules}").stdout.split())
    machine.shell("! command -v usbguard && ! dpkg -s usbguard 2>/dev/null")

    # The image below is still on the machine.
    machine.want(("rendered-6", images["second"], (), "six", spec), ("rendered-7", images["second"], (), "seven"))
    machine.os("stage", "next-config")
    assert boot_entry(machine).split("vmlinuz")[1] == usual.split("vmlinuz")[1]
    machine.reboot()
    machine.os("accept")
    assert "-rt-" not in machine.shell("ls /usr/lib/modules").stdout
