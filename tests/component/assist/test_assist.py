"""The service of assisted installations, with scripted hosts: an installation during which the service is killed again and again,
tokens, requests that are wrong, hosts that are not what they seem."""
import base64
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import threading
import time
import urllib.parse
import uuid

import pytest

from assist_client import BIN, CLUSTER, PREFIX, PULL_SECRET, Host, Lab, Refused, Service

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
BEFORE_REBOOT = ["Starting installation", "Installing", "Writing image to disk"]
OF_BOOTSTRAP = [*BEFORE_REBOOT, "Waiting for control plane", "Waiting for bootkube", "Waiting for controller", "Rebooting"]
AFTER_REBOOT = ["Configuring", "Joined", "Done"]


def refusal(status, call, *arguments, **named):
    with pytest.raises(Refused) as refused:
        call(*arguments, **named)
    assert refused.value.status == status, refused.value
    return refused.value.body


def validations(document):
    groups = json.loads(document["validations_info"])
    return {each["id"]: each["status"] for group in groups.values() for each in group}


def test_three_hosts_become_a_cluster_though_the_service_is_killed(service, lab):
    """Every state that a client saw is there after a kill, and the same requests go on."""
    assert service.cluster(lab.id)["status"] == "pending-for-input", "the machine networks are those of hosts"
    for host in lab.hosts:
        assert host.register()["status"] == "discovering"
        assert host.step_types() == ["inventory"]
        service.restart()
        host.reply("inventory", host.inventory())
        assert host.view()["status"] == "insufficient", host.view()["status_info"]
    assert validations(lab.hosts[0].view())["belongs-to-majority-group"] == "pending"
    for host in lab.hosts:
        assert {"connectivity-check", "ntp-synchronizer", "domain-resolution", "verify-vips"} <= set(host.step_types())
        host.checks(lab.hosts)
    service.restart()
    cluster = service.cluster(lab.id)
    assert cluster["status"] == "ready", cluster["validations_info"]
    assert [host["status"] for host in cluster["hosts"]] == ["known"] * 3
    assert {host["suggested_role"] for host in cluster["hosts"]} == {"master"}
    assert cluster["machine_networks"][0]["cidr"] == "192.168.126.0/24"

    lab.install()
    service.restart()  # while the configs are generated
    assert set(lab.hosts[0].step_types()) == {"installation-disk-speed-check", "container-image-availability"}
    lab.prepare()
    service.restart()
    bootstrap = lab.bootstrap
    masters = [host for host in lab.hosts if host is not bootstrap]

    # Secrets: each host its own config, the bootstrap's config only for the host that carries it.
    [step] = bootstrap.instructions()["instructions"]
    argument = json.loads(step["args"][0])
    assert step["step_type"] == "install" and argument["role"] == "bootstrap" and argument["boot_device"] == "/dev/disk/by-id/wwn-1"
    assert json.loads(masters[0].instructions()["instructions"][0]["args"][0])["role"] == "master"
    config = bootstrap.call("GET", f"/clusters/{lab.id}/downloads/files?file_name=bootstrap.ign")
    assert config["ignition"]["version"].startswith("3.")
    refusal(403, masters[0].call, "GET", f"/clusters/{lab.id}/downloads/files?file_name=bootstrap.ign")
    refusal(403, bootstrap.call, "GET", f"/clusters/{lab.id}/downloads/files?file_name=kubeconfig")
    own = masters[0].call("GET", f"{masters[0].path}/downloads/ignition")
    assert "/config/master" in own["ignition"]["config"]["merge"][0]["source"]
    assert masters[0].call("GET", masters[0].path.replace("infra-envs", "infra-env") + "/downloads/ignition") == own

    for host in lab.hosts:
        for stage in OF_BOOTSTRAP if host is bootstrap else [*BEFORE_REBOOT, "Rebooting"]:
            host.stage(stage, "40%" if stage == "Writing image to disk" else "")
            service.restart()
            seen = host.view()
            assert (seen["status"], seen["progress"]["current_stage"]) == ("installing-in-progress", stage)
    refusal(409, bootstrap.stage, "Installing")
    refusal(409, masters[0].stage, "Waiting for bootkube")

    controller = lab.controller()
    for host in lab.hosts:
        for stage in AFTER_REBOOT:
            service.call("PUT", f"{host.path}/progress", {"current_stage": stage}, token=controller)
        service.restart()
        assert host.view()["status"] == "installed"
    service.wait_for_cluster(lab.id, "finalizing")
    path = f"/clusters/{lab.id}"
    service.call("PUT", f"{path}/progress", {"finalizing_stage": "Waiting for cluster operators"}, token=controller)
    service.call("PUT", f"{path}/monitored-operators", {"name": "cvo", "status": "available", "version": "4.20"}, token=controller)
    service.restart()
    service.call("POST", f"{path}/actions/complete-installation", {"is_success": True}, token=controller)
    cluster = service.cluster(lab.id)
    assert cluster["status"] == "installed" and cluster["progress"]["total_percentage"] == 100
    assert "server: https://" in service_text(service, f"{path}/downloads/credentials?file_name=kubeconfig")

    statuses = [event["props"] for event in service.get(f"/events?cluster_id={lab.id}") if event["name"] == "cluster_status_updated"]
    assert [json.loads(each)["new_status"] for each in statuses] == [
        "pending-for-input", "insufficient", "ready", "preparing-for-installation", "installing", "finalizing", "installed"]
    status = subprocess.run([BIN / "slipway-assist", "status", "--state", service.folder], check=True, capture_output=True, text=True).stdout
    assert "cluster demo: installed, 100 %" in status and "host host-0: installed, Done" in status


def service_text(service, path):
    status, _, body = service.raw("GET", PREFIX + path, headers={"X-Secret-Key": service.token})
    assert status == 200, body
    return body.decode()


def test_one_host_becomes_a_cluster(service, tmp_path):
    """A single node: no virtual addresses, no other host; it bootstraps the cluster in place."""
    refusal(400, service.call, "POST", "/clusters", {**CLUSTER, "high_availability_mode": "None", "control_plane_count": 3})
    lab = Lab(service, tmp_path, 2, high_availability_mode="None")
    node, other = lab.hosts

    def message(validation):
        groups = json.loads(service.cluster(lab.id)["validations_info"])
        return next(each["message"] for group in groups.values() for each in group if each["id"] == validation)

    cluster = service.cluster(lab.id)
    assert (cluster["high_availability_mode"], cluster["control_plane_count"], cluster["user_managed_networking"]) == ("None", 1, True)
    node.register()
    node.reply("inventory", node.inventory())
    assert service.cluster(lab.id)["machine_networks"][0]["cidr"] == "192.168.126.0/24"
    assert "verify-vips" not in node.step_types() and message("api-vips-defined") == "the only node has the addresses; virtual addresses have no effect"
    node.checks([node])
    # The names of the cluster lead to the node, as with load balancers of the user.
    assert validations(node.view())["api-int-domain-name-resolved-correctly"] == "failure"
    names = ["api", "api-int", "console-openshift-console.apps"]
    node.reply("domain-resolution", {"resolutions": [{"domain_name": f"{name}.demo.example.com", "ipv4_addresses": [node.address]} for name in names]})
    assert service.cluster(lab.id)["status"] == "ready", service.cluster(lab.id)["validations_info"]

    other.register()
    other.reply("inventory", other.inventory())
    # Which of both is the node is not known, so neither is its network.
    assert service.cluster(lab.id)["status"] == "pending-for-input"
    assert "is installed on one host, and has 2: remove the others" in message("sufficient-masters-count")
    [problem] = next(each for each in service.get(f"/clusters/{lab.id}/gates") if each["step"] == "host-discovery")["problems"]
    assert problem["message"] == message("sufficient-masters-count")
    service.call("DELETE", other.path)
    lab.hosts.remove(other)

    lab.install()
    lab.prepare()
    [step] = node.instructions()["instructions"]
    arguments = json.loads(step["args"][0])
    assert (arguments["role"], arguments["control_plane_count"]) == ("bootstrap", 1), arguments
    status, _, config = node.send("GET", f"/clusters/{lab.id}/downloads/files?file_name=bootstrap.ign")
    assert status == 200
    config = json.loads(config)
    files = {file["path"]: file for file in config["storage"]["files"]}
    assert {"/opt/openshift/bootstrap-in-place/master-update.fcc", "/etc/hostname"} <= files.keys()
    assert "/opt/openshift/assisted-install-bootstrap" not in files and "/usr/local/bin/install-to-disk.sh" not in files
    assert "install-to-disk.service" not in [unit["name"] for unit in config["systemd"]["units"]]
    source = files["/opt/openshift/manifests/cluster-config.yaml"]["contents"]["source"]
    content = base64.b64decode(source.split("base64,")[1]).decode() if "base64," in source else urllib.parse.unquote(source)
    assert "bootstrapInPlace" in content and "installationDisk: /dev/vda" in content, "components of the release look for it"
    for stage in ("Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting"):
        node.stage(stage)
    assert refusal(409, node.stage, "Waiting for control plane")
    controller = lab.controller()
    for stage in ("Joined", "Done"):
        service.call("PUT", f"{node.path}/progress", {"current_stage": stage, "progress_info": ""}, token=controller)
    assert service.cluster(lab.id)["status"] == "finalizing"
    service.call("POST", f"/clusters/{lab.id}/actions/complete-installation", {"is_success": True}, token=controller)
    assert service.cluster(lab.id)["status"] == "installed"
    # Workers may be added later.
    service.call("POST", f"/clusters/{lab.id}/actions/allow-add-hosts")
    assert service.cluster(lab.id)["high_availability_mode"] == "None"


def test_states_change_at_once(service, lab):
    """Waiting agents hear of a new step within a second after its cause, without asking again."""
    lab.discover()
    assert service.cluster(lab.id)["status"] == "ready"
    host = lab.hosts[0]
    host.instructions(wait=25)  # takes what there is
    heard = {}

    def wait():
        while "installation-disk-speed-check" not in heard.get("types", []):
            answer = host.instructions(wait=25)
            heard.update(types=[each["step_type"] for each in answer["instructions"]], at=time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    begin = time.monotonic()
    lab.install()
    waiting.join(timeout=30)
    assert "installation-disk-speed-check" in heard["types"]
    assert heard["at"] - begin < 2, "the agent heard of the step too late"  # with a margin for a busy machine


def test_events_are_streamed_and_none_is_missed(service, lab):
    path = f"{PREFIX}/events/stream?cluster_id={lab.id}"
    connection = service.connection()
    connection.request("GET", path, headers={"X-Secret-Key": service.token})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"

    def next_event():
        fields = {}
        while (line := answer.readline().decode().rstrip("\n")) or "data" not in fields:
            if ": " in line and not line.startswith(":"):
                key, value = line.split(": ", 1)
                fields[key] = value
        return int(fields["id"]), json.loads(fields["data"])

    number, event = next_event()
    assert event["name"] == "cluster_registration_succeeded"
    lab.hosts[0].register()
    while event["name"] != "host_registration_succeeded":
        number, event = next_event()
    connection.close()
    lab.hosts[0].reply("inventory", lab.hosts[0].inventory())
    connection = service.connection()
    connection.request("GET", path, headers={"X-Secret-Key": service.token, "Last-Event-ID": str(number)})
    answer = connection.getresponse()
    later, _ = next_event()
    assert later == number + 1
    connection.close()


def test_changes_without_an_event_are_streamed(service, lab):
    """Only to clients that ask for them, and only those of the object that they ask for."""
    lab.discover()
    other = service.call("POST", "/clusters", {**CLUSTER, "name": "other"})["id"]
    connections = [service.connection(), service.connection()]
    answers = []
    for connection, more in zip(connections, ["&changes=true", ""]):
        connection.request("GET", f"{PREFIX}/events/stream?cluster_id={lab.id}{more}", headers={"X-Secret-Key": service.token, "Last-Event-ID": "1000000"})
        answers.append(connection.getresponse())
        assert answers[-1].readline().startswith(b": events")
    service.call("PUT", f"/clusters/{other}/ui-settings", "of another cluster")
    service.call("PUT", f"/clusters/{lab.id}/ui-settings", "seen")  # has no event
    lines = [answers[0].readline().decode().strip() for _ in range(3)]
    assert lines == ["", "event: change", f'data: {{"cluster_id":"{lab.id}"}}']
    service.call("PATCH", f"/clusters/{lab.id}", {"base_dns_domain": "example.net"})  # has one, with a larger number
    for connection in connections:
        connection.close()


def test_gates_and_states_agree(service, lab):
    def gates():
        return {each["step"]: each["is_open"] for each in service.get(f"/clusters/{lab.id}/gates")}

    assert gates() == {"cluster-details": True, "host-discovery": False, "storage": True, "networking": False, "review": False}
    lab.discover()
    assert all(gates().values()) and service.cluster(lab.id)["status"] == "ready"
    lab.hosts[1].reply("inventory", lab.hosts[1].inventory(hostname="host-0"))
    assert gates() == {"cluster-details": True, "host-discovery": False, "storage": True, "networking": True, "review": False}
    [problem, *_] = next(each for each in service.get(f"/clusters/{lab.id}/gates") if each["step"] == "host-discovery")["problems"]
    assert problem["id"] == "hostname-unique" and problem["host_id"] in [host.id for host in lab.hosts]
    assert service.cluster(lab.id)["status"] == "insufficient"


def test_page_is_served_and_other_sites_are_refused(service, lab):
    status, headers, body = service.raw("GET", "/")
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"<script" in gzip.decompress(body)
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert json.loads(service.raw("GET", "/page.json")[2]) == {"kind": "assisted", "needs_token": True}
    token = {"X-Secret-Key": service.token}
    for origin, wanted in ((f"https://127.0.0.1:{service.port}", 200), ("https://example.com", 403), ("null", 403)):
        assert service.raw("GET", f"{PREFIX}/clusters", headers={**token, "Origin": origin})[0] == wanted
    assert service.raw("GET", "/", headers={"Origin": "https://example.com"})[0] == 403


def test_logins_of_proxies_are_taken_and_never_shown(service, lab):
    login, shown = "http://joe:hunter2@proxy.example.com:3128", "http://proxy.example.com:3128"
    env, cluster = f"/infra-envs/{lab.infra_env}", f"/clusters/{lab.id}"
    config = f"{env}/downloads/files?file_name=discovery.ign"
    made = service.call("POST", "/infra-envs", {"name": "other", "pull_secret": PULL_SECRET, "proxy": {"http_proxy": login}})
    assert made["proxy"] == {"http_proxy": shown}
    changed = service.call("PATCH", env, {"proxy": {"http_proxy": login, "https_proxy": shown, "no_proxy": "example.com"}})
    assert changed["proxy"] == {"http_proxy": shown, "https_proxy": shown, "no_proxy": "example.com"}
    assert "hunter2" in proxies_of(service, config), "hosts need it"
    service.call("PATCH", env, {"proxy": changed["proxy"]})  # as a client that changes what it has read
    assert "hunter2" in proxies_of(service, config)
    service.call("PATCH", env, {"proxy": {"http_proxy": "http://other.example.com:3128"}})
    assert "hunter2" not in proxies_of(service, config)
    assert "hunter2" not in refusal(400, service.call, "PATCH", env, {"proxy": {"http_proxy": "joe:hunter2@proxy"}})
    assert service.call("PATCH", cluster, {"http_proxy": login})["http_proxy"] == shown
    service.call("PATCH", f"{cluster}/install-config", json.dumps({"proxy": {"httpsProxy": login}}))
    for path in (cluster, f"{cluster}/install-config", env, "/infra-envs", "/clusters", "/events"):
        text = json.dumps(service.get(path))
        assert "hunter2" not in text and "YTpi" not in text, path


def proxies_of(service, path):
    files = {each["path"]: each["contents"]["source"] for each in service.get(path)["storage"]["files"]}
    source = files["/etc/systemd/system.conf.d/10-default-env.conf"]
    return base64.b64decode(source.split("base64,")[1]).decode() if "base64," in source else urllib.parse.unquote(source)


def test_streams_end_with_their_token(service, lab):
    def stream_of(life):
        user = service.call("POST", "/tokens", {"kind": "user", "cluster_id": lab.id, "expires_in": life})
        connection = service.connection(timeout=30)
        connection.request("GET", f"{PREFIX}/events/stream?changes=true", headers={"X-Secret-Key": user["token"]})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.readline().startswith(b": events")
        return user["id"], answer

    revoked, first = stream_of("1h")
    _, short = stream_of("2s")
    _, lasting = stream_of("1h")
    service.call("DELETE", f"/tokens/{revoked}")
    for each in (first, short):
        each.read()  # to its end, or the time limit of the connection
    service.call("PUT", f"/clusters/{lab.id}/ui-settings", "seen")
    while (line := lasting.readline().decode()).strip() != f'data: {{"cluster_id":"{lab.id}"}}':
        assert line, "the stream of a token that is valid ended"


def test_tokens_open_one_object_only(service, lab, tmp_path):
    other = Lab(service, tmp_path)
    for each in (lab, other):
        each.hosts[0].register()
    mine, theirs = lab.hosts[0], other.hosts[0]
    refusal(401, service.call, "GET", "/clusters", token="")
    refusal(401, service.call, "GET", "/clusters", token=str(uuid.uuid4()) + ".x")
    # a host: its own paths, with its own key
    assert mine.instructions()["instructions"]
    refusal(404, mine.call, "GET", f"{theirs.path}/instructions?timestamp=1")
    refusal(404, mine.call, "GET", f"/clusters/{other.id}")
    refusal(403, mine.call, "GET", "/clusters")
    refusal(403, mine.call, "POST", f"/clusters/{lab.id}/actions/install")
    refusal(401, service.call, "GET", f"{mine.path}/instructions", token=mine.token)  # not signed
    thief = Host(service, lab.infra_env, mine.token, 9, tmp_path, host_id=mine.id)
    refusal(401, thief.call, "GET", f"{mine.path}/instructions")  # signed by another key
    # an agent that only registers
    refusal(403, service.call, "GET", f"/infra-envs/{lab.infra_env}", token=lab.token)
    stranger = Host(service, other.infra_env, lab.token, 8, tmp_path)
    refusal(404, stranger.register)
    # users of one object
    user = service.call("POST", "/tokens", {"kind": "user", "cluster_id": lab.id, "expires_in": "1h"})
    assert [each["id"] for each in service.get("/clusters", token=user["token"])] == [lab.id]
    assert service.get(f"/infra-envs/{lab.infra_env}", token=user["token"])["id"] == lab.infra_env
    for path in (f"/clusters/{other.id}", f"/infra-envs/{other.infra_env}", theirs.path, f"/events?cluster_id={other.id}"):
        refusal(404, service.get, path, token=user["token"])
    assert {each["cluster_id"] for each in service.get("/events", token=user["token"])} == {lab.id}
    connection = service.connection()  # the list of clusters on the page follows it
    connection.request("GET", f"{PREFIX}/events/stream?changes=true", headers={"X-Secret-Key": user["token"]})
    stream = connection.getresponse()
    assert stream.status == 200 and stream.readline().startswith(b": events")
    service.call("PUT", f"/clusters/{other.id}/ui-settings", "of another cluster")
    service.call("PUT", f"/clusters/{lab.id}/ui-settings", "seen")
    while (line := stream.readline().decode()).strip() != f'data: {{"cluster_id":"{lab.id}"}}':
        assert line and other.id not in line
    connection.close()
    refusal(403, service.call, "POST", "/clusters", CLUSTER, token=user["token"])
    refusal(403, service.call, "POST", "/tokens", {"kind": "admin"}, token=user["token"])
    service.call("DELETE", f"/tokens/{user['id']}")
    refusal(401, service.get, f"/clusters/{lab.id}", token=user["token"])
    short = service.call("POST", "/tokens", {"kind": "user", "cluster_id": lab.id, "expires_in": "100ms"})["token"]
    time.sleep(0.2)
    assert "expired" in refusal(401, service.get, f"/clusters/{lab.id}", token=short)
    # an image that was given away
    service.call("POST", f"/infra-envs/{lab.infra_env}/regenerate-signing-key")
    lab.hosts[1].token = lab.token
    refusal(401, lab.hosts[1].register)
    assert mine.instructions(), "hosts that have registered go on"
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in service.folder.rglob("*") if path.is_file()}
    assert modes.pop("url") == modes.pop("ca.crt") == modes.pop("server.crt") == "0o644"
    assert set(modes.values()) == {"0o600"}, modes


def test_another_machine_cannot_take_the_place_of_a_host(service, lab, tmp_path):
    first = lab.hosts[0]
    first.register()
    twin = Host(service, lab.infra_env, lab.token, 5, tmp_path, host_id=first.id)
    answer = json.loads(refusal(409, twin.register))
    assert answer["cause"] == "host-id-in-use" and "same serial number" in answer["reason"]
    first.register()  # the same key again
    assert first.view()["status"] == "discovering"
    unsigned = {"X-Secret-Key": lab.token}
    body = json.dumps({"host_id": str(uuid.uuid4()), "public_key": twin.key}).encode()
    status, _, _ = service.raw("POST", f"{PREFIX}/infra-envs/{lab.infra_env}/hosts", body, unsigned)
    assert status == 401


def test_hosts_that_do_not_fit(service, lab):
    lab.discover()
    small, named, late = lab.hosts
    small.reply("inventory", small.inventory(memory={"physical_bytes": 4 << 30, "usable_bytes": 4 << 30}))
    assert small.view()["status"] == "insufficient" and validations(small.view())["has-min-memory"] == "failure"
    small.reply("inventory", small.inventory())
    named.reply("inventory", named.inventory(hostname="host-0"))
    assert validations(named.view())["hostname-unique"] == "failure"
    service.call("PATCH", named.path, {"host_name": "host-9"})
    assert named.view()["status"] == "known"
    named.reply("verify-vips", [{"vip": "192.168.126.100", "vip_type": "api", "verification": "failed"}])
    cluster = service.cluster(lab.id)
    assert cluster["status"] == "insufficient" and validations(cluster)["api-vips-valid"] == "failure"
    named.checks(lab.hosts)
    late.call("GET", f"{late.path}/instructions?timestamp={int(time.time()) - 7200}")
    assert validations(late.view())["time-synced-between-host-and-service"] == "failure"
    late.instructions()
    assert service.cluster(lab.id)["status"] == "ready"
    assert "only a cluster that is ready" not in json.dumps(service.cluster(lab.id))


def test_cancel_and_reset_in_every_phase(service, lab):
    path = f"/clusters/{lab.id}/actions"
    refusal(409, service.call, "POST", f"{path}/install")
    refusal(409, service.call, "POST", f"{path}/cancel")
    lab.discover()
    lab.install()
    assert service.call("POST", f"{path}/cancel")["status"] == "ready"
    assert {host.view()["status"] for host in lab.hosts} == {"known"}
    lab.install()
    lab.prepare()
    refusal(409, service.call, "PATCH", f"/clusters/{lab.id}", {"base_dns_domain": "example.org"})
    refusal(409, service.call, "DELETE", f"/clusters/{lab.id}")
    lab.hosts[0].stage("Starting installation")
    assert service.call("POST", f"{path}/cancel")["status"] == "cancelled"
    assert {host.view()["status"] for host in lab.hosts} == {"cancelled"}
    assert "stop-installation" in lab.hosts[0].step_types()
    refusal(409, lab.hosts[0].call, "GET", f"{lab.hosts[0].path}/downloads/ignition")
    service.restart()
    assert service.call("POST", f"{path}/reset")["status"] == "insufficient"
    assert {host.view()["status"] for host in lab.hosts} == {"resetting-pending-user-action"}
    for host in lab.hosts:
        host.boot()
        assert host.register()["status"] == "discovering"
        host.reply("inventory", host.inventory())
    for host in lab.hosts:
        host.checks(lab.hosts)
    assert service.cluster(lab.id)["status"] == "ready"
    lab.install()
    lab.prepare()


def test_hosts_that_restart_while_they_are_installed(service, lab):
    lab.discover()
    lab.install()
    lab.prepare()
    bootstrap = lab.bootstrap
    master, other = [host for host in lab.hosts if host is not bootstrap]
    refusal(409, other.reply, "inventory", other.inventory(hostname="host-9"))  # it would get the certificate of another name
    master.stage("Writing image to disk", "50%")
    assert master.register()["status"] == "installing-in-progress", "only the agent restarted"
    master.stage("Rebooting")
    master.boot()
    assert master.register()["status"] == "installing-pending-user-action", "it booted the image again"
    assert service.cluster(lab.id)["status"] == "installing-pending-user-action"
    master.stage("Configuring")
    assert service.cluster(lab.id)["status"] == "installing"
    other.stage("Writing image to disk", "10%")
    other.boot()
    assert other.register()["status"] == "error"
    service.wait_for_cluster(lab.id, "error")
    assert "logs-gather" in other.step_types()
    content = (b'--x\r\nContent-Disposition: form-data; name="upfile"; filename="l.tar.gz"\r\n\r\n' + b"\x1f\x8b\r\n--y" * 500_000 + b"\r\n--x--\r\n")
    target = f"/clusters/{lab.id}/logs?logs_type=host&host_id={other.id}&infra_env_id={lab.infra_env}"
    status, _, body = other.send("POST", target, content, {"Content-Type": "multipart/form-data; boundary=x"})
    assert status == 204, body
    status, _, logs = service.raw("GET", f"{PREFIX}/clusters/{lab.id}/logs?logs_type=host&host_id={other.id}", headers={"X-Secret-Key": service.token})
    assert status == 200 and logs == b"\x1f\x8b\r\n--y" * 500_000


def test_without_authentication_only_on_loopback(tmp_path):
    service = Service(tmp_path / "state", "--auth", "none", "--plain-http")
    try:
        lab = Lab(service, tmp_path)
        lab.hosts[0].register()
        assert lab.hosts[0].step_types() == ["inventory"]
        refusal(401, service.call, "GET", f"{lab.hosts[0].path}/instructions")  # its key still counts
        status, _, body = service.raw("GET", f"{PREFIX}/clusters", headers={"Host": f"example.com:{service.port}"})
        assert status == 403 and b"has no name 'example.com'" in body  # DNS rebinding
        assert service.raw("GET", f"{PREFIX}/clusters", headers={"Host": f"localhost:{service.port}"})[0] == 200
    finally:
        assert service.stop() == 0
    for options in (["--auth", "none"], ["--plain-http"]):
        done = subprocess.run([BIN / "slipway-assist", "serve", "--state", tmp_path / "other", "--address", "0.0.0.0", *options],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "only allowed on a loopback address" in done.stderr
    running = Service(tmp_path / "third", "--auth", "none", "--plain-http")
    second = subprocess.run([BIN / "slipway-assist", "serve", "--state", tmp_path / "third"], capture_output=True, text=True, check=False)
    assert second.returncode == 1 and "in use by another process" in second.stderr
    assert running.stop() == 0


ROUTE = re.compile(r'Route\{"(\w+)", "([^"]+)"')
WORDS = ["", "null", "[]", "{}", "[[[[", '{"a":', '"x"', "-1", "1e999", "\\u0000", "\x00", "\xff\xfe", "'" * 50, "../" * 20, "%00", "<script>",
         '{"name":7}', '{"host_id":[]}', '{"args":[{}]}', '{"config":"{}x"}', '{"step_type":"inventory","output":"[]"}',
         '{"step_type":"inventory","exit_code":0,"output":"{\\"interfaces\\":[{\\"ipv4_addresses\\":[7]}]}"}', '{"kind":"host"}',
         '{"current_stage":"Done","progress_info":{}}', '{"api_vips":[{"ip":"x"}]}', '{"cluster_networks":[{"cidr":"10.0.0.0/8","host_prefix":99}]}',
         "[" * 5000, '{"a":' * 500, '{"name":"' + "x" * 20000 + '"}']


def test_malformed_requests_are_refused(service, lab):
    """A hundred for each route, with good credentials: none of them is an error of the server, and it goes on."""
    lab.hosts[0].register()
    seed = int(os.environ.get("SEED", random.randrange(10**6)))
    print(f"SEED={seed}")
    choose = random.Random(seed)
    routes = ROUTE.findall((SOURCE / "src/service/routes.cpp").read_text())
    assert len(routes) > 60
    connection = service.connection()
    for method, pattern in routes:
        if pattern == "/events/stream" or method == "DELETE":
            continue  # never ends; would remove what the others use
        for _ in range(100):
            path = pattern.replace("{c}", lab.id).replace("{i}", lab.infra_env).replace("{h}", lab.hosts[0].id).replace("{n}", "x")
            if choose.random() < 0.2:
                path = path.replace(lab.id, choose.choice(["x", "0" * 36, str(uuid.UUID(int=choose.getrandbits(128)))]))
            query = "".join(choose.choice("&=?%aZ0+,/-") for _ in range(choose.randrange(20))) if choose.random() < 0.5 else ""
            body = choose.choice(WORDS)
            if choose.random() < 0.3 and body:
                place = choose.randrange(len(body))
                body = body[:place] + choose.choice("{}[]\",:\x01\xe9") + body[place + 1:]
            headers = {"X-Secret-Key": service.token, "Content-Type": choose.choice(["application/json", "multipart/form-data; boundary=", "x"])}
            connection.request(method, f"{PREFIX}{path}?{query}", body=body.encode("latin-1"), headers=headers)
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status < 500, (method, path, query, body, content)
            if answer.status >= 400:
                assert json.loads(content), (method, path, content)
    connection.close()
    assert service.cluster(lab.id)["id"] == lab.id
