"""The commands of `slipway` on the asset directory of a cluster whose platform is played by a simulator: machines never boot."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
LIMIT = 400  # seconds; a command needs five on an idle host
NOW = str(int(time.time()))  # the same in all runs, so that seed and time give the same assets


class LostAnswer(Exception):
    """The call was made, and its answer does not arrive."""


class PlatformCluster:
    """An asset directory, and the commands on it. environment: that of the commands, without variables that only the test has."""

    def __init__(self, folder, config, seed, environment):
        self.folder, self.environment = folder, environment
        self.seed = folder.parent / f"{folder.name}.seed"
        folder.mkdir()
        self.seed.write_text(seed + "\n")
        self.seed.chmod(0o600)
        (folder / "install-config.yaml").write_text(config)
        self.process = None

    def start(self, *words, **variables):
        environment = self.environment | {"SOURCE_DATE_EPOCH": NOW, "HOME": str(self.folder.parent)} | variables
        self.process = subprocess.Popen([SLIPWAY, *words, "--dir", self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        return self.process

    def create(self, when_machines_exist=lambda: None, **variables):
        """Runs create until the machines exist: they never become a cluster. Returns the exit status, the messages and the events."""
        process = self.start("create", "cluster", "--output", "json", "--release", BUILD / "release", "--seed", self.seed,
                             "--key-type", "ecdsa", **variables)
        messages, events = [], []
        reader = threading.Thread(target=lambda: messages.append(process.stderr.read()), daemon=True)
        reader.start()
        for line in process.stdout:
            event = json.loads(line)
            events.append(event)
            if (event["kind"], event["name"], event["phase"]) == ("step", "machines", "finished"):
                when_machines_exist()
                process.send_signal(signal.SIGINT)
        process.wait(LIMIT)
        reader.join(LIMIT)
        return process.returncode, "".join(messages), events

    def run(self, *words, **variables):
        process = self.start(*words, **variables)
        output, messages = process.communicate(timeout=LIMIT)
        return process.returncode, output + messages

    def destroy(self, **variables):
        return self.run("destroy", "cluster", **variables)

    @property
    def infra(self):
        return json.loads((self.folder / "metadata.json").read_text())["infraID"]


def killed_after(cluster, cloud, changes, number, command):
    """Runs a command with SIGKILL after a call that changes something (changes(call)); returns whether it was reached."""
    seen = []

    def after(call):
        if changes(call):
            seen.append(call)
            if len(seen) == number:
                cluster.process.kill()
            if len(seen) >= number:
                raise LostAnswer

    cloud.disturb(after=after)
    try:
        command()
    finally:
        cloud.disturb()
    return len(seen) >= number
