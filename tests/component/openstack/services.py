"""The services of a small OpenStack cloud, in memory: Keystone, Nova, Neutron, Glance, Cinder and Swift, with what clients can see of them:
references, objects in use, quotas, limits, states that take time. https://docs.openstack.org/api-quick-start/ describes the APIs."""

import base64
import hashlib
import hmac
import ipaddress
import itertools
import re
import time
import urllib.parse
import uuid

PROJECT = "b5d0c2c7a0d34f0f9ab0a2a6d2c0aa11"
USER_ID = "5c0ffee0a0d34f0f9ab0a2a6d2c0aa22"
REGION = "RegionOne"
PAGE = 3  # objects of a page: clients must follow links
LARGEST_USER_DATA = 65535


class Refused(Exception):
    """An answer that is an error. form: of the service."""

    def __init__(self, status, message, form="nova", kind=""):
        super().__init__(message)
        self.status, self.kind = status, kind
        if form == "neutron":
            self.body = {"NeutronError": {"type": kind, "message": message, "detail": ""}}
        elif form == "glance":
            self.body = f"<html>\n <head>\n  <title>{status}</title>\n </head>\n <body>\n  <h1>{status}</h1>\n  {message}<br /><br />\n </body>\n</html>"
        else:
            self.body = {"error" if form == "keystone" else "badRequest": {"code": status, "message": message}}


def new_id():
    return str(uuid.uuid4())


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Cloud:
    """The state. Each method is called with the lock held, apart from clock ticks of servers and volumes, which are computed when they are
    read. work_time: seconds that servers and volumes need."""

    def __init__(self, url, work_time=0.02, with_swift=True, interface_override=None):
        self.url, self.work_time, self.with_swift = url, work_time, with_swift
        self.tokens, self.roles = set(), ["member", "reader"]
        self.neutron = {name: {} for name in ("networks", "subnets", "routers", "ports", "security-groups", "security-group-rules", "floatingips")}
        self.flavors, self.servers, self.groups, self.images, self.volumes, self.containers = {}, {}, {}, {}, {}, {}
        self.zones = ["nova", "az-1", "az-2"]
        self.quotas = {"instances": 1000, "cores": 10000, "ram": 50_000_000, "port": 5000, "floatingip": 20, "network": 10}
        self.failing_names = {}  # of servers that end in state ERROR: the reason
        self.numbers = itertools.count(1)

    # ---- Keystone

    def catalog(self):
        rows = [("identity", "keystone", "/identity/v3"), ("compute", "nova", "/compute/v2.1"), ("network", "neutron", "/network"),
                ("image", "glance", "/image"), ("block-storage", "cinder", f"/volume/v3/{PROJECT}")]
        if self.with_swift:
            rows.append(("object-store", "swift", f"/object/v1/AUTH_{PROJECT}"))
        return [{"type": kind, "name": name, "id": name,
                 "endpoints": [{"id": f"{name}-{interface}", "interface": interface, "region": REGION, "region_id": REGION, "url": self.url + path}
                               for interface in ("public", "internal")]} for kind, name, path in rows]

    def log_in(self, auth):
        identity = auth["identity"]
        method = identity["methods"][0]
        if method == "password":
            user = identity["password"]["user"]
            good = user.get("name") == "demo" and user["password"] == "hunter2secret" and user["domain"] == {"name": "Default"}
            good = good and auth["scope"]["project"]["name"] == "team"
        elif method == "application_credential":
            credential = identity["application_credential"]
            good = (credential.get("id"), credential["secret"]) == ("credential-1", "hunter2credential")
        else:
            good = identity["token"]["id"] in self.tokens
        if not good:
            raise Refused(401, "The request you have made requires authentication.", "keystone")
        token = f"token-{next(self.numbers)}-{uuid.uuid4().hex}"
        self.tokens.add(token)
        end = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + 3600))
        return token, {"token": {"methods": [method], "expires_at": end, "issued_at": now(), "catalog": self.catalog(),
                                 "project": {"id": PROJECT, "name": "team", "domain": {"id": "default", "name": "Default"}},
                                 "user": {"id": USER_ID, "name": "demo", "domain": {"id": "default", "name": "Default"}},
                                 "roles": [{"id": role, "name": role} for role in self.roles]}}

    # ---- Neutron

    MEMBERS = {"networks": "network", "subnets": "subnet", "routers": "router", "ports": "port", "security-groups": "security_group",
               "security-group-rules": "security_group_rule", "floatingips": "floatingip"}
    TITLES = {"networks": "Network", "subnets": "Subnet", "routers": "Router", "ports": "Port", "security-groups": "SecurityGroup",
              "security-group-rules": "SecurityGroupRule", "floatingips": "FloatingIP"}

    def neutron_get(self, kind, identity):
        found = self.neutron[kind].get(identity)
        if not found:
            raise Refused(404, f"{self.TITLES[kind]} {identity} could not be found.", "neutron", f"{self.TITLES[kind]}NotFound")
        return self.shown(kind, found)

    def shown(self, kind, item):
        if kind != "security-groups":
            return item
        rules = [rule for rule in self.neutron["security-group-rules"].values() if rule["security_group_id"] == item["id"]]
        return {**item, "security_group_rules": rules}

    def neutron_list(self, kind, query):
        special = {"fields", "limit", "marker", "fixed_ips", "tags"}
        items = [self.shown(kind, item) for item in self.neutron[kind].values()]
        for name, values in query.items():
            if name not in special:
                items = [item for item in items if str(item.get(name, "")) in values]
        for wanted in query.get("fixed_ips", []):
            address = wanted.removeprefix("ip_address=")
            items = [item for item in items if any(each["ip_address"] == address for each in item["fixed_ips"])]
        for wanted in query.get("tags", []):
            items = [item for item in items if set(wanted.split(",")) <= set(item["tags"])]
        return items

    def neutron_base(self, kind, body):
        if "tags" in body:
            raise Refused(400, "Unrecognized attribute(s) 'tags'", "neutron", "HTTPBadRequest")
        made = {"id": new_id(), "name": "", "description": "", "tags": [], "project_id": PROJECT, "tenant_id": PROJECT, "created_at": now()}
        made |= {key: value for key, value in body.items()}
        return made

    def neutron_create(self, kind, body):
        if kind == "security-group-rules":
            return self.create_rules(body)
        item = self.neutron_base(kind, body[self.MEMBERS[kind]])
        self.check_quota({"ports": "port", "floatingips": "floatingip", "networks": "network"}.get(kind), len(self.neutron[kind]))
        getattr(self, "complete_" + kind.replace("-", "_"))(item)
        self.neutron[kind][item["id"]] = item
        if kind == "security-groups":
            for family in ("IPv4", "IPv6"):
                self.add_rule({"security_group_id": item["id"], "direction": "egress", "ethertype": family})
        return {self.MEMBERS[kind]: self.shown(kind, item)}

    def check_quota(self, name, used):
        if name and used >= self.quotas.get(name, 1000):
            raise Refused(409, f"Quota exceeded for resources: ['{name}'].", "neutron", "OverQuota")

    def complete_networks(self, item):
        item |= {"status": "ACTIVE", "admin_state_up": True, "shared": False, "router:external": item.get("router:external", False)}

    def complete_subnets(self, item):
        self.neutron_get("networks", item["network_id"])
        network = ipaddress.ip_network(item["cidr"])
        item.setdefault("gateway_ip", str(network[1]))
        pool = item.get("allocation_pools") or [{"start": str(network[2]), "end": str(network[-2])}]
        for each in pool:
            assert ipaddress.ip_address(each["start"]) in network and ipaddress.ip_address(each["end"]) in network, item
        item["allocation_pools"] = pool
        item.setdefault("ip_version", 4)

    def complete_routers(self, item):
        network = (item.get("external_gateway_info") or {}).get("network_id")
        if network and not self.neutron_get("networks", network)["router:external"]:
            raise Refused(400, f"Network {network} is not an external network", "neutron", "BadRequest")
        item |= {"status": "ACTIVE"}

    def used_addresses(self, network):
        return {each["ip_address"] for port in self.neutron["ports"].values() if port["network_id"] == network for each in port["fixed_ips"]}

    def allocate(self, network, wanted):
        subnet = self.neutron_get("subnets", wanted["subnet_id"])
        if subnet["network_id"] != network:
            raise Refused(400, "Invalid input for operation: subnet of another network", "neutron", "InvalidInput")
        used = self.used_addresses(network) | {subnet["gateway_ip"]}
        address = wanted.get("ip_address")
        if address:
            if ipaddress.ip_address(address) not in ipaddress.ip_network(subnet["cidr"]):
                raise Refused(400, f"IP address {address} is not a valid IP for the specified subnet.", "neutron", "InvalidIpForSubnet")
            if address in used:
                raise Refused(409, f"IP address {address} already allocated in subnet {subnet['id']}", "neutron", "IpAddressAlreadyAllocated")
            return {"subnet_id": subnet["id"], "ip_address": address}
        for pool in subnet["allocation_pools"]:
            first, last = (ipaddress.ip_address(pool[end]) for end in ("start", "end"))
            while first <= last:
                if str(first) not in used:
                    return {"subnet_id": subnet["id"], "ip_address": str(first)}
                first += 1
        raise Refused(409, f"No more IP addresses available on network {network}.", "neutron", "IpAddressGenerationFailure")

    def complete_ports(self, item):
        self.neutron_get("networks", item["network_id"])
        for group in item.setdefault("security_groups", []):
            self.neutron_get("security-groups", group)
        wanted = item.pop("fixed_ips", None)
        if wanted is None:
            wanted = [{"subnet_id": subnet["id"]} for subnet in self.neutron["subnets"].values() if subnet["network_id"] == item["network_id"]][:1]
        item["fixed_ips"] = []
        item["fixed_ips"] = [self.allocate(item["network_id"], each) for each in wanted]
        item |= {"status": "DOWN", "device_id": item.get("device_id", ""), "device_owner": item.get("device_owner", ""),
                 "mac_address": "fa:16:3e:%02x:%02x:%02x" % tuple(uuid.uuid4().bytes[:3])}
        item.setdefault("allowed_address_pairs", [])

    def complete_security_groups(self, item):
        pass

    def add_rule(self, rule):
        made = {"id": new_id(), "protocol": None, "port_range_min": None, "port_range_max": None, "remote_ip_prefix": None, "remote_group_id": None,
                "description": "", "project_id": PROJECT, "tags": []} | rule
        if made["protocol"] == "112":
            made["protocol"] = "vrrp"
        same = ("security_group_id", "direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id")
        for each in self.neutron["security-group-rules"].values():
            if all(each[name] == made[name] for name in same):
                raise Refused(409, f"Security group rule already exists. Rule id is {each['id']}.", "neutron", "SecurityGroupRuleExists")
        self.neutron["security-group-rules"][made["id"]] = made
        return made

    def create_rules(self, body):
        rules = body.get("security_group_rules") or [body["security_group_rule"]]
        if len({rule["security_group_id"] for rule in rules}) > 1:
            raise Refused(400, "Only allowed to update rules for one security profile at a time", "neutron", "SecurityGroupNotSingleGroupRules")
        for rule in rules:
            self.neutron_get("security-groups", rule["security_group_id"])
            if rule.get("remote_group_id"):
                self.neutron_get("security-groups", rule["remote_group_id"])
            if rule.get("remote_group_id") and rule.get("remote_ip_prefix"):
                raise Refused(400, "Only remote_ip_prefix or remote_group_id may be provided.", "neutron", "SecurityGroupRemoteGroupAndRemoteIpPrefix")
        before = dict(self.neutron["security-group-rules"])
        try:
            made = [self.add_rule(rule) for rule in rules]
        except Refused:
            self.neutron["security-group-rules"] = before  # all or none
            raise
        return {"security_group_rules": made} if "security_group_rules" in body else {"security_group_rule": made[0]}

    def complete_floatingips(self, item):
        network = self.neutron_get("networks", item["floating_network_id"])
        if not network["router:external"]:
            raise Refused(400, f"Network {network['id']} is not a valid external network", "neutron", "BadRequest")
        used = {each["floating_ip_address"] for each in self.neutron["floatingips"].values()}
        subnet = next(each for each in self.neutron["subnets"].values() if each["network_id"] == network["id"])
        network = ipaddress.ip_network(subnet["cidr"])
        addresses = (str(network[number]) for number in range(10, network.num_addresses - 1) if str(network[number]) not in used)
        item["floating_ip_address"] = item.get("floating_ip_address") or next(addresses)
        item.setdefault("port_id", None)
        item.setdefault("fixed_ip_address", None)
        self.associate(item)

    def associate(self, item):
        """https://docs.openstack.org/api-ref/network/v2/#floating-ips-floatingips: the port must reach the external network."""
        if not item["port_id"]:
            item |= {"fixed_ip_address": None, "router_id": None, "status": "DOWN"}
            return
        port = self.neutron_get("ports", item["port_id"])
        fixed = [each for each in port["fixed_ips"] if item["fixed_ip_address"] in (None, each["ip_address"])]
        subnets = {each["subnet_id"] for each in fixed}
        for router in self.neutron["routers"].values():
            reached = {each["subnet_id"] for each in self.interfaces(router["id"]) for each in each["fixed_ips"]}
            if (router.get("external_gateway_info") or {}).get("network_id") == item["floating_network_id"] and reached & subnets:
                item |= {"fixed_ip_address": fixed[0]["ip_address"], "router_id": router["id"], "status": "ACTIVE"}
                return
        raise Refused(404, f"External network {item['floating_network_id']} is not reachable from subnet {subnets}.", "neutron",
                      "ExternalGatewayForFloatingIPNotFound")

    def interfaces(self, router):
        return [port for port in self.neutron["ports"].values() if port["device_id"] == router and port["device_owner"] == "network:router_interface"]

    def add_interface(self, router, body):
        self.neutron_get("routers", router)
        subnet = self.neutron_get("subnets", body["subnet_id"])
        if any(each["subnet_id"] == subnet["id"] for port in self.interfaces(router) for each in port["fixed_ips"]):
            raise Refused(400, f"Bad router request: Router already has a port on subnet {subnet['id']}.", "neutron", "BadRequest")
        port = self.neutron_base("ports", {"network_id": subnet["network_id"], "device_id": router, "device_owner": "network:router_interface"})
        port |= {"fixed_ips": [{"subnet_id": subnet["id"], "ip_address": subnet["gateway_ip"]}], "security_groups": [], "status": "ACTIVE",
                 "allowed_address_pairs": [], "mac_address": "fa:16:3e:00:00:01"}
        self.neutron["ports"][port["id"]] = port
        return {"id": router, "subnet_id": subnet["id"], "port_id": port["id"]}

    def remove_interface(self, router, body):
        self.neutron_get("routers", router)
        for port in self.interfaces(router):
            if port["id"] == body.get("port_id") or any(each["subnet_id"] == body.get("subnet_id") for each in port["fixed_ips"]):
                subnets = {each["subnet_id"] for each in port["fixed_ips"]}
                for address in self.neutron["floatingips"].values():
                    target = self.neutron["ports"].get(address["port_id"])
                    if address["router_id"] == router and target and subnets & {each["subnet_id"] for each in target["fixed_ips"]}:
                        raise Refused(409, f"Router interface for subnet {subnets} on router {router} cannot be deleted, as it is required by one "
                                           "or more floating IPs.", "neutron", "RouterInterfaceInUseByFloatingIP")
                del self.neutron["ports"][port["id"]]
                return {"id": router}
        raise Refused(404, f"Router {router} does not have an interface with id {body.get('port_id')}", "neutron", "RouterInterfaceNotFound")

    def neutron_update(self, kind, identity, body):
        item = self.neutron[kind][self.neutron_get(kind, identity)["id"]]
        changed = {**item, **body[self.MEMBERS[kind]]}
        if kind == "floatingips":
            if "fixed_ip_address" not in body["floatingip"]:
                changed["fixed_ip_address"] = None
            self.associate(changed)
        item |= changed
        return {self.MEMBERS[kind]: item}

    def neutron_delete(self, kind, identity):
        item = self.neutron_get(kind, identity)
        ports = self.neutron["ports"].values()

        def in_use(title, message):
            raise Refused(409, message, "neutron", title)

        if kind == "networks":
            if any(port["network_id"] == identity for port in ports):
                in_use("NetworkInUse", f"Unable to complete operation on network {identity}. There are one or more ports still in use on the network.")
            for subnet in [each for each in self.neutron["subnets"].values() if each["network_id"] == identity]:
                del self.neutron["subnets"][subnet["id"]]
        if kind == "subnets" and any(each["subnet_id"] == identity for port in ports for each in port["fixed_ips"]):
            in_use("SubnetInUse", f"Unable to complete operation on subnet {identity}: One or more ports have an IP allocation from this subnet.")
        if kind == "routers" and self.interfaces(identity):
            in_use("RouterInUse", f"Router {identity} still has ports")
        if kind == "security-groups":
            if any(identity in port["security_groups"] for port in ports):
                in_use("SecurityGroupInUse", f"Security Group {identity} in use.")
            for rule in [each for each in self.neutron["security-group-rules"].values() if identity in (each["security_group_id"], each["remote_group_id"])]:
                del self.neutron["security-group-rules"][rule["id"]]
        if kind == "ports":
            if item["device_owner"] == "network:router_interface":
                in_use("ServicePortInUse", f"Port {identity} cannot be deleted directly via the port API: has device owner network:router_interface.")
            for address in self.neutron["floatingips"].values():
                if address["port_id"] == identity:
                    address |= {"port_id": None, "fixed_ip_address": None, "router_id": None, "status": "DOWN"}
        del self.neutron[kind][identity]

    def set_tags(self, kind, identity, tags):
        self.neutron_get(kind, identity)
        self.neutron[kind][identity]["tags"] = list(tags)
        return {"tags": tags}

    def quota_details(self):
        used = {"network": "networks", "subnet": "subnets", "router": "routers", "port": "ports", "security_group": "security-groups",
                "security_group_rule": "security-group-rules", "floatingip": "floatingips"}
        return {"quota": {name: {"limit": self.quotas.get(name, 1000), "used": len(self.neutron[kind]), "reserved": 0} for name, kind in used.items()}}

    # ---- Nova

    def tick(self):
        """Servers and volumes get on."""
        clock = time.monotonic()
        for server in list(self.servers.values()):
            if server["_gone"] and clock >= server["_gone"]:
                for port in [each for each in self.neutron["ports"].values() if each["device_id"] == server["id"]]:
                    port |= {"device_id": "", "device_owner": "", "status": "DOWN"}
                    if "_of_nova" in port:
                        del self.neutron["ports"][port["id"]]
                for volume in self.volumes.values():
                    if volume["_server"] == server["id"]:
                        volume |= {"_server": None, "status": "available"}
                del self.servers[server["id"]]
            elif server["status"] == "BUILD" and clock >= server["_ready"]:
                reason = next((why for name, why in self.failing_names.items() if server["name"].endswith(name)), None)
                server["status"] = "ERROR" if reason else "ACTIVE"
                if reason:
                    server["fault"] = {"code": 500, "message": reason, "created": now()}
        for volume in list(self.volumes.values()):
            if volume["status"] == "creating" and clock >= volume["_ready"]:
                volume["status"] = "available"
            if volume["status"] == "deleting" and clock >= volume["_ready"]:
                del self.volumes[volume["id"]]

    def server(self, identity):
        found = self.servers.get(identity)
        if not found:
            raise Refused(404, f"Instance {identity} could not be found.")
        return found

    def shown_server(self, server):
        addresses = {}
        for port in self.neutron["ports"].values():
            if port["device_id"] == server["id"]:
                network = self.neutron["networks"][port["network_id"]]["name"]
                addresses.setdefault(network, []).extend(
                    {"addr": each["ip_address"], "version": 4, "OS-EXT-IPS:type": "fixed", "OS-EXT-IPS-MAC:mac_addr": port["mac_address"]}
                    for each in port["fixed_ips"])
        return {key: value for key, value in server.items() if not key.startswith("_")} | {"addresses": addresses}

    def create_server(self, body, minor):
        wanted, hints = body["server"], body.get("os:scheduler_hints", {})
        if len(self.servers) >= self.quotas["instances"]:
            raise Refused(403, f"Quota exceeded for instances: Requested 1, but already used {len(self.servers)} of {self.quotas['instances']} instances")
        if len(wanted.get("user_data", "")) > LARGEST_USER_DATA:
            raise Refused(400, f"Invalid input for field/attribute user_data. Value: ... is too long ({len(wanted['user_data'])} > {LARGEST_USER_DATA})")
        if wanted["flavorRef"] not in self.flavors:
            raise Refused(400, f"Flavor {wanted['flavorRef']} could not be found.")
        if wanted.get("availability_zone") and wanted["availability_zone"] not in self.zones:
            raise Refused(400, "The requested availability zone is not available")
        if hints.get("group") and hints["group"] not in self.groups:
            raise Refused(400, f"Instance group {hints['group']} could not be found.")
        for key, value in wanted.get("metadata", {}).items():
            if len(value) > 255 or not re.fullmatch(r"[A-Za-z0-9\-_:. ]{1,255}", key):
                raise Refused(400, f"Invalid input for field/attribute {key}.")
        volume = None
        if disks := wanted.get("block_device_mapping_v2"):
            volume = self.volumes.get(disks[0]["uuid"])
            if not volume or volume["status"] != "available":
                raise Refused(400, "Block Device Mapping is Invalid: failed to get volume")
        elif self.images.get(wanted.get("imageRef"), {}).get("status") != "active":
            raise Refused(400, f"Image {wanted.get('imageRef')} could not be found or is not active.")
        made = {"id": new_id(), "name": wanted["name"], "status": "BUILD", "created": now(), "updated": now(), "metadata": wanted.get("metadata", {}),
                "tenant_id": PROJECT, "user_id": USER_ID, "flavor": {"id": wanted["flavorRef"]}, "hostId": "", "progress": 0,
                "image": "" if volume else {"id": wanted["imageRef"]}, "config_drive": "True" if wanted.get("config_drive") else "",
                "OS-EXT-AZ:availability_zone": wanted.get("availability_zone", "nova"), "key_name": None, "links": [],
                "_data": wanted.get("user_data", ""), "_group": hints.get("group"), "_ready": time.monotonic() + self.work_time, "_gone": None}
        ports = []
        for each in wanted["networks"]:
            if "port" in each:
                port = self.neutron_get("ports", each["port"])
                if port["device_id"]:
                    raise Refused(409, f"Port {port['id']} is still in use.")
            else:
                port = self.neutron_base("ports", {"network_id": each["uuid"]})
                self.complete_ports(port)
                port["_of_nova"] = True
                self.neutron["ports"][port["id"]] = port
            ports.append(port)
        for port in ports:
            port |= {"device_id": made["id"], "device_owner": "compute:nova", "status": "ACTIVE"}
        if volume:
            volume |= {"status": "in-use", "_server": made["id"]}
        self.servers[made["id"]] = made
        return {"server": {"id": made["id"], "links": [], "OS-DCF:diskConfig": "MANUAL", "adminPass": "generated"}}

    def delete_server(self, identity):
        server = self.server(identity)
        if not server["_gone"]:
            server["_gone"] = time.monotonic() + self.work_time

    def act(self, identity, body):
        server = self.server(identity)
        if "os-getConsoleOutput" in body:
            return {"output": f"console of {server['name']}\n"}
        if "os-stop" in body:
            server["status"] = "SHUTOFF"
        if "os-start" in body:
            if server["status"] != "SHUTOFF":
                raise Refused(409, f"Cannot 'start' instance {identity} while it is in vm_state active")
            server["status"] = "ACTIVE"
        return None

    def create_group(self, body, minor):
        wanted = body["server_group"]
        if minor >= 64 and "policies" in wanted or minor < 64 and "policy" in wanted or minor < 15:
            raise Refused(400, "Invalid input for field/attribute server_group.")
        policy = wanted.get("policy") or wanted["policies"][0]
        made = {"id": new_id(), "name": wanted["name"], "members": [], "project_id": PROJECT, "user_id": USER_ID}
        made |= {"policy": policy, "rules": {}} if minor >= 64 else {"policies": [policy], "metadata": {}}
        self.groups[made["id"]] = made
        return {"server_group": made}

    def limits(self):
        cores = sum(self.flavors[server["flavor"]["id"]]["vcpus"] for server in self.servers.values())
        ram = sum(self.flavors[server["flavor"]["id"]]["ram"] for server in self.servers.values())
        return {"limits": {"rate": [], "absolute": {
            "maxTotalInstances": self.quotas["instances"], "totalInstancesUsed": len(self.servers), "maxTotalCores": self.quotas["cores"],
            "totalCoresUsed": cores, "maxTotalRAMSize": self.quotas["ram"], "totalRAMUsed": ram, "maxServerGroups": 10,
            "totalServerGroupsUsed": len(self.groups)}}}

    # ---- Glance

    def image(self, identity):
        found = self.images.get(identity)
        if not found:
            raise Refused(404, f"No image found with ID {identity}", "glance")
        return found

    def create_image(self, body):
        made = {"id": new_id(), "status": "queued", "visibility": "private", "tags": [], "size": None, "checksum": None, "os_hash_algo": None,
                "os_hash_value": None, "owner": PROJECT, "created_at": now(), "updated_at": now(), "protected": False, "min_disk": 0, "min_ram": 0,
                "os_hidden": False, "virtual_size": None, "file": "", "schema": "/v2/schemas/image"} | body
        made |= {"self": f"/v2/images/{made['id']}", "file": f"/v2/images/{made['id']}/file", "_content": b""}
        self.images[made["id"]] = made
        return made

    def upload(self, identity, content):
        image = self.image(identity)
        if image["status"] != "queued":
            raise Refused(409, f"Image status transition from {image['status']} to saving is not allowed", "glance")
        image |= {"status": "active", "size": len(content), "checksum": hashlib.md5(content).hexdigest(), "os_hash_algo": "sha512",
                  "os_hash_value": hashlib.sha512(content).hexdigest(), "_content": content}

    def list_images(self, query):
        found = [image for image in self.images.values() if all(tag in image["tags"] for tag in query.get("tag", []))]
        for name in ("name", "visibility", "status", "owner"):
            if name in query:
                found = [image for image in found if image[name] == query[name][0]]
        return found

    # ---- Cinder

    def create_volume(self, body):
        wanted = body["volume"]
        if self.images.get(wanted["imageRef"], {}).get("status") != "active":
            raise Refused(404, f"Image {wanted['imageRef']} could not be found.")
        made = {"id": new_id(), "status": "creating", "bootable": "true", "attachments": [], "created_at": now(), "volume_type": "default",
                "_ready": time.monotonic() + self.work_time, "_server": None} | wanted
        self.volumes[made["id"]] = made
        return {"volume": made}

    def volume(self, identity):
        if identity not in self.volumes:
            raise Refused(404, f"Volume {identity} could not be found.")
        return self.volumes[identity]

    def delete_volume(self, identity):
        volume = self.volume(identity)
        if volume["status"] == "in-use":
            raise Refused(400, "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing "
                               "and must not be migrating, attached, belong to a group, have snapshots or be disassociated from snapshots after volume transfer.")
        volume |= {"status": "deleting", "_ready": time.monotonic() + self.work_time}

    # ---- Swift

    def container(self, name):
        if name not in self.containers:
            raise Refused(404, "The resource could not be found.", "glance")
        return self.containers[name]

    def is_temporary_url(self, method, path, query, clock):
        parts = path.split("/", 5)  # "", "object", "v1", account, container, object
        container = self.containers.get(parts[4]) if len(parts) == 6 else None
        if not container or "temp_url_sig" not in query:
            return False
        end = query["temp_url_expires"][0]
        key = container["headers"].get("x-container-meta-temp-url-key", "")
        wanted = hmac.new(key.encode(), f"{method}\n{end}\n{path}".encode(), hashlib.sha256).hexdigest()
        return bool(key) and hmac.compare_digest(wanted, query["temp_url_sig"][0]) and int(end) > clock


def user_data(server):
    return base64.b64decode(server["_data"]).decode()


def decoded(path):
    return urllib.parse.unquote(path)
