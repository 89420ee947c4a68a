"""Runs slipway like a user: under both names, with and without a terminal."""
import functools
import os
import pathlib
import pty
import re
import select
import signal
import subprocess

import host_clock

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
LIMIT = 30
CONFIG = """\
apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
"""


def clean_environment(**more):
    """The environment without variables that affect the program."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("OPENSHIFT_INSTALL_", "SLIPWAY_", "AWS_", "GOOGLE_", "GCLOUD_", "OS_"))}
    return {**kept, **{name: str(value) for name, value in more.items()}}


def run(*words, program=SLIPWAY, status=None, env=None, **options):
    done = subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL,
                          env=clean_environment() if env is None else env, **options)
    assert status is None or done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


class Terminal:
    """The program at a terminal; close it after use. `text` is its output so far."""

    def __init__(self, *words, program=SLIPWAY, env=None, cwd=None):
        self.end, inside = pty.openpty()
        self.process = subprocess.Popen([str(word) for word in (program, *words)], stdin=inside, stdout=inside, stderr=inside, cwd=cwd,
                                        env=clean_environment() if env is None else env, start_new_session=True)
        os.close(inside)
        self.text, self.seen = "", 0

    def _read(self, seconds):
        """False at the end of the output."""
        if not select.select([self.end], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.end, 65536)
        except OSError:  # EIO: the program has ended
            return False
        self.text += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)

    def expect(self, words):
        """Waits for a text after the previously expected one."""
        deadline = host_clock.now() + LIMIT
        while (at := self.text.find(words, self.seen)) < 0:
            assert self._read(0.5), f"it ended without '{words}':\n{self.text}"
            assert host_clock.now() < deadline, f"not within {LIMIT} s: '{words}'\n{self.text}"
        self.seen = at + len(words)

    def type(self, text):
        os.write(self.end, text.encode())

    def answer(self, question, text):
        self.expect(question)
        self.type(text + "\n")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def wait(self):
        """The exit status, after all output was read."""
        deadline = host_clock.now() + LIMIT
        while self._read(0.5):
            assert host_clock.now() < deadline, f"it does not end:\n{self.text}"
        return self.process.wait(LIMIT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@functools.lru_cache
def all_commands():
    """[words]: every command in help, in the order of help, including groups."""
    found = []

    def read(words):
        found.append(words)
        listed = re.search(r"^Commands:\n((?:  .*\n)+)", run(*words, "--help", status=0).stdout, re.MULTILINE)
        for name in re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []:
            read([*words, name])

    read([])
    return found
