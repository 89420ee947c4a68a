"""The pages of the project and the blocks of code in them.

Each block is fenced, and the words behind ``` say what it is:

    sh               commands that need what the Makefile builds, and nothing else
    sh machines      commands that make local machines and remove them: root
    sh cluster       commands about the cluster of build/demo, which is installed
    sh norun REASON  commands that no test can run
    yaml install-config, a whole one
    text output      what the block before prints; "..." leaves lines out
    text, cpp, yaml, json, ini    for readers

The blocks of a page are run in order, each by a bash of its own, from the root of the repository, with the programs in PATH and
SLIPWAY_STATE as README.md sets them.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(os.environ.get("SLIPWAY_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
SHOWN = ("text", "cpp", "yaml", "json", "ini")
RUN = ("sh", "sh machines", "sh cluster")


@dataclasses.dataclass
class Block:
    page: str
    line: int
    info: str
    text: str
    output: str = ""  # of the block behind it

    @property
    def kind(self):
        return "sh norun" if self.info.startswith("sh norun") else self.info

    @property
    def problem(self):
        """What is wrong with the words behind its fence; empty when nothing is."""
        if self.kind in (*RUN, *SHOWN, "yaml install-config", "text output"):
            return ""
        if self.kind != "sh norun":
            return f"'{self.info}' is none of the kinds in tests/docs/pages.py"
        return "" if len(self.info.split()) > 3 else "sh norun: it has to say why, in some words"

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    return sorted(["README.md", "HACKING.md", "tests/README.md", *(str(path.relative_to(SOURCE)) for path in (SOURCE / "docs").rglob("*.md"))])


def read(page):
    return (SOURCE / page).read_text()


def parse(page, text):
    """(blocks, problems): the blocks of a page, and lines that look like code and stand in none."""
    blocks, problems, block, blank = [], [], None, True
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if block is None:
                block = Block(page, number, line[3:].strip(), "")
            else:
                if block.info == "text output" and blocks:
                    blocks[-1].output = block.text
                blocks.append(block)
                block = None
        elif block is not None:
            block.text += line + "\n"
        elif blank and line.startswith("    "):
            problems.append(f"{page}:{number}: an indented block; fence it, and say behind the fence what it is (tests/docs/pages.py)")
        blank = not line.strip()
    if block is not None:
        problems.append(f"{block}: this block has no end")
    return blocks, problems + [f"{each}: {each.problem}" for each in blocks if each.problem]


def blocks(page, *kinds):
    return [each for each in parse(page, read(page))[0] if not kinds or each.kind in kinds]


class Checkout:
    """The repository as a user has it after `make`, in a folder of its own: what commands write goes there. Close it."""

    def __init__(self, programs, build, demo=None, state=None):
        # Beside the images: machines are hard links of them.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="docs-", dir=build))
        for path in SOURCE.iterdir():
            if path.name not in ("build", ".git"):
                (self.folder / path.name).symlink_to(path)
        own = self.folder / "build"
        for name in ("payload", "release"):
            (own / name).mkdir(parents=True)
            for path in pathlib.Path(build, name).resolve().iterdir():
                (own / name / path.name).symlink_to(path)
        (own / "cpp/release").mkdir(parents=True)
        (own / "cpp/release/bin").symlink_to(pathlib.Path(programs).resolve())
        for name, there in (("demo", demo), ("machines", state)):
            if there:
                (own / name).symlink_to(pathlib.Path(there).resolve())
        tools = self.folder / ".tools"
        tools.mkdir()
        (tools / "kubectl").write_text(f'#!/bin/sh\nexec {own}/payload/bin/hyperkube kubectl "$@"\n')
        (tools / "kubectl").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{own}/cpp/release/bin:{tools}:{os.environ['PATH']}", "SLIPWAY_STATE": str(own / "machines"),
                            "KUBECONFIG": str(own / "demo/auth/kubeconfig")}

    def run(self, block, limit=600):
        """What it prints. A command that fails ends it."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
        assert done.returncode == 0, f"{block}: ended with {done.returncode}:\n{block.text}\n{done.stdout[-4000:]}"
        missing = unlike(block.output, done.stdout)
        assert not missing, f"{block}: these lines of the page are not in what it prints: {missing}\n{done.stdout[-4000:]}"
        return done.stdout

    def close(self):
        shutil.rmtree(self.folder)


def unlike(shown, printed):
    """Lines that a page shows and that were not printed, in the order in which they are shown. Digests and blanks do not count."""
    def lines(text):
        return [re.sub(r"sha256:[0-9a-f]+", "sha256:", " ".join(line.split())) for line in text.splitlines() if line.strip()]

    rest, missing = iter(lines(printed)), []
    for line in lines(shown):
        if line != "..." and line not in rest:
            missing.append(line)
            rest = iter(lines(printed))
    return missing
