"""What a cluster of local machines costs, as the host sees it. Needs root."""

import json
import os
import pathlib

# Ours that run on machines; in images they are called by many names.
OWN = {"slipway-operator", "slipway-node"}


def cgroup(cluster):
    """Of a cluster, by its folder; version 1 or 2. Nothing when it has no machine yet."""
    try:
        identity = json.loads((cluster / "cluster.json").read_text())["id"]
    except OSError:
        return None
    groups = [pathlib.Path("/sys/fs/cgroup/cpuacct/slipway") / identity, pathlib.Path("/sys/fs/cgroup/slipway") / identity]
    return next((group for group in groups if group.exists()), None)


def cpu_seconds(group):
    """Of a cgroup; nothing when it is gone."""
    try:
        if (group / "cpuacct.usage").exists():
            return int((group / "cpuacct.usage").read_text()) / 1e9
        return int((group / "cpu.stat").read_text().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return None


def own_programs(cluster):
    """(machine, program, MB that it alone pays for: PSS) of every process of ours, in the order of machines."""
    top = cgroup(cluster)
    return sorted((machine, name, size) for machine, process, program, name in processes(top) if program in OWN and (size := pss(process)))


def processes(group):
    """(machine, its folder in /proc, file that it runs, what it is called by) of every process below a cgroup. A cluster's owner on
    the host counts as a machine."""
    for listed in group.rglob("cgroup.procs") if group else []:
        machine = listed.relative_to(group).parts[0]
        for number in read(listed).split():
            process = pathlib.Path("/proc", number)
            try:
                program = pathlib.Path(os.readlink(process / "exe")).name
            except OSError:
                continue
            yield machine, process, program, name_of(program, read(process / "cmdline").split("\0"))


def name_of(program, words):
    """One file is many programs, by the name that it is called by; Kubernetes' has some of them as a first word, too."""
    called = pathlib.Path(words[0]).name
    if program not in OWN and program != "hyperkube":
        return program
    return words[1] if called == "hyperkube" and len(words) > 1 else called


def pss(process):
    """MB that a process alone pays for, of what it shares a part; 0 when it is gone."""
    share = next((line for line in read(process / "smaps_rollup").splitlines() if line.startswith("Pss:")), "Pss: 0")
    return int(share.split()[1]) / 1024


def memory(group):
    """MB of all processes below a cgroup together."""
    return sum(pss(process) for _, process, _, _ in processes(group))


def read(path):
    try:
        return path.read_text()
    except OSError:  # the process is over
        return ""
