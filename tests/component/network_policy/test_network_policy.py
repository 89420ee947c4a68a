"""NetworkPolicies: the compiled rules in a real kernel with real packets, and the agent with a real API server. Namespaces are nodes and
pods."""

import contextlib
import ctypes
import http.server
import json
import os
import pathlib
import random
import resource
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import pytest
import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import host_clock  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from network_namespaces import CLONE_NEWNET, Namespaces, namespaces, own_network  # noqa: E402, F401
from programs import free_port  # noqa: E402

BIN = pathlib.Path(os.environ["SLIPWAY_BIN"])
PAYLOAD = pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
ENDPOINT = pathlib.Path(__file__).parent / "endpoint.py"
PORTS = [53, 80, 81, 82, 90, 8080, 65535]
LEAST_PAIRS, MOST_PAIRS = 15, 60  # of measurements of the throughput
TABLE = ["nft", "list", "table", "inet", "slipway-network-policy"]


class Endpoints:
    """Servers and clients in namespaces (endpoint.py)."""

    def __init__(self, namespaces):
        self.namespaces, self.running = namespaces, {}

    def start(self, name, addresses, ports=PORTS):
        command = self.namespaces.inside(name, sys.executable, ENDPOINT, json.dumps(addresses), json.dumps(ports))
        self.running[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait(self):
        for name, process in self.running.items():
            assert process.stdout.readline() == "ready\n", name

    def try_all(self, by_name):
        """{name: [connection]} -> {name: [whether it worked]}"""
        for name, connections in by_name.items():
            self.running[name].stdin.write(json.dumps(connections) + "\n")
            self.running[name].stdin.flush()
        return {name: json.loads(self.running[name].stdout.readline()) for name in by_name}

    def end(self):
        for process in self.running.values():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def make_bridge(namespaces, node, *gateways):
    namespaces.ip(node, "link add cni0 type bridge", "link set cni0 up",
                  *(f"address add {gateway} dev cni0{nodad(gateway)}" for gateway in gateways))
    settings = ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding", "net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables")
    namespaces.run(node, "sh", "-ec", "\n".join(f"echo 1 > /proc/sys/{setting}" for setting in settings))


def nodad(address):
    """The option of an address that is used at once: IPv6 would look for another owner first."""
    return " nodad" if ":" in address else ""


def plug(namespaces, node, pod, addresses, gateways):
    """Connects a namespace to the bridge of a node, as the CNI plugin does."""
    namespaces.ip(node, f"link add v-{pod} type veth peer name eth0 netns {namespaces.processes[pod].pid}",
                  f"link set v-{pod} master cni0", f"link set v-{pod} type bridge_slave hairpin on", f"link set v-{pod} up")
    namespaces.ip(pod, *(f"address add {address}{'/112' if ':' in address else '/24'} dev eth0{nodad(address)}" for address in addresses),
                  "link set eth0 up", *(f"route add {'::/0' if ':' in gateway else 'default'} via {gateway}" for gateway in gateways))


OUTSIDE = ["192.0.2.1", "192.0.2.9", "192.0.2.77", "192.0.2.200", "198.51.100.1", "2001:db8::1", "2001:db8::9", "2001:db8:1::1", "fe00::1"]


def make_two_nodes(namespaces, sample):
    """node-0 and node-1 with their pods, connected with each other and with `outside`, which has the addresses OUTSIDE."""
    namespaces.make("node-0", "node-1", "outside", *(pod["name"] for pod in sample["pods"]))
    networks = {0: ("10.0.0.0/24", "fd00::/112"), 1: ("10.0.1.0/24", "fd00::1:0/112")}
    for number in (0, 1):
        make_bridge(namespaces, f"node-{number}", f"10.0.{number}.1/24", f"fd00::{number}:1/112")
    cables = {("node-0", "node-1"): ("10.9.0.1/30", "10.9.0.2/30", "fd09::1/126", "fd09::2/126"),
              ("node-0", "outside"): ("10.9.1.1/30", "10.9.1.2/30", "fd09:1::1/126", "fd09:1::2/126"),
              ("node-1", "outside"): ("10.9.2.1/30", "10.9.2.2/30", "fd09:2::1/126", "fd09:2::2/126")}
    for (one, other), ends in cables.items():
        namespaces.cable(one, other, ends[:2])
        for name, peer, address in ((one, other, ends[2]), (other, one, ends[3])):
            namespaces.ip(name, f"address add {address} dev to-{peer} nodad")
    for number in (0, 1):
        node = f"node-{number}"
        other, own = cables["node-0", "node-1"][1 - number::2], cables[node, "outside"]
        routes = [*zip(networks[1 - number], other), ("default", own[1]), ("::/0", own[3])]
        namespaces.ip(node, *(f"route add {route} via {via.split('/')[0]}" for route, via in routes))
        namespaces.ip("outside", *(f"route add {route} via {via.split('/')[0]}" for route, via in zip(networks[number], (own[0], own[2]))))
    namespaces.ip("outside", *(f"address add {address} dev lo{nodad(address)}" for address in OUTSIDE))
    for pod in sample["pods"]:
        number = pod["node"][-1]
        gateways = [f"10.0.{number}.1"] + ([f"fd00::{number}:1"] if len(pod["addresses"]) == 2 else [])
        plug(namespaces, pod["node"], pod["name"], pod["addresses"], gateways)


@pytest.mark.parametrize("attempt", range(2))
def test_packets_pass_as_the_api_says(namespaces, attempt):
    while True:
        seed = random.SystemRandom().randrange(1 << 31)
        sample = json.loads(subprocess.run([BIN / "network_policy_tool", "sample", str(seed)], check=True, capture_output=True, timeout=60).stdout)
        allowed = sum(each["allowed"] for each in sample["connections"]) / len(sample["connections"])
        if 0.3 < allowed < 0.8:  # others say little
            break
    print(f"seed {seed}")
    make_two_nodes(namespaces, sample)
    for node, rules in sample["rules"].items():
        done = subprocess.run(namespaces.inside(node, "nft", "-f", "-"), input=rules, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    owners = {address: pod["name"] for pod in sample["pods"] for address in pod["addresses"]}
    owners.update({address: "outside" for address in OUTSIDE})
    by_name, seen = {}, set()
    for connection in sample["connections"]:
        ends = (connection["source"], connection["destination"])
        key = (*ends, connection["protocol"], connection["port"])
        names = [owners.get(end) for end in ends]
        if None in names or names == ["outside", "outside"] or connection["protocol"] not in ("TCP", "UDP") or key in seen:
            continue
        seen.add(key)
        by_name.setdefault(names[0], []).append(connection)
    with contextlib.closing(contextlib.ExitStack()) as stack:
        endpoints = Endpoints(namespaces)
        stack.callback(endpoints.end)
        for pod in sample["pods"]:
            endpoints.start(pod["name"], pod["addresses"])
        endpoints.start("outside", OUTSIDE)
        endpoints.wait()
        results = endpoints.try_all(by_name)
    wrong = [(connection, worked) for name, connections in by_name.items()
             for connection, worked in zip(connections, results[name]) if worked != connection["allowed"]]
    assert not wrong, f"seed {seed}: {wrong}\n{json.dumps(sample['policies'])}"
    allowed = sum(each["allowed"] for connections in by_name.values() for each in connections)
    print(f"{allowed} connections passed, {sum(map(len, by_name.values())) - allowed} did not")


class Node(Namespaces):
    """This network namespace as a node with a bridge; other namespaces are its pods."""

    def inside(self, name, *command):
        return [str(word) for word in command] if name == "node" else super().inside(name, *command)


def is_ready(port):
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
        return answer.status == 200
    return False


class Cluster:
    """An API server, a node with pods, and the agent of the node with the rights of its service account."""

    def __init__(self, plane, folder):
        self.plane, self.folder, self.node = plane, folder, Node(folder)
        self.context = ssl.create_default_context(cafile=plane.ca)
        self.context.load_cert_chain(plane.certificate, plane.key)
        make_bridge(self.node, "node", "10.0.0.1/24")
        self.port = free_port()
        self.client_port = 7000

    def api(self, method, path, body=None, kind="application/json"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.plane.server + path, data=data, method=method, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return json.load(answer)

    def add_roles(self):
        manifests = sorted((SOURCE / "images/manifests").glob("0000_70_cluster-network-operator_0[03]_*flannel*.yaml"))
        assert len(manifests) >= 5
        self.plane.apply(*(each for path in manifests for each in yaml.safe_load_all(path.read_text())))
        token = self.plane.kubectl("create", "token", "-n", "openshift-flannel", "flannel-kube-proxy").strip()
        config = yaml.safe_load(self.plane.kubeconfig.read_text())
        config["users"] = [{"name": "test", "user": {"token": token}}]
        self.kubeconfig = self.folder / "agent.kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def add_pod(self, name, address, labels):
        """The object and the namespace with a server on port 80."""
        self.add_object(name, labels, address)
        self.node.make(name)
        plug(self.node, "node", name, [address], ["10.0.0.1"])

    def add_object(self, name, labels, address=None):
        self.api("POST", "/api/v1/namespaces/default/pods", {
            "metadata": {"name": name, "labels": labels},
            "spec": {"nodeName": "worker-0", "containers": [{"name": "c", "image": "none", "ports": [{"name": "http", "containerPort": 80}]}]}})
        if address:
            self.set_address(name, address)

    def set_address(self, name, address):
        status = {"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}}
        self.api("PATCH", f"/api/v1/namespaces/default/pods/{name}/status", status, "application/merge-patch+json")

    def start_agent(self):
        link = self.folder / "cluster-network-operator"
        if not link.exists():
            link.symlink_to(BIN / "slipway-operator")
        self.node.spawn("agent", [link, "policy-agent", "--node=worker-0", f"--port={self.port}", f"--kubeconfig={self.kubeconfig}"],
                        {"PATH": os.environ["PATH"]})
        self.node.wait("agent", lambda: is_ready(self.port))

    def connect(self, source, destination, limit=5.0):
        """Whether a TCP connection from a pod to a port works. Runs in a thread of its own, which moves to the pod's namespace."""
        results = []

        def run():
            enter(self.node.processes[source].pid)
            with contextlib.suppress(OSError), socket.create_connection(destination, timeout=limit):
                results.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return bool(results)

    def until(self, what, condition):
        deadline = host_clock.now() + 60
        while not condition():
            assert host_clock.now() < deadline, f"{what}\n{self.node.tail('agent')}"
            time.sleep(0.02)


def enter(process):
    with open(f"/proc/{process}/ns/net") as file:
        assert ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) == 0


@pytest.fixture
def cluster(tmp_path, own_network):
    with contextlib.ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(PAYLOAD, tmp_path, flags=["--disable-admission-plugins=ServiceAccount"]))
        made = Cluster(plane, tmp_path)
        stack.callback(made.node.end_all)
        made.add_roles()
        yield made


def policy(name, spec):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


POLICIES = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
DENY = {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"]}
ALLOW_CLIENT = {**DENY, "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "client"}}}], "ports": [{"port": "http"}]}]}


class Attempts:
    """Tries new connections all the time, from one pod to another, and records when each began and whether it worked."""

    def __init__(self, cluster, source, destination):
        self.records, self.stop = [], threading.Event()
        process = cluster.node.processes[source].pid

        def run():
            enter(process)
            while not self.stop.is_set():
                began, worked = time.monotonic(), False
                with contextlib.suppress(OSError), socket.create_connection(destination, timeout=0.2):
                    worked = True
                self.records.append((began, worked))
                time.sleep(0.005)

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def end(self):
        self.stop.set()
        self.thread.join()
        return self.records


def test_a_policy_is_in_force_within_a_second_and_survives_the_agent(cluster):
    cluster.add_pod("web", "10.0.0.2", {"app": "web"})
    cluster.add_pod("client", "10.0.0.3", {"app": "client"})
    cluster.add_pod("other", "10.0.0.4", {"app": "other"})
    endpoints = Endpoints(cluster.node)
    try:
        endpoints.start("web", ["10.0.0.2"], [80, 81])
        endpoints.wait()
        cluster.start_agent()
        check_times(cluster)
        check_restarts(cluster)
        check_starting_pods(cluster)
        check_removal(cluster)
    finally:
        endpoints.end()


def check_times(cluster):
    web = ("10.0.0.2", 80)
    assert cluster.connect("client", web) and cluster.connect("other", web)
    times = []
    for _ in range(5):
        attempts = Attempts(cluster, "client", web)
        time.sleep(0.1)
        created = time.monotonic()
        cluster.api("POST", POLICIES, policy("deny", DENY))
        cluster.until("the policy is in force", lambda: not attempts.records[-1][1])
        denied = next(began for began, worked in attempts.records if not worked)
        times.append(denied - created)
        removed = time.monotonic()
        cluster.api("DELETE", f"{POLICIES}/deny")
        cluster.until("connections pass again", lambda: attempts.records[-1][1])
        records = attempts.end()
        print(f"denied after {denied - created:.3f} s, allowed again after "
              f"{next(began for began, worked in records if worked and began > removed) - removed:.3f} s")
    print(f"median time from a policy's creation to its effect: {statistics.median(times):.3f} s")
    assert statistics.median(times) < 1, times
    # A policy that allows one of two pods.
    cluster.api("POST", POLICIES, policy("client", ALLOW_CLIENT))
    cluster.until("the policy is in force", lambda: not cluster.connect("other", web, 0.3))
    assert cluster.connect("client", web)
    assert not cluster.connect("client", ("10.0.0.2", 81), 0.5), "another port"
    with socket.create_connection(web, timeout=5):
        pass  # the node reaches its pods, as for probes


def check_restarts(cluster):
    web = ("10.0.0.2", 80)
    before = subprocess.run(TABLE, check=True, capture_output=True, text=True).stdout
    agent = cluster.node.processes.pop("agent")
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    assert subprocess.run(TABLE, check=True, capture_output=True, text=True).stdout == before
    assert not cluster.connect("other", web, 0.5)
    # What changes meanwhile is made good; so is what somebody else removed.
    cluster.api("PATCH", "/api/v1/namespaces/default/pods/other", {"metadata": {"labels": {"app": "client"}}}, "application/merge-patch+json")
    subprocess.run(["nft", "flush", "chain", "inet", "slipway-network-policy", "enters-pod"], check=True)
    cluster.start_agent()
    assert cluster.connect("other", web)
    assert not cluster.connect("other", ("10.0.0.2", 81), 0.5)


def check_starting_pods(cluster):
    """A pod whose address is not known yet has its own policies, and known pods are not affected."""
    cluster.api("POST", POLICIES, policy("egress", {"podSelector": {"matchLabels": {"app": "job"}}, "policyTypes": ["Egress"], "egress": [
        {"to": [{"ipBlock": {"cidr": "10.0.0.4/32"}}]}]}))
    cluster.add_object("job", {"app": "job"})
    cluster.node.make("job")
    plug(cluster.node, "node", "job", ["10.0.0.5"], ["10.0.0.1"])
    chain = ["nft", "list", "chain", "inet", "slipway-network-policy", "starting-egress"]
    cluster.until("the pod is starting", lambda: "jump" in subprocess.run(chain, check=True, capture_output=True, text=True).stdout)
    assert not cluster.connect("job", ("10.0.0.2", 80), 0.5)
    assert cluster.connect("other", ("10.0.0.2", 80))
    cluster.set_address("job", "10.0.0.5")
    cluster.until("the pod is known", lambda: "jump" not in subprocess.run(chain, check=True, capture_output=True, text=True).stdout)
    assert not cluster.connect("job", ("10.0.0.2", 80), 0.5)


def check_removal(cluster):
    """The rules stay when the agent is stopped for an update, and go with the DaemonSet."""
    daemon_sets = "/apis/apps/v1/namespaces/openshift-flannel/daemonsets"
    labels = {"app": "flannel-kube-proxy"}
    cluster.api("POST", daemon_sets, {"metadata": {"name": "flannel-kube-proxy"}, "spec": {
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "none"}]}}}})
    cluster.node.end("agent")
    assert subprocess.run(TABLE, capture_output=True).returncode == 0
    cluster.start_agent()
    cluster.api("DELETE", f"{daemon_sets}/flannel-kube-proxy")
    cluster.node.end("agent")
    assert subprocess.run(TABLE, capture_output=True).returncode != 0, "the rules are still there"
    assert cluster.connect("job", ("10.0.0.2", 80))


def test_established_connections_stay(namespaces):
    """A connection of before a policy stays, also for packets in its own direction."""
    namespaces.make("node", "pod-1", "pod-2")
    make_bridge(namespaces, "node", "10.0.0.1/24")
    for number in (1, 2):
        plug(namespaces, "node", f"pod-{number}", [f"10.0.0.{number + 1}"], ["10.0.0.1"])

    def load(policies):
        pods = [{"metadata": {"name": f"pod-{n}", "namespace": "a"}, "spec": {"nodeName": "n"},
                 "status": {"phase": "Running", "podIPs": [{"ip": f"10.0.0.{n + 1}"}]}} for n in (1, 2)]
        rules = compiled({"policies": policies, "pods": pods, "namespaces": [{"metadata": {"name": "a"}}]})["rules"]
        subprocess.run(namespaces.inside("node", "nft", "-f", "-"), input=rules, check=True, text=True, timeout=60)

    load([])
    server = open_in(namespaces, "pod-1", lambda: socket.create_server(("10.0.0.2", 80)))
    client = open_in(namespaces, "pod-2", lambda: socket.create_connection(("10.0.0.2", 80), timeout=20))
    accepted, _ = server.accept()
    everything = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    load([{"metadata": {"name": "deny", "namespace": "a"}, "spec": everything}])
    with server, client, accepted:
        for one, other in ((client, accepted), (accepted, client)):
            one.sendall(b"x")
            other.settimeout(20)
            assert other.recv(1) == b"x"
        with pytest.raises(OSError):
            open_in(namespaces, "pod-2", lambda: socket.create_connection(("10.0.0.2", 80), timeout=0.5))


def open_in(namespaces, name, make):
    """A socket that a thread makes in another namespace."""
    results = []

    def run():
        enter(namespaces.processes[name].pid)
        try:
            results.append(make())
        except OSError as failure:
            results.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(results[0], OSError):
        raise results[0]
    return results[0]


def compiled(objects, bridge="cni0"):
    done = subprocess.run([BIN / "network_policy_tool", "compile", "n", bridge], input=json.dumps(objects), check=True, capture_output=True,
                          text=True, timeout=300)
    return json.loads(done.stdout)


def test_throughput_without_policies(namespaces):
    """Pairs of measurements, with the table of the agent and without it, in turn: bytes for a second of CPU time. The packets of a pair of
    pods cost nothing else, and the time of a busy host says nothing."""
    namespaces.make("node", "pod-1", "pod-2")
    make_bridge(namespaces, "node", "10.0.0.1/24")
    for number in (1, 2):
        plug(namespaces, "node", f"pod-{number}", [f"10.0.0.{number + 1}"], ["10.0.0.1"])
    # kube-proxy tracks connections on every node, so that is no cost of the agent.
    tracking = "table inet other { chain c { type filter hook forward priority filter - 10; ct state invalid drop; }; }"
    subprocess.run(namespaces.inside("node", "nft", "-f", "-"), input=tracking, check=True, text=True)
    pods = [{"metadata": {"name": f"pod-{n}", "namespace": "a"}, "spec": {"nodeName": "n"},
             "status": {"phase": "Running", "podIPs": [{"ip": f"10.0.0.{n + 1}"}]}} for n in (1, 2)]
    rules = compiled({"policies": [], "pods": pods, "namespaces": []})["rules"]
    removed = "table inet slipway-network-policy\ndelete table inet slipway-network-policy\n"
    server = open_in(namespaces, "pod-1", lambda: socket.create_server(("10.0.0.2", 80)))

    def rate(script, seconds=0.25):
        subprocess.run(namespaces.inside("node", "nft", "-f", "-"), input=script, check=True, text=True)
        client = open_in(namespaces, "pod-2", lambda: socket.create_connection(("10.0.0.2", 80), timeout=20))
        accepted, _ = server.accept()
        received, buffer = 0, bytearray(1 << 20)

        def send():
            block = bytes(1 << 18)
            with contextlib.suppress(OSError):
                while True:
                    client.sendall(block)

        thread = threading.Thread(target=send)
        began, used = time.monotonic(), time.process_time()
        thread.start()
        while time.monotonic() < began + seconds:
            received += accepted.recv_into(buffer)
        took = time.process_time() - used
        accepted.close()
        thread.join()
        client.close()
        return received / took

    rate(removed)
    ratios, rates = [], []
    for turn in range(MOST_PAIRS):
        # The order changes, so that a trend of the host counts for both.
        scripts = [rules, removed] if turn % 2 else [removed, rules]
        measured = {script: rate(script) for script in scripts}
        ratios.append(measured[rules] / measured[removed])
        rates.append(measured[removed])
        if turn + 1 >= LEAST_PAIRS and statistics.median(ratios) > 0.97:
            break
    server.close()
    median = statistics.median(ratios)
    print(f"throughput with the table: {100 * median:.1f} % of {statistics.median(rates) * 8 / 1e9:.1f} Gbit for a second of CPU time, median "
          f"of {len(ratios)} pairs")
    assert median > 0.95, ratios


def large_cluster():
    """1,000 policies and 10,000 pods, of which 244 run on node "n"."""
    numbers = random.Random(7)
    namespaces_of = [{"metadata": {"name": f"ns-{n}", "labels": {"team": str(n % 10)}}} for n in range(100)]
    pods = [{"metadata": {"name": f"p-{n}", "namespace": f"ns-{n % 100}", "labels": {"app": str(numbers.randrange(50)), "pod": str(n)}},
             "spec": {"nodeName": "n" if n % 41 == 0 else "other",
                      "containers": [{"name": "c", "image": "none", "ports": [{"name": "http", "containerPort": 80}]}]},
             "status": {"phase": "Running", "podIPs": [{"ip": f"10.{128 + n // 65536}.{n // 256 % 256}.{n % 256}"}]}} for n in range(10_000)]
    policies = [{"metadata": {"name": f"p-{n}", "namespace": f"ns-{n % 100}"}, "spec": {
        "podSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"team": str(numbers.randrange(10))}},
                               "podSelector": {"matchLabels": {"app": str(numbers.randrange(50))}}},
                              {"ipBlock": {"cidr": "10.0.0.0/8", "except": [f"10.{numbers.randrange(256)}.0.0/16"]}}],
                     "ports": [{"port": "http"}, {"port": 8000, "endPort": 8100}]}],
        "egress": [{"to": [{"namespaceSelector": {"matchLabels": {"team": str(numbers.randrange(10))}}}]}]}} for n in range(1_000)]
    return {"policies": policies, "pods": pods, "namespaces": namespaces_of}


def test_a_thousand_policies_and_ten_thousand_pods(namespaces):
    objects = large_cluster()
    before = compiled(objects)
    moved = json.loads(json.dumps(objects))
    moved["pods"].append({"metadata": {"name": "new", "namespace": "ns-1", "labels": {"app": "1"}}, "spec": {"nodeName": "n"},
                          "status": {"phase": "Running", "podIPs": [{"ip": "10.200.0.1"}]}})
    namespaces.make("node")

    def load(script):
        began, usage = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(namespaces.inside("node", "nft", "-f", "-"), input=script, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[:2000]
        return time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - usage

    first, again = load(before["rules"]), load(before["rules"])
    print(f"compiled in {before['seconds']:.2f} s: {before['chains']} chains, {before['sets']} sets, {before['isolated']} isolated pods, "
          f"{len(before['rules']) / 1e6:.1f} MB of text; nft {first[0]:.2f} s, replacing it {again[0]:.2f} s")
    assert before["isolated"] == 244
    change = load(change_of(before["rules"], compiled(moved)["rules"]))
    print(f"a new pod: nft {change[0]:.2f} s")


class LargeApi(http.server.ThreadingHTTPServer):
    """Serves the lists of a large cluster, page by page, and watches that tell of pods that a test adds: an API server would need minutes
    to create them."""

    def __init__(self, objects):
        super().__init__(("127.0.0.1", 0), LargeApiAnswer)
        self.lists = {"/api/v1/pods": objects["pods"], "/api/v1/namespaces": objects["namespaces"],
                      "/apis/networking.k8s.io/v1/networkpolicies": objects["policies"]}
        self.added, self.changed = [], threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, pod):
        with self.changed:
            self.added.append(pod)
            self.changed.notify_all()


class LargeApiAnswer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        place = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(place.query)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if "watch" in query:
            return self.watch(place.path)
        if place.path not in self.server.lists:
            self.wfile.write(b"{}")  # its DaemonSet
            return None
        items, first, limit = self.server.lists[place.path], int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        more = {"continue": str(first + limit)} if first + limit < len(items) else {}
        self.wfile.write(json.dumps({"metadata": {"resourceVersion": "1", **more}, "items": items[first:first + limit]}).encode())
        return None

    def watch(self, path):
        sent = 0
        while True:
            with self.server.changed:
                self.server.changed.wait_for(lambda: path == "/api/v1/pods" and len(self.server.added) > sent)
                pod = self.server.added[sent]
            sent += 1
            self.wfile.write(json.dumps({"type": "ADDED", "object": pod}).encode() + b"\n")
            self.wfile.flush()

    def log_message(self, *_):
        pass


def test_an_agent_in_a_large_cluster(tmp_path, own_network):
    objects = large_cluster()
    # The objects of real pods are larger.
    for pod in objects["pods"]:
        pod["metadata"]["annotations"] = {"filler": "x" * 4000}
    server, port, node = LargeApi(objects), free_port(), Namespaces(tmp_path)
    (tmp_path / "kubeconfig").write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
        f"clusters: [{{name: test, cluster: {{server: 'http://127.0.0.1:{server.server_port}'}}}}]\n"
        "contexts: [{name: test, context: {cluster: test, user: test}}]\nusers: [{name: test, user: {token: none}}]\n")
    (tmp_path / "cluster-network-operator").symlink_to(BIN / "slipway-operator")
    for name in ("iptables", "ip6tables"):
        pathlib.Path(f"/proc/sys/net/bridge/bridge-nf-call-{name}").write_text("1")
    try:
        began = time.monotonic()
        node.spawn("agent", [tmp_path / "cluster-network-operator", "policy-agent", "--node=n", f"--port={port}", f"--kubeconfig={tmp_path}/kubeconfig"],
                   {"PATH": os.environ["PATH"]})
        node.wait("agent", lambda: is_ready(port))
        agent = node.processes["agent"].pid
        print(f"rules in force {time.monotonic() - began:.1f} s after the start, with {cpu_of(agent):.1f} s of CPU time; {memory_of(agent)}")
        times, used = [], cpu_of(agent)
        for number in range(5):
            address, began = f"10.200.0.{number + 1}", time.monotonic()
            server.add({"metadata": {"name": f"new-{number}", "namespace": "ns-1", "labels": {"app": "1"}, "resourceVersion": str(number + 2)},
                        "spec": {"nodeName": "n"}, "status": {"phase": "Running", "podIPs": [{"ip": address}]}})
            element = ["nft", "get", "element", "inet", "slipway-network-policy", "ingress-v4", "{", address, "}"]
            node.until("agent", "the new pod is isolated", lambda words=element: subprocess.run(words, capture_output=True).returncode == 0)
            times.append(time.monotonic() - began)
        used = (cpu_of(agent) - used) / len(times)
        print(f"a new pod is isolated after {statistics.median(times):.2f} s, with {used:.2f} s of CPU time; {memory_of(agent)}")
        resident = int(memory_of(agent).split("VmRSS: ")[1].split()[0])
        assert resident < 150_000, "kB: it keeps whole objects"
        assert used < 1, "seconds of CPU time for one pod"
    finally:
        node.end_all()
        server.shutdown()
        server.server_close()


def cpu_of(process):
    """CPU seconds of a program and of what it has run."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def memory_of(process):
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return ", ".join(" ".join(line.split()) for line in lines if line.startswith(("VmRSS", "VmHWM")))


def change_of(before, after):
    """The elements that `after` adds to sets of `before`: what the agent writes when a pod comes."""
    def elements(rules):
        found = {}
        for line in rules.splitlines():
            if line.startswith("add element "):
                head, _, tail = line.partition(" { ")
                found[head] = set(tail.removesuffix(" }").split(", "))
        return found
    old, new = elements(before), elements(after)
    return "".join(f"{head} {{ {', '.join(sorted(added))} }}\n" for head, items in new.items()
                   if head in old and (added := items - old[head]) and "interval" not in head)
