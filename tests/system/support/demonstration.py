"""A demonstration of the Makefile that keeps its cluster: its run, and that nothing is left of it at the end."""

import contextlib
import os
import pathlib
import subprocess

BUILD, PROGRAMS = (pathlib.Path(os.environ[name]).resolve() for name in ("SLIPWAY_BUILD", "SLIPWAY_BIN"))
SOURCE = pathlib.Path(__file__).resolve().parents[3]


class Demonstration:
    """tools/NAME; limit: seconds of a run."""

    def __init__(self, name, limit):
        self.name, self.limit, self.folder = name, limit, BUILD / name

    def start(self, *words, output=subprocess.PIPE):
        return subprocess.Popen([SOURCE / "tools" / self.name, *words, PROGRAMS, BUILD / "release"], stdout=output, stderr=subprocess.STDOUT,
                                text=True)

    @contextlib.contextmanager
    def ends_with_nothing_left(self):
        assert not self.folder.exists(), f"{self.folder} exists: make {self.name}-destroy"
        yield
        ended = self.start("--destroy")
        assert ended.wait(self.limit) == 0, ended.stdout.read()
        assert not self.folder.exists() and not (BUILD / "machines" / self.name).exists()
