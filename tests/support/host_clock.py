"""Time as this machine had it, for limits and figures.

The host of a virtual machine may give the processors to somebody else for a while; the kernel counts that as stolen (proc(5), /proc/stat).
A limit that counts such seconds says nothing about what is tested.
"""

import os
import pathlib
import time


def stolen():
    """Seconds since the boot in which a processor was wanted and not given, of one processor on average."""
    steal = int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])
    return steal / os.sysconf("SC_CLK_TCK") / os.cpu_count()


def now():
    """Seconds of time.monotonic() that were not stolen."""
    return time.monotonic() - stolen()


class Span:
    """From its making on. Fair: the host left the processors to this machine, so that how long somebody waited for an answer says something."""

    FAIR = 0.15  # at most this share was stolen

    def __init__(self):
        self.begun, self.before = time.monotonic(), stolen()

    def is_fair(self):
        return self.share() <= self.FAIR

    def share(self):
        """How much of it was stolen."""
        return (stolen() - self.before) / max(time.monotonic() - self.begun, 1e-9)

    def excuses(self, what):
        """Whether `what` says nothing, because the host took the processors away meanwhile. It is written down: `make test` ends with
        everything that it did not judge."""
        if self.is_fair():
            return False
        line = f"{what}: the host took {self.share():.0%} of {time.monotonic() - self.begun:.0f} s"
        with not_judged().open("a") as file:
            file.write(line + "\n")
        print(f"not judged: {line}")
        return True


def not_judged():
    """The file with a line for each thing that was not judged; tools/test prints it."""
    return pathlib.Path(os.environ.get("SLIPWAY_BUILD", "build")) / "not-judged.txt"
