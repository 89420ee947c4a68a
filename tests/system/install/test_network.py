"""The pod network, the addresses of Services, and DNS names (flannel, kube-proxy, CoreDNS)."""

import pathlib

import pytest
from installation import API_ADDRESS, MASTERS
from test_hand_over import condition

SPACE = "network-test"
OPERATORS = {"network": ("openshift-flannel", "flannel-kube-proxy"), "dns": ("openshift-dns", "dns-default")}
DNS_ADDRESS = "172.30.0.10"


class Pods:
    """One pod on each node, as client and server."""

    def __init__(self, installed):
        self.installed = installed
        self.by_node = {pod["spec"]["nodeName"]: pod for pod in installed.objects("pods", "--namespace", SPACE, "--selector=app=echo")}
        self.nodes = sorted(self.by_node)

    def address(self, node):
        return self.by_node[node]["status"]["podIP"]

    def run(self, node, *command, check=True):
        return self.installed.kubectl("exec", "--namespace", SPACE, self.by_node[node]["metadata"]["name"], "--", *command, check=check)

    def fetch(self, node, url):
        """(node of the pod that answered, client address that it saw), requested by the pod of `node`."""
        return self.run(node, "curl", "--silent", "--show-error", "--max-time", "10", url).stdout.split()

    def resolve(self, node, name):
        done = self.run(node, "getent", "ahostsv4", name, check=False)
        return {line.split()[0] for line in done.stdout.splitlines()}


@pytest.fixture(scope="module")
def pods(installed):
    network = installed.api.get("/apis/apps/v1/namespaces/openshift-flannel/daemonsets/flannel-kube-proxy")
    image = next(each["image"] for each in network["spec"]["template"]["spec"]["containers"] if each["name"] == "kube-proxy")
    manifest = pathlib.Path(__file__).with_name("network_pods.yaml").read_text().replace("IMAGE", image)
    installed.kubectl("apply", "--filename", "-", input=manifest)
    try:
        installed.kubectl("rollout", "status", "--namespace", SPACE, "daemonset/echo", "--timeout=120s")
        yield Pods(installed)
    finally:
        installed.kubectl("delete", "namespace", SPACE, "--wait=false")


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_operator_is_content(installed, operator):
    path = f"/apis/config.openshift.io/v1/clusteroperators/{operator}"
    installed.wait_until(f"ClusterOperator {operator} is available", lambda: condition(installed.api.get(path), "Available") == "True")
    seen = installed.api.get(path)
    assert {kind: condition(seen, kind) for kind in ("Available", "Progressing", "Degraded")} == \
        {"Available": "True", "Progressing": "False", "Degraded": "False"}, seen["status"]
    space, name = OPERATORS[operator]
    status = installed.api.get(f"/apis/apps/v1/namespaces/{space}/daemonsets/{name}")["status"]
    assert status["numberAvailable"] == status["desiredNumberScheduled"] >= len(MASTERS)


def test_the_network_says_what_it_is(installed):
    network = installed.api.get("/apis/config.openshift.io/v1/networks/cluster")
    assert network["status"]["networkType"] == "Flannel"
    assert network["status"]["clusterNetwork"] == network["spec"]["clusterNetwork"]
    assert network["status"]["serviceNetwork"] == network["spec"]["serviceNetwork"]
    nodes = installed.api.get("/api/v1/nodes")["items"]
    assert {condition(node, "NetworkUnavailable") for node in nodes} == {"False"}
    dns = installed.api.get("/apis/operator.openshift.io/v1/dnses/default")["status"]
    assert (dns["clusterIP"], dns["clusterDomain"]) == (DNS_ADDRESS, "cluster.local")


def test_pods_see_each_other_by_their_own_addresses(pods):
    expected = {(one, other): [other, pods.address(one)] for one in pods.nodes for other in pods.nodes}
    seen = {(one, other): pods.fetch(one, f"http://{pods.address(other)}:8080/") for one, other in expected}
    assert seen == expected


def test_a_service_spreads_over_all_nodes(installed, pods):
    address = installed.api.get(f"/api/v1/namespaces/{SPACE}/services/echo")["spec"]["clusterIP"]
    from_pod = pods.nodes[0]
    # The probability that one of five pods gets no request is one in eleven million.
    asked = pods.run(from_pod, "bash", "-c", f"for i in {{1..80}}; do curl --silent --show-error --max-time 10 http://{address}/; echo; done")
    answers = [line.split() for line in asked.stdout.splitlines()]
    assert {answer[0] for answer in answers} == set(pods.nodes)
    # A pod on the same node sees the node's address: the answer has to pass kube-proxy.
    assert {answer[1] for answer in answers if answer[0] != from_pod} == {pods.address(from_pod)}
    for machine in MASTERS:
        assert installed.machine(machine, "curl", "--silent", "--max-time", "10", f"http://{address}/").stdout.split()[0] in pods.nodes


def test_names(installed, pods):
    everybody = {pods.address(node) for node in pods.nodes}
    api = installed.api.get("/api/v1/namespaces/default/services/kubernetes")["spec"]["clusterIP"]
    infrastructure = installed.api.get("/apis/config.openshift.io/v1/infrastructures/cluster")["status"]
    host = infrastructure["apiServerInternalURI"].removeprefix("https://").split(":")[0]
    for node in pods.nodes:
        assert pods.resolve(node, "kubernetes.default.svc.cluster.local") == {api}
        assert pods.resolve(node, "echo") == {installed.api.get(f"/api/v1/namespaces/{SPACE}/services/echo")["spec"]["clusterIP"]}
        assert pods.resolve(node, f"headless.{SPACE}.svc.cluster.local") == everybody
        assert len(pods.resolve(node, host)) == 1
        assert pods.resolve(node, "nothing.default.svc.cluster.local") == set()
    assert "ok" in pods.run(pods.nodes[0], "curl", "--silent", "--insecure", "https://kubernetes.default/readyz").stdout


def test_network_policies_are_enforced(installed, pods):
    """One pod may connect to the pods of the namespace; the others may not, on the same node or not. Probes reach all of them."""
    path = f"/apis/networking.k8s.io/v1/namespaces/{SPACE}/networkpolicies"
    allowed, *others = pods.nodes

    def connects(source, target):
        return pods.run(source, "curl", "--silent", "--max-time", "1", f"http://{pods.address(target)}:8080/", check=False).returncode == 0

    installed.api.expect("POST", path, {"metadata": {"name": "one"}, "spec": {
        "podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"ipBlock": {"cidr": f"{pods.address(allowed)}/32"}}]}]}})
    try:
        for target in others:
            source = next(node for node in others if node != target)
            installed.wait_until(f"{source} does not reach {target}", lambda pair=(source, target): not connects(*pair), limit=20)
            assert connects(allowed, target), f"{allowed} does not reach {target}"
        assert connects(others[0], others[0]), "a pod reaches itself"
        machine = next(node for node in MASTERS if node in pods.nodes)
        assert installed.machine(machine, "curl", "--silent", "--max-time", "10", f"http://{pods.address(machine)}:8080/").stdout
        settings = installed.api.get("/apis/operator.openshift.io/v1/networks/cluster")
        assert condition(settings, "NetworkPoliciesEnforced") == "True", settings["status"]
    finally:
        installed.api.expect("DELETE", f"{path}/one")
    installed.wait_until("connections pass again", lambda: connects(others[1], others[0]), limit=20)


def test_pods_get_no_machine_configuration(installed, pods):
    """By any name and address, also through a Service that any user created."""
    refused, unanswered = 7, 28  # exit statuses of curl
    infrastructure = installed.api.get("/apis/config.openshift.io/v1/infrastructures/cluster")["status"]
    name = infrastructure["apiServerInternalURI"].removeprefix("https://").split(":")[0]
    nodes = [pods.by_node[node]["status"]["hostIP"] for node in MASTERS]
    service = installed.api.expect("POST", f"/api/v1/namespaces/{SPACE}/services", {
        "metadata": {"name": "way-around"}, "spec": {"type": "NodePort", "ports": [{"port": 22623}]}})
    installed.api.expect("POST", f"/apis/discovery.k8s.io/v1/namespaces/{SPACE}/endpointslices", {
        "metadata": {"name": "way-around", "labels": {"kubernetes.io/service-name": "way-around"}}, "addressType": "IPv4",
        "ports": [{"port": 22623}], "endpoints": [{"addresses": [node]} for node in nodes]})
    node_port = service["spec"]["ports"][0]["nodePort"]

    for place in [API_ADDRESS, name, *nodes]:
        installed.machine(MASTERS[0], "curl", "--silent", "--insecure", "--max-time", "10", f"https://{place}:22623/healthz")  # machines can connect
    straight = [f"{place}:{port}" for place in [*nodes, API_ADDRESS, name] for port in (22623, 22624)]
    around = [f"{service['spec']['clusterIP']}:22623", *(f"{node}:{node_port}" for node in nodes)]
    for machine in MASTERS:
        installed.wait_until(f"{machine} knows the Service", lambda: "way-around" in installed.machine(machine, "nft", "list", "table", "ip", "kube-proxy").stdout)
    ask = "for place in $0; do { curl --silent --insecure --max-time 3 https://$place/healthz; echo $place $?; } & done; wait"
    for node in pods.nodes:
        lines = pods.run(node, "bash", "-c", ask, " ".join(straight + around)).stdout.splitlines()
        seen = {place: int(code) for place, code in map(str.split, lines)}
        assert {place: seen[place] for place in straight} == dict.fromkeys(straight, refused), node
        # The refusal is lost when the addresses of the connection were translated twice.
        assert {seen[place] for place in around} <= {refused, unanswered}, f"{node}: {seen}"


def test_without_the_token_there_is_no_machine_configuration(installed, pods):
    """Only the token distinguishes machines from pods in the host network."""
    for node in MASTERS:
        places = [f"https://{API_ADDRESS}:22623", f"https://{pods.by_node[node]['status']['hostIP']}:22623", "http://127.0.0.1:22624"]
        headers = ["Accept: */*", "Authorization: Bearer ", "Authorization: Bearer none"]
        ask = [f"curl --silent --insecure --max-time 10 --header '{header}' --write-out ' %{{http_code}}\n' {place}/config/worker | tail -1"
               for place in places for header in headers]
        answers = [line.split()[-1] for line in installed.machine(node, "sh", "-c", "; ".join(ask)).stdout.splitlines()]
        assert answers == ["403"] * len(ask), node


def test_a_changed_setting_rolls_through_the_nodes_and_a_refused_one_does_not(installed):
    path = "/apis/operator.openshift.io/v1/dnses/default"
    pods_path = "/apis/apps/v1/namespaces/openshift-dns/daemonsets/dns-default"

    def rolled_out(generation):
        seen = installed.api.get(pods_path)
        status = seen["status"]
        return (seen["metadata"]["generation"] > generation and status["observedGeneration"] == seen["metadata"]["generation"]
                and status.get("updatedNumberScheduled") == status.get("numberAvailable") == status["desiredNumberScheduled"])
    before = installed.api.get(pods_path)["metadata"]["generation"]
    installed.api.patch(path, {"spec": {"logLevel": "Debug"}})
    installed.wait_until("CoreDNS runs with it", lambda: rolled_out(before), limit=120)
    after = installed.api.get(pods_path)["metadata"]["generation"]
    bad = {"name": "bad", "zones": ["cluster.local"], "forwardPlugin": {"upstreams": ["192.0.2.1"]}}
    installed.api.patch(path, {"spec": {"logLevel": "Normal", "servers": [bad]}})
    installed.wait_until("the operator refuses", lambda: condition(installed.api.get(path), "Degraded") == "True")
    assert installed.api.get(pods_path)["metadata"]["generation"] == after
    installed.api.patch(path, {"spec": {"logLevel": "Debug", "servers": None}})
    installed.wait_until("it does no more", lambda: condition(installed.api.get(path), "Degraded") == "False")
    assert installed.api.get(pods_path)["metadata"]["generation"] == after
