"""What outsiders can reach and read of an installed cluster, and the effective settings of its programs, from the CIS Benchmark for
Kubernetes.

The tables list the expected state; deviations have a reason.
"""

import pathlib
import re
import sys

import pytest
from installation import ALL_MACHINES, MASTERS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "component/support"))
from security import EXCEPTIONS, failures, flattened  # noqa: E402

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")

# Listeners on the machines' network by port, and their answers to outsiders. All others listen on loopback only, or are pods.
OPEN = {
    22: "sshd: people's keys",
    2379: "etcd, for clients: a certificate of its own authority", 2380: "etcd, for members: the same", 2381: "etcd's gateway: the same",
    9978: "etcd's metrics: the same",
    9099: "metrics of operators: a token of a user with a role",
    6443: "API server: names and roles; also the proxy of the virtual address",
    10250: "kubelet: names and roles, judged by the API server",
    10256: "kube-proxy's health",
    10257: "controller manager: names and roles but for health", 10259: "scheduler: the same",
    22623: "machine configuration: the token of machines; pods are refused",
    80: "router: routes", 443: "router: routes", 1936: "router: health; figures with a name",
}

# (port, path, answer to an outsider on another machine): an HTTP status, "refused" by the listener, or "certificate" by TLS.
DOORS = [
    (6443, "/readyz", 200), (6443, "/version", 200), (6443, "/api/v1/namespaces/kube-system/secrets", 403), (6443, "/apis", 403), (6443, "/metrics", 403),
    (6443, "/debug/pprof/", 403), (6443, "/openapi/v2", 403), (6443, "/openid/v1/jwks", 403), (6443, "/logs/", 403),
    (10250, "/healthz", 401), (10250, "/pods", 401), (10250, "/metrics", 401), (10250, "/debug/pprof/", 401), (10250, "/configz", 401),
    (10257, "/healthz", 200), (10257, "/metrics", 403), (10257, "/configz", 403), (10257, "/debug/pprof/", 403),
    (10259, "/healthz", 200), (10259, "/metrics", 403), (10259, "/configz", 403), (10259, "/debug/pprof/", 403),
    (2379, "/health", "certificate"), (2380, "/members", "certificate"), (2381, "/v3/cluster/member/list", "certificate"), (2381, "/debug/pprof/", "certificate"),
    (9978, "/metrics", "certificate"), (9099, "/metrics", 401), (9099, "/", 404), (9980, "/readyz", "refused"), (10255, "/pods", "refused"), (10357, "/healthz", "refused"), (10248, "/healthz", "refused"),
    (22623, "/healthz", 200), (22623, "/config/master", 403), (22623, "/config/worker", 403), (22624, "/config/master", "refused"),
]
CURL = {7: "refused", 35: "certificate", 56: "certificate"}

# Folders and files of machines, all owned by root: (role or all, arguments of find, maximum mode, description).
PRIVATE, READABLE = 0o600, 0o644
FILES = [
    ("", "/etc/kubernetes/manifests /etc/kubernetes/static-pod-resources -type f", PRIVATE, "static pods, their configs and keys"),
    ("master", "/etc/kubernetes/static-pod-resources -type d -path '*/secrets/*'", 0o700, "folders with keys"),
    ("", "/var/lib/kubelet /var/lib/kubelet/pki /etc/kubernetes/cni/net.d -maxdepth 0", 0o700, "folders with keys and the network of pods"),
    ("", "/etc/kubernetes/kubeconfig /etc/kubernetes/config-server.json /var/lib/kubelet/kubeconfig /var/lib/kubelet/config.json", PRIVATE, "credentials"),
    ("", "/var/lib/kubelet/pki -type f ! -name '*.crt'", PRIVATE, "the kubelet's certificates with their keys"),
    ("", "/etc/kubernetes/kubelet.conf /etc/openshift/kubelet.conf.d -type f", PRIVATE, "the kubelet's config"),
    ("", "/etc/kubernetes/kubelet-ca.crt", READABLE, "an authority, which everybody may know"),
    ("", "/etc/systemd/system -type f", READABLE, "units, which have no secrets"),
    ("", "/etc/containerd/conf.d -type f", PRIVATE, "logins of registries"),
    ("", "/etc/machine-config-daemon/currentconfig", PRIVATE, "the machine's config"),
    ("", "/run/containerd/containerd.sock", 0o660, "containerd"),
    ("master", "/var/lib/etcd -type d", 0o700, "etcd's data"),
    # etcd writes its snapshots with mode 0644, in folders with mode 0700.
    ("master", "/var/lib/etcd -type f ! -name '*.snap'", PRIVATE, "etcd's data"),
    ("master", "/var/log/kube-apiserver -type d", 0o700, "the audit log"),
    ("master", "/var/log/kube-apiserver -type f", PRIVATE, "the audit log"),
]


def role_of(machine):
    return machine.partition("-")[0]


def address_of(installed, machine):
    return installed.machines()[machine]["address"]


def flags_of(installed, machine, program):
    """The flags that a program of a static pod logged at its start."""
    script = f"cat $(ls -t /var/log/pods/*_*{program}-{machine}_*/{program}/*.log | head -1) | grep -a 'FLAG: --'"
    said = installed.machine(machine, "sh", "-c", script).stdout
    return dict(re.findall(r'FLAG: --([a-z0-9-]+)="(.*)"$', said, re.MULTILINE))


def etcd_of(installed, machine):
    script = "pid=$(pgrep -x etcd) && tr '\\0' '\\n' </proc/$pid/cmdline && tr '\\0' '\\n' </proc/$pid/environ"
    lines = installed.machine(machine, "sh", "-c", script).stdout.splitlines()
    variables = {line[5:].partition("=")[0].lower().replace("_", "-"): line.partition("=")[2] for line in lines if line.startswith("ETCD_")}
    return variables | {line[2:].partition("=")[0]: line.partition("=")[2] for line in lines if line.startswith("--")}


def test_programs_run_as_the_table_wants_them(installed):
    places = {f"{machine}/{program}": flags_of(installed, machine, program) for machine in MASTERS for program in KUBERNETES}
    for place, flags in places.items():
        assert len(flags) > 50, f"{place} said {flags}"
        if place.endswith("kube-scheduler"):
            # Its config file sets it.
            flags["profiling"] = "false"
    places |= {f"{machine}/etcd": etcd_of(installed, machine) for machine in MASTERS}
    for node in installed.objects("nodes"):
        name = node["metadata"]["name"]
        places[f"{name}/kubelet"] = flattened(installed.api.get(f"/api/v1/nodes/{name}/proxy/configz")["kubeletconfig"])
    assert [str(failure) for failure in failures(places) if failure.check.key not in EXCEPTIONS] == []


@pytest.mark.parametrize("machine", ALL_MACHINES)
def test_who_listens_to_other_machines(installed, machine):
    lines = installed.machine(machine, "ss", "--listening", "--tcp", "--udp", "--numeric", "--processes", "--no-header").stdout.splitlines()
    open_ports = {}
    for line in lines:
        address, _, port = line.split()[4].rpartition(":")
        if not address.startswith(("127.", "[::1]")):
            open_ports[int(port)] = line
    assert {port: line for port, line in open_ports.items() if port not in OPEN} == {}


def test_strangers_find_doors_closed(installed):
    asked, where = MASTERS[1], MASTERS[0]
    address = address_of(installed, asked)
    lines = "\n".join(f"curl --silent --insecure --max-time 10 --output /dev/null --write-out '%{{http_code}} ' https://{address}:{port}{path}; echo $?" for port, path, _ in DOORS)
    answers = [line.split() for line in installed.machine(where, "sh", "-c", lines).stdout.splitlines()]
    seen = [(port, path, int(status) if code == "0" else CURL.get(int(code), f"curl: {code}")) for (port, path, _), (status, code) in zip(DOORS, answers, strict=True)]
    assert seen == DOORS


@pytest.mark.parametrize("machine", ALL_MACHINES)
def test_files_are_for_those_who_need_them(installed, machine):
    wrong = []
    for role, words, most, what in FILES:
        if not role_of(machine).startswith(role):
            continue
        found = installed.machine(machine, "sh", "-c", f"find {words} -printf '%m %u:%g %p\\n' 2>/dev/null || true").stdout.splitlines()
        assert found, f"{what}: there is nothing at {words}"
        for line in found:
            mode, owner, path = line.split(" ", 2)
            if int(mode, 8) & ~most or owner != "root:root":
                wrong.append(f"{path}: {mode} {owner}; at most {most:o} for {what}")
    assert wrong == []
