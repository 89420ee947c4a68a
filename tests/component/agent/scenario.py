"""Hosts of an assisted installation in network namespaces, their agents, and a service: run by test_agent.py in namespaces of its own.
Arguments: a folder, a loop device."""

import io
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import hosts  # noqa: E402
from hosts import (  # noqa: E402
    ADDRESSES, AGENT, DISKS, FOLDER, MACS, OWN, PORT, STORAGE, STORAGE_MACS, agents, kill, make_disks, make_medium, make_network, run, until)
from service import CLUSTER, INFRA_ENV, TOKEN, Service  # noqa: E402

[DISK] = DISKS
DISK_SIZE = 64 << 20
CONFIG = b'{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/hostname", "contents": {"source": "data:,h1"}}]}}'


def start_names():
    names = ["--address=/api.demo.example.com/192.168.126.100", "--cname=alias.example.com,api.demo.example.com",
             "--host-record=api.demo.example.com,192.168.126.100,fd00::100"]
    process = subprocess.Popen(["dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", f"--listen-address={OWN}",
                                "--bind-interfaces", "--user=root", "--pid-file=", *names[1:]], stderr=subprocess.PIPE, text=True)
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()


def serve_time(address, ahead):
    """A time server whose clock is ahead."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 123))

    def serve():
        while True:
            packet, client = server.recvfrom(100)
            now = time.time() + ahead + 2208988800
            stamp = struct.pack(">II", int(now), int(now % 1 * 2**32))
            server.sendto(struct.pack(">BBBb", 0x24, 2, 6, -20) + bytes(12) + stamp + packet[40:48] + stamp + stamp, client)
    threading.Thread(target=serve, daemon=True).start()


def start(name):
    hosts.start(name, INFRA_ENV, TOKEN, FOLDER / "ca.pem")


def output(reply):
    assert reply["exit_code"] == 0, reply
    return json.loads(reply["output"])


def as_remote(service, *names):
    """Hosts as step connectivity-check has them, by the inventories that they sent."""
    remote = []
    for name in names:
        host = service.host(name)
        inventory = output(service.reply_of(host, "inventory"))
        nics = [{"name": nic["name"], "mac": nic["mac_address"],
                 "ip_addresses": [address.split("/")[0] for address in nic["ipv4_addresses"] + nic["ipv6_addresses"]]}
                for nic in inventory["interfaces"]]
        remote.append({"host_id": next(key for key, value in service.hosts.items() if value is host), "nics": nics})
    return remote


def check_inventories(service):
    for name, address in ADDRESSES.items():
        inventory = output(service.reply_of(service.host(name), "inventory"))
        assert [nic["name"] for nic in inventory["interfaces"]] == ["eth0", "eth1"][:2 if name in STORAGE else 1], inventory["interfaces"]
        nic = inventory["interfaces"][0]
        assert (nic["mac_address"], nic["ipv4_addresses"], nic["has_carrier"], nic["mtu"]) == (MACS[name], [f"{address}/24"], True, 1500), nic
        assert len(nic["ipv6_addresses"]) == 1, nic
        default = [route for route in inventory["routes"] if route["destination"] == "0.0.0.0/0"]
        assert [(route["interface"], route["gateway"], route["family"]) for route in default] == [("eth0", OWN, 2)], inventory["routes"]
        assert inventory["cpu"]["count"] == os.cpu_count() and inventory["memory"]["physical_bytes"] > 2**28, inventory
        disk = inventory["disks"][0]
        assert len(inventory["disks"]) == 1 and disk["installation_eligibility"] == {"eligible": True, "not_eligible_reasons": []}, disk
        assert (disk["path"], disk["size_bytes"], disk["drive_type"], disk["serial"]) == ("/dev/vdz", DISK_SIZE, "SSD", "VDZ1"), disk
    assert len(service.hosts) == len(ADDRESSES)


def check_connectivity(service):
    h0, h2 = service.host("h0"), service.host("h2")
    report = output(service.result(h0, "connectivity-check", as_remote(service, "h1", "h2")))
    by_host = {remote["host_id"]: remote for remote in report["remote_hosts"]}
    h1_id, h2_id = (remote["host_id"] for remote in as_remote(service, "h1", "h2"))
    links = {(link["remote_ip_address"], link["remote_mac"]): link["successful"] for link in by_host[h1_id]["l2_connectivity"]}
    assert links == {("192.168.126.11", MACS["h1"]): True, ("fd00::11", MACS["h1"]): True}, links
    for entry in by_host[h1_id]["l3_connectivity"]:
        assert entry["successful"] and entry["packet_loss_percentage"] == 0 and 0 < entry["average_rtt_ms"] < 1000, entry
    assert {entry["remote_ip_address"] for entry in by_host[h1_id]["l3_connectivity"]} == {"192.168.126.11", "fd00::11"}
    # Two machines with the address of h2.
    links = {link["remote_mac"]: link["successful"] for link in by_host[h2_id]["l2_connectivity"] if link["outgoing_nic"] == "eth1"}
    assert links == {STORAGE_MACS["h2"]: True, STORAGE_MACS["h3"]: False}, links
    shared = {"ip_address": STORAGE["h2"], "mac_addresses": sorted([STORAGE_MACS["h2"], STORAGE_MACS["h3"]])}
    assert report["collisions"] == [shared], report["collisions"]
    # One of them sees it, too.
    report = output(service.result(h2, "connectivity-check", as_remote(service, "h0")))
    assert report["collisions"] == [shared], report["collisions"]
    print("connectivity: hosts by link and by address, and two hosts with one address")

    # A link that passes only packets of 1500 bytes, between interfaces that are set for more.
    for name in ("h0", "h1"):
        run("ip", "-n", name, "link", "set", "eth0", "mtu", "4000")
    report = output(service.result(h0, "connectivity-check", as_remote(service, "h1")))
    mtus = report["remote_hosts"][0]["mtu_report"]
    assert {entry["remote_ip_address"]: entry["mtu_successful"] for entry in mtus} == {"192.168.126.11": False, "fd00::11": False}, mtus
    for name in ("h0", "h1"):
        run("ip", "link", "set", f"to-{name}", "mtu", "4000")
    report = output(service.result(h0, "connectivity-check", as_remote(service, "h1")))
    mtus = report["remote_hosts"][0]["mtu_report"]
    assert {entry["remote_ip_address"]: entry["mtu_successful"] for entry in mtus} == {"192.168.126.11": True, "fd00::11": True}, mtus
    run("ip", "-n", "h1", "link", "set", "eth0", "down")
    report = output(service.result(h0, "connectivity-check", as_remote(service, "h1")))["remote_hosts"][0]
    assert not any(entry["successful"] for entry in report["l2_connectivity"] + report["l3_connectivity"]), report
    run("ip", "-n", "h1", "link", "set", "eth0", "up")
    run("ip", "-n", "h1", "address", "replace", "fd00::11/64", "dev", "eth0", "nodad")  # the kernel forgets it with the cable
    run("ip", "-n", "h1", "route", "replace", "default", "via", OWN)
    print("connectivity: packets of the MTU, and a host without its cable")


def check_addresses(service):
    h0 = service.host("h0")
    free = output(service.result(h0, "free-network-addresses", ["192.168.126.0/24"]))
    expected = {f"192.168.126.{number}" for number in range(1, 255)} - {OWN, *ADDRESSES.values()}
    assert free[0]["network"] == "192.168.126.0/24" and set(free[0]["free_addresses"]) == expected, free
    reply = service.result(h0, "free-network-addresses", ["10.9.0.0/24"])
    assert reply["exit_code"] == 1 and "no interface of this host is in the network" in reply["error"], reply
    vips = {"192.168.126.100": "succeeded", ADDRESSES["h1"]: "failed", ADDRESSES["h0"]: "failed", "10.9.0.1": "unverified", "fd00::11": "failed",
            "fd00::99": "succeeded"}
    verified = output(service.result(h0, "verify-vips", [{"vip": vip, "vip_type": "api"} for vip in vips]))
    assert {entry["vip"]: entry["verification"] for entry in verified} == vips, verified
    print("addresses: free ones, and virtual ones that are taken")


def check_names_and_clocks(service):
    h0 = service.host("h0")
    names = ["api.demo.example.com", "alias.example.com", "unknown.example.com"]
    found = output(service.result(h0, "domain-resolution", {"domains": [{"domain_name": name} for name in names]}))["resolutions"]
    assert found[0] == {"domain_name": names[0], "ipv4_addresses": ["192.168.126.100"], "ipv6_addresses": ["fd00::100"], "cnames": []}, found
    assert found[1]["cnames"] == ["api.demo.example.com"] and found[1]["ipv4_addresses"] == ["192.168.126.100"], found
    assert found[2] == {"domain_name": names[2], "ipv4_addresses": [], "ipv6_addresses": [], "cnames": []}, found
    if not shutil.which("chronyc"):
        run("ip", "address", "add", "192.168.126.2/24", "dev", "lab")
        serve_time(OWN, 0)
        serve_time("192.168.126.2", 1500)
        sources = output(service.result(h0, "ntp-synchronizer", {"ntp_source": f"{OWN},192.168.126.2,192.168.126.3"}))["ntp_sources"]
        states = {source["source_name"]: source["source_state"] for source in sources}
        assert states == {OWN: "synced", "192.168.126.2": "error", "192.168.126.3": "unreachable"}, states
    print("names and clocks")


def check_images_and_disks(service):
    h0 = service.host("h0")
    subprocess.Popen(["ip", "netns", "exec", "h0", sys.executable, HERE / "registry.py", "5000", FOLDER])
    until("registry that listens", (FOLDER / "registry-listens").exists)
    images = ["127.0.0.1:5000/own/image:1.0", "127.0.0.1:5000/own/image:2.0"]
    reply = service.result(h0, "container-image-availability", {"images": images, "timeout": 60})
    checks = {check["name"]: check for check in json.loads(reply["output"])["images"]}
    assert reply["exit_code"] == 2 and images[1] in reply["error"], reply
    assert checks[images[0]]["result"] == "success" and checks[images[0]]["size_bytes"] == 1_000_000, checks
    assert checks[images[0]]["download_rate"] > 0.001 and checks[images[1]]["result"] == "failure", checks
    reply = service.result(h0, "installation-disk-speed-check", {"path": "/etc/passwd"})
    assert reply["exit_code"] == 1 and "is not a disk of this host" in reply["error"], reply
    speed = output(service.result(h0, "installation-disk-speed-check", {"path": "/dev/vdz"}, 200))
    assert speed["path"] == "/dev/vdz" and 0 < speed["io_sync_duration"] < 10_000, speed
    assert pathlib.Path(DISK).open("rb").read(44 << 20).strip(b"e").count(0) < 4600  # overwritten, apart from the ends of both parts
    reply = service.result(h0, "execute", {"command": "true"})
    assert reply["exit_code"] == -1 and "not supported" in reply["error"], reply
    reply = service.result(h0, "verify-vips", [{"vip": "no address"}])
    assert reply["exit_code"] == 1 and "'no address' is not an IP address" in reply["error"], reply
    print("images, disks, and steps that are refused")


def check_logs(service):
    h0 = service.host("h0")
    reply = service.result(h0, "logs-gather", {"cluster_id": CLUSTER, "bootstrap": True})
    assert reply["exit_code"] == 0, reply
    body = h0.logs[-1]
    archive = body.split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 1)[0]
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        names = tar.getnames()
        inventory = json.load(tar.extractfile("inventory.json"))
    assert inventory["hostname"] == "h0" and "journal-bootkube.service.log" in names and "journal-kernel.log" in names, names
    assert [stage["logs_state"] for stage in h0.stages] == ["collecting", "completed"], h0.stages
    print("logs")


def check_kill(service):
    h1 = service.host("h1")
    hosts, token = set(service.hosts), h1.token
    kill("h1")
    step = service.ask(h1, "verify-vips", [{"vip": "192.168.126.100", "vip_type": "api"}])
    start("h1")
    service.wait("reply after a kill", lambda: service.reply_of(h1, step))
    assert set(service.hosts) == hosts and h1.registrations == 2 and h1.token == token
    # A second agent of the host does not disturb the first one.
    second = subprocess.run(["ip", "netns", "exec", "h1", str(AGENT), "run", f"--url=https://{OWN}:{PORT}", f"--infra-env-id={INFRA_ENV}",
                             f"--folder={FOLDER}/h1"], capture_output=True, text=True, timeout=30)
    assert second.returncode == 1 and "agent of this host: in use by process" in second.stderr, second.stderr
    # It ends at once when it is asked to, also while it waits for the service.
    began = time.monotonic()
    agents["h1"].terminate()
    assert agents["h1"].wait(20) == 0 and time.monotonic() - began < 10
    start("h1")
    service.wait("third registration", lambda: h1.registrations == 3)
    print("kill -9, a second agent, and a stop")


def check_absence(service):
    h0 = service.host("h0")
    registrations, replies = h0.registrations, len(h0.replies)
    # The service goes away while a step runs, and comes back without having seen the reply.
    step = service.ask(h0, "free-network-addresses", ["192.168.126.0/24"])
    asked = service.questions
    service.wait("question", lambda: service.questions > asked)
    service.stop()
    log = FOLDER / "h0.log"
    until("attempts to reach the service", lambda: log.read_text().count("cannot get instructions") >= 4)
    assert len(h0.replies) <= replies + 1 and agents["h0"].poll() is None
    service.start()
    service.wait("reply after the absence", lambda: service.reply_of(h0, step))
    assert h0.registrations == registrations, "a host that registers again while it is installed would fail"
    print("absence of the service")


def check_installation(service):
    """A worker, whose agent is killed while it waits for masters."""
    h1, h2 = service.host("h1"), service.host("h2")
    request = {"cluster_id": CLUSTER, "role": "worker", "boot_device": "/dev/vdz", "controller_image": "unused"}
    reply = service.result(h1, "install", {**request, "role": "bootstrap", "control_plane_count": 0, "installer_args": '["--append-karg"]'})
    assert reply["exit_code"] == 1 and "role bootstrap needs the number of masters" in reply["error"] and "installer_args" in reply["error"], reply
    reply = service.result(h1, "install", {**request, "boot_device": "/dev/loop0"})
    assert reply["exit_code"] == 1 and "'/dev/loop0' is not a disk of this host" in reply["error"], reply

    # A host whose config the service does not have.
    assert service.result(h2, "install", {**request, "role": "master"})["exit_code"] == 0
    service.wait("failure", lambda: h2.stages and h2.stages[-1].get("current_stage") == "Failed")
    assert "stage fetch-config: the service answers 404" in h2.stages[-1]["progress_info"] and h2.logs, h2.stages
    kill("h2")  # as if the service had not got the report
    start("h2")
    service.wait("the failure again", lambda: [stage.get("current_stage") for stage in h2.stages].count("Failed") == 2)
    assert service.result(h2, "install", request)["exit_code"] == 1
    assert service.result(h2, "stop-installation")["exit_code"] == 0 and not (FOLDER / "h2/install").exists()

    service.config, service.masters = CONFIG, ["Done", "Joined"]
    assert service.result(h1, "install", request)["exit_code"] == 0
    stages = lambda: [stage["current_stage"] for stage in h1.stages if "current_stage" in stage]  # noqa: E731
    service.wait("wait for masters", lambda: "Waiting for control plane" in stages(), 120)
    percents = [stage["progress_info"] for stage in h1.stages if stage.get("current_stage") == "Writing image to disk"]
    assert percents[0] == "" and percents[-1] == "100%" and len(percents) > 5, percents
    kill("h1")
    start("h1")
    service.wait("the same stage again", lambda: stages().count("Waiting for control plane") == 2)
    assert service.result(h1, "install", request)["exit_code"] == 0, "the service repeats the step"
    service.masters = ["Done", "Done"]
    service.wait("reboot", lambda: stages()[-1] == "Rebooting")
    until("reboot", lambda: (FOLDER / "systemctl-h1").exists())
    assert (FOLDER / "systemctl-h1").read_text() == "reboot\n" and not (FOLDER / "systemctl-h2").exists()
    order = [stage for number, stage in enumerate(stages()) if number == 0 or stages()[number - 1] != stage]
    assert order == ["Starting installation", "Installing", "Writing image to disk", "Waiting for control plane", "Rebooting"], order
    assert h1.logs

    place = FOLDER / "installed"
    place.mkdir()
    run("mount", "-o", "ro,loop,offset=1048576", DISK, place)
    config = place / "ignition/config.ign"
    assert config.read_bytes() == CONFIG and config.stat().st_mode & 0o777 == 0o600 and config.parent.stat().st_mode & 0o777 == 0o700
    run("umount", place)
    table = json.loads(run("sfdisk", "--json", DISK))["partitiontable"]
    assert table["lastlba"] == DISK_SIZE // 512 - 34, table
    assert not (FOLDER / "h1/install/disk.raw").exists()
    print("installation")


def check_thief(service):
    """A token that another machine has read is of no use there."""
    h0 = service.host("h0")
    refused = len(service.refused)
    host_id = as_remote(service, "h0")[0]["host_id"]
    curl = subprocess.run(["curl", "--silent", "--cacert", FOLDER / "ca.pem", "--write-out", "%{http_code}", "--output", "/dev/null", "--header",
                           f"X-Secret-Key: {h0.token}", f"https://{OWN}:{PORT}/api/assisted-install/v2/infra-envs/{INFRA_ENV}/hosts/{host_id}/instructions"],
                          capture_output=True, text=True)
    assert curl.stdout == "401" and len(service.refused) == refused + 1, (curl.stdout, curl.stderr)
    assert not [line for line in service.refused if "wrong token or signature" in line][:-1], service.refused
    for name in ADDRESSES:
        assert (FOLDER / name / "key.pem").stat().st_mode & 0o777 == 0o600
        assert "PRIVATE KEY" not in (FOLDER / f"{name}.log").read_text() and h0.token not in (FOLDER / f"{name}.log").read_text()
    print("a stolen token")


def main():
    make_network()
    make_disks(DISK_SIZE, "")
    make_medium()
    start_names()
    service = Service((OWN, PORT), (FOLDER / "server.pem", FOLDER / "server.key"), FOLDER)
    for name in ADDRESSES:
        start(name)
    service.wait("inventories of all hosts", lambda: all(service.host(name) for name in ADDRESSES))
    try:
        check_inventories(service)
        print("registration and inventories")
        check_thief(service)
        check_connectivity(service)
        check_addresses(service)
        check_names_and_clocks(service)
        check_images_and_disks(service)
        check_logs(service)
        check_kill(service)
        check_absence(service)
        check_installation(service)
    except BaseException:
        for name in ADDRESSES:
            print(f"--- {name}\n{(FOLDER / f'{name}.log').read_text()[-3000:]}")
        raise
    print("done", flush=True)


main()
