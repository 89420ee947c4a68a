"""The cloud behind an HTTPS server that counts calls, and can disturb them. openstacksdk looks at it."""

import hashlib
import http.server
import json
import re
import ssl
import subprocess
import threading
import time
import traceback
import urllib.parse

import openstack
from platform_cluster import LostAnswer
from services import PAGE, PROJECT, REGION, Cloud, Refused, decoded, user_data

LIMIT = 300
ID = r"[0-9a-f]{8}-[0-9a-f-]{27}"
VERSION = {"id": "v2.1", "status": "CURRENT", "version": "2.90", "min_version": "2.1"}


def changes(call):
    """Whether a call changes something: "neutron POST /ports"."""
    method, path = call.split()[1:3]
    return method not in ("GET", "HEAD") and not path.endswith("/auth/tokens") and call != "nova POST /servers/*/action console"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # clients that do not trust the certificate, or that were killed


class Simulator:
    """before(call) may return (status, body): the answer without a call. after(call) may raise LostAnswer."""

    def __init__(self, folder):
        self.folder, self.ca = folder, folder / "cloud.pem"
        key = folder / "cloud.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=cloud",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.ca], check=True, capture_output=True, timeout=LIMIT)
        self.lock = threading.RLock()
        self.calls, self.in_flight, self.most_in_flight = [], 0, 0
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def answer(self):
                owner.answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.sdk = None

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def reset(self, **settings):
        """A cloud with an external network, flavors, and a floating IP of the user."""
        self.disturb()
        with self.lock:
            cloud = self.cloud = Cloud(self.url, **settings)
            for number, (name, vcpus, ram, disk) in enumerate((("m1.large", 4, 16384, 100), ("m1.small", 2, 4096, 20), ("m1.none", 4, 16384, 0),
                                                               ("m1.tiny", 1, 512, 1))):
                identity = f"flavor-{number}"
                cloud.flavors[identity] = {"id": identity, "name": name, "vcpus": vcpus, "ram": ram, "disk": disk, "swap": 0, "links": [],
                                           "OS-FLV-EXT-DATA:ephemeral": 0, "rxtx_factor": 1.0, "os-flavor-access:is_public": True}
            self.external = cloud.neutron_create("networks", {"network": {"name": "public", "router:external": True}})["network"]["id"]
            cloud.neutron_create("subnets", {"subnet": {"name": "public", "network_id": self.external, "cidr": "203.0.113.0/24"}})
        self.sdk = None
        self.calls.clear()
        self.most_in_flight = 0

    def disturb(self, before=None, after=None):
        self.before, self.after = before or (lambda call: None), after or (lambda call: None)

    def changes(self):
        """The calls since the last reset that change something."""
        return [call for call in self.calls if changes(call)]

    def connection(self):
        """The client of OpenStack's developers."""
        if not self.sdk:
            self.sdk = openstack.connect(auth_url=f"{self.url}/identity/v3", username="demo", password="hunter2secret", project_name="team",
                                         user_domain_name="Default", project_domain_name="Default", region_name=REGION, cacert=str(self.ca),
                                         app_name="judge", load_yaml_config=False, load_envvars=False)
        return self.sdk

    # ---- requests

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        is_judge = "judge" in handler.headers.get("User-Agent", "")
        url = urllib.parse.urlsplit(handler.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        call = name_of(handler.command, url.path, body)
        with self.lock:
            if not is_judge:
                self.calls.append(call)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            refused = None if is_judge else self.before(call)
            if refused:
                status, headers, content = refused[0], {}, refused[1]
            else:
                try:
                    with self.lock:
                        self.cloud.tick()
                        # Clouds behind proxies have links that do not work from outside. openstacksdk follows them.
                        self.host = self.url if is_judge else "http://inside.example.com"
                        status, headers, content = self.dispatch(handler, url.path, query, body)
                except Refused as error:
                    status, headers, content = error.status, {}, error.body
            if not is_judge:
                self.after(call)
            if not isinstance(content, (bytes, str)):
                content = json.dumps(content)
            content = content if isinstance(content, bytes) else content.encode()
            handler.send_response(status)
            kind = "application/json" if content[:1] in (b"{", b"[") else "text/html"
            for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), "x-openstack-request-id": f"req-{len(self.calls)}"}.items():
                headers.setdefault(name, value)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            if handler.command != "HEAD":
                handler.wfile.write(content)
        except LostAnswer:
            handler.close_connection = True
            handler.connection.close()
        except OSError:
            handler.close_connection = True  # the client has gone
        except Exception:  # a fault of the cloud, which the client sees as a lost answer
            traceback.print_exc()
            raise
        finally:
            if not is_judge:
                with self.lock:
                    self.in_flight -= 1

    def dispatch(self, handler, path, query, body):
        service, rest = re.fullmatch(r"/(\w+)(.*)", path).groups() if path != "/" else ("", "")
        document = json.loads(body) if body[:1] in (b"{", b"[") and service not in ("object",) and not rest.endswith("/file") else {}
        if service == "identity":
            return self.keystone(handler, rest, document)
        if service == "object" and self.cloud.is_temporary_url(handler.command, path, query, time.time()):
            return self.swift(handler, rest, query, body)
        if service == "info" or path == "/info":
            return 200, {}, {"swift": {"version": "2.30"}, "tempurl": {"methods": ["GET", "HEAD"], "allowed_digests": ["sha1", "sha256", "sha512"]}}
        public = rest.strip("/") in ("", "v2.1", "v2.0", "v2", "v3")
        if not public and handler.headers.get("X-Auth-Token") not in self.cloud.tokens:
            raise Refused(401, "The request you have made requires authentication.", "keystone")
        serve = {"compute": self.nova, "network": self.neutron, "image": self.glance, "volume": self.cinder, "object": self.swift}[service]
        return serve(handler, rest, query, body if service in ("object",) or rest.endswith("/file") else document)

    def version(self, name, identity, path):
        return {"id": identity, "status": "CURRENT", "links": [{"rel": "self", "href": f"{self.url}/{name}/{path}"}]}

    def keystone(self, handler, rest, document):
        if rest in ("/v3/auth/tokens", "/v3/auth/tokens/") and handler.command == "POST":
            token, answer = self.cloud.log_in(document["auth"])
            return 201, {"X-Subject-Token": token}, answer
        version = self.version("identity", "v3.14", "v3/")
        if rest.strip("/") == "v3":
            return 200, {}, {"version": version}
        if rest.strip("/") == "":
            return 300, {}, {"versions": {"values": [version]}}
        raise Refused(404, f"no {rest}", "keystone")

    def page(self, items, query, path, member, links=True):
        """A part of a list, with a link to the next one."""
        if marker := query.get("marker"):
            at = next((number for number, item in enumerate(items) if item["id"] == marker[0]), -1)
            items = items[at + 1:]
        size = min(int(query.get("limit", ["1000"])[0]), PAGE if len(items) < 30 else 1000)
        answer = {member: [without_private(item) for item in items[:size]]}
        if fields := query.get("fields"):
            answer[member] = [{name: item.get(name) for name in fields} for item in answer[member]]
        if len(items) > size:
            further = {**query, "marker": [items[size - 1]["id"]]}
            target = f"{path}?{urllib.parse.urlencode(further, doseq=True)}"
            answer |= {f"{member}_links": [{"rel": "next", "href": f"{self.host}{target}"}]} if links else {"next": target}
        return 200, {}, answer

    def neutron(self, handler, rest, query, document):
        method, cloud = handler.command, self.cloud
        if rest.strip("/") == "":
            return 200, {}, {"versions": [self.version("network", "v2.0", "v2.0/")]}
        rest = rest.removeprefix("/v2.0")
        if rest.strip("/") == "":
            return 200, {}, {"resources": []}
        if rest.startswith("/extensions"):
            return 200, {}, {"extensions": []} if rest == "/extensions" else {"extension": {"alias": rest.split("/")[-1]}}
        if re.fullmatch(r"/quotas/\w+/details(.json)?", rest):
            return 200, {}, cloud.quota_details()
        kind, *more = rest.strip("/").split("/")
        kind = kind.removesuffix(".json")
        if kind not in cloud.neutron:
            raise Refused(404, "The resource could not be found.", "neutron", "HTTPNotFound")
        if not more:
            if method == "POST":
                return 201, {}, cloud.neutron_create(kind, document)
            return self.page(cloud.neutron_list(kind, query), query, f"/network/v2.0/{kind}", cloud.MEMBERS[kind] + "s")
        identity = more[0].removesuffix(".json")
        if more[1:] == ["tags"]:
            return 200, {}, cloud.set_tags(kind, identity, document["tags"])
        if more[1:] == ["add_router_interface"]:
            return 200, {}, cloud.add_interface(identity, document)
        if more[1:] == ["remove_router_interface"]:
            return 200, {}, cloud.remove_interface(identity, document)
        if method == "GET":
            return 200, {}, {cloud.MEMBERS[kind]: cloud.neutron_get(kind, identity)}
        if method == "PUT":
            return 200, {}, cloud.neutron_update(kind, identity, document)
        cloud.neutron_delete(kind, identity)
        return 204, {}, b""

    def nova(self, handler, rest, query, document):
        method, cloud = handler.command, self.cloud
        asked = handler.headers.get("X-OpenStack-Nova-API-Version") or handler.headers.get("OpenStack-API-Version", "compute 2.1").split()[-1]
        minor = 90 if asked == "latest" else int(asked.split(".")[-1])
        rest = rest.removeprefix("/v2.1")
        if rest.strip("/") == "":
            return 200, {}, {"version": {**VERSION, "links": [{"rel": "self", "href": f"{self.url}/compute/v2.1/"}]}}
        kind, *more = rest.strip("/").split("/")
        if kind == "flavors" and more in (["detail"], []):
            return self.page(list(cloud.flavors.values()), query, "/compute/v2.1/flavors/detail", "flavors")
        if kind == "flavors":
            if more[0] not in cloud.flavors:
                raise Refused(404, f"Flavor {more[0]} could not be found.")
            return 200, {}, {"flavor": cloud.flavors[more[0]]}
        if kind == "limits":
            return 200, {}, cloud.limits()
        if kind == "os-availability-zone":
            return 200, {}, {"availabilityZoneInfo": [{"zoneName": zone, "zoneState": {"available": True}, "hosts": None} for zone in cloud.zones]}
        if kind == "os-server-groups":
            if method == "POST":
                return 200, {}, cloud.create_group(document, minor)
            if method == "DELETE":
                if not cloud.groups.pop(more[0], None):
                    raise Refused(404, f"Instance group {more[0]} could not be found.")
                return 204, {}, b""
            return self.page(list(cloud.groups.values()), query, "/compute/v2.1/os-server-groups", "server_groups")
        if kind != "servers":
            raise Refused(404, f"no {rest}")
        if method == "POST" and not more:
            return 202, {}, cloud.create_server(document, minor)
        if not more or more == ["detail"]:
            pattern = query.get("name", [""])[0]
            found = [cloud.shown_server(server) for server in cloud.servers.values() if re.search(pattern, server["name"])]
            return self.page(found, query, "/compute/v2.1/servers/detail", "servers")
        if more[1:] == ["action"]:
            answer = cloud.act(more[0], document)
            return (200, {}, answer) if answer else (202, {}, b"")
        if method == "DELETE":
            cloud.delete_server(more[0])
            return 204, {}, b""
        return 200, {}, {"server": cloud.shown_server(cloud.server(more[0]))}

    def glance(self, handler, rest, query, document):
        method, cloud = handler.command, self.cloud
        if rest.strip("/") in ("", "versions"):
            return 300, {}, {"versions": [self.version("image", "v2.15", "v2/")]}
        if rest.strip("/") == "v2":
            return 200, {}, {}
        kind, *more = rest.removeprefix("/v2").strip("/").split("/")
        if kind != "images":
            raise Refused(404, f"no {rest}", "glance")
        if not more:
            if method == "POST":
                return 201, {}, without_private(cloud.create_image(document))
            return self.page(cloud.list_images(query), query, "/v2/images", "images", links=False)
        image = cloud.image(more[0])
        if more[1:] == ["file"]:
            if method == "PUT":
                cloud.upload(more[0], document)
                return 204, {}, b""
            return 200, {"Content-Type": "application/octet-stream"}, image["_content"]
        if more[1:2] == ["tags"]:
            tag = decoded(more[2])
            if method == "PUT" and tag not in image["tags"]:
                image["tags"].append(tag)
            if method == "DELETE":
                if tag not in image["tags"]:
                    raise Refused(404, "Could not find tag", "glance")
                image["tags"].remove(tag)
            return 204, {}, b""
        if method == "DELETE":
            del cloud.images[more[0]]
            return 204, {}, b""
        return 200, {}, without_private(image)

    def cinder(self, handler, rest, query, document):
        method, cloud = handler.command, self.cloud
        if rest.strip("/") in ("", "v3"):
            version = {"id": "v3.0", "status": "CURRENT", "version": "3.70", "min_version": "3.0", "links": [{"rel": "self", "href": f"{self.url}/volume/v3/"}]}
            return 300 if rest.strip("/") == "" else 200, {}, {"versions": [version]}
        kind, *more = rest.removeprefix(f"/v3/{PROJECT}").strip("/").split("/")
        if kind == "limits":
            return 200, {}, {"limits": {"absolute": {"maxTotalVolumes": 100, "totalVolumesUsed": len(cloud.volumes), "maxTotalVolumeGigabytes": 10000,
                                                     "totalGigabytesUsed": sum(volume["size"] for volume in cloud.volumes.values())}}}
        if kind != "volumes":
            raise Refused(404, f"no {rest}")
        if method == "POST":
            return 202, {}, {"volume": without_private(cloud.create_volume(document)["volume"])}
        if not more or more == ["detail"]:
            return self.page(list(cloud.volumes.values()), query, f"/volume/v3/{PROJECT}/volumes/detail", "volumes")
        if method == "DELETE":
            cloud.delete_volume(more[0])
            return 202, {}, b""
        return 200, {}, {"volume": without_private(cloud.volume(more[0]))}

    def swift(self, handler, rest, query, body):
        method, cloud = handler.command, self.cloud
        names = [decoded(part) for part in rest.removeprefix(f"/v1/AUTH_{PROJECT}").strip("/").split("/", 1) if part]
        if not names:
            return 200, {}, [{"name": name, "count": len(each["objects"]), "bytes": 0} for name, each in sorted(cloud.containers.items())]
        if len(names) == 1:
            if method == "PUT":
                known = cloud.containers.setdefault(names[0], {"headers": {}, "objects": {}})
                known["headers"] |= {name.lower(): value for name, value in handler.headers.items() if name.lower().startswith("x-container-")}
                return 201, {}, b""
            container = cloud.container(names[0])
            if method == "DELETE":
                if container["objects"]:
                    raise Refused(409, "There was a conflict when trying to complete your request.", "glance")
                del cloud.containers[names[0]]
                return 204, {}, b""
            if method == "HEAD":
                return 204, {**container["headers"], "X-Container-Object-Count": str(len(container["objects"]))}, b""
            return 200, {}, [{"name": name, "bytes": len(content), "hash": hashlib.md5(content).hexdigest(), "last_modified": "2026-01-01T00:00:00.000000",
                              "content_type": "application/octet-stream"} for name, content in sorted(container["objects"].items())]
        objects = cloud.container(names[0])["objects"]
        if method == "PUT":
            objects[names[1]] = body
            return 201, {"ETag": hashlib.md5(body).hexdigest()}, b""
        if names[1] not in objects:
            raise Refused(404, "The resource could not be found.", "glance")
        if method == "DELETE":
            del objects[names[1]]
            return 204, {}, b""
        return 200, {"Content-Type": "application/octet-stream", "ETag": hashlib.md5(objects[names[1]]).hexdigest()}, objects[names[1]]


def without_private(item):
    return {key: value for key, value in item.items() if not key.startswith("_")}


def name_of(method, path, body):
    """"neutron POST /ports", "nova DELETE /servers/*", "swift PUT /*/*"."""
    services = {"identity": "keystone", "compute": "nova", "network": "neutron", "image": "glance", "volume": "cinder", "object": "swift", "info": "swift"}
    first, rest = (path.strip("/").split("/", 1) + [""])[:2]
    if first == "object":
        rest = re.sub(rf"^v1/AUTH_{PROJECT}/?", "", rest)
        rest = "/".join("*" for part in rest.split("/") if part)
    rest = re.sub(rf"^(v\d[\d.]*)(/{PROJECT})?/?", "" if first != "identity" else r"\1/", rest)
    rest = re.sub(ID, "*", rest)
    rest = re.sub(r"tags/.*", "tags/*", rest)
    call = f"{services.get(first, first)} {method} /{rest}"
    return f"{call} console" if b"os-getConsoleOutput" in body[:40] else call


# ---- what exists, as openstacksdk tells

def inventory(simulator):
    """Everything in the project that a cluster may have, without IDs: what it is, by kind and name."""
    sdk, found, names = simulator.connection(), {}, {}

    def add(kind, name, identity, *facts):
        key = f"{kind} {name}"
        assert key not in found, f"twice: {key}"
        found[key] = json.dumps(facts, sort_keys=True, default=str)
        names[identity] = name

    for network in sdk.network.networks():
        add("network", network.name, network.id, sorted(network.tags), network.description)
    for subnet in sdk.network.subnets():
        add("subnet", subnet.name, subnet.id, sorted(subnet.tags), subnet.cidr, subnet.allocation_pools, subnet.dns_nameservers, names[subnet.network_id])
    ports = list(sdk.network.ports())
    for router in sdk.network.routers():
        inside = sorted(names[each["subnet_id"]] for port in ports if port.device_id == router.id for each in port.fixed_ips)
        add("router", router.name, router.id, sorted(router.tags), names[router.external_gateway_info["network_id"]], inside)
    groups = list(sdk.network.security_groups())
    names |= {group.id: group.name for group in groups}
    rules = {}
    for rule in sdk.network.security_group_rules():
        if rule.direction == "ingress":
            rules.setdefault(rule.security_group_id, []).append(
                [rule.ether_type, rule.protocol, rule.port_range_min, rule.port_range_max, rule.remote_ip_prefix, names.get(rule.remote_group_id)])
    for group in groups:
        add("security-group", group.name, group.id, sorted(group.tags), group.description, sorted(rules.get(group.id, []), key=str))
    servers = list(sdk.compute.servers())
    for server in servers:
        names[server.id] = server.name
    for port in ports:
        if port.device_owner == "network:router_interface" or not port.name:
            continue
        # Machines get the addresses in the order in which their ports are made.
        fixed = sorted(each["ip_address"] for each in port.fixed_ips) if port.name.endswith("-port") else len(port.fixed_ips)
        add("port", port.name, port.id, sorted(port.tags), fixed, sorted(names[group] for group in port.security_group_ids),
            sorted(pair["ip_address"] for pair in port.allowed_address_pairs), names.get(port.device_id, ""))
    for address in sdk.network.ips():
        name = address.description or address.floating_ip_address
        add("floating-ip", name, address.id, sorted(address.tags), names.get(address.port_id, ""), address.fixed_ip_address)
    for group in sdk.compute.server_groups():
        add("server-group", group.name, group.id, group.policy or group.policies)
    images = list(sdk.image.images())
    for image in images:
        add("image", image.name, image.id, sorted(image.tags), image.status, image.size, image.disk_format, image.hash_value)
    with simulator.lock:
        raw = {server["name"]: server for server in simulator.cloud.servers.values()}
    volumes = list(sdk.block_storage.volumes())
    for volume in volumes:
        add("volume", volume.name, volume.id, volume.size, volume.volume_type, volume.status, volume.metadata)
    for server in servers:
        data = user_data(raw[server.name])
        is_pointer = '"replace"' in data  # its URL has a time, or a token
        metadata = {key: value for key, value in server.metadata.items()}
        add("machine", server.name, server.id, server.status, names.get((server.image or {}).get("id"), ""), metadata,
            simulator.cloud.flavors[raw[server.name]["flavor"]["id"]]["name"], server.availability_zone, names.get(raw[server.name]["_group"], ""),
            raw[server.name]["config_drive"], "" if is_pointer else hashlib.sha256(data.encode()).hexdigest())
    if simulator.cloud.with_swift:
        for container in sdk.object_store.containers():
            add("container", container.name, container.name)
            for each in sdk.object_store.objects(container.name):
                add("object", f"{container.name}/{each.name}", each.name, each.content_length, each.etag)
    return found


def machine_data(simulator, name):
    """What the config drive of a machine gives to Ignition."""
    with simulator.lock:
        return user_data(next(server for server in simulator.cloud.servers.values() if server["name"] == name))
