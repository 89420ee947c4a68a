"""Random disturbances of an installation, generated from a seed."""

import dataclasses
import random
import time

import host_clock
from faults import POWER, Victim
from installation import DEADLINE, Creation

MOST = 3
LONGEST_DELAY = 1.5


@dataclasses.dataclass
class Disturbance:
    position: int  # directly after this event of an undisturbed installation, or the next later one that occurs
    delay: float  # seconds after the event
    kind: float  # selects a kind among those present, and a victim of that kind; between zero and one
    victim: float
    what: str = "came after the end"
    moment: str = ""

    def choose(self, victims):
        """Selects the kind first, because there are many operator processes."""
        kinds = sorted({victim.kind for victim in victims})
        kind = kinds[int(self.kind * len(kinds))]
        of_kind = [victim for victim in victims if victim.kind == kind]
        return of_kind[int(self.victim * len(of_kind))]

    def __str__(self):
        return f"{self.what}, {self.delay:.2f} s after {self.moment}"


def draw(seed, moments):
    """In the order of time."""
    dice = random.Random(seed)
    positions = sorted(dice.sample(range(len(moments)), dice.randint(1, MOST)))
    return [Disturbance(position, dice.uniform(0, LONGEST_DELAY), dice.random(), dice.random()) for position in positions]


class Disturbed:
    """An installation with a running `create cluster`. kinds: of victims; empty: all."""

    def __init__(self, installation, moments, kinds):
        self.installation, self.kinds = installation, kinds
        self.positions = {tuple(moment): position for position, moment in enumerate(moments)}
        self.creation, self.begun = Creation(installation), host_clock.now()
        self.suffered, self.failures = False, 0

    def wait_for(self, position):
        """The event of the disturbance, or nothing when the installation ended before it."""
        deadline = host_clock.now() + DEADLINE
        while True:
            creation, seen = self.creation, 0
            with creation.news:
                while True:
                    for event in creation.events[seen:]:
                        if self.positions.get((event["kind"], event["name"], event["phase"]), -1) >= position:
                            return event
                    seen = len(creation.events)
                    if not creation.reader.is_alive():
                        break
                    assert host_clock.now() < deadline, f"not within {DEADLINE} s: moment {position}\n{creation.words()}"
                    creation.news.wait(1)
            if creation.process.wait() == 0:
                return None
            self.go_on()

    def suffer(self, disturbance):
        event = self.wait_for(disturbance.position)
        if not event:
            return
        disturbance.moment = f"{event['kind']} {event['name']} {event['phase']}, at {host_clock.now() - self.begun:.1f} s"
        time.sleep(disturbance.delay)
        victims = [Victim("command", "host", "create cluster", self.creation.process.pid), *Victim.all(self.installation)]
        victim = disturbance.choose([each for each in victims if not self.kinds or each.kind in self.kinds] or victims)
        disturbance.what = str(victim)
        print(f"  {disturbance}", flush=True)
        if victim.kind == "command":
            self.again()
            return
        self.suffered, self.failures = True, 0
        victim.kill()
        if victim.kind in POWER:
            self.wait_until_off(victim)
            self.again()

    def wait_until_off(self, victim):
        """Waits until the machine is reported as off. A machine that was just removed counts as off."""
        machines = [victim.name] if victim.kind == "machine" else self.installation.machines()
        on = ("booting", "running", "rebooting", "stopping")
        self.installation.wait_until(f"{victim} is off", lambda: not any(
            self.installation.machines().get(machine, {}).get("state") in on for machine in machines))

    def again(self):
        """Starts the same command again, like a user after an error or a hang."""
        if self.creation.process.poll() is None:
            self.creation.kill()
        self.creation = Creation(self.installation)
        self.failures = 0

    def go_on(self):
        """The command failed because of the disturbance, and reported why; the next one has to get further."""
        assert self.suffered and not self.failures, self.creation.words()
        self.again()
        self.failures = 1
        print(f"  it gave up: {self.installation.said.read_text().strip().splitlines()[-1]}", flush=True)

    def finish(self):
        """Waits for the end of the installation; returns its duration."""
        while True:
            deadline = host_clock.now() + DEADLINE
            while self.creation.process.poll() is None:
                assert host_clock.now() < deadline, f"not within {DEADLINE} s: create cluster ends\n{self.creation.words()}"
                time.sleep(0.1)
            self.creation.reader.join()
            if self.creation.process.returncode == 0:
                return host_clock.now() - self.begun
            self.go_on()

    def end(self):
        if self.creation.process.poll() is None:
            self.creation.kill()
