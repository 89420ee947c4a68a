"""`slipway create cluster` and `slipway destroy cluster` on platform aws: what they create, kills, faults of AWS, neighbours, wrong input.

moto runs no machines, so the commands are ended when the machines exist: this is about what exists in the account."""

import hashlib
import json
import os
import random
import re
import signal
import sys
import urllib.request

import host_clock
import pytest
from cloud import changes, inventory, user_data
from cluster_api import Nodes
from control_plane import ControlPlane
from platform_cluster import LIMIT, LostAnswer, PlatformCluster, killed_after, survives_storms, without_constants

LONG = "SLIPWAY_LONG" in os.environ
SEED = "6b" * 32
ALL_MACHINES = ("bootstrap", "master-0", "master-1", "master-2", "worker-0")
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: {name}}}
credentialsMode: Manual
networking: {{networkType: Flannel}}
controlPlane: {{name: master, replicas: 3}}
compute: [{{name: worker, replicas: {workers}}}]
platform:
  aws:
    region: us-east-1
    userTags: {{team: blue}}
    defaultMachinePlatform: {{{machines}}}{more}
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
    def __init__(self, cloud, folder, name="demo", workers=1, more="", seed=SEED, image=None):
        machines = "type: m6i.xlarge" if image else f"amiID: {cloud.image}"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
        environment |= {"AWS_ENDPOINT_URL": cloud.url, "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hunter2secret"}
        super().__init__(cloud, folder, CONFIG.format(name=name, workers=workers, machines=machines, more=more), seed, environment,
                         ("--os-image", image) if image else ())


class Undisturbed:
    """What a cluster without workers looks like when nothing disturbed its creation, and what its calls are."""

    def __init__(self, server, folder):
        server.reset()
        before = inventory(server)
        cluster = Cluster(server, folder / "whole", workers=0)
        status, messages, _ = cluster.create()
        assert status == 8, messages
        self.found, self.creates = without_constants(inventory(server), before), len(server.changes())
        self.user_data = len(user_data(server, machine_ids(server, cluster.infra)["master-0"]))
        server.calls.clear()
        status, messages = cluster.destroy()
        assert status == 0 and inventory(server) == before, messages
        self.removes = len(server.changes())


@pytest.fixture(scope="session")
def undisturbed(server, tmp_path_factory):
    return Undisturbed(server, tmp_path_factory.mktemp("undisturbed"))


def machine_ids(cloud, infra):
    found = {}
    for reservation in cloud.client("ec2").describe_instances()["Reservations"]:
        for instance in reservation["Instances"]:
            name = next((tag["Value"] for tag in instance.get("Tags", []) if tag["Key"] == "Name"), "")
            if name.startswith(infra + "-") and instance["State"]["Name"] == "running":
                found[name.removeprefix(infra + "-")] = instance["InstanceId"]
    return found


def test_create_and_destroy(cloud, tmp_path):
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo")
    started = host_clock.now()
    status, messages, events = cluster.create()
    created, create_calls, changes = host_clock.now() - started, len(cloud.calls), cloud.changes()
    assert status == 8, messages
    infra = cluster.infra
    found = inventory(cloud)
    # What the plan has is what exists.
    planned = {event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished"}
    kinds = {"vpc", "subnet", "internet-gateway", "elastic-ip", "nat-gateway", "route-table", "security-group", "machine", "load-balancer",
             "target-group", "role", "instance-profile", "bucket", "object"}
    exist = {f"{key.split()[0]}/{key.split()[1]}" for key in found if key not in before and key.split()[0] in kinds}
    assert exist == {key for key in planned if key.split("/")[0] in kinds}
    assert {f"machine {infra}-{name}" for name in ALL_MACHINES} <= set(found)
    # Each call that changes something is an event with the ID of its request.
    calls = [event for event in events if event["kind"] == "call"]
    assert sum(event["attempts"] for event in calls) == len(changes) and all(event["request_id"] for event in calls)
    # All that can have tags has that of the cluster and that of the user.
    for kind, name in (("vpc", "vpc"), ("subnet", "subnet-public-us-east-1a"), ("nat-gateway", "nat-us-east-1b")):
        assert f"kubernetes.io/cluster/{infra}" in found[f"{kind} {infra}-{name}"]
    # The bootstrap machine fetches its config from a bucket that is closed to others.
    ids = machine_ids(cloud, infra)
    pointer = json.loads(user_data(cloud, ids["bootstrap"]))["ignition"]["config"]["replace"]
    content = urllib.request.urlopen(pointer["source"]).read()
    assert pointer["verification"]["hash"] == "sha256-" + hashlib.sha256(content).hexdigest()
    assert "X-Amz-Expires=3600" in pointer["source"] and "'BlockPublicPolicy', True" in found[f"bucket {infra}-bootstrap"]
    assert any(file["path"] == "/etc/hostname" for file in json.loads(content)["storage"]["files"])
    # Secrets are in the configs, neither in the journal nor in events nor in messages.
    text = (cluster.folder / ".slipway/resources.jsonl").read_text() + json.dumps(events) + messages
    token = json.loads(user_data(cloud, ids["master-0"]))["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"].split()[1]
    assert token not in text and "hunter2secret" not in text and "X-Amz-Signature" not in text
    # The names lead to the load balancers.
    assert sorted(name for name, *_ in json.loads(found["zone public example.com."])) == ["*.apps.demo.example.com.", "api.demo.example.com."]
    assert len(json.loads(found["zone private demo.example.com."])) == 3
    # Nothing is open to the world but load balancers.
    assert not any("0.0.0.0/0" in text for key, text in found.items() if key.startswith("security-group"))
    assert cloud.most_in_flight <= 8
    # The same command once more changes nothing.
    cloud.calls.clear()
    assert cluster.create()[0] == 8
    assert cloud.changes() == [] and inventory(cloud) == found
    # The bootstrap machine goes with its config and its registrations.
    status, messages = cluster.run("destroy", "bootstrap")
    assert status == 0, messages
    left = inventory(cloud)
    assert not [key for key in left if "bootstrap" in key] and "bootstrap" not in left[f"target-group {infra}-aint"]
    assert {f"machine {infra}-{name}" for name in ALL_MACHINES[1:]} <= set(left)
    cloud.calls.clear()
    begin = host_clock.now()
    status, messages = cluster.destroy()
    print(f"\ncreate: {create_calls} calls ({len(changes)} changes), {created:.1f} s; "
          f"destroy: {len(cloud.calls)} calls ({len(cloud.changes())} changes), {host_clock.now() - begin:.1f} s")
    assert status == 0 and inventory(cloud) == before, messages
    assert not (cluster.folder / ".slipway/resources.jsonl").exists()


def test_plan(cloud, tmp_path):
    """A plan changes nothing. What it says is what create does, call by call."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    status, plan = cluster.plan()
    assert status == 2 and inventory(cloud) == before and cloud.changes() == []
    assert sorted(path.name for path in cluster.folder.iterdir()) == ["install-config.yaml"]
    assert {change["action"] for change in plan["changes"]} == {"create"}
    assert plan["problems"] == [] and plan["missingPermissions"] == []
    quotas = {quota["what"]: quota for quota in plan["quotas"]}
    assert quotas["VPCs"]["needed"] == 1 and quotas["Elastic IP addresses"]["needed"] == 3
    assert quotas["vCPUs of standard on-demand instances"]["needed"] == 16
    assert [each["machine"] for each in plan["userData"] if each["pointer"]] == ["bootstrap"]
    costs = {row["item"]: row for row in plan["costs"]["rows"]}
    assert costs["machine/m6i.xlarge"]["amount"] == 4 and costs["volume/gp3"]["amount"] == 480 and costs["nat-gateway"]["amount"] == 3
    assert all(row["each"] for row in costs.values()) and plan["costs"]["hourly"] > 4 * 0.192
    cloud.calls.clear()
    status, messages, events = cluster.create()
    assert status == 8, messages
    made = [event["name"] for event in events if event["kind"] == "resource" and event["phase"] == "finished"]
    assert sorted(made) == sorted(change["resource"] for change in plan["changes"])
    called = [event["name"] for event in events if event["kind"] == "call"]
    assert sorted(called) == sorted(call for change in plan["changes"] for call in change["calls"])
    assert cluster.plan()[0] == 0
    # What is missing, and what the account refuses.
    cloud.client("elbv2").deregister_targets(
        TargetGroupArn=next(group["TargetGroupArn"] for group in cloud.client("elbv2").describe_target_groups()["TargetGroups"]
                            if group["TargetGroupName"].endswith("-sint")),
        Targets=[{"Id": address, "Port": 22623} for address in addresses_of(cloud, cluster.infra, "master-1")])
    denied = (403, "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors></Response>")
    cloud.disturb(lambda call: denied if call == "ec2 GetDryRun:CreateSecurityGroup" else None)
    status, plan = cluster.plan()
    cloud.disturb()
    assert status == 2 and [change["resource"] for change in plan["changes"] if change["action"] != "keep"] == [
        f"target/{cluster.infra}-sint/master-1"]
    assert plan["missingPermissions"] == ["ec2:CreateSecurityGroup"]
    # What destroy removes, before it does.
    status, listed = cluster.run("destroy", "cluster", "--dry-run")
    assert status == 0 and f"vpc/{cluster.infra}-vpc" in listed.splitlines() and f"machine/{cluster.infra}-master-2" in listed.splitlines()
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
    assert used["seconds"] < 2 and used["memory"] < 60 and len(cloud.calls) < 80, used


def test_many_workers(cloud, tmp_path):
    """At most eight calls are in flight; all machines exist once."""
    before, count = inventory(cloud), 100 if LONG else 10
    cluster = Cluster(cloud, tmp_path / "demo", workers=count)
    status, messages, _ = cluster.create()
    assert status == 8 and cloud.most_in_flight <= 8, (cloud.most_in_flight, messages)
    assert len([name for name in machine_ids(cloud, cluster.infra) if name.startswith("worker")]) == count
    cloud.most_in_flight = 0
    status, messages = cluster.destroy()
    assert status == 0 and cloud.most_in_flight <= 8 and inventory(cloud) == before, messages


def addresses_of(cloud, infra, machine):
    found = cloud.client("ec2").describe_instances(Filters=[{"Name": "tag:Name", "Values": [f"{infra}-{machine}"]}])["Reservations"]
    return [instance["PrivateIpAddress"] for reservation in found for instance in reservation["Instances"]]


def blocks_of(cloud, snapshot):
    ebs = cloud.client("ebs")
    listed = ebs.list_snapshot_blocks(SnapshotId=snapshot)["Blocks"]
    return {each["BlockIndex"]: ebs.get_snapshot_block(SnapshotId=snapshot, BlockIndex=each["BlockIndex"],
                                                       BlockToken=each["BlockToken"])["BlockData"].read() for each in listed}


def test_image_import(cloud, tmp_path):
    """Without amiID, the image is imported once for all clusters, continues after a kill, and goes with the last cluster."""
    before = inventory(cloud)
    block = 512 << 10
    drawn = random.Random(5)
    content = {number: drawn.randbytes(block) for number in (0, 1, 3, 9)}
    image = tmp_path / "os.raw"
    with image.open("wb") as file:
        for number, data in content.items():
            file.seek(number * block)
            file.write(data)
        file.truncate(12 * block + 100)
    name = f"slipway-os-{hashlib.sha256(image.read_bytes()).hexdigest()[:12]}"
    first = Cluster(cloud, tmp_path / "first", name="first", workers=0, image=image)
    written = []

    def killed_at_the_third(call):
        if re.match(r"ebs PUT:", call):
            written.append(call)
            if len(written) == 3:
                first.process.kill()
                raise LostAnswer

    cloud.disturb(after=killed_at_the_third)
    assert first.create()[0] == -signal.SIGKILL
    cloud.disturb()
    status, messages, events = first.create()
    assert status == 8, messages
    found, infra = inventory(cloud), first.infra
    assert f"kubernetes.io/cluster/{infra}" in found[f"image {name}"] and found[f"snapshot {name}"] == "1"
    snapshots = cloud.client("ec2").describe_snapshots(OwnerIds=["self"])["Snapshots"]
    snapshot = next(each["SnapshotId"] for each in snapshots if any(tag["Key"] == "slipway/os-image" for tag in each.get("Tags", [])))
    assert blocks_of(cloud, snapshot) == content
    images = {instance["ImageId"] for reservation in cloud.client("ec2").describe_instances()["Reservations"]
              for instance in reservation["Instances"]}
    assert images == {each["ImageId"] for each in cloud.client("ec2").describe_images(Owners=["self"])["Images"]}
    # The second cluster uses the same image, without an upload.
    second = Cluster(cloud, tmp_path / "second", name="second", workers=0, image=image, seed="02" * 32)
    cloud.calls.clear()
    assert second.create()[0] == 8
    assert not [call for call in cloud.calls if call.startswith("ebs")]
    assert first.destroy()[0] == 0
    left = inventory(cloud)
    assert infra not in left[f"image {name}"] and second.infra in left[f"image {name}"]
    status, messages = second.destroy()
    assert status == 0 and inventory(cloud) == before, messages
    # A file that EC2 cannot boot.
    image.write_bytes(b"QFI\xfb" + bytes(2000))
    wrong = Cluster(cloud, tmp_path / "wrong", name="wrong", workers=0, image=image)
    status, messages, _ = wrong.create()
    assert status not in (0, 8) and "is a disk image in qcow2, but EC2 needs a raw one" in messages, messages
    assert wrong.destroy()[0] == 0 and inventory(cloud) == before


def test_orphans(cloud, tmp_path):
    """Clusters without an asset directory are listed and removed by their infraID; refresh sees what another program removed."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    assert cluster.create("--expires", "8h")[0] == 8
    infra = cluster.infra
    # A bucket and a role with names that look like those of a cluster.
    cloud.client("s3").create_bucket(Bucket="other-bcdfg-bootstrap")
    cloud.client("iam").create_role(RoleName="other-bcdfg-master-role", AssumeRolePolicyDocument="{}")
    # A network of a cluster of another installer.
    tags = [{"Key": "kubernetes.io/cluster/theirs-bcdfg", "Value": "owned"}, {"Key": "Name", "Value": "theirs-bcdfg-vpc"}]
    theirs = cloud.client("ec2").create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=[{"ResourceType": "vpc", "Tags": tags}])["Vpc"]["VpcId"]
    process = cluster.start("orphans", "--platform", "aws", "--place", "us-east-1", "--output", "json")
    listed = json.loads(process.communicate(timeout=LIMIT)[0])["clusters"]
    assert [each["infraID"] for each in listed] == [infra]
    assert f"machine/{infra}-master-0" in listed[0]["resources"] and listed[0]["costs"]["hourly"] > 4 * 0.192
    assert listed[0]["created"] and listed[0]["expires"] and not listed[0]["expired"]
    status, text = cluster.run("orphans", "--platform", "aws", "--place", "us-east-1")
    assert status == 0 and re.search(rf"^{infra} +\d+ ", text, re.M), text
    # Somebody removes a load balancer's listener.
    elb = cloud.client("elbv2")
    apps = next(each["LoadBalancerArn"] for each in elb.describe_load_balancers()["LoadBalancers"] if each["LoadBalancerName"] == f"{infra}-apps")
    elb.delete_listener(ListenerArn=elb.describe_listeners(LoadBalancerArn=apps)["Listeners"][0]["ListenerArn"])
    status, text = cluster.run("refresh")
    assert status == 0 and len(re.findall(rf"^listener/{infra}-apps/\d+: does not exist any more$", text, re.M)) == 1, text
    assert "The journal and the platform agree." in cluster.run("refresh")[1]
    lost = Cluster(cloud, tmp_path / "lost")
    for words, message in ((("--infra-id", "demo"), "--infra-id and --platform: both are needed"),
                           (("--platform", "aws", "--infra-id", "demo"), "is not an infraID")):
        status, messages = lost.run("destroy", "cluster", *words)
        assert status == 1 and message in messages, messages
    status, messages = lost.run("destroy", "cluster", "--platform", "aws", "--place", "us-east-1", "--infra-id", infra)
    assert status == 0, messages
    cloud.client("s3").delete_bucket(Bucket="other-bcdfg-bootstrap")
    cloud.client("iam").delete_role(RoleName="other-bcdfg-master-role")
    cloud.client("ec2").delete_vpc(VpcId=theirs)
    assert inventory(cloud) == before


def test_workers_and_a_lost_directory(cloud, tmp_path):
    """Workers come and go on AWS and in the cluster; the copy of the state in the cluster makes another directory of the cluster."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=1)
    assert cluster.create()[0] == 8
    assert cluster.run("destroy", "bootstrap")[0] == 0
    plane_folder = tmp_path / "plane"
    plane_folder.mkdir()
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], plane_folder) as plane, Nodes(plane):
        (cluster.folder / "auth/kubeconfig").write_bytes(plane.kubeconfig.read_bytes())
        # Killed when the machine exists and the load balancer does not know it yet: the next command completes it.
        assert killed_after(cluster, changes, 1, lambda: cluster.run("scale", "workers", "2"))
        cloud.most_in_flight = 0
        status, messages = cluster.run("scale", "workers", "3")
        assert status == 0 and "worker-2 is Ready" in messages, messages
        workers = sorted(name for name in machine_ids(cloud, cluster.infra) if name.startswith("worker"))
        assert workers == ["worker-0", "worker-1", "worker-2"] and cloud.most_in_flight <= 8
        balanced = json.loads(inventory(cloud, detailed=False)[f"target-group {cluster.infra}-web"])[2]
        assert len(balanced) == 3, "all workers serve applications"
        cloud.calls.clear()
        status, messages = cluster.run("scale", "workers", "3")
        assert status == 0 and "The cluster has 3 workers." in messages and cloud.changes() == [], messages
        assert cluster.plan()[0] == 0, "nothing is missing after the bootstrap"
        # The directory is lost; an admin kubeconfig is left.
        restored = Cluster(cloud, tmp_path / "restored")
        (restored.folder / "install-config.yaml").unlink()
        status, messages = restored.run("refresh", "--kubeconfig", plane.kubeconfig)
        assert status == 0 and "metadata.json: written from the cluster" in messages, messages
        assert (restored.folder / "metadata.json").stat().st_mode & 0o777 == 0o600
        status, messages = restored.run("scale", "workers", "1")
        assert status == 0 and "worker-2 is removed" in messages and "worker-1 is removed" in messages, messages
        assert [name for name in machine_ids(cloud, cluster.infra) if name.startswith("worker")] == ["worker-0"]
        assert plane.get("node", "worker-2") is None
        status, messages = restored.run("destroy", "worker", "worker-0")
        assert status == 0, messages
        status, messages = restored.destroy()
        assert status == 0 and inventory(cloud) == before, messages


def test_zone_of_another_account(cloud, tmp_path):
    """Records of a private zone in another account are written with the role that the install-config names, and removed."""
    role = "arn:aws:iam::222222222222:role/zones"
    key = cloud.client("sts").assume_role(RoleArn=role, RoleSessionName="of-the-test")["Credentials"]
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    zones = cloud.client_of("route53", key)
    zone = zones.create_hosted_zone(Name="demo.example.com", CallerReference="user", VPC={"VPCRegion": "us-east-1", "VPCId": vpc},
                                    HostedZoneConfig={"PrivateZone": True})["HostedZone"]["Id"].split("/")[-1]
    subnets = [ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{i}.0/24", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"] for i in (0, 1)]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnets[1])

    def records():
        listed = zones.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]
        return sorted(each["Name"] for each in listed if each["Type"] == "A")

    before = inventory(cloud)
    more = f"\n    subnets: [{', '.join(subnets)}]\n    hostedZone: {zone}\n    hostedZoneRole: {role}"
    cluster = Cluster(cloud, tmp_path / "demo", workers=0, more=more)
    status, messages, _ = cluster.create()
    assert status == 8, messages
    assert records() == ["*.apps.demo.example.com.", "api-int.demo.example.com.", "api.demo.example.com."]
    assert cluster.create()[0] == 8
    status, messages = cluster.destroy()
    assert status == 0 and records() == [] and inventory(cloud) == before, messages


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
    """AWS throttles a sixth of the calls, and every twelfth answer is lost: the result is the same."""
    throttled = [(503, "<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slow</Message></Error></Errors></Response>"),
                 (429, "<ErrorResponse><Error><Code>Throttling</Code><Message>slow</Message></Error></ErrorResponse>"),
                 (503, "<Error><Code>SlowDown</Code><Message>slow</Message></Error>")]
    survives_storms(Cluster(cloud, tmp_path / "demo", workers=0), inventory, undisturbed.found, throttled, refused=6, lost=12)


def test_denied_and_expired(cloud, tmp_path):
    """A missing permission is named, and so is where expired credentials come from. The same command then goes on."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    denied = (403, "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized to perform this operation. "
                   "User: me is not authorized to perform: ec2:CreateNatGateway on resource: *</Message></Error></Errors>"
                   "<RequestID>the-request</RequestID></Response>")
    cloud.disturb(lambda call: denied if call == "ec2 CreateNatGateway" else None)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "(allow ec2:CreateNatGateway)" in messages and "the-request" in messages, messages
    expired = (400, "<Response><Errors><Error><Code>RequestExpired</Code><Message>Request has expired.</Message></Error></Errors></Response>")
    cloud.disturb(lambda call: expired if call == "ec2 CreateNatGateway" else None)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "renew the credentials" in messages and "AWS_ACCESS_KEY_ID" in messages, messages
    cloud.disturb()
    assert cluster.create()[0] == 8
    assert cluster.destroy()[0] == 0 and inventory(cloud) == before
    nobody = Cluster(cloud, tmp_path / "nobody")
    status, messages, _ = nobody.create(AWS_ACCESS_KEY_ID="", AWS_EC2_METADATA_DISABLED="true")
    assert status != 0 and "no credentials found (looked in: AWS_ACCESS_KEY_ID" in messages and ".aws/credentials" in messages, messages


def test_dependencies_end_late(cloud, tmp_path):
    """Addresses of load balancers stay in use after their removal: what needs them is removed later."""
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    assert cluster.create()[0] == 8
    in_use = (400, "<Response><Errors><Error><Code>DependencyViolation</Code><Message>has dependencies</Message></Error></Errors></Response>")
    refused = set()

    def first_refused(call):
        if call in ("ec2 DeleteSubnet", "ec2 DeleteSecurityGroup", "ec2 DeleteVpc", "ec2 ReleaseAddress") and call not in refused:
            refused.add(call)
            return in_use
        return None

    cloud.disturb(first_refused)
    status, messages = cluster.destroy()
    cloud.disturb()
    assert len(refused) == 4 and status == 0 and inventory(cloud) == before, messages


def test_neighbours_and_no_state(cloud, tmp_path):
    """Names of neighbours begin alike. destroy needs nothing but metadata.json, and of that only the infraID and the region."""
    clusters = [Cluster(cloud, tmp_path / name, name=name, workers=0, seed=seed * 32) for name, seed in (("c1", "01"), ("c10", "02"))]
    before = inventory(cloud)
    assert clusters[1].create()[0] == 8
    with_neighbour = inventory(cloud)
    assert clusters[0].create()[0] == 8
    infra = clusters[0].infra
    # Somebody else's record under a name that begins alike.
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "metadata.json").write_text(json.dumps({"clusterName": "c1", "infraID": infra, "aws": {"region": "us-east-1"}}))
    lost = Cluster(cloud, tmp_path / "lost")
    lost.folder = bare
    status, messages = lost.destroy()
    assert status == 0, messages
    assert inventory(cloud) == with_neighbour
    assert clusters[1].destroy()[0] == 0
    assert inventory(cloud) == before


def test_foreign_records(cloud, tmp_path):
    """A record that exists is not overwritten."""
    route53 = cloud.client("route53")
    zone = route53.list_hosted_zones()["HostedZones"][0]["Id"]
    record = {"Name": "api.demo.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "192.0.2.1"}]}
    route53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]})
    before = inventory(cloud)
    cluster = Cluster(cloud, tmp_path / "demo", workers=0)
    status, messages, _ = cluster.create()
    assert status not in (0, 8) and "record/public/api.demo.example.com: exists, but does not belong to this cluster" in messages, messages
    assert cluster.destroy()[0] == 0
    assert inventory(cloud) == before


def test_two_at_once(cloud, tmp_path):
    cluster, results = Cluster(cloud, tmp_path / "demo", workers=0), []
    second = Cluster(cloud, tmp_path / "second")
    second.folder = cluster.folder

    def destroy_meanwhile(call):
        if call == "ec2 CreateVpc":
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
    refused = Cluster(cloud, tmp_path / "refused", more="\n    bestEffortDeleteIgnition: true")
    text = refused.folder / "install-config.yaml"
    text.write_text(re.sub(r"\{amiID: [^}]*\}", "{type: m6g.large}", text.read_text()).replace("replicas:", "architecture: arm64, replicas:"))
    status, messages, _ = refused.create()
    assert status in (1, 3) and "controlPlane.platform.aws.amiID: missing: slipway imports images for amd64 only" in messages, messages
    assert "bestEffortDeleteIgnition" in messages, messages
    assert text.exists()
    no_image = Cluster(cloud, tmp_path / "no-image", name="other")
    text = no_image.folder / "install-config.yaml"
    text.write_text(text.read_text().replace(cloud.image, "ami-0123456789abcdef0").replace("example.com\n", "example.org\n"))
    status, messages, _ = no_image.create()
    assert status not in (0, 8) and "image ami-0123456789abcdef0 does not exist" in messages and "no public zone for other.example.org" in messages, messages
    assert inventory(cloud) == before


def test_limit_of_user_data(undisturbed, cloud, tmp_path):
    """A config of exactly the limit is user data. With one byte more, the machine fetches it from the bucket until the bootstrap ends."""
    limit, size = 16000, undisturbed.user_data
    before = inventory(cloud)
    for more in (0, 1):
        padded = Cluster(cloud, tmp_path / f"padded-{more}", workers=0)
        words = ("create", "ignition-configs", *padded.inputs)
        status, messages = padded.run(*words)
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
        data, infra = user_data(cloud, machine_ids(cloud, padded.infra)["master-0"]), padded.infra
        if more:
            pointer = json.loads(data)["ignition"]["config"]["replace"]
            content = urllib.request.urlopen(pointer["source"]).read()
            assert len(content) == limit + 1 and pointer["verification"]["hash"] == "sha256-" + hashlib.sha256(content).hexdigest()
            assert {f"object {infra}-bootstrap/{name}.ign" for name in ("bootstrap", "master-0", "master-2")} <= set(inventory(cloud))
            assert padded.run("destroy", "bootstrap")[0] == 0
            assert not [key for key in inventory(cloud) if "bootstrap" in key]
        else:
            assert len(data) == limit
        status, messages = padded.destroy()
        assert status == 0 and inventory(cloud) == before, messages
