"""Local machines on an ordinary host: what they need of it, what they leave of it, and what ends with what.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s tests/system/ordinary_host

The host is one virtual machine (conftest.py). The tests run in the order of this file; each uses what the tests before it left.
"""

import json
import re

import pytest
from conftest import BUILD, NEIGHBOURS, SOURCE

STATE = "/var/lib/slipway/local"
# By emulation a machine boots ten times slower.
MINUTES = 900
# What slipway must not change.
CONFIGURATION = {
    "resolver": "readlink --canonicalize /etc/resolv.conf; cat /etc/resolv.conf /etc/nsswitch.conf /etc/hosts",
    "routes": "(ip route show table all; ip -6 route show table all) | sed 's/ expires [0-9]*sec//' | sort; ip rule",
    "interfaces": "ip -oneline address | sed 's/valid_lft.*//'; ip -oneline link | sort; ip netns list",
    "firewall": "nft list ruleset",
    "forwarding": "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding",
    "mounts": "findmnt --raw --noheadings --output TARGET,SOURCE,FSTYPE | grep --invert-match --extended-regexp '^/(run/user|proc/sys/fs/binfmt_misc)' | sort",
    "units": "systemctl list-units --state=failed --no-legend --plain; systemctl is-system-running",
    "inotify": "cat /proc/sys/fs/inotify/max_user_instances",
}
PROCESSES = "pgrep --full --list-full 'slipway|systemd-nspawn|dnsmasq' || true"
NETWORKS = "lsns --noheadings --type net --output NS | wc -l"
INOTIFY = r"""
for process in $(find /sys/fs/cgroup/slipway/{id}/{member} -name cgroup.procs -exec cat {{}} +); do
  count=$(ls -l /proc/$process/fd 2>/dev/null | grep --count anon_inode:inotify)
  [ "$count" = 0 ] || echo "$(cat /proc/$process/comm) $count"
done
"""
# A bridge of the host with two guests, as virtual machines have it. The firewall of the host is not asked about its packets.
GUESTS = """set -e
ip link add guests type bridge forward_delay 0
ip link set guests up
for number in 1 2; do
  ip netns add guest$number
  ip link add guest$number type veth peer name eth0 netns guest$number
  ip link set guest$number master guests up
  ip -netns guest$number address add 10.55.0.$number/24 dev eth0
  ip -netns guest$number link set eth0 up
done
"""
ASK_GUEST = "ip netns exec guest1 ping -c 1 -W 10 10.55.0.2"
IGNORED = "setsid sleep 86400 </dev/null >/dev/null 2>&1 &\n"
FORWARDED = "exec 3<>/dev/tcp/127.0.0.1/18022; head -n 1 <&3"


def configuration(host):
    return {name: host.run(script, check=False) for name, script in CONFIGURATION.items()}


def rows(host, cluster):
    listed = host.run(f"slipway machine list --cluster {cluster} --output json")
    return json.loads(listed)["machines"]


def states(host, cluster):
    return {row["name"]: row["state"] for row in rows(host, cluster)}


def owner_of(host, cluster):
    """(process, identifier of the cluster)"""
    folder = f"{STATE}/{cluster}"
    return json.loads(host.run(f"cat {folder}/owner.json"))["pid"], json.loads(host.run(f"cat {folder}/cluster.json"))["id"]


def check_owner(host, cluster):
    """The owner and the unshare that started it are in a cgroup that is not one of systemd's."""
    pid, identifier = owner_of(host, cluster)
    parent = host.run(f"ps -o ppid= {pid}").strip()
    for process in (pid, parent):
        assert host.run(f"cat /proc/{process}/cgroup") == f"0::/slipway/{identifier}/owner"


def controllers(host):
    return set(host.run("cat /sys/fs/cgroup/cgroup.subtree_control").split())


@pytest.fixture(scope="module")
def before(host):
    """The host before the first machine."""
    assert host.run("stat --file-system --format=%T /sys/fs/cgroup") == "cgroup2fs"
    assert host.run("sysctl --values fs.inotify.max_user_instances") == "128"
    host.run(GUESTS)
    host.run(f"until {ASK_GUEST}; do sleep 1; done")
    host.run("sleep 5")  # addresses of the new interfaces
    modules = host.run("lsmod | grep --extended-regexp --only-matching '^(overlay|br_netfilter|nf_tables|bridge|veth)\\b' | xargs")
    print(f"\nsecurity modules: {host.run('cat /sys/kernel/security/lsm')}; modules: {modules}")
    return {**configuration(host), "controllers": controllers(host), "networks": host.run(NETWORKS)}


@pytest.mark.parametrize("words, message", [
    ("list", "error: cluster default: not found in /var/lib/slipway/local (run `slipway machine create` to create one)"),
    ("create m0", "error: this host cannot run these machines: error: host: local machines require root, because they use mounts, namespaces and "
                  "cgroups (run it with sudo)"),
])
def test_without_root(host, before, words, message):
    assert host.run(f"runuser --login admin --command 'slipway machine {words}'", check=False) == message


def test_machines_of_a_unit_that_ends(host, before):
    """systemd ends what is left of the unit."""
    host.run(f"cat >/root/create <<'EOF'\n{IGNORED}slipway machine create m0 m1 --forward 18022:m0:22 --wait\nEOF\n")
    print("\n" + host.run("systemd-run --wait --pipe --quiet --unit=starter --property=Type=oneshot bash /root/create", MINUTES))
    assert host.run("pgrep --full 'sleep 8640[0]' || true") == ""
    assert states(host, "default") == {"m0": "running", "m1": "running"}
    for name in ("m0", "m1"):
        assert host.run(f"slipway machine shell {name} -- systemctl is-system-running --wait", MINUTES) == "running"
    check_owner(host, "default")


def test_the_network_of_machines_and_the_firewall_of_the_host(host):
    """The host drops what it forwards; the machines' packets never pass through it."""
    host.run("slipway machine shell m0 -- ping -c 1 -W 10 m1")
    assert host.run(f"bash -c '{FORWARDED}'").startswith("SSH-2.0-")


def test_bridges_of_the_host(host):
    """slipway loads br_netfilter, which would let the host's firewall drop packets between guests on the same bridge."""
    assert "br_netfilter" in host.run("lsmod")
    settings = "cat /proc/sys/net/bridge/bridge-nf-call-iptables"
    pid, _ = owner_of(host, "default")
    print(f"\nbridge-nf-call-iptables: host {host.run(settings)}, network of the machines {host.run(f'nsenter --net=/proc/{pid}/ns/net {settings}')}, "
          f"m0 {host.run(f'slipway machine shell m0 -- {settings}')}")
    host.run(ASK_GUEST)
    assert host.run(settings) == "0"
    assert host.run(f"nsenter --net=/proc/{pid}/ns/net {settings}") == "1"
    assert host.run(f"slipway machine shell m0 -- {settings}") == "1"


def test_the_host_is_as_before(host, before):
    now = configuration(host)
    assert now == {name: before[name] for name in now}


def test_a_shell_is_in_a_cgroup_of_its_machine(host):
    shell = host.run("slipway machine shell m0 -- cat /proc/self/cgroup")
    init = host.run("slipway machine shell m0 -- cat /proc/1/cgroup")
    print(f"\nshell {shell}, init {init}; AppArmor: " + host.run("slipway machine shell m0 -- cat /proc/1/attr/apparmor/current"))
    assert shell.endswith("/slipway-shell") and shell.rsplit("/", 1)[0] == init.rsplit("/", 1)[0]
    host.run("slipway machine shell m0 -- systemd-run --quiet --scope true")


def inotify_instances(host, member):
    """{name of a process: instances} of a machine of cluster `default`, or of its owner."""
    _, identifier = owner_of(host, "default")
    found = {}
    for line in host.run(INOTIFY.format(id=identifier, member=member)).splitlines():
        name, count = line.rsplit(" ", 1)
        found[name] = found.get(name, 0) + int(count)
    print(f"\ninotify instances of {member}: {sum(found.values())} {found}", end="")
    return found


def test_inotify_instances(host):
    """Without pods, a machine uses less than a worker. With cgroups of version 2, each container has one more."""
    text = (SOURCE / "src/provider/local/client.h").read_text()
    assumed = int(re.search(r"inotify_use = {.*worker = (\d+)};", text)[1])
    for member in ("m0", "m1"):
        assert 0 < sum(inotify_instances(host, member).values()) < assumed
    inotify_instances(host, "owner")
    before = inotify_instances(host, "m0")
    entries = json.loads((BUILD / "release/index.json").read_text())["manifests"]
    digest = next(entry["digest"] for entry in entries if entry["annotations"]["org.opencontainers.image.ref.name"] == "pod")
    image = f"registry.slipway.invalid/slipway/release@{digest}"
    for number in range(3):
        host.run(f"slipway machine shell m0 -- ctr --namespace k8s.io run --detach {image} test-{number}", MINUTES)
    assert sum(inotify_instances(host, "m0").values()) == sum(before.values()) + 3
    for number in range(3):
        host.run(f"slipway machine shell m0 -- sh -c 'ctr --namespace k8s.io tasks rm --force test-{number}; ctr --namespace k8s.io containers rm test-{number}'",
                 MINUTES)


def test_machines_of_a_session_that_ends(host):
    """With KillUserProcesses=yes, logind ends what is left of a session."""
    host.run(f"cat >/home/admin/create <<'EOF'\n{IGNORED}cat /proc/self/cgroup\nsudo slipway machine create m0 --cluster session --wait\nEOF\n")
    output = host.run("ssh -o StrictHostKeyChecking=no admin@127.0.0.1 bash /home/admin/create", MINUTES)
    assert re.search(r"^0::/user\.slice/user-\d+\.slice/session-.*\.scope$", output, re.M), output
    host.run("timeout 60 sh -c 'while pgrep --full \"sleep 8640[0]\" >/dev/null; do sleep 1; done'")
    host.run("timeout 60 sh -c 'while loginctl list-sessions --no-legend | grep --quiet admin; do sleep 1; done'")
    assert states(host, "session") == {"m0": "running"}
    assert host.run("slipway machine shell m0 --cluster session -- systemctl is-system-running --wait", MINUTES) == "running"
    check_owner(host, "session")
    # Other users cannot read the files of a cluster.
    refused = host.run("runuser --login admin --command 'slipway machine list --cluster session'", check=False)
    assert refused == f"error: cluster session: reading {STATE}/session/cluster.json: Permission denied (run it with sudo)"


def test_the_clock_is_set_back(host):
    host.run("date --set='-1 hour'")
    host.run("slipway machine reboot m1 --wait", MINUTES)
    assert rows(host, "default")[1]["boots"] == 2
    events = [json.loads(line) for line in host.run(f"cat {STATE}/default/events.jsonl").splitlines()]
    times = [event["time"] for event in events]
    assert times != sorted(times), "the clock was not set back"
    assert [event for event in events for value in event.values() if isinstance(value, (int, float)) and value < 0] == []
    assert not re.search(r"(^|\s)-\d", host.run("slipway machine list"))
    shown = host.run(f"slipway timeline --from {STATE}/default/events.jsonl", check=False)
    print(f"\n{shown}")
    assert not re.search(r"(^|\s)-\d", shown), shown
    host.run("date --set='+1 hour'")


@pytest.mark.parametrize("service", NEIGHBOURS)
def test_beside(host, service):
    """Another program that changes the network of the host is started while machines run; then a machine boots beside it."""
    host.run(f"systemctl start {service}", MINUTES)
    name = f"n{list(NEIGHBOURS).index(service)}"
    host.run(f"slipway machine create {name} --wait", MINUTES)
    host.run(f"slipway machine shell {name} -- ping -c 1 -W 10 m0")
    assert host.run(f"bash -c '{FORWARDED}'").startswith("SSH-2.0-")
    pid, _ = owner_of(host, "default")
    inside = host.run(f"nsenter --net=/proc/{pid}/ns/net nft list ruleset")
    print(f"\n{service}: rules in the network of the machines: {inside.count(chr(10))} lines; FORWARD of the host: "
          + host.run("iptables -S FORWARD 2>&1 | head -n 1", check=False) + "; ip_forward " + host.run("cat /proc/sys/net/ipv4/ip_forward"))
    assert inside == "", inside
    if service == "NetworkManager":
        print(host.run("nmcli --terse --fields DEVICE,TYPE,STATE device"))
    host.run(f"slipway machine destroy {name}")


def test_nothing_is_left(host, before):
    for service in NEIGHBOURS:
        host.run(f"systemctl stop {service}.socket {service} || systemctl stop {service}", MINUTES)
    for cluster in ("default", "session"):
        host.run(f"slipway machine destroy --all --cluster {cluster}", MINUTES)
    assert host.run(PROCESSES) == ""
    assert host.run("grep --files-with-matches slipway /proc/[0-9]*/mountinfo || true") == ""
    assert host.run("find /sys/fs/cgroup -name '*slipway*'") == ""
    assert host.run(f"ls -A {STATE}") == ""
    assert host.run(NETWORKS) == before["networks"]
    denials = host.run("journalctl --boot --no-pager --grep 'apparmor=\"DENIED\"' --output cat || true")
    # systemd enables controllers for units that delegate, like docker.service, and hands them down to its slices.
    left, of_slices = controllers(host), set(host.run("cat /sys/fs/cgroup/*/cgroup.subtree_control").split())
    print(f"\nenabled in the root cgroup: before {sorted(before['controllers'])}, now {sorted(left)}, by slices {sorted(of_slices)}; "
          f"denials of AppArmor: {denials or 'none'}")
    assert left - before["controllers"] <= of_slices
