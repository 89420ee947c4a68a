"""The root of a machine in a folder, for programs that enter it: with the programs and libraries of this host.

    root = machine_root.make(folder / "root")
    subprocess.Popen([*machine_root.enter(root), PROGRAM, f"--root-mount={root}"])
"""

MOUNTS = """set -e
mount --rbind /usr "$0/usr"
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
exec "$@"
"""


def make(root):
    for name in ("usr", "dev", "proc", "run", "tmp", "var", "etc"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    return root


def enter(root):
    """Starts a program that sees these mounts, and no other one does."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNTS, root]
