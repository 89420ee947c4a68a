"""Hosts of an assisted installation in network namespaces, with their agents: for scripts that run in namespaces of their own. Arguments of
such a script: a folder, and a loop device for each host, in the order of ADDRESSES (the last one is also that of further hosts)."""

import os
import pathlib
import signal
import subprocess
import sys
import time

FOLDER, DISKS = pathlib.Path(sys.argv[1]), sys.argv[2:]
AGENT = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway-agent"
OWN, PORT = "192.168.126.1", 8090
ADDRESSES = {"h0": "192.168.126.10", "h1": "192.168.126.11", "h2": "192.168.126.12", "h3": "192.168.126.13"}
# In the network of storage, h3 has the address of h2.
STORAGE = {"h0": "10.0.2.10", "h2": "10.0.2.12", "h3": "10.0.2.12"}
MACS = {name: f"52:54:00:00:00:0{number}" for number, name in enumerate(ADDRESSES)}
STORAGE_MACS = {name: f"52:54:00:00:02:0{number}" for number, name in enumerate(STORAGE)}
agents = {}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def make_network():
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "lab", "type", "bridge")
    run("ip", "address", "add", f"{OWN}/24", "dev", "lab")
    run("ip", "address", "add", "fd00::1/64", "dev", "lab", "nodad")
    run("ip", "link", "set", "lab", "up")
    for number, (name, address) in enumerate(ADDRESSES.items()):
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "address", MACS[name], "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "lab", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", name, "address", "add", f"fd00::1{number}/64", "dev", "eth0", "nodad")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "route", "add", "default", "via", OWN)
    run("ip", "link", "add", "storage", "type", "bridge")
    run("ip", "link", "set", "storage", "up")
    for name, address in STORAGE.items():
        run("ip", "link", "add", f"s-{name}", "type", "veth", "peer", "name", "eth1", "address", STORAGE_MACS[name], "netns", name)
        run("ip", "link", "set", f"s-{name}", "master", "storage", "up")
        run("ip", "-n", name, "link", "set", "eth1", "up")
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth1")
    (FOLDER / "resolv.conf").write_text(f"nameserver {OWN}\noptions timeout:1 attempts:2\n")
    run("mount", "--bind", FOLDER / "resolv.conf", "/etc/resolv.conf")


def make_disks(size, systemctl):
    """/dev/vdz, which the inventory of every host has, is the loop device of the host. Kernels hide nothing of their loop devices, so the
    hosts read a /sys of the test. systemctl: lines of the script that hosts have instead of it: it would restart this machine."""
    own = FOLDER / "dev"
    own.mkdir()
    run("mount", "-t", "tmpfs", "tmpfs", own)
    for name in ("null", "zero", "random", "urandom", "full", "loop-control", *(f"loop{number}" for number in range(16))):
        if os.path.exists(f"/dev/{name}"):
            info = os.stat(f"/dev/{name}")
            os.mknod(own / name, info.st_mode, info.st_rdev)
    for number, name in enumerate(ADDRESSES):
        info = os.stat(DISKS[min(number, len(DISKS) - 1)])
        os.mknod(own / f"vdz-{name}", info.st_mode, info.st_rdev)
        disk = FOLDER / f"root-{name}/sys/block/vdz"
        (disk / "queue").mkdir(parents=True)
        for file, content in {"dev": f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}", "size": str(size // 512), "serial": "VDZ1"}.items():
            (disk / file).write_text(content)
        (disk / "queue/rotational").write_text("0")
        for link, target in {"proc": "/proc", "sys/class": "/sys/class"}.items():
            (FOLDER / f"root-{name}" / link).symlink_to(target)
    (own / "vdz").touch()
    (own / "fd").symlink_to("/proc/self/fd")
    run("mount", "--bind", own, "/dev")
    (FOLDER / "bin").mkdir()
    (FOLDER / "bin/systemctl").write_text(f'#!/bin/sh\nhost=$(uname -n)\necho "$*" >>{FOLDER}/systemctl-$host\n{systemctl}')
    (FOLDER / "bin/systemctl").chmod(0o755)


def make_medium():
    """The medium of a live system, with a small disk image."""
    images, raw = pathlib.Path("/run/slipway-live/medium/images"), FOLDER / "image.raw"
    images.mkdir(parents=True)
    with raw.open("wb") as file:
        file.truncate(24 << 20)
    subprocess.run(["sfdisk", "--quiet", raw], input="label: gpt\nstart=1MiB, size=16MiB, name=boot\n", text=True, check=True)
    run("mkfs.ext4", "-q", "-E", "offset=1048576", raw, "16384k")
    run("zstd", "--quiet", raw, "-o", images / "disk.raw.zst")


def start(name, infra_env, token, authority, interval=1, prepare="true"):
    """prepare: a shell command that is run before the agent, in its namespaces."""
    log = (FOLDER / f"{name}.log").open("a")
    # A process of its own UTS namespace: each host has a name.
    command = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c",
               f'echo {name} >/proc/sys/kernel/hostname && mount --bind /dev/vdz-{name} /dev/vdz && {prepare} && exec "$@"', "sh", AGENT,
               "run", f"--url=https://{OWN}:{PORT}", f"--infra-env-id={infra_env}", f"--cacert={authority}", f"--interval={interval}",
               f"--folder={FOLDER}/{name}", f"--root={FOLDER}/root-{name}", "--agent-version=test"]
    path = f"{FOLDER}/bin:{os.environ['PATH']}"
    agents[name] = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env={**os.environ, "PULL_SECRET_TOKEN": token, "PATH": path})


def kill(name):
    agents[name].send_signal(signal.SIGKILL)
    agents[name].wait()


def until(what, condition, limit=120):
    """For what nothing announces."""
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {limit} s"
        time.sleep(0.05)
