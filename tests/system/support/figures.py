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
    found, top = [], cgroup(cluster)
    for processes in top.rglob("cgroup.procs") if top else []:
        machine = processes.relative_to(top).parts[0]
        for number in read(processes).split():
            process = pathlib.Path("/proc", number)
            try:
                program = pathlib.Path(os.readlink(process / "exe")).name
            except OSError:
                continue
            share = next((line for line in read(process / "smaps_rollup").splitlines() if line.startswith("Pss:")), None)
            if program in OWN and share:
                words = read(process / "cmdline").split("\0")
                found.append((machine, pathlib.Path(words[0]).name, int(share.split()[1]) / 1024))
    return sorted(found)


def read(path):
    try:
        return path.read_text()
    except OSError:  # the process is over
        return ""
