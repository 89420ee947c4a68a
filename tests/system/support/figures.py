"""Resource usage of a cluster of local machines, measured on the host. Needs root."""

import json
import os
import pathlib

# Programs of slipway on machines; images call them by other names.
OWN = {"slipway-operator", "slipway-node"}


def cgroup(cluster):
    """The cgroup of a cluster by its folder; version 1 or 2. Nothing when it has no machine yet."""
    try:
        identity = json.loads((cluster / "cluster.json").read_text())["id"]
    except OSError:
        return None
    groups = [pathlib.Path("/sys/fs/cgroup/cpuacct/slipway") / identity, pathlib.Path("/sys/fs/cgroup/slipway") / identity]
    return next((group for group in groups if group.exists()), None)


def cpu_seconds(group):
    """CPU seconds of a cgroup; nothing when it does not exist."""
    try:
        if (group / "cpuacct.usage").exists():
            return int((group / "cpuacct.usage").read_text()) / 1e9
        return int((group / "cpu.stat").read_text().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return None


def own_programs(cluster):
    """(machine, program, MB of PSS) for every process of slipway's programs, sorted by machine."""
    top = cgroup(cluster)
    return sorted((machine, name, size) for machine, process, program, name in processes(top) if program in OWN and (size := pss(process)))


def process_lists(group):
    """The file cgroup.procs of a cgroup and of each below it, which may end meanwhile."""
    for folder, _, files in os.walk(group) if group else []:
        if "cgroup.procs" in files:
            yield pathlib.Path(folder, "cgroup.procs")


def processes(group):
    """(machine, its folder in /proc, executable, name) of every process below a cgroup. The owner process on the host counts as a
    machine."""
    for listed in process_lists(group):
        machine = listed.relative_to(group).parts[0]
        for number in read(listed).split():
            process = pathlib.Path("/proc", number)
            try:
                program = pathlib.Path(os.readlink(process / "exe")).name
            except OSError:
                continue
            yield machine, process, program, name_of(program, read(process / "cmdline").split("\0"))


def name_of(program, words):
    """One executable contains many programs, selected by the name; hyperkube also selects by the first argument."""
    called = pathlib.Path(words[0]).name
    if program not in OWN and program != "hyperkube":
        return program
    return words[1] if called == "hyperkube" and len(words) > 1 else called


def pss(process):
    """The PSS of a process in MB; 0 when it has ended."""
    share = next((line for line in read(process / "smaps_rollup").splitlines() if line.startswith("Pss:")), "Pss: 0")
    return int(share.split()[1]) / 1024


def memory(group):
    """MB of all processes below a cgroup."""
    return sum(pss(process) for _, process, _, _ in processes(group))


def read(path):
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""
