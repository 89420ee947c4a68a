"""A cluster in a project of OpenStack itself: what is created, kills, the limit of user data, removal. Nova's fake driver runs no machines."""

import base64
import hashlib
import json
import os
import random
import time
import urllib.request

import pytest
from platform_cluster import PlatformCluster

SEED = "6b" * 32
CLOUDS = """clouds:
  demo:
    auth: {auth_url: 'http://127.0.0.1:5000', username: demo, password: hunter2secret, project_name: team, user_domain_name: Default,
           project_domain_name: Default}
    region_name: RegionOne
"""
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: {name}}}
networking: {{networkType: Flannel}}
controlPlane: {{name: master, replicas: 3{pool}}}
compute: [{{name: worker, replicas: {workers}}}]
platform:
  openstack:
    cloud: demo
    externalNetwork: public
    defaultMachinePlatform: {{type: m1.large}}
pullSecret: '{{"auths":{{"registry.example.com":{{"auth":"YTpi"}}}}}}'
"""


class NoFaults:
    """OpenStack itself is not disturbed."""

    def disturb(self, *_):
        pass


class Cluster(PlatformCluster):
    def __init__(self, folder, name="demo", workers=1, pool="", seed=SEED):
        image = folder.parent / "os.raw"
        image.write_bytes(b"disk" * 250_000)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
        super().__init__(NoFaults(), folder, CONFIG.format(name=name, workers=workers, pool=pool), seed, environment, ("--os-image", image))
        clouds = folder.parent / ".config/openstack/clouds.yaml"
        clouds.parent.mkdir(parents=True, exist_ok=True)
        clouds.write_text(CLOUDS)


def inventory(sdk):
    """What is in the project, by kind and name."""
    found = {}

    def add(kind, name, *facts):
        key = f"{kind} {name}"
        assert key not in found, f"twice: {key}"
        found[key] = json.dumps(facts, default=str)

    project = sdk.current_project_id
    for kind, items in (("network", sdk.network.networks(project_id=project)), ("subnet", sdk.network.subnets(project_id=project)),
                        ("router", sdk.network.routers(project_id=project)), ("security-group", sdk.network.security_groups(project_id=project)),
                        ("floating-ip", sdk.network.ips(project_id=project)), ("image", sdk.image.images(owner=project, visibility="private"))):
        for item in items:
            name = item.description if kind == "floating-ip" else item.name
            add(kind, name, sorted(tag for tag in item.tags if not tag.startswith("slipway-expires")))
    groups = {group.id: group.name for group in sdk.network.security_groups(project_id=project)}
    for port in sdk.network.ports(project_id=project):
        if not port.device_owner.startswith("network:"):
            add("port", port.name, sorted(port.tags), sorted(pair["ip_address"] for pair in port.allowed_address_pairs), bool(port.device_id))
    rules = {}
    for rule in sdk.network.security_group_rules(project_id=project):
        if rule.direction == "ingress":
            rules.setdefault(groups[rule.security_group_id], []).append(
                [rule.ether_type, rule.protocol, rule.port_range_min, rule.port_range_max, rule.remote_ip_prefix, groups.get(rule.remote_group_id)])
    for group, listed in rules.items():
        add("rules", group, sorted(listed, key=str))
    for server in sdk.compute.servers():
        add("machine", server.name, server.status, server.metadata)
    for group in sdk.compute.server_groups():
        add("server-group", group.name)
    for volume in sdk.block_storage.volumes():
        add("volume", volume.name, volume.status, volume.size)
    for container in sdk.object_store.containers():
        add("container", container.name)
        for each in sdk.object_store.objects(container.name):
            add("object", f"{container.name}/{each.name}", each.content_length)
    return found


def without_start(found, before):
    return {key: value for key, value in found.items() if before.get(key) != value}


def test_create_and_destroy(bed, tmp_path):
    sdk = bed.connection()
    before = inventory(sdk)
    cluster = Cluster(tmp_path / "demo")
    status, plan = cluster.plan()
    assert status == 2 and plan["problems"] == [] and inventory(sdk) == before, plan
    begin = time.monotonic()
    status, messages, events = cluster.create("--expires", "8h")
    took = time.monotonic() - begin
    assert status == 8, messages
    found, infra = inventory(sdk), cluster.infra
    made = [event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished"]
    assert sorted(made) == sorted(change["resource"] for change in plan["changes"])
    called = [event for event in events if event["kind"] == "call"]
    assert sorted(event["name"] for event in called) == sorted(call for change in plan["changes"] for call in change["calls"])
    assert all(event["request_id"] for event in called)
    assert {f"machine {infra}-{name}" for name in ("bootstrap", "master-0", "master-1", "master-2", "worker-0")} <= set(found)
    assert json.loads(found[f"port {infra}-master-0"])[1] == ["10.0.0.5", "10.0.0.7"]
    assert len(json.loads(found[f"rules {infra}-master"])[0]) > 15
    # Swift itself accepts the temporary URL, for the config only.
    admin = bed.connection("admin")
    server = next(each for each in admin.compute.servers(all_projects=True) if each.name == f"{infra}-bootstrap")
    pointer = json.loads(base64.b64decode(admin.compute.get_server(server).user_data))["ignition"]["config"]["replace"]
    content = urllib.request.urlopen(pointer["source"], timeout=60).read()
    assert pointer["verification"]["hash"] == "sha256-" + hashlib.sha256(content).hexdigest()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(pointer["source"].replace("temp_url_sig=", "temp_url_sig=0"), timeout=60)
    # The same command once more changes nothing.
    status, messages, events = cluster.create()
    assert status == 8 and inventory(sdk) == found and not [event for event in events if event["kind"] == "call"], messages
    assert cluster.plan()[0] == 0
    assert cluster.run("destroy", "bootstrap")[0] == 0
    assert not [key for key in inventory(sdk) if "bootstrap" in key]
    (cluster.folder / ".slipway/resources.jsonl").unlink()
    begin = time.monotonic()
    status, messages = cluster.destroy()
    print(f"\ncreate: {took:.0f} s, {len(called)} changes; destroy: {time.monotonic() - begin:.0f} s")
    assert status == 0 and inventory(sdk) == before, messages


def test_volumes_zones_and_orphans(bed, tmp_path):
    sdk = bed.connection()
    before = inventory(sdk)
    cluster = Cluster(tmp_path / "demo", workers=0, pool=", platform: {openstack: {rootVolume: {size: 120, types: [__DEFAULT__]}, zones: [nova]}}")
    status, messages, _ = cluster.create()
    assert status == 8, messages
    found, infra = inventory(sdk), cluster.infra
    assert json.loads(found[f"volume {infra}-master-1"]) == ["in-use", 120]
    place = ("--platform", "openstack", "--place", "demo")
    process = cluster.start("orphans", *place, "--output", "json")
    output, messages = process.communicate(timeout=300)
    assert [each["infraID"] for each in json.loads(output)["clusters"]] == [infra], messages
    status, messages = cluster.run("destroy", "cluster")
    assert status == 0 and inventory(sdk) == before, messages


def test_killed_at_any_time(bed, tmp_path):
    """A kill after any call, then the same command, then destroy: nothing is doubled or left."""
    sdk, drawn = bed.connection(), random.Random(7)
    before, wanted = inventory(sdk), None
    for number in [0] + sorted(drawn.sample(range(1, 60), 6)):
        cluster = Cluster(tmp_path / f"killed-{number}", workers=0)
        if number:
            seen, process = 0, cluster.start("create", "cluster", "--output", "json", *cluster.inputs)
            for line in process.stdout:
                seen += json.loads(line)["kind"] == "call"
                if seen == number:
                    process.kill()
                    break
            process.communicate(timeout=300)
        status, messages, _ = cluster.create()
        assert status == 8, (number, messages)
        found = without_start(inventory(sdk), before)
        wanted = wanted or found
        assert found.keys() == wanted.keys(), number
        process = cluster.start("destroy", "cluster")
        time.sleep(drawn.uniform(0, 8))
        process.kill()
        process.communicate(timeout=300)
        status, messages = cluster.destroy()
        assert status == 0 and inventory(sdk) == before, (number, messages)
