"""Ways of injecting faults: into assets, into images, and into the network of a cluster."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess

import yaml
from installation import BUILD, SLIPWAY, Creation, run

REPOSITORY = "docker/registry/v2/repositories/slipway/release"


# Assets, before the cluster is created.

def edit_config(cluster, name, change, **options):
    """change(config): changes an Ignition config of the asset directory, which is created with `options`."""
    cluster.run("create", "ignition-configs", **options)
    file = cluster.dir / f"{name}.ign"
    config = json.loads(file.read_text())
    change(config)
    file.write_text(json.dumps(config))


def data_url(text):
    return "data:;base64," + base64.b64encode(text.encode()).decode()


def add_units(config, units):
    """units: {name: text}; units with an [Install] section are enabled."""
    rows = [{"name": name, "contents": text} | ({"enabled": True} if "[Install]" in text else {}) for name, text in units.items()]
    config.setdefault("systemd", {}).setdefault("units", []).extend(rows)


def machine_config(name, role, **content):
    """The text of a MachineConfig of the user; content: its Ignition config."""
    return yaml.safe_dump({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
                           "metadata": {"name": f"99-{role}-{name}", "labels": {"machineconfiguration.openshift.io/role": role}},
                           "spec": {"config": {"ignition": {"version": "3.2.0"}, **content}}})


def at_another_time(cluster, seconds):
    """An environment in which programs see a later time."""
    library = cluster.folder / "shifted_clock.so"
    run("cc", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "shifted_clock.c", "-ldl")
    return {**os.environ, "LD_PRELOAD": str(library), "SHIFT": str(seconds)}


def image(component):
    return f"registry.slipway.invalid/slipway/release@{digest_of(component)}"


# Images: a copy of the payload's; machines start without preloaded images and pull from the registry of the cluster.

def digest_of(component):
    listed = run(SLIPWAY, "release", "info", BUILD / "release").stdout
    pattern = r"^Digest:\s+(\S+)" if component == "release" else rf"^\s+{re.escape(component)}\s+(\S+)"
    return re.search(pattern, listed, re.MULTILINE).group(1)


def registry_alone(cluster):
    cluster.images = cluster.folder / "images"
    (cluster.images / "bin").mkdir(parents=True)
    (cluster.images / "bin/registry").symlink_to(BUILD / "payload/bin/registry")
    # Hard links: a changed file is replaced, never written to.
    run("cp", "--archive", "--link", BUILD / "payload/registry", cluster.images / "registry")
    return cluster.images / "registry"


def lose_image(cluster, component):
    registry = registry_alone(cluster)
    shutil.rmtree(registry / REPOSITORY / "_manifests/revisions/sha256" / digest_of(component).removeprefix("sha256:"))


def spoil_image(cluster, component):
    """Changes the settings of an image without changing their length."""
    registry = registry_alone(cluster)
    blobs = registry / "docker/registry/v2/blobs/sha256"
    manifest = json.loads((blobs / path_of(digest_of(component))).read_text())
    blob = blobs / path_of(manifest["config"]["digest"])
    content = blob.read_bytes()
    blob.unlink()
    blob.write_bytes(content[:-1] + b" ")


def path_of(digest):
    name = digest.removeprefix("sha256:")
    return f"{name[:2]}/{name}/data"


# A cluster that is being created.

def begin(cluster, folder=None):
    """Runs `create cluster` until the cluster has its network, with the install-config of another folder."""
    directory = cluster.dir
    cluster.dir = folder or directory
    try:
        creation = Creation(cluster)
        try:
            owner(cluster)
        finally:
            creation.kill()
    finally:
        cluster.dir = directory


def power_off(cluster):
    run(SLIPWAY, "machine", "stop", "--cluster", cluster.name, "--state", cluster.state)

def owner(cluster):
    """The owner process of the cluster, after its network exists."""
    file = cluster.state / cluster.name / "owner.json"

    def look():
        try:
            process = json.loads(file.read_text())["pid"]
        except (OSError, ValueError):
            return None
        # The owner listens after the network is complete, with all addresses.
        return process if (cluster.state / cluster.name / "control.sock").exists() else None

    return cluster.wait_until("the cluster has its network", look)


def in_network(cluster, *command, check=True, **options):
    return run(*inside(cluster), *command, check=check, **options)


def inside(cluster):
    """The prefix of a command that runs in the namespaces of the cluster's owner."""
    return ["nsenter", "--target", str(owner(cluster)), "--pid", "--net", "--mount", "--"]


def drop(cluster, sender, port):
    """Drops packets of a machine to that port, on the bridge or on another machine."""
    rule = f"ip saddr {sender} tcp dport {port} drop"
    in_network(cluster, "nft", "--file", "-", input=f"""
table bridge faults {{
  chain input {{ type filter hook input priority 0; {rule}; }}
  chain forward {{ type filter hook forward priority 0; {rule}; }}
}}""")


def close(cluster, one, other, port):
    """Drops packets of two machines to that port of each other."""
    in_network(cluster, "nft", "--file", "-", input=f"""
table bridge closed {{
  chain forward {{
    type filter hook forward priority 0
    ip saddr {one} ip daddr {other} tcp dport {port} drop
    ip saddr {other} ip daddr {one} tcp dport {port} drop
  }}
}}""")


# Announces an address twice a second, like its holder: unsolicited ARP replies.
ANNOUNCE = """
import socket, sys, time
address = socket.inet_aton(sys.argv[1])
link = bytes.fromhex(open("/sys/class/net/eth0/address").read().strip().replace(":", ""))
everybody = b"\\xff" * 6
packet = everybody + link + bytes.fromhex("08060001080006040002") + link + address + everybody + address
device = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
device.bind(("eth0", 0))
while True:
    device.send(packet)
    time.sleep(0.5)
"""


def squatter(cluster, address):
    """Another host in the cluster's network with that address."""
    outside = "netns add squatter\nlink add squatter0 type veth peer name eth0 netns squatter\nlink set squatter0 master br0 up\n"
    in_network(cluster, "ip", "-batch", "-", input=outside)
    in_network(cluster, "ip", "-netns", "squatter", "-batch", "-", input=f"address add {address}/24 dev eth0\nlink set eth0 up\n")
    # Ends with the owner of the cluster.
    subprocess.Popen([*inside(cluster), "ip", "netns", "exec", "squatter", "/usr/bin/python3", "-c", ANNOUNCE, address])
