"""scenario.py FOLDER DEFINITION: a router, its API server, pods and clients on one machine; test_router.py runs it in its own
namespaces."""

import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

import host_clock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from control_plane import ControlPlane  # noqa: E402

FOLDER, DEFINITION = map(pathlib.Path, sys.argv[1:])
BUILD, PROGRAMS = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve(), pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve()
DOMAIN, SPACE = "apps.demo.example.com", "shop"
WORK = pathlib.Path("/run/router")  # a socket here is reachable for users other than root
DEADLINE = 30  # of each wait; normally a second or two
PODS = {name: f"10.128.0.{number}" for number, name in enumerate(("one", "two", "three", "four"), 10)}
TLS_PODS = {"secret": "10.128.0.30"}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def wait(what, ready, limit=DEADLINE):
    begin = host_clock.now()
    while True:
        answer = ready()
        if answer:
            return answer, host_clock.now() - begin
        assert host_clock.now() - begin < limit, f"{what}: not after {limit} s\n{(FOLDER / 'router.log').read_text()[-6000:]}"
        time.sleep(0.01)


def make_machine():
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    for address in [*PODS.values(), *TLS_PODS.values()]:
        run("ip", "address", "add", f"{address}/32", "dev", "lo")


def make_haproxy():
    """The haproxy of the image or of the environment, found through PATH."""
    folder = FOLDER / "bin"
    folder.mkdir()
    if given := os.environ.get("HAPROXY"):
        (folder / "haproxy").symlink_to(pathlib.Path(given).resolve())
        return
    root = FOLDER / "root"
    root.mkdir()
    run("tar", "-xf", BUILD / "payload/debian/root.tar", "-C", root, "./usr/sbin/haproxy", "./usr/lib/x86_64-linux-gnu")
    libraries = root / "usr/lib/x86_64-linux-gnu"
    script = folder / "haproxy"
    script.write_text(f'#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} {root}/usr/sbin/haproxy "$@"\n')
    script.chmod(0o755)


def make_certificate(name, names, key=("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")):
    """NAME.crt, NAME.key and both as NAME.pem."""
    run("openssl", "req", "-x509", "-newkey", *key, "-nodes", "-keyout", FOLDER / f"{name}.key", "-out", FOLDER / f"{name}.crt",
        "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}")
    (FOLDER / f"{name}.pem").write_text(text(f"{name}.crt") + text(f"{name}.key"))


def text(name):
    return (FOLDER / name).read_text()


def start_pods():
    for name, address in PODS.items():
        processes[name] = subprocess.Popen([sys.executable, HERE / "pod.py", address, name])
    for name, address in TLS_PODS.items():
        processes[name] = subprocess.Popen([sys.executable, HERE / "pod.py", address, name, FOLDER / f"{name}.pem"])


class Api:
    """The API server for an administrator."""

    def __init__(self, plane):
        self.port = plane.api
        self.context = ssl.create_default_context(cafile=plane.ca)
        self.context.load_cert_chain(plane.certificate, plane.key)
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=DEADLINE)

    def ask(self, method, path, body=None, kind="application/json"):
        self.connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
        answer = self.connection.getresponse()
        said = json.loads(answer.read())
        assert answer.status < 300, f"{method} {path}: {said}"
        return said

    def put_route(self, name, spec, annotations=None):
        self.ask("POST", ROUTES, {"apiVersion": "route.openshift.io/v1", "kind": "Route",
                                  "metadata": {"name": name, "annotations": annotations or {}}, "spec": spec})

    def admitted(self, name):
        """Status, reason and message of the route; nothing without a status."""
        for entry in self.ask("GET", f"{ROUTES}/{name}").get("status", {}).get("ingress", []):
            condition = entry["conditions"][0]
            return condition["status"], condition.get("reason", ""), condition.get("message", "")

    def put_service(self, name, pods, port):
        endpoints = [{"addresses": [address], "conditions": {"ready": True}} for address in pods]
        return self.ask("PATCH", f"{SLICES}/{name}?fieldManager=test&force=true", {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}}, "endpoints": endpoints,
            "ports": [{"name": "web", "port": port, "protocol": "TCP"}]}, "application/apply-patch+yaml")


ROUTES = f"/apis/route.openshift.io/v1/namespaces/{SPACE}/routes"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{SPACE}/endpointslices"


class TlsConnection(http.client.HTTPConnection):
    """A TLS connection to the router, whatever the host name resolves to."""

    def __init__(self, host, ca=None):
        super().__init__("127.0.0.1", 443, timeout=DEADLINE)
        self.name = host
        self.context = ssl.create_default_context(cafile=ca and str(FOLDER / ca))
        if not ca:
            self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def connect(self):
        super().connect()
        self.sock = self.context.wrap_socket(self.sock, server_hostname=self.name)


def ask(host, path="/", tls=False, ca=None, headers=None):
    """The status, and the body of a pod or the headers of the router's own answer."""
    connection = TlsConnection(host, ca) if tls else http.client.HTTPConnection("127.0.0.1", 80, timeout=DEADLINE)
    try:
        connection.request("GET", path, headers={"Host": host, **(headers or {})})
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if answer.status == 200 else dict(answer.getheaders())
    finally:
        connection.close()


def name_at(host, path="/", **more):
    status, said = ask(host, path, **more)
    return said["name"] if status == 200 else status


def health(path="/healthz/ready"):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:1936{path}", timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as failure:
        return failure.code
    except OSError:
        return 0


def generations():
    """The number of haproxy processes started so far."""
    return (FOLDER / "router.log").read_text().count("haproxy serves ")


def haproxies():
    """The haproxy processes, with their private memory in MB."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"-db" in words and any(word.endswith(b"haproxy.cfg") for word in words):
                found[int(folder.name)] = memory(folder)
        except OSError:
            pass
    return found


def memory(folder):
    lines = (folder / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def start_router(plane):
    environment = {"PATH": f"{FOLDER}/bin:/usr/bin:/bin", "ROUTER_SERVICE_NAME": "default", "ROUTER_SERVICE_NAMESPACE": "openshift-ingress",
                   "ROUTER_DOMAIN": DOMAIN, "ROUTER_CANONICAL_HOSTNAME": f"router-default.{DOMAIN}", "ROUTER_THREADS": "2",
                   "DEFAULT_CERTIFICATE_DIR": str(FOLDER / "default"), "DEFAULT_DESTINATION_CA_PATH": str(FOLDER / "service-ca.crt"),
                   "ROUTER_GRACEFUL_SHUTDOWN_DELAY": "1s", "ROUTER_DRAIN_LIMIT": "20s"}
    (FOLDER / "bin/openshift-router").symlink_to(PROGRAMS / "slipway-operator")
    with open(FOLDER / "router.log", "ab") as log:
        return subprocess.Popen([FOLDER / "bin/openshift-router", "start", f"--kubeconfig={plane.kubeconfig}", f"--working-dir={WORK}"],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment)


def fill(api):
    """Creates routes before the router starts."""
    web = {"to": {"kind": "Service", "name": "web"}}
    own = {"certificate": text("own.crt"), "key": text("own.key")}
    api.put_service("web", [PODS["one"]], 8080)
    api.put_service("part", [PODS["two"]], 8080)
    api.put_service("new", [PODS["three"]], 8080)
    api.put_service("secret", [TLS_PODS["secret"]], 8443)
    api.put_route("plain", web)
    api.put_route("edge", {**web, "host": "edge.example.com", "tls": {"termination": "edge", "insecureEdgeTerminationPolicy": "Redirect", **own}})
    api.put_route("shut", {**web, "host": "shut.example.com", "tls": {"termination": "edge"}})
    api.put_route("pass", {"host": "pass.example.com", "to": {"kind": "Service", "name": "secret"}, "tls": {"termination": "passthrough"}})
    api.put_route("again", {"host": "again.example.com", "to": {"kind": "Service", "name": "secret"},
                            "tls": {"termination": "reencrypt", "destinationCACertificate": text("secret.crt")}})
    api.put_route("by-name", {"host": "by-name.example.com", "to": {"kind": "Service", "name": "secret"}, "tls": {"termination": "reencrypt"}})
    api.put_route("other-ca", {"host": "other-ca.example.com", "to": {"kind": "Service", "name": "secret"},
                               "tls": {"termination": "reencrypt", "destinationCACertificate": text("own.crt")}})
    api.put_route("root", {**web, "host": "paths.example.com"})
    api.put_route("shop", {"host": "paths.example.com", "path": "/shop", "to": {"kind": "Service", "name": "part"}})
    api.put_route("deep", {"host": "paths.example.com", "path": "/shop/deep", "to": {"kind": "Service", "name": "new"}},
                  {"haproxy.router.openshift.io/rewrite-target": "/"})
    api.put_route("exact", {"host": "paths.example.com", "path": "/shop", "to": {"kind": "Service", "name": "new"}},
                  {"router.slipway.internal/path-type": "Exact"})
    api.put_route("split", {"host": "split.example.com", "to": {"kind": "Service", "name": "part", "weight": 1},
                            "alternateBackends": [{"kind": "Service", "name": "new", "weight": 3}]},
                  {"haproxy.router.openshift.io/disable_cookies": "true"})
    api.put_route("closed", {**web, "host": "closed.example.com"}, {"haproxy.router.openshift.io/ip_allowlist": "10.9.9.9"})


def look_at_routes(api):
    plain = f"plain-shop.{DOMAIN}"
    assert name_at(plain) == "one"
    assert name_at(plain.upper() + ":80") == "one"
    headers = ask(plain)[1]["headers"]
    assert headers["x-forwarded-proto"] == "http" and headers["x-forwarded-port"] == "80", headers
    assert headers["x-forwarded-host"] == plain and headers["x-forwarded-for"] == "127.0.0.1", headers
    assert headers["forwarded"] == f'for="127.0.0.1";host="{plain}";proto=http', headers
    assert "proxy" not in ask(plain, headers={"Proxy": "http://evil"})[1]["headers"]
    assert ask("unknown.example.com")[0] == 503 and ask("unknown.example.com", tls=True)[0] == 503

    assert name_at("edge.example.com", tls=True, ca="own.crt") == "one"
    assert ask("edge.example.com", tls=True)[1]["headers"]["x-forwarded-proto"] == "https"
    assert ask("edge.example.com", tls=True)[1]["headers"]["x-forwarded-port"] == "443"
    status, headers = ask("edge.example.com", "/a?b=c")
    assert (status, headers["location"]) == (302, "https://edge.example.com/a?b=c")
    assert name_at("shut.example.com", tls=True, ca="default.crt") == "one"
    assert name_at("shut.example.com") == 503

    assert name_at("pass.example.com", tls=True, ca="secret.crt") == "secret"
    assert name_at("again.example.com", tls=True) == "secret"
    assert name_at("by-name.example.com", tls=True) == 503
    assert name_at("other-ca.example.com", tls=True) == 503

    for path, name in (("/", "one"), ("/shop", "three"), ("/shop/", "two"), ("/shopping", "one"), ("/shop/deeper", "two"), ("/shop?x", "three")):
        assert name_at("paths.example.com", path) == name, path
    for path, inside in (("/shop/deep", "/"), ("/shop/deep/", "/"), ("/shop/deep/a?b=c", "/a?b=c")):
        said = ask("paths.example.com", path)[1]
        assert (said["name"], said["path"]) == ("three", inside), said

    answers = [name_at("split.example.com") for _ in range(200)]
    assert set(answers) == {"two", "three"} and 20 <= answers.count("two") <= 85, answers.count("two")
    assert ask("closed.example.com")[0] == 403
    for name in ("plain", "edge", "pass", "again", "deep", "closed"):
        assert api.admitted(name)[0] == "True", (name, api.admitted(name))
    refused = api.admitted("by-name")
    assert refused[:2] == ("False", "NoServiceCA") and "set spec.tls.destinationCACertificate" in refused[2], refused


def look_at_the_service_ca(api):
    """With it, reencrypt routes need no authority of their own. The kubelet writes the file later than the router starts."""
    (FOLDER / "service-ca.crt").write_text(text("secret.crt"))
    wait("the route without an authority", lambda: name_at("by-name.example.com", tls=True) == "secret")
    wait("its status", lambda: api.admitted("by-name")[0] == "True")
    assert name_at("other-ca.example.com", tls=True) == 503
    (FOLDER / "service-ca.crt").write_text(text("own.crt"))
    wait("a certificate that the authority did not sign", lambda: name_at("by-name.example.com", tls=True) == 503)


def look_at_cookies(api):
    """A cookie selects the same pod again."""
    api.put_service("web", [PODS["one"], PODS["four"]], 8080)
    wait("two pods", lambda: {name_at(f"plain-shop.{DOMAIN}") for _ in range(20)} == {"one", "four"})
    connection = http.client.HTTPConnection("127.0.0.1", 80)
    connection.request("GET", "/", headers={"Host": f"plain-shop.{DOMAIN}"})
    answer = connection.getresponse()
    name, cookie = json.loads(answer.read())["name"], answer.getheader("set-cookie").split(";")[0]
    connection.close()
    assert {name_at(f"plain-shop.{DOMAIN}", headers={"Cookie": cookie}) for _ in range(10)} == {name}


def look_at_pods(api):
    """Pods are added and removed without a new haproxy process."""
    before, host = generations(), f"plain-shop.{DOMAIN}"
    for names in (["two"], ["two", "three"], ["four"], ["one"]):
        api.put_service("web", [PODS[name] for name in names], 8080)
        _, took = wait(f"pods {names}", lambda: {name_at(host) for _ in range(10)} == set(names))
    api.put_service("web", [], 8080)
    wait("no pods", lambda: name_at(host) == 503)
    api.put_service("web", [PODS["one"]], 8080)
    wait("a pod", lambda: name_at(host) == "one")
    assert generations() == before, text("router.log")
    print(f"a pod that came was used after {took * 1000:.0f} ms")


def look_at_bad_routes(api):
    """A route that the router rejects, and one that only haproxy rejects; other routes keep working."""
    api.put_route("torn", {"host": "torn.example.com", "to": {"kind": "Service", "name": "web"},
                           "tls": {"termination": "edge", "certificate": text("own.crt"), "key": text("default.key")}})
    wait("torn is refused", lambda: api.admitted("torn"))
    assert api.admitted("torn")[:2] == ("False", "ExtendedValidationFailed"), api.admitted("torn")
    api.put_route("weak", {"host": "weak.example.com", "to": {"kind": "Service", "name": "web"},
                           "tls": {"termination": "edge", "certificate": text("weak.crt"), "key": text("weak.key")}})
    api.put_route("after", {"host": "after.example.com", "to": {"kind": "Service", "name": "web"}})
    wait("weak is refused", lambda: (api.admitted("weak") or [""])[0] == "False")
    assert "haproxy rejects" in api.admitted("weak")[2], api.admitted("weak")
    print("a weak key:", api.admitted("weak")[2])
    wait("after is served", lambda: name_at("after.example.com") == "one")
    assert name_at("edge.example.com", tls=True) == "one"
    api.put_route("twice", {"host": "after.example.com", "to": {"kind": "Service", "name": "web"}})
    wait("twice is refused", lambda: (api.admitted("twice") or [""])[0] == "False")
    assert api.admitted("twice")[1] == "HostAlreadyClaimed"


class Load:
    """Clients of a host, until stop(): short connections, kept ones, and one long download."""

    def __init__(self, host):
        self.host, self.failures, self.counts, self.over = host, [], [0] * 4, threading.Event()
        clients = [(self._short, 0), (self._short, 1), (self._kept, 2), (self._kept, 3)]
        self.threads = [threading.Thread(daemon=True, target=client, args=(number,)) for client, number in clients]
        self.threads.append(threading.Thread(daemon=True, target=self._long))

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _short(self, number):
        while not self.over.is_set():
            try:
                got = name_at("edge.example.com", tls=True) if number % 2 else name_at(self.host)
                if got != "one":
                    self.failures.append(got)
            except OSError as failure:
                self.failures.append(repr(failure))
            self.counts[number] += 1

    def _kept(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=DEADLINE)
        while not self.over.is_set():
            try:
                connection.request("GET", "/", headers={"Host": self.host})
                answer = connection.getresponse()
                if answer.status != 200:
                    self.failures.append(answer.status)
                answer.read()
            except (OSError, http.client.HTTPException) as failure:
                self.failures.append(f"kept connection: {failure!r}")
                connection.close()
            self.counts[number] += 1
        connection.close()

    def _long(self):
        connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=DEADLINE)
        connection.request("GET", "/long", headers={"Host": self.host})
        size = len(connection.getresponse().read())
        if size != 40 << 20:
            self.failures.append(f"long download ended at {size}")


def change_routes_under_load(api):
    """Fifty changes of routes: no connection fails, and a long one continues."""
    load = Load(f"plain-shop.{DOMAIN}")
    web_socket = socket.create_connection(("127.0.0.1", 80), timeout=DEADLINE)
    web_socket.sendall(f"GET /socket HTTP/1.1\r\nHost: {load.host}\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n".encode())
    lines = web_socket.makefile("rb")
    while lines.readline().strip():
        pass
    before = generations()
    load.start()
    for number in range(25):
        api.put_route(f"change-{number}", {"host": f"change-{number}.example.com", "to": {"kind": "Service", "name": "part"}})
        time.sleep(0.1)
        if number % 2:
            api.ask("DELETE", f"{ROUTES}/change-{number}")
        else:
            api.ask("PATCH", f"{ROUTES}/change-{number}", {"spec": {"to": {"kind": "Service", "name": "new"}}}, "application/merge-patch+json")
        time.sleep(0.1)
    _, took = wait("the last change", lambda: name_at("change-24.example.com") == "three")
    most = haproxies()
    web_socket.sendall(b"still there\n")
    assert lines.readline() == b"still there\n"
    load.stop()
    lines.close()
    web_socket.close()
    assert not load.failures, load.failures[:10]
    assert name_at("change-23.example.com") == 503
    print(f"50 changes: {generations() - before} processes, {len(most)} of them at the end with {sum(most.values()):.0f} MB together, "
          f"{sum(load.counts)} requests without a failure, the last change after {took * 1000:.0f} ms")
    wait("old processes end", lambda: len(haproxies()) == 1)


def kill_haproxy():
    [pid] = haproxies()
    os.kill(pid, signal.SIGKILL)

    def answers():
        try:
            return name_at("edge.example.com", tls=True) == "one"
        except OSError:
            return False

    _, took = wait("another haproxy", answers)
    # The router says that it is ready after the new process says so to it.
    wait("the router to be ready", lambda: pid not in haproxies() and health() == 200)
    print(f"after a kill of haproxy it answered again after {took * 1000:.0f} ms")


def leave(api):
    """A graceful stop: not ready at once, connections in progress continue."""
    done = []

    def long():
        connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=DEADLINE)
        connection.request("GET", "/long", headers={"Host": f"plain-shop.{DOMAIN}"})
        answer = connection.getresponse()
        begun.set()
        done.append(len(answer.read()))

    begun = threading.Event()
    def idle(tls=False):
        """A connection that waits for its next request, like those of browsers."""
        connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=DEADLINE)
        if tls:
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", 443, timeout=DEADLINE, context=context)
        connection.request("GET", "/", headers={"Host": "edge.example.com" if tls else f"plain-shop.{DOMAIN}"})
        connection.getresponse().read()
        return connection

    thread = threading.Thread(daemon=True, target=long)
    thread.start()
    begun.wait(DEADLINE)
    # A websocket to an address that then moves to another machine: neither side learns about it.
    run("ip", "link", "add", "moving", "type", "veth", "peer", "name", "moving-peer")
    run("ip", "link", "set", "moving", "up")
    run("ip", "address", "add", "10.96.96.7/32", "dev", "moving")
    moved = socket.create_connection(("10.96.96.7", 80), timeout=DEADLINE)
    moved.sendall(f"GET /socket HTTP/1.1\r\nHost: plain-shop.{DOMAIN}\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n".encode())
    assert moved.recv(100).startswith(b"HTTP/1.1 101 ")
    run("ip", "address", "del", "10.96.96.7/32", "dev", "moving")
    waiting = [idle(), idle(tls=True)]
    begin = host_clock.now()
    processes["router"].send_signal(signal.SIGTERM)
    wait("not ready", lambda: health() == 503)
    assert name_at(f"plain-shop.{DOMAIN}") == "one" and health("/healthz") == 200
    thread.join()
    assert done == [40 << 20], done
    assert processes.pop("router").wait(timeout=DEADLINE) == 0, text("router.log")
    assert not haproxies()
    took = host_clock.now() - begin
    print(f"with two idle connections, a download and a connection to an address that has moved, the router ended after {took:.1f} s")
    # The download takes four seconds, the limit is twenty.
    assert took < 10, text("router.log")
    for connection in [*waiting, moved]:
        connection.close()


def check_files():
    """Keys are not readable by other users."""
    for path in WORK.rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o777 == 0o600, path


processes = {}
make_machine()
make_haproxy()
(FOLDER / "default").mkdir()
make_certificate("default", f"DNS:*.{DOMAIN},DNS:shut.example.com")
make_certificate("own", "DNS:edge.example.com")
make_certificate("secret", "DNS:pass.example.com,DNS:secret.shop.svc")
make_certificate("weak", "DNS:weak.example.com", ("rsa:512",))
(FOLDER / "default/tls.crt").write_text(text("default.crt"))
(FOLDER / "default/tls.key").write_text(text("default.key"))
try:
    start_pods()
    with ControlPlane(os.environ["SLIPWAY_PAYLOAD_BIN"], FOLDER) as plane:
        plane.kubectl("create", "-f", DEFINITION)
        plane.kubectl("create", "namespace", SPACE)
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
        api = Api(plane)
        fill(api)
        processes["router"] = start_router(plane)
        wait("the router", lambda: health() == 200)
        look_at_routes(api)
        check_files()
        look_at_the_service_ca(api)
        look_at_cookies(api)
        look_at_pods(api)
        look_at_bad_routes(api)
        change_routes_under_load(api)
        kill_haproxy()
        router = memory(pathlib.Path(f"/proc/{processes['router'].pid}"))
        print(f"router {router:.0f} MB, haproxy {sum(haproxies().values()):.0f} MB")
        leave(api)
except BaseException:
    if (FOLDER / "router.log").exists():
        print(text("router.log")[-8000:], file=sys.stderr)
    raise
finally:
    for process in processes.values():
        process.kill()
