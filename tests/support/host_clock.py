"""The time that this machine was given by its host, for limits and figures.

The host of a virtual machine may use the processors for other work; the kernel counts that time as stolen (proc(5), /proc/stat).
A time limit that includes stolen time says nothing about the code under test.
"""

import os
import pathlib
import time


def stolen():
    """Stolen seconds since the boot, as the average of all processors."""
    steal = int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])
    return steal / os.sysconf("SC_CLK_TCK") / os.cpu_count()


def now():
    """time.monotonic() without stolen seconds."""
    return time.monotonic() - stolen()


class Span:
    """A span that starts when it is created. It is fair if the host stole little time in it, so that measured durations are meaningful."""

    FAIR = 0.15  # maximum share of stolen time

    def __init__(self):
        self.begun, self.before = time.monotonic(), stolen()

    def is_fair(self):
        return self.share() <= self.FAIR

    def share(self):
        """The share of stolen time."""
        return (stolen() - self.before) / max(time.monotonic() - self.begun, 1e-9)

    def excuses(self, what):
        """Whether `what` cannot be judged because the host stole too much time. The result is recorded: `make test` ends with a list of
        everything that was not judged."""
        if self.is_fair():
            return False
        line = f"{what}: the host took {self.share():.0%} of {time.monotonic() - self.begun:.0f} s"
        with not_judged().open("a") as file:
            file.write(line + "\n")
        print(f"not judged: {line}")
        return True


def not_judged():
    """The file with one line for each check that was not judged; tools/test prints it."""
    return pathlib.Path(os.environ.get("SLIPWAY_BUILD", "build")) / "not-judged.txt"
