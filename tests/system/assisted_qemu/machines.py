"""Three virtual machines with empty disks on a bridge, a DHCP and DNS server for them, and the service whose discovery image they boot.

The bridge is in the network namespace of this process. Without KVM, everything is ten to twenty times slower."""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import time

import assist_client
import host_clock
from virtual_machine import VirtualMachine, config

PROGRAMS, BUILD = (pathlib.Path(os.environ[name]).resolve() for name in ("SLIPWAY_BIN", "SLIPWAY_BUILD"))
GATEWAY, API, INGRESS = "192.168.126.1", "192.168.126.5", "192.168.126.7"
PORT, REGISTRY_PORT = 8090, 5000
LOGIN = ("pull", "secret")
REPOSITORY = "slipway/release"
NAME, DOMAIN = "demo", "example.com"
LIMIT = 3600  # seconds of a step
MEMORY = 7168  # MiB: the live system, the unpacked image of a disk, and the images of the bootstrap
DISK = 120 * 10**9  # without content, so it needs no space
# Virtual machines of a host with two cores are small and slow.
IGNORED = ["has-min-cpu-cores", "has-cpu-cores-for-role", "has-min-memory", "has-memory-for-role", "sufficient-installation-disk-speed",
           "sufficient-packet-loss-requirement-for-role", "sufficient-network-latency-requirement-for-role"]


def mac_of(number):
    return f"52:54:00:7e:57:{number:02x}"


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def make_network(folder):
    """The bridge with the address of the gateway, a TAP device for each machine, and dnsmasq."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "machines", "type", "bridge")
    run("ip", "address", "add", f"{GATEWAY}/24", "dev", "machines")
    run("ip", "link", "set", "machines", "up")
    for number in range(3):
        run("ip", "tuntap", "add", "dev", f"tap{number}", "mode", "tap")
        run("ip", "link", "set", f"tap{number}", "master", "machines", "up")
    names = [f"--address=/{name}.{NAME}.{DOMAIN}/{address}" for name, address in (("api", API), ("api-int", API), ("apps", INGRESS))]
    hosts = [f"--dhcp-host={mac_of(number)},192.168.126.{10 + number}" for number in range(3)]
    server = subprocess.Popen(
        ["dnsmasq", "--conf-file=/dev/null", "--keep-in-foreground", "--pid-file=", "--user=root", "--bind-interfaces", "--interface=machines",
         "--no-resolv", "--no-hosts", f"--dhcp-leasefile={folder / 'leases'}", "--dhcp-range=192.168.126.10,192.168.126.99,24h", *hosts, *names])
    try:
        yield
    finally:
        server.terminate()
        server.wait()


class Service(assist_client.Service):
    address = GATEWAY


class Lab:
    def __init__(self, folder, authority):
        self.folder, self.machines, self.numbers = folder, {}, {}
        live = folder / "live.iso"
        run(PROGRAMS / "slipway", "image", "create", "--platform", "metal", "--format", "iso", "--with-disk-image", "--output", live, "--os-repo",
            BUILD / "payload/os/repo")
        self.service = Service(folder / "state", "--address", GATEWAY, "--live-image", live, "--release", BUILD / "release", port=PORT)
        mirror = f"{GATEWAY}:{REGISTRY_PORT}"
        secret = json.dumps({"auths": {mirror: {"auth": base64.b64encode(":".join(LOGIN).encode()).decode()}}})
        call = self.service.call
        self.id = call("POST", "/clusters", {"name": NAME, "openshift_version": "4.20", "base_dns_domain": DOMAIN, "pull_secret": secret,
                                             "api_vips": [{"ip": API}], "ingress_vips": [{"ip": INGRESS}]})["id"]
        call("PUT", f"/clusters/{self.id}/ignored-validations", {"host-validation-ids": json.dumps(IGNORED), "cluster-validation-ids": "[]"})
        overrides = {"imageDigestSources": [{"source": f"registry.slipway.invalid/{REPOSITORY}", "mirrors": [f"{mirror}/{REPOSITORY}"]}],
                     "additionalTrustBundle": authority, "additionalTrustBundlePolicy": "Always"}
        call("PATCH", f"/clusters/{self.id}/install-config", json.dumps(overrides))
        # The live system gets the shell of the test.
        self.infra_env = call("POST", "/infra-envs", {"name": NAME, "pull_secret": secret, "cluster_id": self.id, "additional_trust_bundle": authority,
                                                      "ignition_config_override": json.dumps(config())})["id"]
        self.image = folder / "discovery.iso"
        url = self.service.get(f"/infra-envs/{self.infra_env}/downloads/image-url")["url"]
        run("curl", "--fail", "--silent", "--show-error", "--cacert", folder / "state/tls/ca.crt", "--output", self.image, url)

    def boot(self, number):
        """Switches a machine on. It boots its disk, which is empty, and then the discovery image."""
        folder = self.folder / f"host-{number}"
        folder.mkdir()
        disk = folder / "disk.raw"
        disk.touch()
        os.truncate(disk, DISK)
        self.machines[number] = VirtualMachine(
            folder, "-drive", f"file={disk},format=raw,if=none,id=disk,discard=unmap", "-device", "virtio-blk-pci,drive=disk,serial=disk-of-the-test,bootindex=1",
            "-drive", f"file={self.image},format=raw,if=none,id=cd,readonly=on", "-device", "ide-cd,drive=cd,bootindex=2",
            "-netdev", f"tap,id=net,ifname=tap{number},script=no,downscript=no", "-device", f"virtio-net-pci,netdev=net,mac={mac_of(number)}",
            memory=MEMORY)
        return self.machines[number]

    def switch_off(self, number):
        self.machines.pop(number).close()

    def hosts(self):
        """By number of the machine: those that the service knows."""
        found = {}
        for host in self.service.cluster(self.id)["hosts"]:
            for interface in json.loads(host.get("inventory", "{}")).get("interfaces", []):
                for number in range(3):
                    if interface["mac_address"] == mac_of(number):
                        found[number] = host
        return found

    def stage(self, number):
        return self.hosts()[number].get("progress", {}).get("current_stage", "")

    def wait_for(self, what, ready, limit=LIMIT):
        """Until ready() is true. Reads what the machines write: a machine stops when nobody reads its lines. Prints what changes."""
        begin, shown = host_clock.now(), None
        while not ready():
            for machine in self.machines.values():
                assert machine.take(0), f"QEMU ended: {(machine.folder / 'qemu.log').read_text()}"
            cluster = self.service.cluster(self.id)
            state = [cluster["status"], *((host.get("requested_hostname", ""), host["status"], host.get("progress", {}).get("current_stage", ""))
                                          for host in cluster["hosts"])]
            if state != shown:
                print(f"{host_clock.now() - begin:6.0f} s: {state}", flush=True)
            shown = state
            problems = [(host["status_info"], host.get("progress", {}).get("progress_info", "")) for host in cluster["hosts"] if host["status"] == "error"]
            assert not problems and cluster["status"] != "error", (cluster["status_info"], problems)
            assert host_clock.now() - begin < limit, f"no {what} within {limit} s: {state}; {cluster['validations_info']}\n" + "\n".join(
                f"{number}: {machine.console.text[-1500:]}" for number, machine in self.machines.items())
            time.sleep(2)
        return host_clock.now() - begin

    def close(self):
        for number in list(self.machines):
            self.switch_off(number)
        assert self.service.stop() == 0
