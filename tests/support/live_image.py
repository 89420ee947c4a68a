"""A live image with the form of slipway's and small content: what a service puts a config into."""
import json
import pathlib
import subprocess

AREA = 256 << 10
ARGUMENTS = "slipway.live slipway.live.sha256=00 ignition.firstboot=1"


def make(folder, root_size=100_001, arguments=ARGUMENTS, area=AREA):
    """The ISO, and its parts by name."""
    tree = pathlib.Path(folder) / "tree"
    parts = {"vmlinuz": b"kernel" * 1000, "initramfs.img": b"initramfs".ljust(1024, b"\0"), "root.squashfs": b"r" * root_size,
             "ignition.img": bytes(area)}
    (tree / "images").mkdir(parents=True)
    (tree / "grub").mkdir()
    for name, content in parts.items():
        (tree / "images" / name).write_bytes(content)
    (tree / "grub/grub.cfg").write_text(f'set timeout=1\nmenuentry "slipway live" {{\n    linux /images/vmlinuz {arguments}\n}}\n')
    iso = pathlib.Path(folder) / "live.iso"
    subprocess.run(["xorriso", "-as", "mkisofs", "-quiet", "-o", iso, "-volid", "slipway-live", "-rational-rock", "-joliet",
                    "-full-iso9660-filenames", tree], check=True, capture_output=True)
    return iso, parts


def config_in(iso):
    """The config that Ignition finds in the image, read by programs that have nothing to do with slipway."""
    folder = pathlib.Path(iso).parent
    area = folder / "extracted.img"
    area.unlink(missing_ok=True)
    subprocess.run(["xorriso", "-osirrox", "on", "-indev", iso, "-extract", "/images/ignition.img", area], check=True, capture_output=True)
    return config_in_initrd(area.read_bytes())


def config_in_initrd(archive):
    text = subprocess.run(["cpio", "--quiet", "--extract", "--to-stdout", "usr/lib/ignition/user.ign"], input=archive, check=True,
                          capture_output=True).stdout
    return json.loads(text)
