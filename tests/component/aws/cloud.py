"""AWS in this process: moto behind a small proxy that counts calls, and can disturb them.

moto does not check signatures; unit tests compare those with the published vectors."""

import base64
import hashlib
import io
import json
import re
import socket
import threading
import urllib.parse

import boto3
from botocore.config import Config
from moto.moto_api._internal import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from platform_cluster import LostAnswer
from werkzeug.serving import WSGIRequestHandler, make_server

REGION = "us-east-1"
LIMIT = 300
CHANGES = re.compile("^(?!Describe|Get|List|Head|AssumeRole)")
# moto executes some dry runs.
DRY_RUN = (412, "<Response><Errors><Error><Code>DryRunOperation</Code><Message>would have succeeded</Message></Error></Errors></Response>")


class Quiet(WSGIRequestHandler):
    def log(self, *_):
        pass


def changes(call):
    return CHANGES.match(call.split()[1])


class Cloud:
    """before(call) may return (status, body): the answer without a call. after(call) may raise LostAnswer. call: "ec2 RunInstances"."""

    def __init__(self):
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.server = make_server("127.0.0.1", 0, self.answer, threaded=True, request_handler=Quiet)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.calls, self.in_flight, self.most_in_flight = [], 0, 0
        self.clients = {}
        self.before = self.after = lambda call: None

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def reset(self):
        """An account with a public zone and an image."""
        self.disturb()
        moto_api_backend.reset()
        self.client("route53").create_hosted_zone(Name="example.com", CallerReference="user")
        self.image = self.client("ec2").describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
        self.calls.clear()

    def disturb(self, before=None, after=None):
        self.before, self.after = before or (lambda call: None), after or (lambda call: None)

    def client_of(self, service, key):
        """A client with temporary credentials. Its calls count as those of slipway."""
        return boto3.client(service, endpoint_url=self.url, region_name=REGION, aws_access_key_id=key["AccessKeyId"],
                            aws_secret_access_key=key["SecretAccessKey"], aws_session_token=key["SessionToken"])

    def client(self, service):
        if service not in self.clients:
            self.clients[service] = boto3.client(service, endpoint_url=self.url, region_name=REGION, aws_access_key_id="of-the-test",
                                                 aws_secret_access_key="x", config=Config(read_timeout=LIMIT))
        return self.clients[service]

    def answer(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        call = name_of(environ, body)
        is_own = "of-the-test" in environ.get("HTTP_AUTHORIZATION", "")
        if is_own:
            return self.moto(environ, start_response)
        with self.lock:
            self.calls.append(call)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            refused = self.before(call) or (DRY_RUN if call.startswith("ec2 GetDryRun") else None)
            if refused:
                start_response(f"{refused[0]} Refused", [("Content-Type", "text/xml"), ("Content-Length", str(len(refused[1])))])
                return [refused[1].encode()]
            made = list(self.moto(environ, start_response))
            self.after(call)
            return made
        except LostAnswer:
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            return []
        finally:
            with self.lock:
                self.in_flight -= 1

    def changes(self):
        """The calls since the last reset that change something."""
        return [call for call in self.calls if changes(call)]


def name_of(environ, body):
    """"ec2 RunInstances", "route53 POST /2013-04-01/hostedzone"."""
    scope = re.search(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    service = scope[1] if scope else "anonymous"
    if "X-Amz-Target" in environ or environ.get("HTTP_X_AMZ_TARGET"):
        return f"{service} {environ['HTTP_X_AMZ_TARGET'].split('.')[1]}"
    action = urllib.parse.parse_qs(body.decode(errors="replace")).get("Action")
    if service not in ("s3", "route53") and action:
        return f"{service} {'GetDryRun:' if b'&DryRun=true' in body else ''}{action[0]}"
    method = {"GET": "Get", "HEAD": "Head"}.get(environ["REQUEST_METHOD"], environ["REQUEST_METHOD"])
    return f"{service} {method}:{environ['PATH_INFO']}"


def tags(item):
    return {tag["Key"]: tag["Value"] for tag in item.get("Tags", [])}


def inventory(cloud, detailed=True):
    """Everything in the account that a cluster may have, without IDs: what it is, by service and name."""
    ec2, elb = cloud.client("ec2"), cloud.client("elbv2")
    found, names = {}, {}

    def add(kind, item, identity, **facts):
        name = tags(item).get("Name", identity)
        names[identity] = name
        owner = {key: value for key, value in tags(item).items() if key.startswith("kubernetes.io/cluster/")}
        key = f"{kind} {name}"
        assert key not in found, f"twice: {key}"
        found[key] = json.dumps({"tags": owner, **facts}, sort_keys=True, default=str)

    for vpc in ec2.describe_vpcs()["Vpcs"]:
        hostnames = ec2.describe_vpc_attribute(VpcId=vpc["VpcId"], Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
        add("vpc", vpc, vpc["VpcId"], cidr=vpc["CidrBlock"], hostnames=hostnames)
    for subnet in ec2.describe_subnets()["Subnets"]:
        add("subnet", subnet, subnet["SubnetId"], cidr=subnet["CidrBlock"], zone=subnet["AvailabilityZone"])
    for gateway in ec2.describe_internet_gateways()["InternetGateways"]:
        add("internet-gateway", gateway, gateway["InternetGatewayId"], vpcs=[names[each["VpcId"]] for each in gateway["Attachments"]])
    for address in ec2.describe_addresses()["Addresses"]:
        add("elastic-ip", address, address["AllocationId"])
    for gateway in ec2.describe_nat_gateways()["NatGateways"]:
        if gateway["State"] != "deleted":
            add("nat-gateway", gateway, gateway["NatGatewayId"], subnet=names[gateway["SubnetId"]])
    for table in ec2.describe_route_tables()["RouteTables"]:
        if not tags(table):
            continue  # that of each VPC
        routes = [names.get(route.get("GatewayId") or route.get("NatGatewayId"), "local") for route in table["Routes"]]
        add("route-table", table, table["RouteTableId"], routes=routes,
            subnets=sorted(names[each["SubnetId"]] for each in table["Associations"] if "SubnetId" in each))
    groups = ec2.describe_security_groups()["SecurityGroups"]
    names.update({group["GroupId"]: group["GroupName"] for group in groups})
    for group in groups:
        if group["GroupName"] == "default":
            continue  # that of each VPC
        rules = sorted(
            [rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort"), sorted(each["CidrIp"] for each in rule["IpRanges"]),
             sorted(names[each["GroupId"]] for each in rule["UserIdGroupPairs"])] for rule in group["IpPermissions"])
        add("security-group", group, group["GroupId"] if not tags(group) else group["GroupName"], rules=str(rules))
    addresses = {}
    for reservation in ec2.describe_instances()["Reservations"]:
        for instance in reservation["Instances"]:
            if instance["State"]["Name"] in ("terminated", "shutting-down"):
                continue
            addresses[instance["PrivateIpAddress"]] = tags(instance).get("Name")
            data = user_data(cloud, instance["InstanceId"]) if detailed else ""
            is_pointer = '"replace"' in data  # its URL has a time
            add("machine", instance, instance["InstanceId"], type=instance["InstanceType"], subnet=names[instance["SubnetId"]],
                groups=[names[group["GroupId"]] for group in instance["SecurityGroups"]],
                profile=instance.get("IamInstanceProfile", {}).get("Arn", "").split("/")[-1],
                data="" if is_pointer else hashlib.sha256(data.encode()).hexdigest())
    # moto makes further volumes for snapshots and images.
    found["volumes"] = sum(1 for volume in ec2.describe_volumes()["Volumes"] if tags(volume))
    for image in ec2.describe_images(Owners=["self"])["Images"]:
        owners = sorted(key for key in tags(image) if key.startswith("kubernetes.io/cluster/"))
        found[f"image {image['Name']}"] = json.dumps([owners, sorted(set(tags(image)) - set(owners))])
    for snapshot in ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]:
        if "slipway/os-image" in tags(snapshot):
            key = f"snapshot {tags(snapshot)['slipway/os-image']}"
            assert key not in found, f"twice: {key}"
            found[key] = str(snapshot["VolumeSize"])
    for balancer in elb.describe_load_balancers()["LoadBalancers"]:
        arn = balancer["LoadBalancerArn"]
        attributes = {each["Key"]: each["Value"] for each in elb.describe_load_balancer_attributes(LoadBalancerArn=arn)["Attributes"]}
        found[f"load-balancer {balancer['LoadBalancerName']}"] = json.dumps(
            [balancer["Scheme"], balancer["Type"], attributes.get("load_balancing.cross_zone.enabled"),
             sorted(names[each["SubnetId"]] for each in balancer["AvailabilityZones"]),
             sorted(each["Port"] for each in elb.describe_listeners(LoadBalancerArn=arn)["Listeners"])])
    for group in elb.describe_target_groups()["TargetGroups"]:
        targets = elb.describe_target_health(TargetGroupArn=group["TargetGroupArn"])["TargetHealthDescriptions"]
        found[f"target-group {group['TargetGroupName']}"] = json.dumps(
            [group["Port"], group["HealthCheckProtocol"], sorted(str(addresses.get(each["Target"]["Id"])) for each in targets)])
    route53 = cloud.client("route53")
    for zone in route53.list_hosted_zones()["HostedZones"]:
        records = route53.list_resource_record_sets(HostedZoneId=zone["Id"])["ResourceRecordSets"]
        kind = "private" if zone["Config"]["PrivateZone"] else "public"
        found[f"zone {kind} {zone['Name']}"] = json.dumps(
            sorted([each["Name"], each["Type"], re.sub(r"-\w+\.", ".", each.get("AliasTarget", {}).get("DNSName", ""), count=1)]
                   for each in records if each["Type"] not in ("NS", "SOA")))
    iam = cloud.client("iam")
    for role in iam.list_roles()["Roles"]:
        found[f"role {role['RoleName']}"] = str(iam.list_role_policies(RoleName=role["RoleName"])["PolicyNames"])
    for profile in iam.list_instance_profiles()["InstanceProfiles"]:
        found[f"instance-profile {profile['InstanceProfileName']}"] = str([role["RoleName"] for role in profile["Roles"]])
    s3 = cloud.client("s3")
    for bucket in s3.list_buckets()["Buckets"]:
        name = bucket["Name"]
        block = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
        found[f"bucket {name}"] = str(sorted(block.items()))
        for item in s3.list_objects_v2(Bucket=name).get("Contents", []):
            found[f"object {name}/{item['Key']}"] = item["ETag"]
    return found


def user_data(cloud, instance):
    encoded = cloud.client("ec2").describe_instance_attribute(InstanceId=instance, Attribute="userData")["UserData"].get("Value", "")
    return base64.b64decode(encoded).decode()
