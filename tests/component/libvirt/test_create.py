"""`slipway create cluster` and `slipway destroy cluster` on platform libvirt: what they create, kills, neighbours, wrong input.

The machines have an empty disk, so they do nothing: this is about what exists on the host. tests/system/libvirt_cluster boots them."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import host_clock
import pytest
from call_proxy import CallProxy
from libvirt_host import libvirt_host

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
LONG = "SLIPWAY_LONG" in os.environ
LIMIT = 120
SEED = "6b" * 32
NOW = str(int(time.time()))  # the same in all runs, so that seed and time give the same assets
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: {name}}}
controlPlane: {{name: master, replicas: 1}}
compute: [{{name: worker, replicas: {workers}}}]
platform:
  libvirt:
    URI: {uri}
    apiVIPs: [192.168.126.5]
    ingressVIPs: [192.168.126.7]
    defaultMachinePlatform: {{cpus: 1, memoryMiB: 2048, diskGiB: 10}}{more}
pullSecret: '{{"auths":{{"registry.example.com":{{"auth":"YTpi"}}}}}}'
"""


@pytest.fixture(scope="session")
def empty_disk(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "empty.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", path, "64M"], check=True)
    return path


class Cluster:
    """An asset directory, and the commands on it."""

    def __init__(self, host, folder, image, name="demo", workers=0, uri=None, more="", seed=SEED):
        self.host, self.folder, self.image, self.seed = host, folder, image, folder.parent / f"{folder.name}.seed"
        folder.mkdir()
        self.seed.write_text(seed + "\n")
        self.seed.chmod(0o600)
        (folder / "install-config.yaml").write_text(CONFIG.format(name=name, workers=workers, uri=uri or host.uri, more=more))

    def start(self, *words):
        """Starts a command. Its PID on the host of libvirt is the first line of the output."""
        argv = ["sh", "-c", 'echo $$; exec "$@"', "sh", SLIPWAY, *words, "--dir", self.folder]
        return subprocess.Popen(self.host.command(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "SOURCE_DATE_EPOCH": NOW})

    def create(self, when_machines_exist=lambda: None):
        """Runs create until the machines exist: they never become a cluster. Returns the exit status and the messages."""
        process = self.start("create", "cluster", "--output", "json", "--release", BUILD / "release", "--os-image", self.image, "--seed", self.seed)
        pid = int(process.stdout.readline())
        self.kill = lambda number: self.host.run(["kill", f"-{number}", str(pid)], check=False)
        for line in process.stdout:
            event = json.loads(line)
            if (event["kind"], event["name"], event["phase"]) == ("step", "machines", "finished"):
                when_machines_exist()
                self.kill(signal.SIGINT)
        messages = process.stderr.read()
        process.wait(LIMIT)
        return process.returncode, messages

    def destroy(self, check=True):
        done = self.host.run([SLIPWAY, "destroy", "cluster", "--dir", self.folder], check=check, timeout=LIMIT)
        return done.returncode, done.stderr


def settled_state(host, name):
    """A machine is paused while libvirtd starts it, also after the death of the program that asked for it."""
    end = host_clock.now() + LIMIT
    while (state := host.virsh("domstate", name)) == "paused" and host_clock.now() < end:
        time.sleep(0.05)
    return state


def inventory(host):
    """Everything on the host that a cluster may have, without what differs from run to run."""
    found = {}
    for name in host.virsh("list", "--all", "--name").split():
        xml = host.virsh("dumpxml", "--inactive", name)
        xml = re.sub(r"<uuid>.*?</uuid>", "", xml)
        state = settled_state(host, name)
        found[f"machine {name}"] = f"{state} {hashlib.sha256(xml.encode()).hexdigest()}"
    for name in host.virsh("net-list", "--all", "--name").split():
        xml = re.sub(r"<uuid>.*?</uuid>|<mac address='[^']*'/>", "", host.virsh("net-dumpxml", "--inactive", name))
        active = re.sub(r"\s+", " ", re.search(r"Active:.*?Autostart:\s*\S+", host.virsh("net-info", name), re.S)[0])
        found[f"network {name}"] = f"{active} {hashlib.sha256(xml.encode()).hexdigest()}"
    for name in host.virsh("pool-list", "--all", "--name").split():
        found[f"pool {name}"] = re.search(r"State:\s*(\S+)", host.virsh("pool-info", name))[1]
        if found[f"pool {name}"] != "running":
            continue
        host.virsh("pool-refresh", name)
        for volume in host.virsh("vol-list", name).splitlines()[2:]:
            volume_name, path = volume.split(None, 1)
            is_constant = volume_name.endswith((".ign", ".iso")) or ".os-" in volume_name
            content = (pathlib.Path(f"/proc/{host.pid}/root") / path.strip().lstrip("/")).read_bytes() if is_constant else b""
            if not re.search(r"\.console\.log(\.\d)?$", volume_name):
                found[f"volume {name} {volume_name}"] = hashlib.sha256(content).hexdigest()
    return found


def names(found):
    return sorted(found)


def test_create_and_destroy(host, tmp_path, empty_disk):
    before = inventory(host)
    cluster = Cluster(host, tmp_path / "demo", empty_disk, workers=1)
    started = host_clock.now()
    calls = CallProxy(host, tmp_path, lambda number: True)
    (cluster.folder / "install-config.yaml").write_text(CONFIG.format(name="demo", workers=1, uri=calls.uri, more=""))
    status, messages = cluster.create()
    created, create_calls = host_clock.now() - started, calls.calls
    assert status == 8, messages
    infra = json.loads((cluster.folder / "metadata.json").read_text())["infraID"]
    found = inventory(host)
    assert names(found) == sorted(
        [*before, f"network {infra}", f"pool {infra}", *(f"machine {infra}-{name}" for name in ("bootstrap", "master-0", "worker-0")),
         *(f"volume {infra} {infra}-{name}.{kind}" for name in ("bootstrap", "master-0", "worker-0") for kind in ("ign", "qcow2")),
         *(key for key in found if key.startswith(f"volume {infra} {infra}.os-"))])
    assert host.virsh("domstate", f"{infra}-master-0") == "running"
    assert host.virsh("domstate", f"{infra}-worker-0") == "shut off"  # until the bootstrap machine is removed
    # Emulation is said once, with what it means.
    assert "no usable KVM" in messages and "8 times longer" in messages
    # Secrets are in the configs, not in the journal nor in XML.
    journal = (cluster.folder / ".slipway/resources.jsonl").read_text()
    config = json.loads((pathlib.Path(f"/proc/{host.pid}/root/var/lib/libvirt/openshift-images") / infra / f"{infra}-master-0.ign").read_text())
    token = config["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"].split()[1]
    assert token not in journal and token not in host.virsh("dumpxml", f"{infra}-master-0")
    assert any(file["path"] == "/etc/hostname" for file in config["storage"]["files"])
    # The same command once more changes nothing.
    assert cluster.create()[0] == 8
    assert inventory(host) == found
    # The workers start when the bootstrap machine goes.
    host.run([SLIPWAY, "destroy", "bootstrap", "--dir", cluster.folder])
    assert host.virsh("domstate", f"{infra}-worker-0") == "running"
    assert f"machine {infra}-bootstrap" not in inventory(host)
    begin, calls.calls = host_clock.now(), 0
    status, messages = cluster.destroy()
    print(f"\ncreate: {create_calls} calls, {created:.1f} s; destroy: {calls.calls} calls, {host_clock.now() - begin:.1f} s")
    assert status == 0 and inventory(host) == before, messages
    assert not (cluster.folder / ".slipway/resources.jsonl").exists()
    calls.close()


def test_plan_and_a_lost_directory(host, tmp_path, empty_disk):
    """A plan changes nothing and says what create does. A cluster without its directory is listed, and removed by its infraID."""
    before = inventory(host)
    cluster = Cluster(host, tmp_path / "demo", empty_disk)
    # With the seed of the cluster, so that the names are the same.
    plan = [SLIPWAY, "plan", "cluster", "--output", "json", "--release", BUILD / "release", "--os-image", empty_disk, "--seed", cluster.seed,
            "--dir", cluster.folder]
    environment = ["env", f"SOURCE_DATE_EPOCH={NOW}"]
    done = host.run([*environment, *plan], check=False)
    assert done.returncode == 2, done.stderr
    changes = json.loads(done.stdout)["platform"]["changes"]
    assert inventory(host) == before and {change["action"] for change in changes} == {"create"}
    assert cluster.create()[0] == 8
    infra = json.loads((cluster.folder / "metadata.json").read_text())["infraID"]
    assert host.run([*environment, *plan], check=False).returncode == 0
    listed = json.loads(host.run([SLIPWAY, "orphans", "--platform", "libvirt", "--place", host.uri, "--output", "json"]).stdout)["clusters"]
    assert [each["infraID"] for each in listed] == [infra]
    assert {change["resource"] for change in changes} <= set(listed[0]["resources"]), "and the console logs, which QEMU made"
    host.virsh("destroy", f"{infra}-master-0")
    host.virsh("undefine", f"{infra}-master-0")
    assert f"machine/{infra}-master-0: does not exist any more" in host.run([SLIPWAY, "refresh", "--dir", cluster.folder]).stdout
    lost = tmp_path / "lost"
    lost.mkdir()
    destroy = [SLIPWAY, "destroy", "cluster", "--platform", "libvirt", "--place", host.uri, "--infra-id", infra, "--dir", lost]
    assert f"network/{infra}" in host.run([*destroy, "--dry-run"]).stdout.splitlines()
    host.run(destroy)
    assert inventory(host) == before


def test_kvm_only_if_it_works(tmp_path, empty_disk):
    """/dev/kvm may exist and not work; libvirt offers KVM then, and machines do not start."""
    folder = tmp_path / "host"
    folder.mkdir()
    with libvirt_host(folder, kvm=True) as host:
        cluster = Cluster(host, tmp_path / "demo", empty_disk)
        status, messages = cluster.create()
        assert status == 8, messages
        infra = json.loads((cluster.folder / "metadata.json").read_text())["infraID"]
        assert host.virsh("list", "--name").split() and settled_state(host, f"{infra}-bootstrap") == "running"
        is_kvm = "<domain type='kvm'" in host.virsh("dumpxml", f"{infra}-bootstrap")
        assert is_kvm != ("no usable KVM" in messages), messages
        assert cluster.destroy()[0] == 0 and not inventory(host)


def run_killed(host, folder, image, number):
    """create with SIGKILL after a call; returns the cluster and whether the call was reached."""
    cluster = Cluster(host, folder, image)

    def after(call):
        if call == number:
            cluster.kill(signal.SIGKILL)
        return call < number

    proxy = CallProxy(host, folder.parent, after)
    config = folder / "install-config.yaml"
    config.write_text(CONFIG.format(name="demo", workers=0, uri=proxy.uri, more=""))
    cluster.create()
    reached = proxy.calls >= number
    proxy.close()
    # From here on without the proxy: the URI is in the same place.
    return cluster, reached


def test_killed_after_a_call(host, tmp_path, empty_disk):
    """The same command finishes, and destroy removes everything, after a kill at any call."""
    before = inventory(host)
    changes = []

    def look(number):
        found = inventory(host) if LONG else None
        changes.append(found)
        return True

    whole = Cluster(host, tmp_path / "whole", empty_disk)
    proxy = CallProxy(host, tmp_path, look)
    uri = proxy.uri
    (whole.folder / "install-config.yaml").write_text(CONFIG.format(name="demo", workers=0, uri=uri, more=""))
    totals = []
    whole.create(lambda: totals.append(len(changes)))
    wanted = inventory(host)
    whole.destroy()
    proxy.close()
    assert inventory(host) == before
    total = totals[0]
    if LONG:
        numbers = [number for number in range(2, total + 1) if changes[number - 1] != changes[number - 2]]
    else:
        numbers = [total // 3, 2 * total // 3]
    print(f"\n{total} calls in all; killed after {numbers}")
    for number in numbers:
        for action in ("create", "destroy"):
            folder = tmp_path / f"{action}-{number}"
            cluster, reached = run_killed(host, folder, empty_disk, number)
            assert reached, number
            proxy = CallProxy(host, tmp_path, lambda call: True)
            if action == "create":
                assert cluster.create()[0] == 8, number
                assert inventory(host) == wanted, number
            assert cluster.destroy()[0] == 0, number
            assert inventory(host) == before, (number, action)
            proxy.close()


def test_two_at_once(host, tmp_path, empty_disk):
    cluster = Cluster(host, tmp_path / "demo", empty_disk)
    results = []

    def second(number):
        if number == 20 and not results:
            results.append(cluster.host.run([SLIPWAY, "destroy", "cluster", "--dir", cluster.folder], check=False))
        return True

    proxy = CallProxy(host, tmp_path, second)
    (cluster.folder / "install-config.yaml").write_text(CONFIG.format(name="demo", workers=0, uri=proxy.uri, more=""))
    try:
        assert cluster.create()[0] == 8
        assert results[0].returncode != 0 and "in use by process" in results[0].stderr, results[0].stderr
    finally:
        cluster.destroy()
        proxy.close()


def test_destroy_without_the_journal_and_beside_neighbours(host, tmp_path, empty_disk):
    """Names of neighbours begin alike; both use a pool of the host, which also has a file of somebody else."""
    pool = tmp_path / "pool"
    pool.mkdir()
    host.virsh("pool-define-as", "shared", "dir", "--target", str(pool))
    host.virsh("pool-start", "shared")
    foreign = pool / "slipway-os-mine-qemu.qcow2"
    foreign.write_bytes(b"not of slipway")
    clusters = [Cluster(host, tmp_path / name, empty_disk, name=name, seed=seed * 32,
                        more=f", storagePool: shared, network: {{if: {bridge}}}".replace(", storagePool", "\n    storagePool").replace(", network", "\n    network"))
                for name, seed, bridge in (("c1", "01", "tt1"), ("c10", "02", "tt2"))]
    text = clusters[1].folder / "install-config.yaml"
    text.write_text(text.read_text().replace("192.168.126.", "192.168.127.") + "networking: {machineNetwork: [{cidr: 192.168.127.0/24}]}\n")
    try:
        assert clusters[0].create()[0] == 8
        with_one = inventory(host)
        status, messages = clusters[1].create()
        assert status == 8, messages
        (clusters[1].folder / ".slipway/resources.jsonl").unlink()
        assert clusters[1].destroy()[0] == 0
        assert inventory(host) == with_one
        assert clusters[0].destroy()[0] == 0
        assert names(inventory(host)) == ["pool shared", f"volume shared {foreign.name}"]
    finally:
        for cluster in clusters:
            cluster.destroy(check=False)
        host.virsh("pool-destroy", "shared")
        host.virsh("pool-undefine", "shared")


def test_wrong_input(host, tmp_path, empty_disk):
    """All problems at once, before anything is created or the install-config is consumed."""
    before = inventory(host)
    without = Cluster(host, tmp_path / "without", empty_disk)
    text = without.folder / "install-config.yaml"
    text.write_text("\n".join(line for line in text.read_text().splitlines() if "VIPs" not in line))
    status, messages = without.create()
    assert status == 3 or status == 1, messages
    assert "add apiVIPs: [192.168.126.5] and ingressVIPs: [192.168.126.7]" in messages
    assert text.exists()
    unreachable = Cluster(host, tmp_path / "unreachable", empty_disk, uri="qemu+unix:///system?socket=/nowhere")
    status, messages = unreachable.create()
    assert status != 0 and "/nowhere" in messages, messages
    no_pool = Cluster(host, tmp_path / "no-pool", empty_disk, more="\n    storagePool: fast")
    status, messages = no_pool.create()
    assert status != 0 and "the host has no pool fast" in messages, messages
    raw = tmp_path / "raw.img"
    raw.write_bytes(b"\0" * 4096)
    other = Cluster(host, tmp_path / "raw", raw)
    status, messages = other.create()
    assert status != 0 and "is not a disk image in qcow2" in messages, messages
    other.destroy()
    assert inventory(host) == before


def test_console(host, tmp_path, empty_disk):
    cluster = Cluster(host, tmp_path / "demo", empty_disk)
    try:
        assert cluster.create()[0] == 8
        infra = json.loads((cluster.folder / "metadata.json").read_text())["infraID"]
        log = pathlib.Path(f"/proc/{host.pid}/root/var/lib/libvirt/openshift-images") / infra / f"{infra}-master-0.console.log"
        assert log.exists()
        with log.open("a") as file:
            file.write("a line of the console\n")
        assert "a line of the console" in host.run([SLIPWAY, "machine", "console", "master-0", "--dir", cluster.folder]).stdout
        refused = host.run([SLIPWAY, "machine", "console", "master-7", "--dir", cluster.folder], check=False)
        assert refused.returncode == 1 and "machine master-7: not found" in refused.stderr
    finally:
        cluster.destroy()
