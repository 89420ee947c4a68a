"""`slipway image ...`: the images that it makes, judged by the programs of their formats."""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(os.environ["SLIPWAY_SOURCE"]).resolve()
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
VERSION = (ROOT / "VERSION").read_text().strip()
QCOW2 = f"slipway-{VERSION}-qemu.x86_64.qcow2"
BOOT_OFFSET, ROOT_OFFSET = 66 << 20, 578 << 20
IGNITION = {"ignition": {"version": "3.5.0"}, "storage": {"files": [{"path": "/etc/hello", "contents": {"source": "data:,hello"}}]}}


def slipway(*words, cwd=None):
    return subprocess.run([SLIPWAY, *map(str, words)], capture_output=True, text=True, cwd=cwd)


def checked(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    yield folder
    for image in folder.glob("*.*"):
        if image.is_file():
            image.unlink()


@pytest.fixture(scope="module")
def raw(folder):
    """A raw image with a config and arguments of the kernel."""
    config = folder / "config.ign"
    config.write_text(json.dumps(IGNITION))
    disk = folder / "disk.raw"
    done = slipway("image", "write", disk, "--ignition", config, "--append-karg", "mitigations=off", "--first-boot-karg", "ip=dhcp")
    assert done.returncode == 0, done.stderr
    assert "written and verified" in done.stdout
    return disk


def boot_file(raw, path):
    return checked("debugfs", "-R", f"cat {path}", f"{raw}?offset={BOOT_OFFSET}")


def test_partitions_and_file_systems_are_sound(raw):
    assert "No problems found" in checked("sgdisk", "--verify", raw)
    for offset in (BOOT_OFFSET, ROOT_OFFSET):
        checked("e2fsck", "-f", "-n", f"{raw}?offset={offset}")
    esp = raw.with_name("esp")
    checked("dd", f"if={raw}", f"of={esp}", "bs=1M", "skip=2", "count=64", "status=none")
    checked("fsck.vfat", "-n", esp)
    assert "BOOTX64" in checked("mdir", "-b", "-i", esp, "::/EFI/BOOT")
    assert raw.stat().st_blocks * 512 < 1e9 < raw.stat().st_size
    assert raw.stat().st_mode & 0o777 == 0o600


def test_the_first_boot_has_its_config_and_arguments(raw):
    config = json.loads(boot_file(raw, "/ignition/config.ign"))
    # The Ignition of the machine OS reads 3.3.
    assert config["ignition"]["version"] == "3.3.0"
    assert config["storage"]["files"][0]["path"] == "/etc/hello"
    assert "Mode:  0600" in checked("debugfs", "-R", "stat /ignition/config.ign", f"{raw}?offset={BOOT_OFFSET}")
    assert boot_file(raw, "/ignition.firstboot") == 'set ignition_kargs="ip=dhcp"\n'
    first, others = boot_file(raw, "/grub/first-boot.cfg"), boot_file(raw, "/loader/syslinux.cfg")
    for text in (first, others):
        assert "mitigations=off" in text and "ignition.platform.id=metal" in text
    assert "ignition.firstboot=1 $ignition_kargs" in first and "firstboot" not in others and "ip=dhcp" not in others


def test_a_platform_gets_its_format(folder):
    done = slipway("image", "create", cwd=folder)
    assert done.returncode == 0, done.stderr
    image = folder / QCOW2
    assert done.stdout.strip() == str(image)
    information = json.loads(checked("qemu-img", "info", "--output=json", image))
    assert information["format"] == "qcow2" and information["virtual-size"] < 3e9 and image.stat().st_size < 5e8
    checked("qemu-img", "check", image)

    again = slipway("image", "create", cwd=folder)
    assert again.returncode == 1 and "exists already" in again.stderr
    listed = json.loads(slipway("image", "list", folder, "--output", "stream", "--base-url", "https://example.com/os").stdout)
    formats = listed["architectures"]["x86_64"]["artifacts"]["qemu"]
    assert formats == {"release": VERSION, "formats": {"qcow2": {"disk": {"location": f"https://example.com/os/{QCOW2}", "sha256": digest(image)}}}}
    assert digest(image) in slipway("image", "list", folder).stdout


def test_a_live_image_has_its_config_and_the_disk(folder):
    config = folder / "live.ign"
    config.write_text(json.dumps(IGNITION))
    iso = folder / "live.iso"
    done = slipway("image", "create", "--platform", "metal", "--format", "iso", "--ignition", config, "--install-disk", "/dev/sda",
                   "--install-ignition", config, "--output", iso)
    assert done.returncode == 0, done.stderr
    assert iso.stat().st_mode & 0o777 == 0o600
    report = checked("xorriso", "-indev", iso, "-report_el_torito", "plain", "-find", "/images")
    assert "BIOS" in report and "UEFI" in report
    files = folder / "files"
    files.mkdir()
    checked("xorriso", "-osirrox", "on", "-indev", iso, "-extract", "/images/ignition.img", files / "ignition.img",
            "-extract", "/grub/grub.cfg", files / "grub.cfg", "-extract", "/images/disk.raw.zst", files / "disk.raw.zst")
    with open(files / "ignition.img", "rb") as archive:
        listed = subprocess.run(["cpio", "--quiet", "--list"], stdin=archive, capture_output=True, text=True)
    assert listed.stdout == "usr/lib/ignition/user.ign\n"
    assert "slipway.install.disk=/dev/sda" in (files / "grub.cfg").read_text()
    checked("zstd", "--quiet", "--decompress", files / "disk.raw.zst")
    assert json.loads(boot_file(files / "disk.raw", "/ignition/config.ign"))["ignition"]["version"] == "3.3.0"
    for file in files.iterdir():
        file.unlink()


def test_a_killed_command_can_be_repeated(folder):
    words = [SLIPWAY, "image", "create", "--format", "raw", "--output", folder / "killed.raw"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    scratch = folder / "killed.raw.raw-image.new"
    while not (scratch / "sysroot/ostree/deploy").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "killed.raw").exists()
    checked(*words)
    assert (folder / "killed.raw").exists() and not list(folder.glob("*.new")) and not list(folder.glob("*.raw-image"))


# A command, and what its error says.
WRONG = [
    (["image", "write", "/dev/null"], "/dev/null: is neither a disk nor a file"),
    (["image", "create", "--append-karg", "a b", "--first-boot-karg", "c;d"], "--append-karg: 'a b' is not a kernel argument"),
    (["image", "create", "--append-karg", "a b", "--first-boot-karg", "c;d"], "--first-boot-karg: 'c;d' is not a kernel argument"),
    (["image", "create", "--ignition", "/no/config.ign"], "/no/config.ign"),
    (["image", "create", "--os-repo", "/no/repo"], "/no/repo: no machine OS"),
    (["image", "create", "--platform", "moon"], "moon"),
    (["image", "create", "--format", "iso"], "live images are for --platform metal, not qemu"),
    (["image", "create", "--format", "raw", "--install-disk", "/dev/sda"], "--install-disk: only a live image of --format iso writes a disk"),
    (["image", "create", "--platform", "metal", "--format", "iso", "--install-disk", "sda"], "--install-disk: sda is not a device"),
    (["image", "create", "--install-ignition", "a.ign"], "--install-ignition: requires --install-disk"),
]


@pytest.mark.parametrize("words, message", WRONG)
def test_wrong_arguments(words, message, tmp_path):
    done = slipway(*words, cwd=tmp_path)
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_config_that_the_machine_os_cannot_read(tmp_path):
    config = tmp_path / "config.ign"
    config.write_text(json.dumps({"ignition": {"version": "3.5.0"}, "storage": {"luks": [{"name": "data", "device": "/dev/vdb", "discard": True}]}}))
    done = slipway("image", "create", "--ignition", config, cwd=tmp_path)
    assert done.returncode != 0 and "luks" in done.stderr, done.stderr
