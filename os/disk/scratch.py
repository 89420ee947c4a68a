"""A folder for the intermediate files of one output, beside it."""

import contextlib
import fcntl
import os
import shutil
import subprocess


def remove(folder):
    """OSTree makes the roots of deployments immutable."""
    for root in folder.glob("sysroot/ostree/deploy/*/deploy/*.0"):
        subprocess.run(["chattr", "-i", root], capture_output=True)
    shutil.rmtree(folder)


def lock(folder):
    """Programs that this one starts with close_fds=False inherit the lock."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.set_inheritable(descriptor, True)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


@contextlib.contextmanager
def scratch(output):
    """Yields the folder OUTPUT.new. What a run that was killed left there is removed, after the programs of that run have ended."""
    folder = output.with_name(output.name + ".new")
    if folder.exists():
        descriptor = lock(folder)
        remove(folder)
        os.close(descriptor)
    folder.mkdir(mode=0o700)
    descriptor = lock(folder)
    try:
        yield folder
    finally:
        remove(folder)
        os.close(descriptor)
