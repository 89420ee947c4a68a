"""Faults, how they are injected, and what users have to be told; one row each.

All faults show before the handover, so one master is enough.
"""

import dataclasses
import hashlib
import json
import os
import random
import shutil
import socket
from typing import Callable

import image_mode
import ways
import yaml
from installation import API_ADDRESS

HOUR = 3600
DAY = 24 * HOUR
MASTER_ADDRESS = "10.97.77.11"
SEED = int(os.environ.get("SLIPWAY_TEST_SEED") or random.randrange(1 << 32))


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    finding: str  # for programs
    # The fault ends when the returned context is left, after the report.
    arrange: Callable = lambda cluster: None  # before `create cluster`
    meanwhile: Callable = lambda cluster: None  # while `create cluster` runs
    words: tuple = ()  # that the sentences must contain
    is_final: bool = True  # `create cluster` ends by itself; otherwise it reports and continues to wait
    at_once: bool = False  # before anything is created
    limit: int = 90  # seconds from the start of `create cluster`
    is_quick: bool = True  # part of `make test`, if final


def listener(port):
    """Units in which another program takes a port of the machine first."""
    return {"squatter.socket": f"[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream={port}\nAccept=yes\n[Install]\nWantedBy=sysinit.target\n",
            "squatter@.service": "[Service]\nExecStart=/bin/cat\nStandardInput=socket\n"}


def small_disk(folder, size):
    name = folder.strip("/").replace("/", "-") + ".mount"
    return {name: f"[Unit]\nDefaultDependencies=no\nBefore=local-fs.target\n[Mount]\nWhat=tmpfs\nWhere={folder}\nType=tmpfs\n"
                  f"Options=size={size},mode=0700\n[Install]\nWantedBy=local-fs.target\n"}


NO_NAME = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name, namespace: default}\ndata: {}\n"
NO_KIND = "apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: one, namespace: default}\n"
# Starts before all other units of the cluster.
HANGS = {"hangs.service": "[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\n"
                          "ExecStart=/bin/sleep infinity\n[Install]\nWantedBy=sysinit.target\n"}


def on_bootstrap(change):
    return lambda cluster: ways.edit_config(cluster, "bootstrap", change)


def units_on_bootstrap(units):
    return on_bootstrap(lambda config: ways.add_units(config, units))


def wrong_hash(config):
    config.setdefault("storage", {}).setdefault("files", []).append(
        {"path": "/etc/greeting", "contents": {"source": ways.data_url("hello\n"), "verification": {"hash": "sha512-" + "0" * 128}}})


def a_disk(config):
    config.setdefault("storage", {}).setdefault("filesystems", []).append({"device": "/dev/sdz", "format": "ext4", "path": "/data"})


def wrong_token(config):
    for header in config["ignition"]["config"]["merge"][0]["httpHeaders"]:
        if header["name"] == "Authorization":
            header["value"] = "Bearer " + "0" * 64


def master_hangs(cluster):
    units = [{"name": name, "contents": text, "enabled": True} for name, text in HANGS.items()]
    cluster.run("create", "manifests")
    cluster.write("openshift/99-hangs.yaml", ways.machine_config("hangs", "master", systemd={"units": units}))


def taken_port(cluster):
    """Another program uses the port of the API on this host, at the address of this cluster."""
    cluster.run("create", "ignition-configs")
    name = json.loads((cluster.dir / "metadata.json").read_text())["infraID"]
    number = hashlib.sha256(name.encode()).digest()
    return socket.create_server((f"127.{1 + number[0] % 254}.{number[1]}.{1 + number[2] % 254}", 6443))


def users_manifest(text):
    def arrange(cluster):
        cluster.run("create", "manifests")
        cluster.write("manifests/99-mine.yaml", text)
    return arrange


def assets_of_another_time(cluster, seconds):
    """Assets that the user has not changed would be generated again."""
    ways.edit_config(cluster, "bootstrap", lambda config: ways.add_units(config, {"mine.service": "[Service]\nExecStart=/bin/true\n"}),
                     env=ways.at_another_time(cluster, seconds))


def old_assets(cluster):
    assets_of_another_time(cluster, -31 * DAY)


def assets_of_a_clock_ahead(cluster):
    assets_of_another_time(cluster, 3 * HOUR)


def wrong_name(cluster):
    """From the start, the name server of the cluster returns a wrong address for api-int."""
    config = cluster.state / cluster.name / "cluster.json"
    ways.begin(cluster)
    ways.power_off(cluster)
    text = json.loads(config.read_text())
    for record in text["records"]:
        if record["name"].startswith("api-int."):
            record["address"] = "10.97.77.250"
    config.write_text(json.dumps(text))


def address_on_the_bridge(cluster):
    ways.begin(cluster)
    ways.in_network(cluster, "ip", "address", "add", API_ADDRESS + "/32", "dev", "br0")


def cluster_of_that_name(cluster):
    other = cluster.folder / "other"
    shutil.copytree(cluster.dir, other)
    ways.begin(cluster, other)


def crashing_operator(cluster):
    """The user takes over an operator with an override, and the user's Deployment fails."""
    cluster.run("create", "manifests")
    file = cluster.dir / "manifests/cvo-overrides.yaml"
    version = yaml.safe_load(file.read_text())
    own = {"namespace": "openshift-dns-operator", "name": "dns-operator"}
    version["spec"]["overrides"] = [{"kind": "Deployment", "group": "apps", **own, "unmanaged": True}]
    cluster.write("manifests/cvo-overrides.yaml", yaml.safe_dump(version))
    container = {"name": "dns-operator", "image": ways.image("cluster-dns-operator"),
                 "command": ["sh", "-c", "echo 'fatal: the configuration has no zone' >&2; exit 7"]}
    labels = {"name": "dns-operator"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": own,
                  "spec": {"replicas": 1, "selector": {"matchLabels": labels},
                           "template": {"metadata": {"labels": labels},
                                        "spec": {"hostNetwork": True, "containers": [container], "tolerations": [{"operator": "Exists"}]}}}}
    cluster.write("manifests/99-mine.yaml", yaml.safe_dump(deployment))


def containerfile_that_fails(cluster):
    with open(cluster.dir / "install-config.yaml", "a") as config:
        config.write(image_mode.POLICY)
    image_mode.write_containerfiles(cluster, {"master": "RUN echo the driver does not fit this kernel >&2; exit 7\n"})


def all_scenarios():
    drawn = random.Random(SEED)
    rendered = drawn.choice(["cluster-etcd-operator", "machine-config-operator", "cluster-ingress-operator"])
    running = drawn.choice(["etcd", "hyperkube", "keepalived-ipfailover"])
    port = drawn.choice([2379, 6443, 22623])
    table = [
        Scenario("host-port-taken", "host-port-taken", taken_port, words=("6443",), at_once=True),
        Scenario("cluster-name-taken", "cluster-name-taken", cluster_of_that_name, at_once=True),
        Scenario("address-in-use-already", "address-in-use", address_on_the_bridge, words=(API_ADDRESS,), at_once=True),
        Scenario("assets-expired", "assets-expired", old_assets, words=("expired",), at_once=True),
        Scenario("assets-of-a-clock-ahead", "clock-wrong", assets_of_a_clock_ahead, words=("clock",), at_once=True),
        Scenario("config-with-a-wrong-hash", "ignition-config-invalid", on_bootstrap(wrong_hash), words=("bootstrap", "hash"), limit=60),
        Scenario("config-with-a-disk", "ignition-config-invalid", on_bootstrap(a_disk), words=("bootstrap", "filesystems"), limit=60),
        Scenario("release-image-missing", "image-missing", lambda c: ways.lose_image(c, "release"), words=("release",)),
        Scenario("image-of-a-render-missing", "image-missing", lambda c: ways.lose_image(c, rendered), words=(rendered,)),
        Scenario("image-of-a-pod-missing", "image-missing", lambda c: ways.lose_image(c, running), words=(running,)),
        Scenario("digest-does-not-fit", "digest-mismatch", lambda c: ways.spoil_image(c, running), words=(running,)),
        Scenario("port-taken", "port-taken", units_on_bootstrap(listener(port)), words=(str(port), "bootstrap")),
        Scenario("address-in-use", "address-in-use", meanwhile=lambda c: ways.squatter(c, API_ADDRESS), words=(API_ADDRESS,), is_quick=False),
        Scenario("bootstrap-does-not-boot", "machine-not-booted", units_on_bootstrap(HANGS), words=("bootstrap", "hangs.service"),
                 is_final=False),
        Scenario("master-does-not-boot", "machine-not-booted", master_hangs, words=("master-0", "hangs.service"), is_final=False),
        Scenario("ignition-refused", "ignition-refused", lambda c: ways.edit_config(c, "master", wrong_token), words=("master-0", "403")),
        Scenario("no-way-to-the-config-server", "config-server-unreachable",
                 meanwhile=lambda c: ways.drop(c, MASTER_ADDRESS, 22623), words=("master-0", "22623"), is_final=False),
        Scenario("no-way-to-the-registry", "registry-unreachable", ways.registry_alone,
                 meanwhile=lambda c: ways.drop(c, MASTER_ADDRESS, 5000), words=("master-0",), is_final=False),
        Scenario("wrong-name", "dns-wrong", wrong_name, words=("api-int", "10.97.77.250"), is_final=False),
        Scenario("full-disk-of-etcd", "disk-full", units_on_bootstrap(small_disk("/var/lib/etcd", "8M")), words=("bootstrap", "/var/lib/etcd")),
        Scenario("full-disk", "disk-full", units_on_bootstrap(small_disk("/var/lib/containerd", "40M")), words=("bootstrap",), is_final=False),
        Scenario("operator-crashes", "operator-crashes", crashing_operator, words=("dns-operator", "no zone"),
                 is_final=False, limit=150),
        Scenario("os-image-is-not-built", "os-image-build-failed", containerfile_that_fails, words=("line 2", "does not fit this kernel")),
        Scenario("manifest-refused", "manifest-refused", users_manifest(NO_NAME), words=("99-mine.yaml", "Not_A_Name"), is_quick=False),
        Scenario("manifest-of-no-kind", "manifest-refused", users_manifest(NO_KIND), words=("99-mine.yaml", "Nothing"), is_final=False,
                 limit=120),  # its type may still be served for a minute after the first answer of the API
    ]
    return {scenario.name: scenario for scenario in table}
