"""A vCenter: vcsim behind a small proxy with TLS that counts calls, and can disturb them. govc looks at the inventory."""

import base64
import gzip
import hashlib
import http.client
import http.server
import io
import json
import os
import pathlib
import re
import ssl
import subprocess
import tarfile
import threading
import time

from platform_cluster import LostAnswer

JUDGES = pathlib.Path(os.environ["SLIPWAY_BUILD"]) / "payload/judges"
SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
USER, PASSWORD = "administrator@vsphere.local", "hunter2secret"
LIMIT = 300
READS = re.compile("^(RetrieveServiceContent|Login|Logout|FindByInventoryPath|RetrievePropertiesEx|ContinueRetrievePropertiesEx|CreatePropertyCollector"
                   "|CreateFilter|WaitForUpdatesEx|DestroyPropertyCollector|HasPrivilegeOnEntities|CreateImportSpec|HttpNfcLeaseProgress"
                   "|GET .*|POST .*session|DELETE .*session|POST .*action=list.*|download)$")


def changes(call):
    return not READS.match(call)


def soap_fault(name, text="no"):
    """An answer to a call."""
    return 500, ('<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"'
                 ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><soapenv:Fault><faultcode>ServerFaultCode</faultcode>'
                 f'<faultstring>{text}</faultstring><detail><{name}Fault xmlns="urn:vim25" xsi:type="{name}">'
                 '<object type="Folder">group-v3</object><privilegeId>Folder.Create</privilegeId>'
                 f'</{name}Fault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>')


def small_ova():
    """An OVA as `slipway image create` makes it, with a disk that has no system."""
    disk = b"disk" * 5000
    values = {"name": "machine-os", "capacity": 16 << 30, "size": len(disk)}
    ovf = re.sub(r"@(\w+)@", lambda match: str(values[match[1]]), (SOURCE / "os/disk/machine.ovf").read_text()).encode()
    manifest = f"SHA256(machine.ovf)= {hashlib.sha256(ovf).hexdigest()}\nSHA256(disk.vmdk)= {hashlib.sha256(disk).hexdigest()}\n".encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in (("machine.ovf", ovf), ("machine.mf", manifest), ("disk.vmdk", disk)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that do not trust the certificate, or that were killed


class Simulator:
    """before(call) may return (status, body): the answer without a call. after(call) may raise LostAnswer. call: "CloneVM_Task"."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        self.ca = folder / "vcenter.pem"
        key = folder / "vcenter.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=vcenter", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.ca],
                       check=True, capture_output=True, timeout=LIMIT)
        self.lock = threading.Lock()
        self.calls, self.in_flight, self.most_in_flight = [], 0, 0
        self.disturb()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                owner.answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server, self.images = Server(("127.0.0.1", 0), Handler), Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        for server in (self.server, self.images):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.ova = small_ova()
        self.image = f"http://127.0.0.1:{self.images.server_port}/os.ova?sha256={hashlib.sha256(self.ova).hexdigest()}"

    def reset(self, *options):
        """A new vCenter with a datacenter and two clusters of hosts."""
        self.disturb()
        self.end_vcenter()
        self.process = subprocess.Popen([JUDGES / "vcsim", "-user", USER, "-password", PASSWORD, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={"HOME": str(self.folder), "TMPDIR": str(self.folder)})
        self.address = self.process.stdout.readline().strip().removeprefix("http://").removesuffix("/sdk")
        self.calls.clear()

    def end_vcenter(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(LIMIT)
            self.process.stdout.close()
            self.process = None

    def close(self):
        self.end_vcenter()
        for server in (self.server, self.images):
            server.shutdown()
            server.server_close()

    def settle(self):
        """Waits for all tasks. A vCenter refuses to remove a machine while it is cloned, and has removed its files when it says so; vcsim
        does neither."""
        while self.process:
            recent = self.properties("TaskManager", ["TaskManager"], "recentTask")
            tasks = re.findall(r'type="Task"[^>]*>([^<]+)', recent)
            states = self.properties("Task", tasks, "info.state") if tasks else ""
            if "running<" not in states and "queued<" not in states:
                return
            time.sleep(0.1)

    def properties(self, kind, identities, path):
        objects = "".join(f'<objectSet><obj type="{kind}">{identity}</obj></objectSet>' for identity in identities)
        return self.ask("RetrievePropertiesEx", '<_this type="PropertyCollector">propertyCollector</_this><specSet><propSet>'
                        f"<type>{kind}</type><pathSet>{path}</pathSet></propSet>{objects}</specSet><options/>")

    def ask(self, method, arguments):
        """A call of the test itself."""
        def post(method, arguments, headers):
            connection = http.client.HTTPConnection(self.address, timeout=LIMIT)
            connection.request("POST", "/sdk", f'<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><{method} xmlns="urn:vim25">{arguments}'
                               f"</{method}></Body></Envelope>", {"Content-Type": "text/xml", "SOAPAction": "urn:vim25/7.0", **headers})
            answer = connection.getresponse()
            content, cookie = answer.read().decode(), answer.getheader("Set-Cookie")
            connection.close()
            assert answer.status == 200, content
            return content, cookie
        cookie = post("Login", f'<_this type="SessionManager">SessionManager</_this><userName>{USER}</userName><password>{PASSWORD}</password>', {})[1]
        return post(method, arguments, {"Cookie": cookie.split(";")[0]})[0]

    def disturb(self, before=None, after=None):
        self.settle()
        self.before, self.after = before or (lambda call: None), after or (lambda call: None)

    def changes(self):
        """The calls since the last reset that change something."""
        return [call for call in self.calls if changes(call)]

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        call = name_of(handler, body)
        with self.lock:
            self.calls.append(call)
            self.in_flight += call != "WaitForUpdatesEx"
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if call == "download":
                status, headers, content = 200, [], self.ova
            elif refused := self.before(call):
                status, headers, content = refused[0], [("Content-Type", "text/xml")], refused[1].encode()
            else:
                status, headers, content = self.forward(handler, body)
                if call == "Destroy_Task":
                    self.settle()
            self.after(call)
            handler.send_response(status)
            for name, value in headers:
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content)
        except LostAnswer:
            self.settle()
            handler.close_connection = True
            handler.connection.close()
        except OSError:
            handler.close_connection = True  # the client has gone
        finally:
            with self.lock:
                self.in_flight -= call != "WaitForUpdatesEx"

    def forward(self, handler, body):
        body = with_own_disk(body)
        connection = http.client.HTTPConnection(self.address, timeout=LIMIT)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("host", "connection", "content-length")}
            connection.request(handler.command, handler.path, body, headers)
            answer = connection.getresponse()
            content = answer.read().replace(f"http://{self.address}".encode(), f"https://127.0.0.1:{self.port}".encode())
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() in ("content-type", "set-cookie")]
            return answer.status, kept, content
        finally:
            connection.close()

    def govc(self, *words):
        environment = {"GOVC_URL": f"http://{self.address}/sdk", "GOVC_USERNAME": USER, "GOVC_PASSWORD": PASSWORD, "GOVC_INSECURE": "1",
                       "GOVC_PERSIST_SESSION": "false", "HOME": str(self.folder)}
        done = subprocess.run([JUDGES / "govc", *words], capture_output=True, text=True, env=environment, timeout=LIMIT)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout


def with_own_disk(body):
    """A request to clone a machine, such that vcsim changes the disk of the clone as a vCenter does. The specification has the device of the
    template, with the template's file: vcsim takes that file for the clone, and removes it together with the clone, so that later clones of
    the template have no disk. Other requests stay as they are."""
    name = re.search(rb"<CloneVM_Task .*?</folder><name>([^<]+)</name>", body, re.S)
    if not name:
        return body
    return re.sub(rb"(<fileName>\[[^]]+\] )[^<]*(</fileName>)", lambda found: found[1] + name[1] + b"/" + name[1] + b".vmdk" + found[2], body)


def name_of(handler, body):
    """"CloneVM_Task", "POST /rest/...", "upload"."""
    path = handler.path
    if path == "/sdk":
        found = re.search(rb"Body><(\w+)", body)
        return found[1].decode() if found else "unknown"
    if path.startswith("/nfc/"):
        return "upload"
    if path.startswith("/os.ova"):
        return "download"
    return f"{handler.command} {re.sub('/id:[^?]*', '', path)}"


def inventory(simulator):
    """Everything in the vCenter that a cluster may have, without IDs: what it is, by kind and path."""
    decoder = json.JSONDecoder()

    def collect(kind, *properties):
        text = simulator.govc("object.collect", "-json", "-type", kind, "/", *properties).strip()
        while text:
            each, end = decoder.raw_decode(text)
            text = text[end:].strip()
            yield each["obj"]["value"], {change["name"]: change["val"] for change in each["changeSet"]}

    found, names, parents = {}, {}, {}
    objects = {kind: dict(collect(kind, "name", "parent", *more)) for kind, more in (
        ("d", []), ("f", []), ("c", ["configurationEx"]), ("s", []),
        ("m", ["config.template", "config.extraConfig", "config.hardware", "runtime.powerState", "datastore", "network"]))}
    for of_kind in objects.values():
        for identity, about in of_kind.items():
            names[identity], parents[identity] = about["name"], about["parent"]["value"]

    def path(identity):
        return f"{path(parents[identity])}/{names[identity]}" if identity in names else ""

    for identity in objects["f"]:
        found[f"folder {path(identity)}"] = ""
    for identity, about in objects["m"].items():
        settings = {each["key"]: each["value"] for each in about["config.extraConfig"]["_value"]}
        if config := settings.get("guestinfo.ignition.config.data"):
            settings["guestinfo.ignition.config.data"] = hashlib.sha256(config.encode()).hexdigest()
        devices = about["config.hardware"]["device"]
        key = f"machine {path(identity)}"
        assert key not in found, f"twice: {key}"
        found[key] = json.dumps({"template": about["config.template"], "state": about["runtime.powerState"], "settings": settings,
                                 "cpus": about["config.hardware"]["numCPU"], "memory": about["config.hardware"]["memoryMB"],
                                 "disks": [each["capacityInKB"] for each in devices if "capacityInKB" in each],
                                 "adapters": sum("macAddress" in each for each in devices)}, sort_keys=True)
    for identity, about in objects["c"].items():
        for rule in about["configurationEx"].get("rule") or []:
            found[f"rule {path(identity)}/{rule['name']}"] = str(sorted(names.get(each["value"], "gone") for each in rule["vm"]))
    for category in json.loads(simulator.govc("tags.category.ls", "-json")) or []:
        found[f"category {category['name']}"] = ""
    for tag in json.loads(simulator.govc("tags.ls", "-json")) or []:
        attached = simulator.govc("tags.attached.ls", tag["id"]).split()  # "VirtualMachine:vm-42"
        # vcsim still names objects that were removed.
        ids = [each.split(":")[1] for each in attached]
        found[f"tag {tag['name']}"] = str(sorted(names[each] for each in ids if each in names))
    return found


def ignition_config(simulator, name):
    """What the firmware of a machine gives to Ignition: the encoded text, and the config."""
    about = json.loads(simulator.govc("vm.info", "-e", "-json", name))["virtualMachines"][0]
    settings = {each["key"]: each["value"] for each in about["config"]["extraConfig"]}
    assert settings["guestinfo.ignition.config.data.encoding"] == "gzip+base64"
    encoded = settings["guestinfo.ignition.config.data"]
    return encoded, gzip.decompress(base64.b64decode(encoded)).decode()
