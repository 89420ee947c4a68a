"""Agent-based installations: the commands, what is in their image, and the service of the image, which installs a cluster by itself."""
import base64
import gzip
import http.client
import json
import os
import pathlib
import signal
import ssl
import stat
import subprocess
import sys
import time
import urllib.parse

import pytest

import live_image

COMPONENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(COMPONENTS / "assist"), str(COMPONENTS / "registry"), str(COMPONENTS / "support")]
import assist_client  # noqa: E402
from network_namespaces import own_network  # noqa: E402, F401
from sample import Layout  # noqa: E402

SLIPWAY = assist_client.BIN / "slipway"
ADDRESS, PORT = "192.168.126.10", 8090
INSTALL = """\
apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 0}]
networking: {machineNetwork: [{cidr: 192.168.126.0/24}]}
platform:
  baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}
pullSecret: '{"auths":{"registry.example.com":{"auth":"YTpi"}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me
"""
SINGLE = INSTALL.replace("replicas: 3", "replicas: 1").replace("  baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}", "  none: {}")
AGENT = """\
apiVersion: v1beta1
kind: AgentConfig
rendezvousIP: 192.168.126.10
hosts:
- hostname: m0
  interfaces: [{name: eth0, macAddress: "52:54:00:00:00:00"}]
  rootDeviceHints: {deviceName: /dev/vdb}
- hostname: m1
  interfaces: [{name: eth0, macAddress: "52:54:00:00:00:01"}]
- hostname: m2
  role: master
  interfaces: [{name: eth0, macAddress: "52:54:00:00:00:02"}]
"""
ONE_HOST = AGENT[:AGENT.index("- hostname: m1")]


def decoded(file):
    """The content of a file of an Ignition config, as it is in the config."""
    head, data = file["contents"]["source"].split(",", 1)
    return base64.b64decode(data) if head.endswith("base64") else urllib.parse.unquote_to_bytes(data)


def slipway(*words, status=0, program=SLIPWAY):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True)


class Assets:
    """An asset directory with the two files of a user."""

    def __init__(self, folder, release):
        self.release, self.folder = release, folder / "assets"
        self.live, _ = live_image.make(folder, area=1 << 20)
        self.folder.mkdir()
        self.write()

    def write(self, install=INSTALL, agent=AGENT):
        (self.folder / "install-config.yaml").write_text(install)
        (self.folder / "agent-config.yaml").write_text(agent)

    def create_image(self, **more):
        return slipway("agent", "create", "image", "--dir", self.folder, "--live-image", self.live, "--release", self.release.folder, **more)

    @property
    def image(self):
        return self.folder / "agent.x86_64.iso"

    def files(self):
        """path -> content of the config in the image."""
        found = {}
        for file in live_image.config_in(self.image)["storage"]["files"]:
            content = decoded(file)
            found[file["path"]] = gzip.decompress(content) if file["contents"].get("compression") == "gzip" else content
        return found


@pytest.fixture
def assets(tmp_path, release):
    return Assets(tmp_path, release)


def test_all_errors_of_both_files_are_reported_together(assets):
    assets.write(INSTALL.replace("name: demo", "name: Demo"),
                 AGENT.replace("rendezvousIP: 192.168.126.10", "rendezvousIP: here\nminimalISO: true").replace(
                     "  rootDeviceHints: {deviceName: /dev/vdb}",
                     "  networkConfig:\n    interfaces: [{name: br0, type: linux-bridge}]"))
    said = assets.create_image(status=3).stderr
    for line in ("metadata.name", "agent-config.yaml:3:1: error: rendezvousIP: 'here' is not an IP address",
                 "agent-config.yaml:4:1: error: minimalISO: minimal images are not supported",
                 "agent-config.yaml:8:3: error: hosts[0].networkConfig: interfaces[0].type: 'linux-bridge' is not supported"):
        assert line in said, said
    assert not assets.image.exists() and not (assets.folder / "auth").exists()
    on_none = INSTALL.replace("  baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}", "  none: {}")
    for install, agent, line in (
            (on_none.replace("replicas: 3", "replicas: 5"), AGENT, "must be 1 or 3"),
            (SINGLE.replace("worker, replicas: 0", "worker, replicas: 2"), ONE_HOST, "must be 0 with one master, got 2"),
            (INSTALL.replace("replicas: 3", "replicas: 1"), ONE_HOST, "must be none with one master"),
            (SINGLE, AGENT, "has 3, but install-config.yaml has 1 masters and 0 workers"),
            (on_none.replace("none: {}", "local: {}"), AGENT, "must be baremetal or none"),
            (INSTALL, AGENT.replace("rendezvousIP: 192.168.126.10", "rendezvousIP: 192.168.127.10"), "is not in networking.machineNetwork"),
            (INSTALL, AGENT.replace("- hostname: m1\n  interfaces: [{name: eth0, macAddress: \"52:54:00:00:00:01\"}]\n", ""),
             "controlPlane.replicas is 3")):
        assets.write(install, agent)
        assert line in assets.create_image(status=3).stderr, line
    (assets.folder / "agent-config.yaml").unlink()
    assert "slipway agent create agent-config-template" in assets.create_image(status=3).stderr


def test_the_template_is_an_agent_config(assets):
    (assets.folder / "agent-config.yaml").unlink()
    slipway("agent", "create", "agent-config-template", "--dir", assets.folder)
    assert "exists already" in slipway("agent", "create", "agent-config-template", "--dir", assets.folder, status=1).stderr
    assets.create_image()
    assert {"/etc/slipway-network/0/mac-addresses", "/etc/slipway-network/0/10-slipway-eth0.network"} <= assets.files().keys()


def test_the_image_is_the_live_image_with_the_config(assets):
    said = assets.create_image()
    assert said.stdout == f"{assets.image}\n"
    original, image = assets.live.read_bytes(), assets.image.read_bytes()
    changed = [index for index in range(0, len(original), 2048) if original[index:index + 2048] != image[index:index + 2048]]
    assert len(image) == len(original) and changed and changed[-1] - changed[0] < 1 << 20
    files = assets.files()
    for name in ("bootstrap.ign", "master.ign", "worker.ign"):
        assert files[f"/etc/slipway-rendezvous/assets/{name}"] == (assets.folder / name).read_bytes()
    assert files["/etc/slipway-rendezvous/assets/kubeconfig"] == (assets.folder / "auth/kubeconfig").read_bytes()
    units = {unit["name"]: unit for unit in live_image.config_in(assets.image)["systemd"]["units"]}
    assert units["slipway-agent.service"]["enabled"] and units["slipway-rendezvous.service"]["enabled"]
    assert "ExecStart=/usr/bin/slipway-assist rendezvous\n" in units["slipway-rendezvous.service"]["contents"]
    # Who reads them has the cluster.
    for path in (assets.image, assets.folder / "auth/kubeconfig", assets.folder / "auth/kubeadmin-password", assets.folder / "rendezvous/token"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    token = (assets.folder / "rendezvous/token").read_text().strip()
    assert not any(token.encode() in content for content in files.values()), "the image has only its digest"
    assert b"PRIVATE KEY" not in files["/etc/slipway-rendezvous/tls/ca.crt"] and "/etc/slipway-rendezvous/tls/ca.key" not in files
    # Again: the same cluster, with new tokens, also if the text of a file is another one.
    kubeconfig = (assets.folder / "auth/kubeconfig").read_bytes()
    assets.write("# a comment\n" + INSTALL, "# a comment\n" + AGENT)
    assert "differs from the one" not in assets.create_image().stderr
    assert (assets.folder / "auth/kubeconfig").read_bytes() == kubeconfig
    assert (assets.folder / "rendezvous/token").read_text().strip() != token


def test_hosts_that_change_are_noticed(assets):
    """The same cluster; its image and its manifests have the hosts of today."""
    assets.create_image()
    kubeconfig = (assets.folder / "auth/kubeconfig").read_bytes()
    assert b"52:54:00:00:00:00" in decoded_manifests(assets.folder / "bootstrap.ign")
    assets.write(agent=AGENT.replace("52:54:00:00:00:00", "52:54:00:00:00:77"))
    said = assets.create_image().stderr
    assert "agent-config.yaml: differs from the one that the existing image was made from; boot all hosts from the new image" in said, said
    manifests = decoded_manifests(assets.folder / "bootstrap.ign")
    assert b"52:54:00:00:00:77" in manifests and b"52:54:00:00:00:00" not in manifests
    assert b"52:54:00:00:00:77" in assets.files()["/etc/slipway-rendezvous/rendezvous.json"]
    assert (assets.folder / "auth/kubeconfig").read_bytes() == kubeconfig
    assert "differs from the one" not in assets.create_image().stderr


def decoded_manifests(path):
    """The contents of all manifests in a config of a bootstrap machine."""
    files = json.loads(path.read_text())["storage"]["files"]
    return b"\n".join(decoded(file) for file in files if file["path"].startswith("/opt/openshift/openshift/"))


def test_the_image_of_a_single_node(assets):
    assets.write(SINGLE, ONE_HOST)
    said = assets.create_image().stderr
    assert "boot one host from the image" in said and "installationDisk" not in said, said
    [config] = [decoded(file).decode() for file in json.loads((assets.folder / "bootstrap.ign").read_text())["storage"]["files"]
                if file["path"] == "/opt/openshift/manifests/cluster-config.yaml"]
    assert "bootstrapInPlace" in config and "installationDisk: /dev/vdb" in config
    files = assets.files()
    shown = files["/etc/slipway-rendezvous/assets/install-config.yaml"].decode()
    assert "name: demo" in shown and "YTpi" not in shown, "the pull secret"
    records = json.loads(files["/etc/slipway-rendezvous/rendezvous.json"])
    assert records["expected_hosts"] == 1
    # Again: the same cluster, also with the disk of the other file.
    kubeconfig = (assets.folder / "auth/kubeconfig").read_bytes()
    assets.create_image()
    assert (assets.folder / "auth/kubeconfig").read_bytes() == kubeconfig
    assets.write(SINGLE + "bootstrapInPlace: {installationDisk: /dev/vdc}\n", ONE_HOST)
    assert "bootstrapInPlace.installationDisk: no effect: agent-config.yaml chooses the disk" in assets.create_image().stderr


def test_called_as_openshift_install_it_needs_no_install_config_any_more(assets, tmp_path):
    installer = tmp_path / "openshift-install"
    installer.symlink_to(SLIPWAY)
    assets.create_image(program=installer)
    kubeconfig = (assets.folder / "auth/kubeconfig").read_bytes()
    assert not (assets.folder / "install-config.yaml").exists() and (assets.folder / "agent-config.yaml").exists()
    assets.create_image(program=installer)
    assert (assets.folder / "auth/kubeconfig").read_bytes() == kubeconfig


def test_a_config_that_does_not_fit_is_refused(assets, tmp_path):
    (tmp_path / "small").mkdir()
    assets.live, _ = live_image.make(tmp_path / "small", area=8192)
    assert "a live image has room for" in assets.create_image(status=1).stderr
    assert not assets.image.exists()


class Rendezvous(assist_client.Service):
    """The service of the image, on the host that is this network namespace."""

    def __init__(self, folder, assets):
        self.assets, self.config = assets, folder / "config"
        for path, content in assets.files().items():
            if path.startswith("/etc/slipway-rendezvous/"):
                target = self.config / pathlib.PurePath(path).relative_to("/etc/slipway-rendezvous")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        super().__init__(folder / "state", port=PORT)

    def start(self):
        self.process = subprocess.Popen([assist_client.BIN / "slipway-assist", "rendezvous", "--config", self.config, "--state", self.folder],
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.plain = False
        self.token = (self.assets.folder / "rendezvous/token").read_text().strip()

    def wait_until_it_listens(self):
        assert self.process.stdout.readline().decode() == f"listening on https://{ADDRESS}:{PORT}\n"

    def connection(self, timeout=60):
        context = ssl.create_default_context(cafile=self.assets.folder / "rendezvous/ca.crt")
        return http.client.HTTPSConnection(ADDRESS, PORT, timeout=timeout, context=context)

    def log_text(self):
        return pathlib.Path(self.log.name).read_text()


@pytest.fixture
def service(own_network, assets, tmp_path):  # noqa: F811
    for words in ("link add lab type bridge", "link set lab up"):
        subprocess.run(["ip", *words.split()], check=True)
    assets.create_image()
    running = Rendezvous(tmp_path, assets)
    # Every host of the image runs the service; only the one with the address serves.
    running.wait_for("a host without the address", lambda: f"this host does not have address {ADDRESS}" in running.log_text(), limit=10)
    subprocess.run(["ip", "address", "add", f"{ADDRESS}/24", "dev", "lab"], check=True)
    running.wait_until_it_listens()
    yield running
    running.stop()


def test_the_settings_of_the_image_cannot_change(service, assets):
    cluster = cluster_id(assets)
    for method, path, body in (("PATCH", f"/clusters/{cluster}", {"base_dns_domain": "example.org"}),
                               ("PATCH", f"/clusters/{cluster}/install-config", json.dumps({"fips": True}))):
        with pytest.raises(assist_client.Refused) as refused:
            service.call(method, path, body)
        assert refused.value.status == 409 and "slipway agent create image" in str(refused.value), refused.value
    assert service.cluster(cluster)["base_dns_domain"] == "example.com"
    # The install-config can be read, without its secrets.
    text = service.get(f"/clusters/{cluster}/install-config")
    assert "apiVIPs" in text and "52:54:00:00:00:00" in text and "YTpi" not in text, text
    status, _, downloaded = service.raw("GET", f"{assist_client.PREFIX}/clusters/{cluster}/downloads/files?file_name=install-config.yaml",
                                        headers={"X-Secret-Key": service.token})
    assert status == 200 and downloaded.decode() == text


@pytest.fixture
def hosts(service, assets, tmp_path):
    files = assets.files()
    infra_env = files["/etc/slipway-agent/environment"].decode().split("INFRA_ENV_ID=")[1].strip()
    token = files["/etc/slipway-agent/token"].decode()
    return [assist_client.Host(service, infra_env, token, number, tmp_path) for number in range(3)]


def cluster_id(assets):
    return json.loads((assets.folder / "rendezvous/service.json").read_text())["cluster_id"]


def discover(hosts):
    for host in hosts:
        host.register()
        disks = host.inventory()["disks"] + [{"id": "/dev/disk/by-id/second", "name": "vdb", "path": "/dev/vdb", "drive_type": "SSD",
                                              "size_bytes": 240 * 10**9}]
        host.reply("inventory", host.inventory(disks=disks))
    for host in hosts:
        host.checks(hosts)


def test_the_installation_starts_by_itself_when_all_hosts_are_there(service, hosts, assets):
    cluster = cluster_id(assets)
    discover(hosts[:2])
    service.wait_for("what it waits for", lambda: "waiting: host m2 has not reported its hardware; 2 of 3 hosts have registered\n" in service.log_text())
    assert service.cluster(cluster)["status"] == "insufficient"
    discover(hosts)
    service.wait_for_cluster(cluster, "preparing-for-installation")
    views = [host.view() for host in hosts]
    assert [(view["requested_hostname"], view["role"], view["bootstrap"]) for view in views] == [
        ("m0", "master", True), ("m1", "master", False), ("m2", "master", False)]
    assert [view["installation_disk_path"] for view in views] == ["/dev/vdb", "/dev/vda", "/dev/vda"]
    # The service is in memory, but a kill does not forget.
    service.kill()
    service.start()
    service.wait_until_it_listens()
    for number, host in enumerate(hosts):
        host.reply("installation-disk-speed-check", {"path": "/dev/vdb" if number == 0 else "/dev/vda", "io_sync_duration": 3})
        host.reply("container-image-availability", {"images": []})
    service.wait_for_cluster(cluster, "installing")
    # Only the host with the service waits for the others before it restarts.
    assert ["wait_for_hosts" in json.dumps(host.instructions()) for host in hosts] == [True, False, False]
    status, _, config = hosts[0].send("GET", f"/clusters/{cluster}/downloads/files?file_name=bootstrap.ign")
    assert status == 200
    [deployment] = [decoded(file).decode() for file in json.loads(config)["storage"]["files"]
                    if file["path"] == "/opt/openshift/assisted-installer-controller.yaml"]
    assert "--service-host=m0" in deployment and f"--url=https://{ADDRESS}:{PORT}" in deployment
    assert hosts[1].send("GET", f"/clusters/{cluster}/downloads/files?file_name=bootstrap.ign")[0] == 403
    status, _, config = hosts[1].send("GET", f"{hosts[1].path}/downloads/ignition")
    assert status == 200 and any(file["path"] == "/etc/hostname" for file in json.loads(config)["storage"]["files"])
    # The host restarts.
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(timeout=30) == 0


def test_a_host_without_the_disk_of_its_hints_is_not_installed(service, hosts, assets):
    for host in hosts:
        host.register()
        host.reply("inventory", host.inventory())
    for host in hosts:
        host.checks(hosts)
    service.wait_for_cluster(cluster_id(assets), "ready")
    service.wait_for("the reason", lambda: "host m0 has no disk that matches its rootDeviceHints" in service.log_text())
    assert service.cluster(cluster_id(assets))["status"] == "ready"
    events = service.get(f"/events?cluster_id={cluster_id(assets)}")
    assert any("host m0 has no disk that matches" in event["message"] for event in events)


def test_the_token_of_the_user_opens_the_cluster_only(service, assets):
    assert [each["name"] for each in service.get("/clusters")] == ["demo"]
    with pytest.raises(assist_client.Refused) as refused:
        service.call("POST", "/tokens", {"kind": "admin"})
    assert refused.value.status == 403
    with pytest.raises(assist_client.Refused) as refused:
        service.get("/clusters", token="")
    assert refused.value.status == 401


def test_wait_for_follows_the_service(service, hosts, assets, tmp_path):
    def text():
        return (tmp_path / "wait.log").read_text()

    with open(tmp_path / "wait.log", "wb") as log:
        waiting = subprocess.Popen([SLIPWAY, "agent", "wait-for", "bootstrap-complete", "--dir", assets.folder], stdout=log, stderr=log)
    try:
        service.wait_for("the first line", lambda: f"following the service at https://{ADDRESS}:{PORT}" in text())
        discover(hosts)
        service.wait_for("events", lambda: "the installation starts" in text())
        # It is away for a moment, and no cluster answers.
        service.kill()
        time.sleep(1)
        assert waiting.poll() is None, text()
        service.start()
        service.wait_until_it_listens()
        for number, host in enumerate(hosts):
            host.reply("installation-disk-speed-check", {"path": "/dev/vdb" if number == 0 else "/dev/vda", "io_sync_duration": 3})
            host.reply("container-image-availability", {"images": []})
        service.wait_for_cluster(cluster_id(assets), "installing")
        service.call("POST", f"/clusters/{cluster_id(assets)}/actions/cancel")
        assert waiting.wait(timeout=30) == 5, text()
        assert "the cluster is cancelled" in text()
    finally:
        waiting.kill()
        waiting.wait()


def test_commands_know_the_hosts_of_agent_config(service, assets, tmp_path):
    """The install-config of platform baremetal has no hosts. Both waits read it, and `agent wait-for` goes on to the cluster."""
    service.stop()
    for words in (["agent", "wait-for", "install-complete"], ["wait-for", "install-complete"]):
        with open(tmp_path / "wait.log", "wb") as log:
            waiting = subprocess.Popen([SLIPWAY, *words, "--dir", assets.folder, "--log-level", "debug"], stdout=log, stderr=log)
        time.sleep(3)
        text = (tmp_path / "wait.log").read_text()
        assert waiting.poll() is None and "hosts" not in text.replace("waiting for the hosts", ""), text
        waiting.kill()
        waiting.wait()


def test_wait_for_needs_an_image(assets):
    assert "slipway agent create image" in slipway("agent", "wait-for", "install-complete", "--dir", assets.folder, status=1).stderr
