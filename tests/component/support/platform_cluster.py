"""The commands of `slipway` on the asset directory of a cluster whose platform is played by a simulator: machines never boot."""

import json
import os
import pathlib
import random
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
    """An asset directory, and the commands on it. environment: that of the commands, without variables that only the test has.
    options: further ones of commands that generate assets."""

    def __init__(self, cloud, folder, config, seed, environment, options=()):
        self.cloud, self.folder, self.environment = cloud, folder, environment
        self.seed = folder.parent / f"{folder.name}.seed"
        folder.mkdir()
        self.seed.write_text(seed + "\n")
        self.seed.chmod(0o600)
        (folder / "install-config.yaml").write_text(config)
        self.inputs = ("--release", BUILD / "release", "--seed", self.seed, "--key-type", "ecdsa", *options)
        self.process = None

    def start(self, *words, before=(), **variables):
        """before: words of a program that runs the command."""
        environment = self.environment | {"SOURCE_DATE_EPOCH": NOW, "HOME": str(self.folder.parent)} | variables
        self.process = subprocess.Popen([*before, SLIPWAY, *words, "--dir", self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        return self.process

    def create(self, *words, when_machines_exist=lambda: None, **variables):
        """Runs create until the machines exist: they never become a cluster. Returns the exit status, the messages and the events."""
        process = self.start("create", "cluster", "--output", "json", *self.inputs, *words, **variables)
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

    def plan(self, **variables):
        """The exit status, and the plan of the platform."""
        process = self.start("plan", "cluster", "--output", "json", *self.inputs, **variables)
        output, messages = process.communicate(timeout=LIMIT)
        assert process.returncode in (0, 2), messages
        return process.returncode, json.loads(output)["platform"]

    @property
    def infra(self):
        return json.loads((self.folder / "metadata.json").read_text())["infraID"]


def without_constants(found, before):
    """What an inventory has that it did not have before."""
    return {key: value for key, value in found.items() if key not in before or before[key] != value}


def survives_storms(cluster, inventory, wanted, refusals, refused, lost):
    """The platform is overloaded at one of `refused` calls, with one of the answers `refusals`, and the answer of every call number `lost` is
    lost: the cluster is what it is without them (wanted), and nothing of it is left."""
    cloud, before = cluster.cloud, inventory(cluster.cloud)
    drawn, lock, counted = random.Random(3), threading.Lock(), [0]

    def storm(call):
        with lock:
            return drawn.choice(refusals) if drawn.random() < 1 / refused else None

    def lose(call):
        with lock:
            counted[0] += 1
            if counted[0] % lost == 0:
                raise LostAnswer

    cloud.disturb(storm, lose)
    status, messages, events = cluster.create()
    cloud.disturb()
    assert status == 8, messages
    assert without_constants(inventory(cloud), before) == wanted
    assert any(event["kind"] == "call" and event["attempts"] > 1 for event in events)
    cloud.disturb(storm, lose)
    status, messages = cluster.destroy()
    cloud.disturb()
    assert status == 0 and inventory(cloud) == before, messages


def killed_after(cluster, changes, number, command):
    """Runs a command with SIGKILL after a call that changes something (changes(call)); returns whether it was reached."""
    seen = []

    def after(call):
        if changes(call):
            seen.append(call)
            if len(seen) == number:
                cluster.process.kill()
            if len(seen) >= number:
                raise LostAnswer

    cluster.cloud.disturb(after=after)
    try:
        command()
    finally:
        cluster.cloud.disturb()
    return len(seen) >= number
