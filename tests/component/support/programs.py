"""Programs that a test starts in a folder, each with a log file there, and ends by PID."""

import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import host_clock


class Programs:
    """Base of a class that sets `folder` and, for answers(), the paths ca, certificate and key of PEM files."""

    deadline = 90  # seconds; programs take one to five on an idle machine
    pause = 0.1  # between two polls

    def __init__(self):
        self.processes = {}

    def spawn(self, name, command, environment=None):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=self.folder,
                env={"HOME": str(self.folder), "TMPDIR": str(self.folder), **(environment or {})})

    def end(self, name):
        process = self.processes.pop(name)
        process.terminate()
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end_all(self):
        for name in reversed(list(self.processes)):
            self.end(name)

    def wait(self, name, ready):
        deadline = host_clock.now() + self.deadline
        while not ready():
            code = self.processes[name].poll()
            assert code is None, f"{name} ended with exit code {code}\n{self.tail(name)}"
            assert host_clock.now() < deadline, f"{name} was not ready after {self.deadline} s\n{self.tail(name)}"
            time.sleep(self.pause)

    def until(self, name, what, ready):
        """Waits until ready() returns something, and returns it. The program must run all the time."""
        deadline = host_clock.now() + self.deadline
        while not (found := ready()):
            assert self.processes[name].poll() is None, self.tail(name)
            assert host_clock.now() < deadline, f"{what}: not after {self.deadline} s\n{self.tail(name)}"
            time.sleep(self.pause)
        return found

    def answers(self, url, verify=True):
        context = ssl.create_default_context(cafile=self.ca)
        context.load_cert_chain(self.certificate, self.key)
        if not verify:
            # Some programs generate a certificate when they get none.
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(url, context=context, timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def tail(self, name):
        return "\n".join(self.log(name).splitlines()[-40:])


def free_port():
    """A port on which no server listens now; the programs do not accept a socket."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
