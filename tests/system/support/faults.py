"""Faults of a cluster of local machines, injected from the host: killed processes and machines without power. Needs root.

    Victim.all(installation)                  # what there is to kill at this moment
    power_off(installation, ["master-0"])     # as by a power cut, all at once
    power_off_all(installation)               # the owner of the machines is killed, and everything with it
"""

import dataclasses
import json
import os
import pathlib
import signal

from figures import OWN, cgroup, process_lists, processes, read

# Kinds whose machines have to be started again by a command.
POWER = ("machine", "owner")


@dataclasses.dataclass(frozen=True)
class Victim:
    kind: str  # "command", "engine", "operator", "kubelet", "etcd", "machine", "owner"
    place: str  # "host", or the name of the machine
    name: str  # the program, or the machine
    process: int

    def kill(self):
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:  # it has ended by itself
            return False
        return True

    def __str__(self):
        return f"{self.kind}: {self.name}{'' if self.place in ('host', self.name) else ' on ' + self.place}"

    @classmethod
    def all(cls, installation):
        """In a fixed order, without `create cluster` itself."""
        top = cgroup(installation.state / installation.name)
        found = [cls("machine", machine, machine, process) for machine, process in inits(top).items()]
        for machine, process, program, name in processes(top) if top else []:
            if machine != "owner" and (kind := kind_of(machine, program, name, process)):
                found.append(cls(kind, machine, name, int(process.name)))
        if owner := owner_of(installation):
            found.append(cls("owner", "host", "machine-owner", owner))
        return sorted(found, key=lambda victim: (victim.kind, victim.place, victim.name, victim.process))


def kind_of(machine, program, name, process):
    if program == "slipway-node":
        return "engine" if read(process / "cmdline").split("\0")[1:2] == ["bootstrap"] else None
    if program in OWN:
        return "operator"
    if name == "kubelet":
        return "kubelet"
    return "etcd" if program == "etcd" and machine != "bootstrap" else None


def owner_of(installation):
    """The owner process while it exists."""
    try:
        process = json.loads((installation.state / installation.name / "owner.json").read_text())["pid"]
    except OSError:
        return None
    return process if "machine-owner" in read(pathlib.Path(f"/proc/{process}/cmdline")) else None


def inits(group):
    """The first process of each machine: number 1 in the third PID namespace, below those of the host and of the owner."""
    found = {}
    for listed in process_lists(group):
        for number in read(listed).split():
            levels = next((line.split()[1:] for line in read(pathlib.Path(f"/proc/{number}/status")).splitlines() if line.startswith("NSpid:")), [])
            if len(levels) == 3 and levels[-1] == "1":
                found[listed.relative_to(group).parts[0]] = int(number)
    return found


def power_off(installation, machines):
    there = inits(cgroup(installation.state / installation.name))
    for machine in machines:
        os.kill(there[machine], signal.SIGKILL)


def power_off_all(installation):
    os.kill(owner_of(installation), signal.SIGKILL)
