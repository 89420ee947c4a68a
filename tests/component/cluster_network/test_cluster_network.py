"""The output of the network and the DNS operator, used by the real programs in network namespaces: nft, kube-proxy, CoreDNS."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from network_namespaces import namespaces  # noqa: E402, F401

BIN = pathlib.Path(os.environ["SLIPWAY_BIN"])
PAYLOAD = pathlib.Path(os.environ["SLIPWAY_PAYLOAD_BIN"])
DEADLINE = 60

NETWORK = """
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec: {networkType: Flannel, clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}], serviceNetwork: [172.30.0.0/16]}
---
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
status: {apiServerInternalURI: "https://api-int.demo.example.com:6443"}
---
apiVersion: operator.openshift.io/v1
kind: DNS
metadata: {name: default}
"""
DNS_SETTINGS = """
spec:
  logLevel: Debug
  cache: {positiveTTL: 1m, negativeTTL: 1s}
  upstreamResolvers: {policy: RoundRobin, protocolStrategy: TCP, upstreams: [{type: SystemResolvConf}, {type: Network, address: 192.0.2.1, port: 5353}]}
  servers:
  - {name: one, zones: [example.com, 10.in-addr.arpa], forwardPlugin: {policy: Sequential, upstreams: [192.0.2.2, "192.0.2.3:5353"]}}
  - {name: two, zones: [Example.org.], forwardPlugin: {protocolStrategy: TCP, upstreams: ["2001:db8::1", "[2001:db8::2]:53"]}}
"""


def config_map(operator, objects):
    """The data of the ConfigMap that the operator creates."""
    done = subprocess.run([BIN / "cluster_network_tool", operator], input=objects, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    [found] = [each for each in json.loads(done.stdout) if each["kind"] == "ConfigMap"]
    return found["data"]


def test_pods_get_no_machine_configuration(namespaces, tmp_path):
    """pod - node - other: a pod on its node, and another node with a pod's address."""
    rules = tmp_path / "rules.nft"
    rules.write_text(config_map("network", NETWORK)["rules.nft"])
    namespaces.make("pod", "node", "other")
    namespaces.cable("pod", "node", ("10.128.0.2/23", "10.128.0.1/23"))
    namespaces.cable("node", "other", ("10.97.0.1/24", "10.97.0.2/24"))
    namespaces.run("pod", "ip", "route", "add", "default", "via", "10.128.0.1")
    namespaces.run("other", "ip", "route", "add", "default", "via", "10.97.0.1")
    namespaces.run("other", "ip", "address", "add", "10.130.0.2/32", "dev", "lo")
    namespaces.run("node", "ip", "route", "add", "10.130.0.0/23", "via", "10.97.0.2")
    namespaces.run("node", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    for name in ("node", "other"):
        namespaces.listen(name, 22622, 22623, 22624)
    assert namespaces.connects("pod", "10.97.0.2", 22623), "without the rules"
    for _ in range(2):  # a pod that restarts
        namespaces.run("node", "nft", "-f", rules)
    listed = namespaces.run("node", "nft", "list", "ruleset").stdout
    assert listed.count("reject") == 4, listed  # by the pod's address and by a Service, in both chains
    expected = {("pod", "10.97.0.1", 22622): True, ("pod", "10.97.0.1", 22623): False, ("pod", "10.97.0.1", 22624): False,
                ("pod", "10.97.0.2", 22622): True, ("pod", "10.97.0.2", 22623): False, ("pod", "10.97.0.2", 22624): False,
                ("pod", "10.130.0.2", 22623): True,  # a pod may use any port
                ("node", "10.97.0.1", 22623): True, ("node", "10.97.0.2", 22623): True, ("other", "10.97.0.1", 22624): True}
    assert {case: namespaces.connects(*case) for case in expected} == expected


def test_kube_proxy_takes_its_configuration(tmp_path):
    file, written = tmp_path / "kube-proxy.yaml", tmp_path / "written"
    file.write_text(config_map("network", NETWORK)["kube-proxy.yaml"])
    done = subprocess.run(["unshare", "-n", PAYLOAD / "hyperkube", "kube-proxy", f"--config={file}", f"--write-config-to={written}"],
                          capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    assert "strict" not in done.stderr.lower(), "it knows a field of another name"
    lines = [line.strip() for line in written.read_text().splitlines()]
    for line in ("mode: nftables", "clusterCIDR: 10.128.0.0/14", "detectLocalMode: ClusterCIDR", "maxPerCore: 0", "min: 0",
                 "tcpEstablishedTimeout: 0s", "udpStreamTimeout: 0s"):
        assert line in lines, line


@pytest.mark.parametrize("settings", ["", DNS_SETTINGS], ids=["usual", "all"])
def test_coredns_takes_its_configuration(namespaces, tmp_path, settings):
    corefile = config_map("dns", NETWORK + settings)["Corefile"]
    # No server listens there: only the parsing of the file is tested.
    (tmp_path / "kubeconfig").write_text("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                                         "contexts: [{name: c, context: {cluster: c, user: ''}}]\n")
    head = "ip6.arpa {\n"
    assert corefile.count(head) == 1
    (tmp_path / "Corefile").write_text(corefile.replace(head, f"{head}kubeconfig {tmp_path}/kubeconfig\n"))
    namespaces.make("pod")
    namespaces.spawn("coredns", namespaces.inside("pod", PAYLOAD / "coredns", "-conf", tmp_path / "Corefile"))
    # The last line before it answers queries.
    namespaces.wait("coredns", lambda: "CoreDNS-" in namespaces.log("coredns"))
    for zone in ["."] + (["example.com.", "10.in-addr.arpa.", "example.org."] if settings else []):
        assert f"{zone}:5353" in namespaces.log("coredns"), namespaces.tail("coredns")
