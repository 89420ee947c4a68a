"""`slipway create cluster` and `slipway destroy cluster` on platform openstack: what they create, kills, faults of OpenStack, neighbours, wrong
input.

The cloud runs no machines, so the commands are ended when the machines exist: this is about what exists in the project."""

import hashlib
import json
import os
import random
import re
import ssl
import sys
import urllib.request

import host_clock
import pytest
from cloud import changes, inventory, machine_data
from cluster_api import Nodes
from control_plane import ControlPlane
from platform_cluster import LIMIT, LostAnswer, PlatformCluster, killed_after, survives_storms, without_constants

LONG = "SLIPWAY_LONG" in os.environ
SEED = "6b" * 32
ALL_MACHINES = ("bootstrap", "master-0", "master-1", "master-2", "worker-0")
LOGIN = """username: demo
      password: {password}
      project_name: team
      user_domain_name: Default
      project_domain_name: Default"""
CLOUDS = """clouds:
  demo:
    auth:
      auth_url: {url}/identity
      {login}
    region_name: RegionOne
    cacert: {ca}
"""
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: {name}}}
networking: {{networkType: Flannel}}
controlPlane: {{name: master, replicas: 3{control_plane}}}
compute: [{{name: worker, replicas: {workers}}}]
platform:
  openstack:
    cloud: demo
    externalNetwork: public
    defaultMachinePlatform: {{type: m1.large}}{more}
pullSecret: '{{"auths":{{"registry.example.com":{{"auth":"YTpi"}}}}}}'
"""

# Runs a command, and prints what it used as the last line of standard error.
MEASURE = """
import json, resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / 1024}), file=sys.stderr)
sys.exit(status)
"""


class Cluster(PlatformCluster):
    def __init__(self, cloud, folder, name="demo", workers=1, more="", control_plane="", seed=SEED, image=None, login=None):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
        if image is None:
            image = folder.parent / "os.qcow2"
            image.write_bytes(b"QFI\xfb" + b"disk" * 5000)
        options = ("--os-image", image) if image else ()
        super().__init__(cloud, folder, CONFIG.format(name=name, workers=workers, more=more, control_plane=control_plane), seed, environment, options)
        # Of commands that make no machines.
        self.asset_inputs = self.inputs[:len(self.inputs) - len(options)]
        self.log_in(login or LOGIN.format(password="hunter2secret"))

    def log_in(self, login):
        """Writes clouds.yaml into the home directory of the commands."""
        folder = self.folder.parent / ".config/openstack"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "clouds.yaml").write_text(CLOUDS.format(url=self.cloud.url, login=login, ca=self.cloud.ca))


class Undisturbed:
    """What a cluster without workers looks like when nothing disturbed its creation, and what its calls are."""

    def __init__(self, server, folder):
        server.reset()
        before = inventory(server)
        cluster = Cluster(server, folder / "whole", workers=0)
        status, messages, _ = cluster.create()
        assert status == 8, messages
        self.found, self.creates = without_constants(inventory(server), before), len(server.changes())
        self.user_data = len(machine_data(server, f"{cluster.infra}-master-0"))
        server.calls.clear()
        status, messages = cluster.destroy()
        assert status == 0 and inventory(server) == before, messages
        self.removes = len(server.changes())


@pytest.fixture(scope="session")
def undisturbed(server, tmp_path_factory):
    return Undisturbed(server, tmp_path_factory.mktemp("undisturbed"))


def machines_of(found, infra):
    names = [key.removeprefix("machine ") for key in found if key.startswith("machine ")]
    return sorted(name.removeprefix(infra + "-") for name in names if name.startswith(infra + "-"))


def fetch(cloud, url, headers=None):
    """As Ignition does: with the authorities of the config, and without other rights."""
    context = ssl.create_default_context(cafile=cloud.ca)
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), context=context, timeout=LIMIT).read()


def test_independent_client(cloud):
    """openstacksdk creates and removes the objects of a small cluster: the cloud is one for other clients, too."""
    sdk, before = cloud.connection(), inventory(cloud)
    network = sdk.network.create_network(name="n")
    subnet = sdk.network.create_subnet(name="s", network_id=network.id, cidr="192.0.2.0/24", ip_version=4)
    router = sdk.network.create_router(name="r", external_gateway_info={"network_id": cloud.external})
    sdk.network.add_interface_to_router(router, subnet_id=subnet.id)
    group = sdk.network.create_security_group(name="g")
    rule = {"security_group_id": group.id, "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
    sdk.network.create_security_group_rule(**rule)
    with pytest.raises(Exception, match="already exists"):
        sdk.network.create_security_group_rule(**rule)
    port = sdk.network.create_port(name="p", network_id=network.id, security_groups=[group.id])
    sdk.network.set_tags(port, ["mine"])
    assert [each.id for each in sdk.network.ports(tags="mine")] == [port.id]
    address = sdk.network.create_ip(floating_network_id=cloud.external, port_id=port.id)
    with pytest.raises(Exception, match="RouterInUse|still has ports"):
        sdk.network.delete_router(router, ignore_missing=False)
    image = sdk.image.create_image("i", data=b"content", disk_format="raw", container_format="bare", validate_checksum=False)
    assert sdk.image.download_image(image).content == b"content"
    flavor = sdk.compute.find_flavor("m1.small")
    servers = sdk.compute.create_server_group(name="sg", policy="soft-anti-affinity")
    server = sdk.compute.create_server(name="m", flavor_id=flavor.id, image_id=image.id, networks=[{"port": port.id}])
    sdk.compute.wait_for_server(server, interval=0.05)
    assert "console of m" in sdk.compute.get_server_console_output(server)["output"]
    volume = sdk.block_storage.create_volume(name="v", size=1, image_id=image.id)
    sdk.block_storage.wait_for_status(volume, "available", interval=0.05)
    sdk.object_store.create_container("c")
    sdk.object_store.upload_object("c", "o", data="text")
    assert sdk.object_store.download_object("o", container="c") == b"text"
    with pytest.raises(Exception, match="409|conflict"):
        sdk.object_store.delete_container("c", ignore_missing=False)
    assert {"network n", "router r", "port p", "machine m", "image i", "volume v", "object c/o", "server-group sg"} <= set(inventory(cloud))
    sdk.object_store.delete_object("o", container="c")
    sdk.object_store.delete_container("c")
    sdk.compute.delete_server(server)
    sdk.compute.wait_for_delete(server, interval=0.05)
    sdk.block_storage.delete_volume(volume)
    sdk.block_storage.wait_for_delete(volume, interval=0.05)
    sdk.compute.delete_server_group(servers)
    sdk.image.delete_image(image)
    sdk.network.delete_ip(address)
    sdk.network.delete_port(port)
    sdk.network.remove_interface_from_router(router, subnet_id=subnet.id)
    for remove, item in ((sdk.network.delete_router, router), (sdk.network.delete_security_group, group), (sdk.network.delete_network, network)):
        remove(item, ignore_missing=False)
    assert inventory(cloud) == before


def test_create_and_destroy(cloud, tmp_path):
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo")
    started = host_clock.now()
    status, messages, events = cluster.create("--expires", "8h")
    created, create_calls, made = host_clock.now() - started, len(cloud.calls), cloud.changes()
    assert status == 8, messages
    infra, found = cluster.infra, inventory(cloud)
    own = without_constants(found, before)
    # What the plan has is what exists.
    planned = {event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished"}
    exist = {re.sub(f"floating-ip/slipway {infra} ", f"floating-ip/{infra}-", key.replace(" ", "/", 1)) for key in own}
    rules = {f"security-rules/{infra}-{role}" for role in ("master", "worker")}
    assert exist | rules == planned
    assert machines_of(found, infra) == sorted(ALL_MACHINES)
    # Each call that changes something is an event with the ID of its request.
    told = [event for event in events if event["kind"] == "call"]
    assert sum(event["attempts"] for event in told) == len(made) and all(event["request_id"] for event in told)
    # Everything that can have tags has that of the cluster.
    for key, text in own.items():
        if key.split()[0] in ("network", "subnet", "router", "security-group", "port", "floating-ip", "image"):
            assert f"openshiftClusterID={infra}" in text and '"slipway"' in text, (key, text)
            assert "slipway-expires=" in text or key.startswith("image"), (key, text)
    # The bootstrap machine fetches its config by a temporary URL; nobody else gets it.
    pointer = json.loads(machine_data(cloud, f"{infra}-bootstrap"))["ignition"]
    source, wanted = pointer["config"]["replace"]["source"], pointer["config"]["replace"]["verification"]["hash"]
    content = fetch(cloud, source)
    assert wanted == "sha256-" + hashlib.sha256(content).hexdigest()
    for wrong in (source.split("?")[0], source.replace("temp_url_sig=", "temp_url_sig=0"), re.sub(r"expires=\d+", "expires=1", source)):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetch(cloud, wrong)
    authorities = [each["source"] for each in pointer["security"]["tls"]["certificateAuthorities"]]
    assert any(hashlib.sha256(urllib.request.urlopen(each).read()).digest() == hashlib.sha256(cloud.ca.read_bytes()).digest() for each in authorities)
    names = {file["path"] for file in json.loads(content)["storage"]["files"]}
    assert {"/etc/hostname", "/etc/hosts"} <= names
    # Secrets are in the configs, neither in the journal nor in events nor in messages.
    text = (cluster.folder / ".slipway/resources.jsonl").read_text() + json.dumps(events) + messages
    token = json.loads(machine_data(cloud, f"{infra}-master-0"))["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"].split()[1]
    for secret in (token, "hunter2secret", "temp_url_sig", *cloud.cloud.tokens):
        assert secret not in text
    # Nothing but the API and the applications is open to the world.
    ports = {role: [rule for rule in json.loads(found[f"security-group {infra}-{role}"])[2] if not rule[4] and not rule[5]] for role in ("master", "worker")}
    assert ports == {"master": [["IPv4", "tcp", 6443, 6443, None, None]], "worker": [["IPv4", "tcp", 443, 443, None, None], ["IPv4", "tcp", 80, 80, None, None]]}
    assert json.loads(found[f"port {infra}-master-0"])[3] == ["10.0.0.5", "10.0.0.7"]
    api = json.loads(found[f"floating-ip slipway {infra} api"])
    assert api[1:] == [f"{infra}-api-port", "10.0.0.5"] and "floating IPs: 203.0.113." in messages, messages
    machine = json.loads(found[f"machine {infra}-master-0"])
    assert machine[0] == "ACTIVE" and machine[2]["slipway.machine"] == "master-0" and machine[5] == f"{infra}-master" and machine[6] == "True", machine
    assert cloud.most_in_flight <= 8
    # The same command once more changes nothing.
    cloud.calls.clear()
    assert cluster.create()[0] == 8
    assert cloud.changes() == [] and inventory(cloud) == found
    status, console = cluster.run("machine", "console", "master-0")
    assert status == 0 and f"console of {infra}-master-0" in console, console
    # The bootstrap machine goes with its config.
    status, messages = cluster.run("destroy", "bootstrap")
    assert status == 0, messages
    left = inventory(cloud)
    assert not [key for key in left if "bootstrap" in key] and machines_of(left, infra) == sorted(ALL_MACHINES[1:])
    cloud.calls.clear()
    begin = host_clock.now()
    status, messages = cluster.destroy()
    print(f"\ncreate: {create_calls} calls ({len(made)} changes), {created:.1f} s; "
          f"destroy: {len(cloud.calls)} calls ({len(cloud.changes())} changes), {host_clock.now() - begin:.1f} s")
    assert status == 0 and inventory(cloud) == before, messages
    assert not (cluster.folder / ".slipway/resources.jsonl").exists()


def test_plan(cloud, tmp_path):
    """A plan changes nothing. What it says is what create does, call by call."""
    before = inventory(cloud)
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"date": "2026-11-01", "currency": "EUR", "of": "ours", "hourly": {"machine/m1.large": 0.1, "floating-ip": 0.01}}))
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    cluster.inputs += ("--prices", prices)
    status, plan = cluster.plan()
    cluster.inputs = cluster.inputs[:-2]
    assert status == 2 and inventory(cloud) == before and cloud.changes() == []
    assert sorted(path.name for path in cluster.folder.iterdir()) == ["install-config.yaml"]
    assert {change["action"] for change in plan["changes"]} == {"create"}
    assert plan["problems"] == [] and plan["missingPermissions"] == []
    quotas = {quota["what"]: quota for quota in plan["quotas"]}
    assert quotas["servers"]["needed"] == 4 and quotas["vCPUs"]["needed"] == 16 and quotas["floating IPs"] == {
        "what": "floating IPs", "needed": 2, "used": 0, "limit": 20}
    assert quotas["ports"]["needed"] == 4 + 2 + 1
    assert [each["machine"] for each in plan["userData"] if each["pointer"]] == ["bootstrap"]
    costs = {row["item"]: row for row in plan["costs"]["rows"]}
    assert costs["machine/m1.large"]["amount"] == 4 and costs["router"]["each"] is None and plan["costs"]["hourly"] == pytest.approx(0.42)
    cloud.calls.clear()
    status, messages, events = cluster.create()
    assert status == 8, messages
    made = [event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished"]
    assert sorted(made) == sorted(change["resource"] for change in plan["changes"])
    called = [event["name"] for event in events if event["kind"] == "call"]
    assert sorted(called) == sorted(call for change in plan["changes"] for call in change["calls"])
    assert cluster.plan()[0] == 0
    # What somebody has removed.
    sdk, infra = cloud.connection(), cluster.infra
    for rule in sdk.network.security_group_rules(protocol="tcp", port_range_min=22623):
        sdk.network.delete_security_group_rule(rule)
    sdk.network.delete_ip(next(each for each in sdk.network.ips() if each.description.endswith("ingress")))
    status, plan = cluster.plan()
    assert status == 2 and [change["resource"] for change in plan["changes"] if change["action"] != "keep"] == [f"floating-ip/{infra}-ingress"]
    status, messages = cluster.run("refresh")
    assert status == 0 and f"floating-ip/{infra}-ingress" in messages, messages
    # What destroy removes, before it does.
    status, listed = cluster.run("destroy", "cluster", "--dry-run")
    assert status == 0 and f"network/{infra}-openshift" in listed.splitlines() and f"machine/{infra}-master-2" in listed.splitlines()
    assert cluster.destroy()[0] == 0 and inventory(cloud) == before


def test_plan_of_many_machines(cloud, tmp_path):
    """500 machines are planned in two seconds of the processor and with little memory."""
    cluster = Cluster(cloud, tmp_path / "demo", workers=497)
    # A process of its own: the memory of this one, which has the cloud, would count as that of its child.
    process = cluster.start("plan", "cluster", "--output", "json", *cluster.inputs, before=(sys.executable, "-c", MEASURE))
    output, messages = process.communicate(timeout=LIMIT)
    plan, used = json.loads(output)["platform"], json.loads(messages.splitlines()[-1])
    print(f"\nplan of 500 machines: {used['seconds']:.2f} s of the processor, {used['memory']:.0f} MiB, {len(cloud.calls)} calls")
    assert process.returncode == 2 and sum(change["resource"].startswith("machine/") for change in plan["changes"]) == 501
    assert used["seconds"] < 2 and used["memory"] < 60 and len(cloud.calls) < 60, used


def test_many_workers(server, tmp_path):
    """At most eight calls are in flight; all machines exist once; servers that take time do not wait for each other."""
    count = 100 if LONG else 10
    server.reset(work_time=0.5)
    before = inventory(server)
    cluster = Cluster(server, tmp_path / "demo", workers=count)
    status, messages, events = cluster.create()
    assert status == 8 and server.most_in_flight <= 8, (server.most_in_flight, messages)
    assert len([name for name in machines_of(inventory(server), cluster.infra) if name.startswith("worker")]) == count
    server.most_in_flight = 0
    status, messages = cluster.destroy()
    assert status == 0 and server.most_in_flight <= 8 and inventory(server) == before, messages


def test_image_is_shared(cloud, tmp_path):
    """The image is imported once for all clusters, again after a kill in the middle, and goes with the last cluster."""
    before = inventory(cloud)
    content = b"QFI\xfb" + random.Random(5).randbytes(3 << 20)
    image = tmp_path / "image"
    image.write_bytes(content)
    name = f"image slipway-os-{hashlib.sha256(content).hexdigest()[:12]}"
    first = Cluster(cloud, tmp_path / "first", name="first", workers=0, image=image)

    def killed_in_the_upload(call):
        if call == "glance PUT /images/*/file":
            first.process.kill()
            return 500, "killed"
        return None

    cloud.disturb(killed_in_the_upload)
    assert first.create()[0] < 0
    cloud.disturb()
    assert json.loads(inventory(cloud)[name])[1] == "queued"
    status, messages, _ = first.create()
    assert status == 8, messages
    facts = json.loads(inventory(cloud)[name])
    assert facts[1:] == ["active", len(content), "qcow2", hashlib.sha512(content).hexdigest()]
    # The second cluster uses the same image, without an upload.
    second = Cluster(cloud, tmp_path / "second", name="second", workers=0, image=image, seed="02" * 32)
    cloud.calls.clear()
    assert second.create()[0] == 8
    assert [call for call in cloud.changes() if call.startswith("glance")] == ["glance PUT /images/*/tags/*"]
    assert first.destroy()[0] == 0
    tags = json.loads(inventory(cloud)[name])[0]
    assert tags == [f"openshiftClusterID={second.infra}", "slipway"]
    status, messages = second.destroy()
    assert status == 0 and inventory(cloud) == before, messages
    # Glance has stored something else.
    third = Cluster(cloud, tmp_path / "third", name="third", workers=0, image=image)

    def damaged(call):
        if call == "glance PUT /images/*/file":
            for stored in cloud.cloud.images.values():
                stored["os_hash_value"] = "0" * 128

    cloud.disturb(after=damaged)
    status, messages, _ = third.create()
    cloud.disturb()
    assert status not in (0, 8) and "Glance has stored other content than was sent" in messages, messages
    assert third.destroy()[0] == 0 and inventory(cloud) == before


def test_orphans(cloud, tmp_path):
    """Clusters without an asset directory are listed and removed by their infraID. Those of other installers are not."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    assert cluster.create("--expires", "8h")[0] == 8
    infra, sdk = cluster.infra, cloud.connection()
    sdk.object_store.create_container("other-bcdfg-bootstrap")
    theirs = sdk.network.create_network(name="theirs-bcdfg-openshift")
    sdk.network.set_tags(theirs, ["openshiftClusterID=theirs-bcdfg"])
    place = ("--platform", "openstack", "--place", "demo")
    process = cluster.start("orphans", *place, "--output", "json")
    output, messages = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, messages
    listed = json.loads(output)["clusters"]
    assert [each["infraID"] for each in listed] == [infra]
    assert f"machine/{infra}-master-0" in listed[0]["resources"] and listed[0]["costs"] is None
    assert listed[0]["created"] and listed[0]["expires"] and not listed[0]["expired"]
    lost = Cluster(cloud, tmp_path / "lost")
    status, messages = lost.run("destroy", "cluster", *place, "--infra-id", infra)
    assert status == 0, messages
    sdk.object_store.delete_container("other-bcdfg-bootstrap")
    sdk.network.delete_network(theirs)
    assert inventory(cloud) == before


def test_workers_and_a_lost_directory(cloud, tmp_path):
    """Workers come and go on OpenStack and in the cluster; the copy of the state in the cluster makes another directory of the cluster."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=1)
    assert cluster.create()[0] == 8
    assert cluster.run("destroy", "bootstrap")[0] == 0
    plane_folder = tmp_path / "plane"
    plane_folder.mkdir()
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], plane_folder) as plane, Nodes(plane):
        (cluster.folder / "auth/kubeconfig").write_bytes(plane.kubeconfig.read_bytes())
        # Killed when the port exists and the machine does not: the next command completes it.
        assert killed_after(cluster, changes, 2, lambda: cluster.run("scale", "workers", "2"))
        cloud.most_in_flight = 0
        status, messages = cluster.run("scale", "workers", "3")
        assert status == 0 and "worker-2 is Ready" in messages, messages
        workers = [name for name in machines_of(inventory(cloud), cluster.infra) if name.startswith("worker")]
        assert workers == ["worker-0", "worker-1", "worker-2"] and cloud.most_in_flight <= 8
        cloud.calls.clear()
        status, messages = cluster.run("scale", "workers", "3")
        assert status == 0 and "The cluster has 3 workers." in messages and cloud.changes() == [], messages
        assert cluster.plan()[0] == 0, "nothing is missing after the bootstrap"
        # The directory is lost; an admin kubeconfig is left.
        restored = Cluster(cloud, tmp_path / "restored")
        (restored.folder / "install-config.yaml").unlink()
        status, messages = restored.run("refresh", "--kubeconfig", plane.kubeconfig)
        assert status == 0 and "metadata.json: written from the cluster" in messages, messages
        status, messages = restored.run("scale", "workers", "1")
        assert status == 0 and "worker-2 is removed" in messages and "worker-1 is removed" in messages, messages
        left = inventory(cloud)
        assert [name for name in machines_of(left, cluster.infra) if name.startswith("worker")] == ["worker-0"]
        assert f"port {cluster.infra}-worker-1" not in left
        assert plane.get("node", "worker-2") is None
        status, messages = restored.destroy()
        assert status == 0 and inventory(cloud) == before, messages


def test_killed_after_a_call(undisturbed, cloud, tmp_path):
    """The same command finishes without duplicates, and destroy removes everything, after a kill at any call that changes something."""
    before = inventory(cloud)
    total, removals, drawn = undisturbed.creates, undisturbed.removes, random.Random(7)
    creates = range(1, total + 1) if LONG else sorted(drawn.sample(range(1, total + 1), 2))
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
    """OpenStack refuses a sixth of the calls, and every twelfth answer is lost: the result is the same."""
    refusals = [(503, "<html><body><h1>503 Service Unavailable</h1></body></html>"), (429, '{"overLimit": {"message": "slow down", "code": 429}}'),
                (503, '{"message": "The server is currently unavailable."}')]
    survives_storms(Cluster(cloud, tmp_path / "demo", workers=0), inventory, undisturbed.found, refusals, refused=6, lost=12)


def test_tokens_and_logins(undisturbed, cloud, tmp_path):
    """Tokens that end in the middle are renewed. Other logins are used. Wrong ones are named."""
    before, ended = inventory(cloud), []

    def end_tokens(call):
        if call in ("neutron POST /ports", "glance POST /images", "nova POST /servers") and call not in ended:
            ended.append(call)
            cloud.cloud.tokens.clear()

    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    cloud.disturb(after=end_tokens)
    status, messages, _ = cluster.create()
    cloud.disturb()
    assert status == 8 and len(ended) == 3, messages
    assert without_constants(inventory(cloud), before) == undisturbed.found
    # An application credential, with its secret in a file of its own.
    cluster.log_in("application_credential_id: credential-1\n    auth_type: v3applicationcredential")
    secure = tmp_path / ".config/openstack/secure.yaml"
    secure.write_text("clouds: {demo: {auth: {application_credential_secret: hunter2credential}}}\n")
    assert cluster.plan()[0] == 0
    secure.unlink()
    # Variables, without the file.
    (tmp_path / ".config/openstack/clouds.yaml").unlink()
    variables = {"OS_AUTH_URL": f"{cloud.url}/identity/v3", "OS_USERNAME": "demo", "OS_PASSWORD": "hunter2secret", "OS_PROJECT_NAME": "team",
                 "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default", "OS_REGION_NAME": "RegionOne", "OS_CACERT": str(cloud.ca)}
    assert cluster.plan(**variables)[0] == 0
    status, messages = cluster.destroy()
    assert status != 0 and "no credentials found (looked in: cloud demo in" in messages and "OS_AUTH_URL" in messages, messages
    status, messages = cluster.destroy(**variables | {"OS_PASSWORD": "wrong-password"})
    assert status != 0 and "refuses the login (check OS_AUTH_URL and further variables)" in messages and "wrong-password" not in messages, messages
    status, messages = cluster.destroy(**variables | {"OS_CACERT": ""})
    assert status != 0 and "certificate" in messages, messages
    status, messages = cluster.destroy(**variables | {"OS_REGION_NAME": "elsewhere"})
    assert status != 0 and "the cloud has no region elsewhere (it has RegionOne)" in messages, messages
    status, messages = cluster.destroy(**variables)
    assert status == 0 and inventory(cloud) == before, messages


def test_denied_and_failed(cloud, tmp_path):
    """A refusal says what the user needs; a server that Nova cannot create says why. The same command then goes on."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    cloud.cloud.roles = ["reader"]
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "the user may only read in project team" in messages and inventory(cloud) == before, messages
    cloud.cloud.roles = ["member"]
    denied = (403, '{"forbidden": {"message": "Policy does not allow os_compute_api:servers:create to be performed.", "code": 403}}')
    cloud.disturb(lambda call: denied if call == "nova POST /servers" else None)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "Policy does not allow os_compute_api:servers:create" in messages and "role in the project" in messages, messages
    cloud.disturb()
    cloud.cloud.failing_names = {"-master-1": "No valid host was found. There are not enough hosts available."}
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "master-1" in messages and "No valid host was found" in messages, messages
    cloud.cloud.failing_names = {}
    status, messages, _ = cluster.create()
    assert status == 8 and machines_of(inventory(cloud), cluster.infra) == sorted(ALL_MACHINES[:4]), messages
    assert cluster.destroy()[0] == 0 and inventory(cloud) == before


def test_dependencies_end_late(cloud, tmp_path):
    """What is still in use is removed later."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    assert cluster.create()[0] == 8
    refused = {}

    def first_refused(call):
        if call.startswith("neutron DELETE") and "rules" not in call and call not in refused:
            refused[call] = True
            return 409, '{"NeutronError": {"type": "SomethingInUse", "message": "has dependencies", "detail": ""}}'
        return None

    cloud.disturb(first_refused)
    status, messages = cluster.destroy()
    cloud.disturb()
    assert len(refused) == 6 and status == 0 and inventory(cloud) == before, (messages, refused)


def test_neighbours_and_no_state(cloud, tmp_path):
    """Names of neighbours begin alike. destroy needs nothing but metadata.json, and of that only the infraID and the cloud."""
    clusters = [Cluster(cloud, tmp_path / name, name=name, workers=0, seed=seed * 32) for name, seed in (("c1", "01"), ("c10", "02"))]
    before = inventory(cloud)
    assert clusters[1].create()[0] == 8
    with_neighbour = inventory(cloud)
    assert clusters[0].create()[0] == 8
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "metadata.json").write_text(json.dumps({"clusterName": "c1", "infraID": clusters[0].infra, "openstack": {"cloud": "demo"}}))
    lost = Cluster(cloud, tmp_path / "lost")
    lost.folder = bare
    status, messages = lost.destroy()
    assert status == 0, messages
    assert inventory(cloud) == with_neighbour
    assert clusters[1].destroy()[0] == 0
    assert inventory(cloud) == before


def test_foreign_objects(cloud, tmp_path):
    """Objects with planned names that are not of the cluster are neither used nor removed."""
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    status, messages = cluster.run("create", "ignition-configs", *cluster.asset_inputs)
    assert status == 0, messages
    infra, sdk = cluster.infra, cloud.connection()
    for kind, name in (("network", "openshift"), ("security_group", "master")):
        getattr(sdk.network, f"create_{kind}")(name=f"{infra}-{name}")
    before = inventory(cloud)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "exists, but does not belong to this cluster" in messages, messages
    assert cluster.destroy()[0] == 0
    assert inventory(cloud) == before


def test_networks_and_volumes_of_the_user(cloud, tmp_path):
    """With subnets, floating IPs and volumes that the install-config names, the user's objects stay as they were."""
    sdk = cloud.connection()
    network = sdk.network.create_network(name="mine")
    subnet = sdk.network.create_subnet(name="nodes", network_id=network.id, cidr="10.0.0.0/16", ip_version=4)
    extra = sdk.network.create_network(name="storage")
    sdk.network.create_subnet(name="storage", network_id=extra.id, cidr="192.0.2.0/24", ip_version=4)
    router = sdk.network.create_router(name="mine", external_gateway_info={"network_id": cloud.external})
    sdk.network.add_interface_to_router(router, subnet_id=subnet.id)
    api = sdk.network.create_ip(floating_network_id=cloud.external)
    group = sdk.network.create_security_group(name="mine")
    glance = sdk.image.create_image("rhcos", data=b"content", disk_format="raw", container_format="bare", validate_checksum=False)
    before = inventory(cloud)
    more = f"""
    controlPlanePort: {{fixedIPs: [{{subnet: {{name: nodes}}}}]}}
    apiFloatingIP: {api.floating_ip_address}
    clusterOSImage: rhcos"""
    pool = (", platform: {openstack: {rootVolume: {size: 100, types: [fast]}, zones: [az-1, az-2], "
            f"additionalNetworkIDs: [{extra.id}], additionalSecurityGroupIDs: [{group.id}]}}}}")
    cluster = Cluster(cloud, tmp_path / "demo", workers=1, more=more, control_plane=pool)
    status, messages, events = cluster.create()
    assert status == 8, messages
    infra = cluster.infra
    own = without_constants(inventory(cloud), before)
    assert not [key for key in own if key.split()[0] in ("network", "subnet", "router", "image")]
    assert json.loads(own[f"floating-ip {api.floating_ip_address}"])[1:] == [f"{infra}-api-port", "10.0.0.5"]
    assert f"floating-ip slipway {infra} ingress" in own
    machine = json.loads(own[f"machine {infra}-master-1"])
    assert machine[1] == "" and machine[4] == "az-2" and json.loads(own[f"volume {infra}-master-1"])[:3] == [100, "fast", "in-use"]
    assert json.loads(own[f"machine {infra}-worker-0"])[1] == "rhcos"
    assert json.loads(own[f"port {infra}-master-1"])[2] == sorted([f"{infra}-master", "mine"])
    # Nova made ports in the additional network, and removes them.
    assert sum(port.network_id == extra.id for port in sdk.network.ports()) == 4
    called = [event["name"] for event in events if event["kind"] == "call"]
    assert called.count("Cinder CreateVolume") == 4
    # Everything after the loss of the state.
    (cluster.folder / ".slipway/resources.jsonl").unlink()
    status, messages = cluster.destroy()
    assert status == 0 and inventory(cloud) == before, messages


def test_two_at_once(cloud, tmp_path):
    cluster, results = Cluster(cloud, tmp_path / "demo", workers=0), []
    second = Cluster(cloud, tmp_path / "second")
    second.folder = cluster.folder

    def destroy_meanwhile(call):
        if call == "neutron POST /networks":
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
    refused = Cluster(cloud, tmp_path / "refused", more="\n    clusterOSImage: http://192.0.2.9/os.qcow2", image="")
    text = refused.folder / "install-config.yaml"
    text.write_text(text.read_text().replace("    externalNetwork: public\n", "").replace("{type: m1.large}", "{}"))
    status, messages, _ = refused.create()
    assert status in (1, 3), messages
    for part in ("externalNetwork: missing", "controlPlane.platform.openstack.type: missing", "compute[0].platform.openstack.type: missing",
                 "needs a checksum"):
        assert part in messages, messages
    assert text.exists()
    nothing = Cluster(cloud, tmp_path / "nothing", name="other", control_plane=", platform: {openstack: {type: m1.none, zones: [nowhere], "
                      "additionalSecurityGroupIDs: [12345678-90ab-4cde-8f01-234567890abc]}}")
    text = nothing.folder / "install-config.yaml"
    text.write_text(text.read_text().replace("m1.large", "m1.missing"))
    cloud.cloud.quotas["instances"] = 3
    status, messages, _ = nothing.create()
    assert status not in (0, 8), messages
    for part in ("flavor m1.missing: does not exist", "flavor m1.none: has no disk", "zone nowhere does not exist", "12345678-90ab-4cde-8f01-234567890abc does not exist",
                 "servers: the cluster needs 5, 0 of 3 are used"):
        assert part in messages, messages
    for number, (field, part) in enumerate((("externalNetwork: nowhere", "externalNetwork: nowhere does not exist"),
                        ("externalNetwork: public\n    clusterOSImage: nothing", "clusterOSImage: Glance has no image nothing"),
                        ("externalNetwork: public\n    controlPlanePort: {fixedIPs: [{subnet: {name: public}}]}", "which is not one of networking.machineNetwork"),
                        ("externalNetwork: public\n    apiFloatingIP: 203.0.113.99", "203.0.113.99 is not a floating IP of the project"))):
        cluster = Cluster(cloud, tmp_path / f"wrong-{number}", name="third", workers=0, image="" if "clusterOSImage" in field else None)
        text = cluster.folder / "install-config.yaml"
        text.write_text(text.read_text().replace("externalNetwork: public", field))
        status, messages, _ = cluster.create()
        assert status not in (0, 8) and part in messages, (part, messages)
    assert inventory(cloud) == before


@pytest.mark.parametrize("with_swift", [True, False])
def test_limit_of_user_data(undisturbed, server, tmp_path, with_swift):
    """A config of exactly the limit is user data. With one byte more, the machine fetches it from Swift, or from Glance where there is no Swift,
    until the bootstrap ends."""
    limit, size = 49149, undisturbed.user_data
    server.reset(with_swift=with_swift)
    before = inventory(server)
    for more in (0, 1) if with_swift else (1,):
        padded = Cluster(server, tmp_path / f"padded-{more}", workers=0)
        status, messages = padded.run("create", "ignition-configs", *padded.asset_inputs)
        assert status == 0, messages
        path = padded.folder / "master.ign"
        config = json.loads(path.read_text())
        empty = {"path": "/etc/padding", "mode": 420, "contents": {"source": "data:,"}}
        config.setdefault("storage", {}).setdefault("files", []).append(empty)
        used = size + len(json.dumps(empty, separators=(",", ":"))) + 1
        empty["contents"]["source"] += "x" * (limit - used + more)
        path.write_text(json.dumps(config))
        status, messages, _ = padded.create()
        assert status == 8, messages
        data, infra = machine_data(server, f"{padded.infra}-master-0"), padded.infra
        if more:
            pointer = json.loads(data)["ignition"]["config"]["replace"]
            headers = {each["name"]: each["value"] for each in pointer.get("httpHeaders", [])}
            assert set(headers) == (set() if with_swift else {"X-Auth-Token"})
            content = fetch(server, pointer["source"], headers)
            assert len(content) == limit + 1 and pointer["verification"]["hash"] == "sha256-" + hashlib.sha256(content).hexdigest()
            kept = {f"object {infra}-bootstrap/{name}.ign" if with_swift else f"image {infra}-{name}.ign" for name in ("bootstrap", "master-0", "master-2")}
            assert kept <= set(inventory(server))
            assert padded.run("destroy", "bootstrap")[0] == 0
            assert not [key for key in inventory(server) if "bootstrap" in key or key.endswith(".ign")]
        else:
            assert len(data) == limit
        status, messages = padded.destroy()
        assert status == 0 and inventory(server) == before, messages
