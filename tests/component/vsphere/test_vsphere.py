"""`slipway create cluster` and `slipway destroy cluster` on platform vsphere: what they create, kills, faults of vCenter, neighbours, wrong
input.

vcsim runs no machines, so the commands are ended when the machines exist: this is about what exists in the vCenter."""

import json
import os
import random
import re
import string
import zlib

import host_clock
import pytest
from platform_cluster import LIMIT, PlatformCluster, killed_after, survives_storms, without_constants
from simulator import PASSWORD, USER, changes, ignition_config, inventory, soap_fault

LONG = "SLIPWAY_LONG" in os.environ
SEED = "6b" * 32
ALL_MACHINES = ("bootstrap", "master-0", "master-1", "master-2", "worker-0")
DOMAIN = """
    - {{name: {0}, region: r, zone: {0}, server: 127.0.0.1, topology: {{datacenter: DC0, computeCluster: /DC0/host/DC0_{0},
       datastore: /DC0/datastore/LocalDS_0, networks: [{1}]{2}}}}}"""
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: {name}}}
networking: {{networkType: Flannel, machineNetwork: [{{cidr: 192.0.2.0/24}}]}}
controlPlane: {{name: master, replicas: 3}}
compute: [{{name: worker, replicas: {workers}}}]
platform:
  vsphere:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    vcenters: [{{server: 127.0.0.1, port: {port}, user: {user}, password: {password}, datacenters: [DC0]}}]{image}
    failureDomains:{domains}
pullSecret: '{{"auths":{{"registry.example.com":{{"auth":"YTpi"}}}}}}'
"""


class Cluster(PlatformCluster):
    def __init__(self, cloud, folder, name="demo", workers=1, seed=SEED, topology="", password=PASSWORD, image=None, network="DC0_DVPG0"):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GOVC_")}
        domains = "".join(DOMAIN.format(zone, network, topology) for zone in ("C0", "C1"))
        image = f"\n    clusterOSImage: {cloud.image}" if image is None else image
        super().__init__(cloud, folder, CONFIG.format(name=name, workers=workers, port=cloud.port, user=USER, password=password, image=image, domains=domains),
                         seed, environment | {"GOVC_TLS_CA_CERTS": str(cloud.ca)})


class Undisturbed:
    """What a cluster without workers looks like when nothing disturbed its creation, and what its calls are."""

    def __init__(self, server, folder):
        server.reset()
        before = inventory(server)
        cluster = Cluster(server, folder / "whole", workers=0)
        status, messages, _ = cluster.create()
        assert status == 8, messages
        self.found, self.creates = without_constants(inventory(server), before), len(server.changes())
        self.encoded, self.config = ignition_config(server, f"{cluster.infra}-bootstrap")
        server.calls.clear()
        status, messages = cluster.destroy()
        assert status == 0 and inventory(server) == before, messages
        self.removes = len(server.changes())


@pytest.fixture(scope="session")
def undisturbed(server, tmp_path_factory):
    return Undisturbed(server, tmp_path_factory.mktemp("undisturbed"))


def without_templates(found):
    return {key: value for key, value in found.items() if "slipway-os-" not in key}


def machines_of(found, infra):
    names = [key.rsplit("/", 1)[1] for key in found if key.startswith("machine ")]
    return sorted(name.removeprefix(infra + "-") for name in names if name.startswith(infra + "-"))


def test_create_and_destroy(cloud, tmp_path):
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo")
    started = host_clock.now()
    status, messages, events = cluster.create()
    created, calls, made = host_clock.now() - started, len(cloud.calls), cloud.changes()
    assert status == 8, messages
    infra = cluster.infra
    found = inventory(cloud)
    # What the plan has is what exists.
    planned = sorted(event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished")
    folder = f"/DC0/vm/{infra}"
    own = without_constants(found, before)
    exist = [f"folder/{folder}", f"tag/{infra}", f"rule//DC0/host/DC0_C0/{infra}-masters", *(f"machine/{infra}-{name}" for name in ALL_MACHINES),
             *("template/" + key.removeprefix("machine ") for key in own if "slipway-os-" in key)]
    assert planned == sorted(exist), own
    assert len([key for key in own if "slipway-os-" in key]) == 2  # one in each cluster of hosts
    assert machines_of(found, infra) == sorted(ALL_MACHINES)
    facts = {name: json.loads(found[f"machine {folder}/{infra}-{name}"]) for name in ALL_MACHINES}
    assert all(each["disks"] == [120 << 20] and each["adapters"] == 1 and each["memory"] == 16384 and each["cpus"] == 4 for each in facts.values()), facts
    # Workers wait for the end of the bootstrap.
    assert {name for name in ALL_MACHINES if facts[name]["state"] == "poweredOn"} == set(ALL_MACHINES) - {"worker-0"}
    assert found[f"rule /DC0/host/DC0_C0/{infra}-masters"] == str([f"{infra}-master-0", f"{infra}-master-2"])
    assert found[f"tag {infra}"] == str(sorted([infra, *(f"{infra}-{name}" for name in ALL_MACHINES)]))
    # Each call that changes something is an event.
    told = [event for event in events if event["kind"] == "call"]
    assert sum(event["attempts"] for event in told) == len(made) and all(event["request_id"] for event in told), (len(told), made)
    assert cloud.most_in_flight <= 8
    # The machines get their configs, which name them; secrets are nowhere else.
    config = json.loads(ignition_config(cloud, f"{infra}-bootstrap")[1])
    assert any(file["path"] == "/etc/hostname" for file in config["storage"]["files"])
    text = (cluster.folder / ".slipway/resources.jsonl").read_text() + json.dumps(events) + messages
    token = json.loads(ignition_config(cloud, f"{infra}-master-0")[1])["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"].split()[1]
    assert token not in text and PASSWORD not in text
    assert not list((cluster.folder / ".slipway").glob("*.ova"))
    # The same command once more changes nothing.
    cloud.calls.clear()
    assert cluster.create()[0] == 8
    assert cloud.changes() == [] and inventory(cloud) == found
    # The workers start with the end of the bootstrap machine.
    status, messages = cluster.run("destroy", "bootstrap")
    assert status == 0, messages
    left = inventory(cloud)
    assert machines_of(left, infra) == sorted(ALL_MACHINES[1:])
    assert json.loads(left[f"machine {folder}/{infra}-worker-0"])["state"] == "poweredOn"
    cloud.calls.clear()
    begin = host_clock.now()
    status, messages = cluster.destroy()
    print(f"\ncreate: {calls} calls ({len(made)} changes), {created:.1f} s; "
          f"destroy: {len(cloud.calls)} calls ({len(cloud.changes())} changes), {host_clock.now() - begin:.1f} s")
    assert status == 0 and inventory(cloud) == before, messages
    assert not (cluster.folder / ".slipway/resources.jsonl").exists()


def test_killed_after_a_call(undisturbed, cloud, tmp_path):
    """The same command finishes without duplicates, and destroy removes everything, after a kill at any call that changes something."""
    before = inventory(cloud)
    total, removals, drawn = undisturbed.creates, undisturbed.removes, random.Random(7)
    creates = range(1, total + 1) if LONG else sorted(drawn.sample(range(1, total + 1), 1))
    destroys = range(1, removals + 1) if LONG else sorted(drawn.sample(range(1, removals + 1), 1))
    print(f"\n{total} changes by create, {removals} by destroy; killed after {list(creates)} and {list(destroys)}")
    for number in creates:
        cluster = Cluster(cloud, tmp_path / f"create-{number}", workers=0)
        assert killed_after(cluster, changes, number, cluster.create), number
        if LONG or number == creates[0]:
            status, messages, _ = cluster.create()
            assert status == 8, (number, messages)
            assert without_constants(inventory(cloud), before) == undisturbed.found, number
        status, messages = cluster.destroy()
        assert status == 0 and inventory(cloud) == before, (number, messages)
    for number in destroys:
        cluster = Cluster(cloud, tmp_path / f"destroy-{number}", workers=0)
        assert cluster.create()[0] == 8
        killed_after(cluster, changes, number, cluster.destroy)
        status, messages = cluster.destroy()
        assert status == 0 and inventory(cloud) == before, (number, messages)


def test_storms_and_lost_answers(undisturbed, cloud, tmp_path):
    """vCenter is overloaded at an eighth of the calls, and every twentieth answer is lost: the result is the same."""
    survives_storms(Cluster(cloud, tmp_path / "demo", workers=0), inventory, undisturbed.found, [(503, "overloaded"), (429, "")], refused=8, lost=20)


def test_ended_sessions_and_missing_privileges(undisturbed, cloud, tmp_path):
    """All sessions end while machines are created: slipway logs in again. A missing privilege is named, and so is a wrong password."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    denied = soap_fault("NoPermission", "Permission to perform this operation was denied.")
    cloud.disturb(lambda call: denied if call == "CreateFolder" else None)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "give the user the privilege Folder.Create on Folder group-v3" in messages, messages
    ended = []

    def end_sessions(call):
        if call == "CloneVM_Task" and not ended:
            ended.append(call)
            for session in json.loads(cloud.govc("session.ls", "-json"))["sessionList"]:
                if session["userAgent"] == "slipway":
                    cloud.govc("session.rm", session["key"])

    cloud.disturb(end_sessions)
    status, messages, _ = cluster.create()
    cloud.disturb()
    assert status == 8 and ended, messages
    assert cloud.calls.count("Login") >= 3
    assert without_constants(inventory(cloud), before) == undisturbed.found
    assert cluster.destroy()[0] == 0 and inventory(cloud) == before
    nobody = Cluster(cloud, tmp_path / "nobody", password="wrong")
    status, messages, _ = nobody.create()
    assert status != 0 and "check user and password in platform.vsphere.vcenters" in messages and "wrong" not in messages, messages
    stranger = Cluster(cloud, tmp_path / "stranger")
    status, messages, _ = stranger.create(GOVC_TLS_CA_CERTS="")
    assert status != 0 and "certificate is not trusted" in messages, messages


def test_neighbours_and_no_state(cloud, tmp_path):
    """Names of neighbours begin alike, and they share templates. destroy needs nothing but metadata.json."""
    clusters = [Cluster(cloud, tmp_path / name, name=name, workers=0, seed=seed * 32) for name, seed in (("c1", "01"), ("c10", "02"))]
    before = inventory(cloud)
    assert clusters[1].create()[0] == 8
    with_neighbour = inventory(cloud)
    cloud.calls.clear()
    assert clusters[0].create()[0] == 8
    assert "ImportVApp" not in cloud.calls  # the templates exist
    infra = clusters[0].infra
    bare = tmp_path / "bare"
    bare.mkdir()
    vcenter = {"vCenter": "127.0.0.1", "port": cloud.port}
    (bare / "metadata.json").write_text(json.dumps({"clusterName": "c1", "infraID": infra, "vsphere": {"VCenters": [vcenter]}}))
    clusters[0].folder = bare
    status, messages = clusters[0].destroy()
    assert status != 0 and "no user or password (looked in: vsphere.VCenters of metadata.json; GOVC_USERNAME" in messages, messages
    status, messages = clusters[0].destroy(GOVC_USERNAME=USER, GOVC_PASSWORD=PASSWORD)
    assert status == 0, messages
    assert inventory(cloud) == with_neighbour
    assert clusters[1].destroy()[0] == 0
    assert inventory(cloud) == before


def test_plan_and_a_lost_directory(cloud, tmp_path):
    """A plan changes nothing and says what create does. A cluster without its directory is listed, and removed by its infraID."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    status, planned = cluster.plan()
    assert status == 2 and cloud.changes() == [] and inventory(cloud) == before
    assert {change["action"] for change in planned["changes"]} == {"create"}
    assert cluster.create()[0] == 8
    assert cluster.plan()[0] == 0
    # A category of another installer, with a name that looks like that of a cluster.
    cloud.govc("tags.category.create", "openshift-other-bcdfg")
    login = {"GOVC_USERNAME": USER, "GOVC_PASSWORD": PASSWORD}
    place = ("--platform", "vsphere", "--place", f"127.0.0.1:{cloud.port}")
    process = cluster.start("orphans", *place, "--output", "json", **login)
    output, messages = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, messages
    listed = json.loads(output)["clusters"]
    assert [each["infraID"] for each in listed] == [cluster.infra] and listed[0]["created"]
    assert {change["resource"] for change in planned["changes"]} == set(listed[0]["resources"])
    lost = Cluster(cloud, tmp_path / "lost")
    destroy = ("destroy", "cluster", *place, "--infra-id", cluster.infra)
    status, text = lost.run(*destroy, "--dry-run", **login)
    assert status == 0 and f"folder//DC0/vm/{cluster.infra}\n" in text, text
    status, messages = lost.run(*destroy, **login)
    assert status == 0, messages
    cloud.govc("tags.category.rm", "openshift-other-bcdfg")
    assert inventory(cloud) == before


def test_foreign_objects(cloud, tmp_path):
    """What others have put into the folder of a cluster stays, and is named. A machine with a planned name is not overwritten."""
    cloud.govc("folder.create", "/DC0/vm/mine")
    own_folder = Cluster(cloud, tmp_path / "mine", workers=0, topology=", folder: /DC0/vm/mine")
    words = ("create", "ignition-configs", *own_folder.inputs)
    assert own_folder.run(*words)[0] == 0
    name = f"{own_folder.infra}-master-1"
    cloud.govc("vm.clone", "-vm", "/DC0/vm/DC0_C0_RP0_VM0", "-on=false", "-pool", "/DC0/host/DC0_C0/Resources", "-folder", "/DC0/vm/mine", name)
    before = inventory(cloud)
    status, messages, _ = own_folder.create()
    assert status not in (0, 8) and f"machine/{name}: exists, but does not belong to this cluster" in messages, messages
    assert own_folder.destroy()[0] == 0
    assert inventory(cloud) == before


def test_two_at_once(cloud, tmp_path):
    cluster, results = Cluster(cloud, tmp_path / "demo", workers=0), []
    second = Cluster(cloud, tmp_path / "second")
    second.folder = cluster.folder

    def destroy_meanwhile(call):
        if call == "CreateFolder" and not results:
            results.append(second.destroy())

    cloud.disturb(after=destroy_meanwhile)
    status, messages, _ = cluster.create()
    cloud.disturb()
    assert status == 8, messages
    assert results[0][0] != 0 and "in use by process" in results[0][1], results
    assert cluster.destroy()[0] == 0


def test_wrong_input(cloud, tmp_path):
    """All problems at once, before anything is created or the install-config is consumed."""
    before = inventory(cloud)
    refused = Cluster(cloud, tmp_path / "refused", image="\n    clusterOSImage: http://192.0.2.9/os.ova")
    text = refused.folder / "install-config.yaml"
    text.write_text(re.sub(r"    (api|ingress)VIPs: .*\n", "", text.read_text()))
    status, messages, _ = refused.create()
    assert status in (1, 3) and "has no virtual addresses" in messages and "needs a checksum" in messages, messages
    assert text.exists()
    nothing = Cluster(cloud, tmp_path / "nothing", network="nowhere", topology=", folder: /DC0/vm/nowhere")
    status, messages, _ = nothing.create()
    assert status not in (0, 8), messages
    for part in ("failureDomains[0].topology.folder: /DC0/vm/nowhere: vCenter has nothing", "failureDomains[1].topology.networks[0]: /DC0/host/DC0_C1: its hosts have no network nowhere"):
        assert part in messages, messages
    broken = Cluster(cloud, tmp_path / "broken", name="other", image=f"\n    clusterOSImage: {cloud.image[:-4]}0000")
    status, messages, _ = broken.create()
    assert status not in (0, 8) and "the file has the SHA-256" in messages, messages
    assert broken.destroy()[0] == 0
    assert inventory(cloud) == before


def encoded_size(text):
    """As slipway encodes it, which has the same zlib."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return (len(packer.compress(text.encode()) + packer.flush()) + 2) // 3 * 4


def test_limit_of_user_data(undisturbed, cloud, tmp_path):
    """A config that has exactly the limit in gzip and base64 is taken; the next larger one is refused before anything is created."""
    limit, before = 1048576, inventory(cloud)
    assert encoded_size(undisturbed.config) == len(undisturbed.encoded)
    noise = "".join(random.Random(5).choices(string.ascii_letters + string.digits + "-_", k=limit))
    hostname = next(file for file in json.loads(undisturbed.config)["storage"]["files"] if file["path"] == "/etc/hostname")

    def padding(length):
        values = {"path": "/etc/padding", "mode": 420, "contents": {"source": "data:," + noise[:length]}}
        return {key: values[key] for key in hostname if key in values}

    def size_of(length):
        config = json.loads(undisturbed.config)
        config["storage"]["files"].insert(-3, padding(length))  # create cluster adds three files
        return encoded_size(json.dumps(config, separators=(",", ":")))

    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size_of(middle) <= limit else (low, middle)
    assert size_of(low) == limit and size_of(high) == limit + 4  # base64 grows by four
    for length in (low, high) if LONG else (high,):
        padded = Cluster(cloud, tmp_path / f"padded-{length}", workers=0)
        words = ("create", "ignition-configs", *padded.inputs)
        status, messages = padded.run(*words)
        assert status == 0, messages
        path = padded.folder / "bootstrap.ign"
        own = json.loads(path.read_text())
        own["storage"]["files"].append(padding(length))
        path.write_text(json.dumps(own))
        status, messages, _ = padded.create()
        if length == high:
            assert status not in (0, 8) and "more than the 1048576 of guestinfo" in messages, messages
        else:
            assert status == 8, messages
            assert len(ignition_config(cloud, f"{padded.infra}-bootstrap")[0]) == limit
            assert padded.destroy()[0] == 0
    assert inventory(cloud) == before
