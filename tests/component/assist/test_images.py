"""Discovery images: the live image with a config in it, streamed; who may download it; what does not fit."""
import base64
import json
import os
import re
import subprocess
import threading
import time

import pytest

import live_image
from assist_client import BIN, PREFIX, PULL_SECRET, Host, Refused, Service, free_port


@pytest.fixture
def base(tmp_path):
    return live_image.make(tmp_path)


@pytest.fixture
def service(tmp_path, base):
    running = Service(tmp_path / "state", "--live-image", base[0])
    yield running
    assert running.stop() == 0


def new_infra_env(service, **settings):
    return service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET, **settings})["id"]


def target_of(url):
    return "/" + url.split("/", 3)[3]


def image_url(service, infra_env):
    answer = service.get(f"/infra-envs/{infra_env}/downloads/image-url")
    assert answer["expires_at"] > time.strftime("%Y-%m-%dT%H")
    return target_of(answer["url"])


def refusal(status, call, *arguments, **named):
    with pytest.raises(Refused) as refused:
        call(*arguments, **named)
    assert refused.value.status == status, refused.value
    return refused.value.body


def file_in(config, path):
    [source] = [each["contents"]["source"] for each in config["storage"]["files"] if each["path"] == path]
    content = source.split(",", 1)[1]
    if "base64" in source.split(",", 1)[0]:
        return base64.b64decode(content).decode()
    return re.sub("%(..)", lambda found: chr(int(found[1], 16)), content)


def state_size(service):
    return sum(each.stat().st_size for each in service.folder.rglob("*") if each.is_file() and not each.name.startswith("assist.db"))


def test_the_image_is_the_live_image_with_the_config(service, base, tmp_path):
    iso, _ = base
    infra_env = new_infra_env(service, ssh_authorized_key="ssh-ed25519 AAAA me",
                              proxy={"http_proxy": "http://me:p%41@proxy.example.com:3128", "no_proxy": "10.97.77.1"},
                              ignition_config_override=json.dumps({"ignition": {"version": "3.4.0"}, "storage": {"files": [
                                  {"path": "/etc/mine", "contents": {"source": "data:,x"}}]}}))
    url = image_url(service, infra_env)
    before = state_size(service)
    status, headers, image = service.raw("GET", url)
    assert status == 200 and len(image) == iso.stat().st_size == int(headers["Content-Length"])
    assert headers["Content-Disposition"] == f'attachment; filename="discovery-{infra_env}.iso"'
    mine = tmp_path / "discovery.iso"
    mine.write_bytes(image)
    config = live_image.config_in(mine)
    assert config["ignition"]["version"] == "3.3.0", "what the machine OS reads"
    assert {"/etc/mine", "/etc/slipway-agent/ca.crt", "/root/.docker/config.json"} <= {each["path"] for each in config["storage"]["files"]}
    assert file_in(config, "/etc/slipway-agent/environment") == f"URL=https://127.0.0.1:{service.port}\nINFRA_ENV_ID={infra_env}\n"
    assert file_in(config, "/etc/systemd/system.conf.d/10-default-env.conf") == (
        '[Manager]\nDefaultEnvironment=HTTP_PROXY="http://me:p%%41@proxy.example.com:3128"\nDefaultEnvironment=NO_PROXY="10.97.77.1"\n')
    assert service.get(f"/infra-envs/{infra_env}")["proxy"]["http_proxy"] == "http://proxy.example.com:3128", "a password is not shown"
    [unit] = [each for each in config["systemd"]["units"] if each["name"] == "slipway-agent.service"]
    assert unit["enabled"] and "ExecStart=/usr/bin/slipway-agent run" in unit["contents"]
    # Everything else is the live image.
    original = iso.read_bytes()
    changed = [index for index in range(0, len(original), 2048) if original[index:index + 2048] != image[index:index + 2048]]
    assert changed and changed[-1] - changed[0] < live_image.AREA
    # Nothing is stored, and a download again has the same bytes, also in pieces.
    tag = headers["ETag"]
    pieces = b"".join(service.raw("GET", url, headers={"Range": f"bytes={at}-{at + 99_999}", "If-Range": tag})[2]
                      for at in range(0, len(image), 100_000))
    assert pieces == image and state_size(service) == before
    status, headers, body = service.raw("HEAD", url)
    assert (status, body, int(headers["Content-Length"])) == (200, b"", len(image))
    assert service.raw("GET", url, headers={"If-None-Match": tag})[0] == 304
    status, headers, _ = service.raw("GET", url, headers={"Range": f"bytes={len(image)}-"})
    assert (status, headers["Content-Range"]) == (416, f"bytes */{len(image)}")
    # A change of the environment is another image.
    service.call("PATCH", f"/infra-envs/{infra_env}", {"ssh_authorized_key": "ssh-ed25519 BBBB other"})
    status, headers, changed = service.raw("GET", url, headers={"Range": "bytes=0-9", "If-Range": tag})
    assert status == 200 and headers["ETag"] != tag and len(changed) == len(image)


def test_a_host_registers_with_the_token_of_its_image(service, tmp_path):
    infra_env = new_infra_env(service)
    url = image_url(service, infra_env)
    mine = tmp_path / "discovery.iso"
    mine.write_bytes(service.raw("GET", url)[2])
    token = file_in(live_image.config_in(mine), "/etc/slipway-agent/token")
    host = Host(service, infra_env, token, 1, tmp_path)
    assert host.register()["status"] == "discovering-unbound"
    refusal(403, service.get, f"/infra-envs/{infra_env}", token=token)
    service.restart()
    assert Host(service, infra_env, token, 2, tmp_path).register()["status"] == "discovering-unbound", "the service keeps its digest"
    # A new signing key: neither image nor its hosts get in.
    service.call("POST", f"/infra-envs/{infra_env}/regenerate-signing-key")
    assert service.raw("GET", url)[0] == 401
    refusal(401, Host(service, infra_env, token, 3, tmp_path).register)


def test_urls_open_one_image_only(service, base):
    infra_env, other = new_infra_env(service), new_infra_env(service)
    url = image_url(service, infra_env)
    token = url.split("image_token=")[1]
    assert service.raw("GET", url.replace(infra_env, other))[0] == 404
    assert service.raw("GET", f"/byid/{infra_env}/4.20/x86_64/full.iso?image_token={token}")[0] == 200
    assert service.raw("GET", f"/bytoken/{token}/4.20/x86_64/full.iso")[0] == 200
    assert service.raw("GET", f"/bytoken/{token}/4.20/x86_64/minimal.iso")[0] == 404
    assert service.raw("GET", f"/bytoken/{token}/4.20/s390x/full.iso")[0] == 404
    assert service.raw("GET", f"/images/{infra_env}?type=minimal-iso&image_token={token}")[0] == 400
    # Other tokens do not work in a URL, and this one nowhere else.
    for wrong in ("", f"?image_token={service.token}", f"?image_token={token}x", "?image_token="):
        status, _, body = service.raw("GET", f"/images/{infra_env}{wrong}")
        assert status == 401, (wrong, status, body)
    refusal(403, service.get, f"/infra-envs/{infra_env}", token=token)
    refusal(403, service.call, "POST", f"/infra-envs/{infra_env}/hosts", {"host_id": infra_env}, token=token)
    assert service.raw("GET", f"/images/{infra_env}", headers={"X-Secret-Key": service.token})[0] == 403
    user = service.call("POST", "/tokens", {"kind": "user", "infra_env_id": infra_env})["token"]
    assert "image_token=" in service.get(f"/infra-envs/{infra_env}/downloads/image-url", token=user)["url"]
    refusal(404, service.get, f"/infra-envs/{other}/downloads/image-url", token=user)
    refusal(400, service.call, "POST", "/tokens", {"kind": "image", "infra_env_id": infra_env})
    assert token not in json.dumps(service.get("/tokens"))
    assert token.encode() not in b"".join(each.read_bytes() for each in service.folder.glob("assist.db*")), "only its digest is kept"


def test_hosts_boot_from_a_network(service, base, tmp_path):
    _, parts = base
    infra_env = new_infra_env(service)
    presigned = target_of(service.get(f"/infra-envs/{infra_env}/downloads/files-presigned?file_name=ipxe-script")["url"])
    status, _, script = service.raw("GET", presigned)
    assert status == 200
    lines = script.decode().splitlines()
    assert lines[0] == "#!ipxe" and lines[-1] == "boot"
    kernel = re.fullmatch(rf"kernel https://127.0.0.1:\d+(\S+) initrd=initrd initrd=rootfs {live_image.ARGUMENTS}", lines[1])[1]
    initrd = re.fullmatch(r"initrd --name initrd https://127.0.0.1:\d+(\S+)", lines[2])[1]
    rootfs = re.fullmatch(r"initrd --name rootfs https://127.0.0.1:\d+(\S+)", lines[3])[1]
    assert service.raw("GET", kernel)[2] == parts["vmlinuz"]
    first = service.raw("GET", initrd)[2]
    assert first.startswith(parts["initramfs.img"])
    config = live_image.config_in_initrd(first[len(parts["initramfs.img"]):])
    token = file_in(config, "/etc/slipway-agent/token")
    assert Host(service, infra_env, token, 1, tmp_path).register()["status"] == "discovering-unbound"
    second = service.raw("GET", rootfs)[2]
    assert len(second) % 512 == 0
    (tmp_path / "out").mkdir()
    subprocess.run(["cpio", "--quiet", "--extract"], input=second, check=True, cwd=tmp_path / "out")
    assert (tmp_path / "out/root.squashfs").read_bytes() == parts["root.squashfs"]
    assert service.raw("GET", initrd.split("?")[0])[0] == 401
    # What a user downloads directly has a token of its own.
    path = f"/infra-envs/{infra_env}/downloads/files?file_name="
    scripts = {service.raw("GET", PREFIX + path + "ipxe-script", headers={"X-Secret-Key": service.token})[2] for _ in range(2)}
    assert len(scripts) == 2
    refusal(400, service.get, path + "ipxe-script&ipxe_script_type=boot-order-control")
    refusal(404, service.get, path + "other")


def test_what_does_not_fit_is_refused_at_once(service):
    def override(size):
        return json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": [
            {"path": "/etc/large", "contents": {"source": "data:," + "x" * size}}]}})

    why = refusal(400, new_infra_env, service, ignition_config_override=override(live_image.AREA))
    assert "the discovery config is too large" in why and "has room for" in why
    infra_env = new_infra_env(service, ignition_config_override=override(live_image.AREA - 20_000))
    refusal(400, service.call, "PATCH", f"/infra-envs/{infra_env}", {"ignition_config_override": override(live_image.AREA)})
    assert service.raw("GET", image_url(service, infra_env))[0] == 200
    for settings, reason in (({"additional_trust_bundle": "PEM"}, "contains no certificate"),
                             ({"additional_trust_bundle": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, "additional_trust_bundle"),
                             ({"proxy": {"http_proxy": "proxy"}}, "is no URL"), ({"proxy": {"ftp_proxy": "http://p"}}, "ftp_proxy is not supported"),
                             ({"proxy": {"http_proxy": 'http://a"b'}}, "without blanks and quotes"), ({"image_type": "minimal-iso"}, "use full-iso"),
                             ({"ignition_config_override": '{"ignition":{"version":"9.0.0"}}'}, "9.0.0"),
                             ({"static_network_config": [{"network_yaml": "interfaces: [{name: br0, type: ovs-bridge}]",
                                                          "mac_interface_map": [{"mac_address": "52:54:00:00:00:01", "logical_nic_name": "eth0"}]}]},
                              "'ovs-bridge' is not supported")):
        assert reason in refusal(400, new_infra_env, service, **settings), settings
    authority = (service.folder / "tls/ca.crt").read_text()
    assert new_infra_env(service, additional_trust_bundle=authority)


def test_an_image_that_installs_hosts_by_itself_is_refused(tmp_path):
    iso, _ = live_image.make(tmp_path, arguments=live_image.ARGUMENTS + " slipway.install.disk=/dev/sda")
    done = subprocess.run([BIN / "slipway-assist", "serve", "--state", tmp_path / "state", "--port", str(free_port()), "--live-image", iso],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "writes /dev/sda of each host" in done.stderr


def test_without_a_live_image(tmp_path):
    service = Service(tmp_path / "state", "--auth", "none", "--plain-http")
    try:
        infra_env = new_infra_env(service)
        assert "--live-image" in refusal(404, service.get, f"/infra-envs/{infra_env}/downloads/image-url")
        assert "no live image to serve" in (tmp_path / "service.log").read_text()
        assert service.raw("GET", f"/images/{infra_env}")[0] == 404
        assert service.get(f"/infra-envs/{infra_env}/downloads/files?file_name=discovery.ign")["ignition"]
    finally:
        assert service.stop() == 0
    iso, _ = live_image.make(tmp_path)
    service = Service(tmp_path / "other", "--auth", "none", "--plain-http", "--live-image", iso)
    try:
        infra_env = new_infra_env(service)
        answer = service.get(f"/infra-envs/{infra_env}/downloads/image-url")
        assert "image_token" not in answer["url"] and service.raw("GET", target_of(answer["url"]))[0] == 200
    finally:
        assert service.stop() == 0
    iso.write_bytes(b"x" * 100_000)
    with pytest.raises(AssertionError):
        Service(tmp_path / "third", "--live-image", iso)
    assert "not a live image" in (tmp_path / "service.log").read_text()


def test_ten_clients_need_little_memory(tmp_path, capsys):
    iso, _ = live_image.make(tmp_path, root_size=int(os.environ.get("IMAGE_MB", 30)) << 20)
    service = Service(tmp_path / "state", "--live-image", iso)
    try:
        url = image_url(service, new_infra_env(service))

        def memory(name):
            status = open(f"/proc/{service.process.pid}/status").read()
            return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) << 10

        def download(sizes):
            connection = service.connection(timeout=300)
            connection.request("GET", url)
            answer = connection.getresponse()
            size = 0
            while piece := answer.read(1 << 20):
                size += len(piece)
            sizes.append(size)
            connection.close()

        before = memory("VmRSS")
        rates = {}
        for clients in (1, 10):
            sizes, begin = [], time.monotonic()
            threads = [threading.Thread(target=download, args=(sizes,)) for _ in range(clients)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sizes == [iso.stat().st_size] * clients
            rates[clients] = sum(sizes) / 1e6 / (time.monotonic() - begin)
        grown = memory("VmHWM") - before
        with capsys.disabled():
            print(f"\nimages of {iso.stat().st_size / 1e6:.0f} MB over TLS: one client {rates[1]:.0f} MB/s, ten together {rates[10]:.0f} MB/s; "
                  f"the service had {before / 1e6:.0f} MB and needed {grown / 1e6:.0f} MB more")
        assert grown < 100e6
    finally:
        assert service.stop() == 0


NETWORK = """interfaces:
- name: eth0
  type: ethernet
  ipv4: {enabled: true, address: [{ip: 192.168.126.11, prefix-length: 24}]}
routes:
  config: [{destination: 0.0.0.0/0, next-hop-address: 192.168.126.1, next-hop-interface: eth0}]
"""


def test_a_host_finds_its_static_network(service, tmp_path):
    """The program of the live system, below a root folder with recorded interfaces."""
    networks = [{"network_yaml": NETWORK.replace(".11", f".{11 + number}"),
                 "mac_interface_map": [{"mac_address": f"52:54:00:00:00:0{number}", "logical_nic_name": "eth0"}]} for number in range(3)]
    infra_env = new_infra_env(service, static_network_config=networks)
    assert json.loads(service.get(f"/infra-envs/{infra_env}")["static_network_config"]) == networks
    config = service.get(f"/infra-envs/{infra_env}/downloads/files?file_name=discovery.ign")
    root = tmp_path / "root"
    for each in config["storage"]["files"]:
        if each["path"].startswith("/etc/slipway-network/"):
            file = root / each["path"][1:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(file_in(config, each["path"]))
    script = (root / "etc/slipway-network/choose").read_text()
    for path in ("/etc/", "/sys/class", "/dev/console"):
        script = script.replace(path, f"{root}{path}")
    (root / "dev").mkdir()
    (root / "bin").mkdir()
    (root / "bin/udevadm").write_text("#!/bin/sh\n")
    (root / "bin/udevadm").chmod(0o755)
    for name, mac in (("eth0", "52:54:00:00:00:02"), ("lo", "00:00:00:00:00:00")):
        (root / "sys/class/net" / name).mkdir(parents=True)
        (root / "sys/class/net" / name / "address").write_text(mac + "\n")
    run = lambda: subprocess.run(["sh", "-c", script], check=True, env={"PATH": f"{root}/bin:/usr/bin:/bin"})  # noqa: E731
    run()
    [file] = (root / "etc/systemd/network").iterdir()
    assert "PermanentMACAddress=52:54:00:00:00:02" in file.read_text() and "Address=192.168.126.13/24" in file.read_text()
    file.unlink()
    (root / "sys/class/net/eth0/address").write_text("52:54:00:00:00:09\n")
    run()
    assert not list((root / "etc/systemd/network").iterdir()) and "uses DHCP" in (root / "dev/console").read_text()
