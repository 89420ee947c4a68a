"""Writes of root in a machine stay in the machine: no writable file that it sees shares an inode with the host's build folder, with the
folder of its cluster, or with another machine.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/component/kubelet/test_isolation.py

The test reads the real mounts. docs/local-machines.md lists what a container does not isolate (devices that it creates, the interfaces of
the kernel).
"""

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import stat

from test_kubelet import BUILD, PAYLOAD, Cluster, new_cluster, payload  # noqa: F401

# Only every 40th file of the machine OS is written: the overlay copies each of some ten thousand files on a write.
EVERY = 40
IMAGES = "/var/lib/containerd-images/"

# Runs in the machine with file names on standard input: makes everything writable if possible, then writes to each file and prints "wrote
# PATH" after a success. It writes the existing content, so that a failing test does not damage the build; the times of the files show the
# write.
WRITER = r"""
for place in $(sed 's/^\S* \S* \S* \S* \(\S*\) .*/\1/' /proc/self/mountinfo); do
    mount -o remount,bind,rw "$place"; mount -o remount,rw "$place"
done >/dev/null 2>&1
mount --bind /var/lib/containerd-images /mnt && mount -o remount,bind,rw /mnt
perl -ne '
    chomp;
    my $worked = 0;
    if (open my $file, "+<:raw", $_) { sysread $file, my $byte, 1; sysseek $file, 0, 0; $worked = 1 if syswrite $file, $byte; close $file }
    my @info = lstat $_;
    $worked = 1 if chmod $info[2] & 07777, $_;
    $worked = 1 if truncate $_, $info[7];
    $worked = 1 if link($_, "$_.link") && unlink "$_.link";
    print "wrote $_\n" if $worked;
'
"""


def host_files():
    """Inodes of the files of build and cluster that machines consist of: (device, inode) -> path."""
    return [BUILD / "release", PAYLOAD / "os/repo/objects", PAYLOAD / "containerd", PAYLOAD / "registry", PAYLOAD / "bin"]


def inodes(folders):
    found = {}
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                if stat.S_ISREG(info.st_mode):
                    found[info.st_dev, info.st_ino] = path
    return found


def state_of(files):
    """The metadata that any write changes."""
    states = {}
    for path in files:
        info = os.lstat(path)
        states[path] = (info.st_ino, info.st_mode, info.st_uid, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
    return states


def changed(before, after):
    return [path for path, state in before.items() if after[path] != state]


def digests(files):
    return {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in files}


def root_of(cluster, machine):
    """The root of a running machine as a path of the host, through its init process."""
    listed = json.loads(cluster.slipway("list", "--output", "json").stdout)["machines"]
    leader = next(each["leader"] for each in listed if each["name"] == machine)
    owner = json.loads((cluster.folder / "owner.json").read_text())["pid"]
    return f"/proc/{owner}/root/proc/{leader}"


@contextlib.contextmanager
def halted(process):
    """Stops all processes of a machine (its journal changes at any time) and continues them at the end."""

    def signal_all(number):
        for each in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended, or it is of the host
                if each.name.isdigit() and os.readlink(each / "ns/pid") == space:
                    os.kill(int(each.name), number)

    space = os.readlink(f"{process}/ns/pid")
    signal_all(signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(signal.SIGCONT)


def mounts(process):
    for line in pathlib.Path(process, "mountinfo").read_text().splitlines():
        fields = line.split(" ")
        yield fields[4].replace("\\040", " "), fields[fields.index("-") + 1]


def visible(process):
    """Regular files on the writable file systems of a machine: (path in the machine, its stat)."""
    kept = ("ext4", "xfs", "btrfs", "overlay", "tmpfs", "ramfs")
    seen = set()
    for place, kind in mounts(process):
        top = f"{process}/root{place}"
        if kind not in kept or not os.path.lexists(top):
            continue
        device = os.lstat(top).st_dev
        for folder, folders, names in ([(os.path.dirname(top), [], [os.path.basename(top)])] if not os.path.isdir(top) else os.walk(top)):
            folders[:] = [name for name in folders if os.lstat(os.path.join(folder, name)).st_dev == device]
            for name in names:
                path = os.path.join(folder, name)
                try:
                    info = os.lstat(path)
                except FileNotFoundError:  # the machine is running
                    continue
                inside = path.removeprefix(f"{process}/root")
                if stat.S_ISREG(info.st_mode) and inside not in seen:
                    seen.add(inside)
                    yield inside, info


def test_what_root_of_a_machine_writes_stays_there():
    with new_cluster() as cluster:
        cluster.slipway("create", "m0", "m1", "--os-repo", PAYLOAD / "os/repo", "--images", PAYLOAD, "--wait")
        m0, m1 = root_of(cluster, "m0"), root_of(cluster, "m1")
        host = inodes([*host_files(), *(path for path in cluster.folder.iterdir() if path.is_dir() and path.name != "machines"),
                       cluster.folder / "machines/m1"])
        numbers = {number for _, number in host}
        others = {(info.st_dev, info.st_ino): path for path, info in visible(m1)}
        shared, of_system = [], []
        for path, info in visible(m0):
            is_one = (info.st_dev, info.st_ino) in host or (info.st_dev, info.st_ino) in others
            # An overlay has the inode numbers of the lower files, with another device. /sysroot contains /var of the machine, too.
            if is_one or IMAGES in path:
                shared.append(path)
            elif info.st_ino in numbers:
                of_system.append(path)
        by_device = [path for path in shared if IMAGES not in path]
        print(f"\n{len(shared)} files of m0 share an inode, {len(by_device)} of them outside of its images: {by_device[:10]}; "
              f"{len(of_system)} lie below its layer")
        assert by_device == [] and len(shared) > 1000 and len(of_system) > 1000
        tried = [*shared, *of_system[::EVERY]]

        with halted(m1):
            samples = sorted(host.values())[::50]
            before, contents = state_of(host.values()), digests(samples)
            seen_by_m1 = [f"{m1}/root{path}" for path in tried if os.path.exists(f"{m1}/root{path}")]
            before_in_m1, contents_in_m1 = state_of(seen_by_m1), digests(seen_by_m1[::20])

            done = cluster.shell("sh", "-c", WRITER, input="".join(f"{path}\n" for path in tried))

            assert changed(before, state_of(host.values())) == [] and changed(contents, digests(samples)) == []
            assert changed(before_in_m1, state_of(seen_by_m1)) == [] and changed(contents_in_m1, digests(seen_by_m1[::20])) == []
        wrote = {line.removeprefix("wrote ") for line in done.stdout.splitlines()}
        print(f"m0 wrote to {len(wrote)} of {len(tried)} files")
        # Checks that writes happened: the overlay accepts writes to the machine OS; images accept none.
        assert wrote >= set(of_system[::EVERY])
        assert [path for path in wrote if path in shared] == []
