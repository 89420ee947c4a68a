"""The client that is generated from the public description leads clusters through their whole life. generated_client.py judges each answer."""
import base64
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import urllib.request

import pytest

import live_image
from assist_client import CLUSTER, PREFIX, PULL_SECRET, Host, Lab, Service
from generated_client import PACKAGES, ApiException, Judge, PublicHost, models, operations

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
IMPORTED = "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22"
# Operations of the description that the service does not have, with the answer.
MISSING = {("POST", "/events"): 405, ("POST", "/clusters/disconnected"): 404, ("GET", "/infra-envs/{infra_env_id}/downloads/minimal-initrd"): 404,
           ("GET", "/operators/bundles/{id}"): 404, ("GET", "/supported-operators/{operator_name}"): 404,
           ("GET", "/offline-openshift-versions"): 404, ("GET", "/support-levels/features"): 404,
           ("GET", "/support-levels/features/detailed"): 404, ("GET", "/support-levels/architectures"): 404}
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1hcmtlZEtleU9mVGVzdHNOb3RBU2VjcmV0MDE="
MANIFEST = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  namespace: default\ndata:\n  who: user\n"


def refused(status, call, *arguments, **named):
    with pytest.raises(ApiException) as refusal:
        call(*arguments, **named)
    assert refusal.value.status == status, refusal.value
    return json.loads(refusal.value.body).get("reason", "")


def fetch(download, *arguments, **named):
    """The content of a file. The generated code would write bytes as text."""
    return download(*arguments, **named, _preload_content=False).data


class PublicLab(Lab):
    """A cluster with three hosts, made by the generated client."""

    def __init__(self, judge, service, folder, name="demo"):
        self.judge, self.service, self.folder = judge, service, folder
        # Also what the generated class sends for all that a user does not set.
        self.id = judge.installer.v2_register_cluster(models.ClusterCreateParams(
            name=name, openshift_version="4.20", pull_secret=PULL_SECRET, base_dns_domain="example.com",
            api_vips=[models.ApiVip(ip="192.168.126.100")], ingress_vips=[models.IngressVip(ip="192.168.126.101")])).id
        self.infra_env = judge.installer.register_infra_env(models.InfraEnvCreateParams(
            name=name, pull_secret=PULL_SECRET, cluster_id=self.id, image_type="full-iso")).id
        self.hosts = [PublicHost(judge, service, self.infra_env, number, folder) for number in range(3)]

    def install(self):
        assert self.judge.installer.v2_install_cluster(self.id).status == "preparing-for-installation"


@pytest.fixture
def service(tmp_path):
    """Without authentication, because the generated client cannot sign the requests of hosts."""
    image, _ = live_image.make(tmp_path)
    running = Service(tmp_path / "state", "--auth", "none", "--plain-http", "--live-image", image)
    yield running
    assert running.stop() == 0


@pytest.fixture
def judge(service, tmp_path):
    return Judge(service, tmp_path)


def look_at_the_service(judge):
    assert judge.versions.v2_list_supported_openshift_versions()["4.20"]["cpu_architectures"] == ["x86_64"]
    assert judge.versions.v2_list_component_versions().release_tag == "4.20"
    assert judge.versions.v2_list_release_sources() == judge.domains.v2_list_managed_domains() == []
    assert judge.operators.v2_list_supported_operators() == judge.operators.v2_list_bundles() == []
    assert judge.installer.v2_get_cluster_default_config().cluster_network_cidr == "10.128.0.0/14"


def set_up_the_cluster(judge, lab):
    call = judge.installer
    cluster = call.v2_get_cluster(lab.id)
    assert (cluster.platform.type, cluster.cluster_networks[0].host_prefix, cluster.service_network_cidr) == ("baremetal", 23, "172.30.0.0/16")
    changed = call.v2_update_cluster(lab.id, models.V2ClusterUpdateParams(
        ssh_public_key=SSH_KEY, platform=models.Platform(type="baremetal"), additional_ntp_source="192.168.126.1",
        cluster_networks=[models.ClusterNetwork(cidr="10.132.0.0/14", host_prefix=24, cluster_id=lab.id)]))
    assert changed.image_info.ssh_public_key == SSH_KEY and changed.cluster_network_cidr == "10.132.0.0/14"
    assert [each["id"] for each in call.v2_list_clusters(with_hosts=True)] == [lab.id]
    assert "5 masters are not supported" in refused(400, call.v2_update_cluster, lab.id, models.V2ClusterUpdateParams(control_plane_count=5))
    call.v2_update_cluster_ui_settings(lab.id, "seen")
    assert call.v2_get_cluster_ui_settings(lab.id) == "seen"
    call.v2_set_ignored_validations(lab.id, models.IgnoredValidations(host_validation_ids='["mtu-valid"]', cluster_validation_ids="[]"))
    assert "mtu-valid" in call.v2_get_ignored_validations(lab.id).host_validation_ids
    call.v2_update_cluster_install_config(lab.id, json.dumps({"fips": False}))
    assert json.loads(call.v2_get_cluster_install_config(lab.id))["fips"] is False
    needed = call.v2_get_preflight_requirements(lab.id).ocp
    assert (needed.master.quantitative.cpu_cores, needed.worker.quantitative.ram_mib) == (4, 8192)
    assert set(call.get_cluster_supported_platforms(lab.id)) == {"baremetal", "none"}


def set_up_the_environment(judge, lab):
    call = judge.installer
    assert [each["id"] for each in call.list_infra_envs(cluster_id=lab.id)] == [lab.infra_env]
    changed = call.update_infra_env(lab.infra_env, models.InfraEnvUpdateParams(
        additional_ntp_sources="192.168.126.1", proxy=models.Proxy(http_proxy="http://proxy.example.com:3128", no_proxy="a"),
        static_network_config=[models.HostStaticNetworkConfig(
            network_yaml="interfaces:\n- {name: eth0, type: ethernet, ipv4: {enabled: true, dhcp: true}}\n",
            mac_interface_map=[{"mac_address": "52:54:00:00:00:07", "logical_nic_name": "eth0"}])]))
    assert changed.proxy.no_proxy == "a" and json.loads(changed.static_network_config)
    assert call.get_infra_env(lab.infra_env).type == "full-iso"
    with urllib.request.urlopen(call.get_infra_env_download_url(lab.infra_env).url) as answer:
        assert answer.read(40_000)[0x8001:0x8006] == b"CD001"
    with urllib.request.urlopen(call.get_infra_env_presigned_file_url(lab.infra_env, "ipxe-script").url) as answer:
        assert answer.read().startswith(b"#!ipxe")
    assert json.loads(fetch(call.v2_download_infra_env_files, lab.infra_env, "discovery.ign"))["ignition"]
    call.regenerate_infra_env_signing_key(lab.infra_env)


def set_up_hosts(judge, lab):
    call = judge.installer
    lab.discover()
    host = lab.hosts[0]
    assert {each["status"] for each in call.list_cluster_hosts(lab.id)} == {"known"}
    changed = call.v2_update_host(lab.infra_env, host.id, models.HostUpdateParams(
        host_role="master", host_name="first", node_labels=[models.NodeLabelParams(key="a", value="b")],
        disks_selected_config=[models.DiskConfigParams(id="/dev/disk/by-id/wwn-1", role="install")]))
    assert (changed.role, changed.requested_hostname, changed.node_labels) == ("master", "first", '{"a":"b"}')
    assert call.v2_update_host_installer_args(lab.infra_env, host.id, models.InstallerArgsParams(args=["--append-karg", "a=b"])).installer_args
    call.v2_update_host_ignition(lab.infra_env, host.id, models.HostIgnitionParams(config='{"ignition": {"version": "3.1.0"}}'))
    assert "3.1.0" in call.v2_get_host_ignition(lab.infra_env, host.id).config
    call.v2_reset_host_validation(lab.infra_env, host.id, "sufficient-installation-disk-speed")
    assert {each["id"] for each in call.v2_list_hosts(lab.infra_env)} == {each.id for each in lab.hosts}
    assert "reset the cluster" in refused(409, call.v2_reset_host, lab.infra_env, host.id)
    assert call.v2_get_cluster(lab.id).api_vips[0].verification == "succeeded"


def add_manifests(judge, lab):
    encoded = base64.b64encode(MANIFEST).decode()
    made = judge.manifests.v2_create_cluster_manifest(lab.id, models.CreateManifestParams(file_name="99-a.yaml", content=encoded))
    assert (made.folder, made.file_name, made.manifest_source) == ("manifests", "99-a.yaml", "user")
    judge.manifests.v2_create_cluster_manifest(lab.id, models.CreateManifestParams(file_name="b.yaml", content=encoded, folder="openshift"))
    moved = judge.manifests.v2_update_cluster_manifest(lab.id, models.UpdateManifestParams(
        folder="manifests", file_name="99-a.yaml", updated_folder="openshift", updated_file_name="99-mine.yaml"))
    assert moved.folder == "openshift"
    judge.manifests.v2_delete_cluster_manifest(lab.id, "b.yaml", folder="openshift")
    assert [each["file_name"] for each in judge.manifests.v2_list_cluster_manifests(lab.id)] == ["99-mine.yaml"]
    assert fetch(judge.manifests.v2_download_cluster_manifest, lab.id, "99-mine.yaml", folder="openshift") == MANIFEST
    for name, content, reason in (("../a.yaml", MANIFEST, "file_name"), ("a.txt", MANIFEST, "file_name"), ("a.yaml", b"a: [", "a.yaml"),
                                  ("a.yaml", b"a: 1", "apiVersion"), ("a.yaml", b"", "no object")):
        encoded = base64.b64encode(content).decode()
        body = {"file_name": name, "content": encoded}
        assert reason in refused(400, judge.manifests.v2_create_cluster_manifest, lab.id, body)
    refused(404, judge.manifests.v2_delete_cluster_manifest, lab.id, "none.yaml")


def install(judge, lab, folder):
    call = judge.installer
    refused(409, call.v2_get_presigned_for_cluster_files, lab.id, "bootstrap.ign")
    lab.install()
    assert call.v2_cancel_installation(lab.id).status == "ready"
    lab.install()
    lab.prepare()
    refused(409, judge.manifests.v2_delete_cluster_manifest, lab.id, "99-mine.yaml", folder="openshift")
    config = json.loads(fetch(call.v2_download_cluster_files, lab.id, "bootstrap.ign"))
    paths = [each["path"] for each in config["storage"]["files"]]
    assert "/opt/openshift/openshift/99-mine.yaml" in paths, paths
    assert json.loads(fetch(call.v2_download_host_ignition, lab.infra_env, lab.hosts[0].id))["ignition"]
    bootstrap = lab.bootstrap
    for host in lab.hosts:
        for stage in (["Waiting for bootkube"] if host is bootstrap else []) + ["Rebooting", "Configuring", "Joined", "Done"]:
            host.stage(stage)
        call.v2_update_host_logs_progress(lab.infra_env, host.id, models.LogsProgressParams(logs_state="collecting"))
    logs = folder / "upload.tar.gz"
    logs.write_bytes(b"\x1f\x8b logs")
    call.v2_upload_logs(lab.id, "host", upfile=str(logs), infra_env_id=lab.infra_env, host_id=bootstrap.id)
    call.v2_upload_logs(lab.id, "controller", upfile=str(logs))
    assert call.v2_get_cluster(lab.id).status == "finalizing"
    call.v2_update_cluster_logs_progress(lab.id, models.LogsProgressParams(logs_state="completed"))
    call.v2_update_cluster_finalizing_progress(lab.id, models.ClusterFinalizingProgress(finalizing_stage="Adding router ca"))
    assert call.v2_get_cluster(lab.id).progress.finalizing_stage == "Adding router ca"
    authority = folder / "router.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=routers",
                    "-keyout", folder / "router.key", "-out", authority], check=True, capture_output=True)
    call.v2_upload_cluster_ingress_cert(lab.id, authority.read_text())
    for api in (call, judge.operators):
        api.v2_report_monitored_operator_status(lab.id, models.OperatorMonitorReport(name="dns", status="available", version="4.20"))
        assert [each["name"] for each in api.v2_list_of_cluster_operators(lab.id)] == ["dns"]
    assert call.v2_complete_installation(lab.id, models.CompletionParams(is_success=True)).status == "installed"


def fetch_what_remains(judge, lab):
    call = judge.installer
    assert b"server: https://" in fetch(call.v2_download_cluster_credentials, lab.id, "kubeconfig")
    with urllib.request.urlopen(call.v2_get_presigned_for_cluster_credentials(lab.id, "kubeconfig").url) as answer:
        assert b"server: https://" in answer.read()
    with urllib.request.urlopen(call.v2_get_presigned_for_cluster_files(lab.id, "metadata.json").url) as answer:
        assert json.load(answer)["clusterName"] == "demo"
    with tarfile.open(fileobj=io.BytesIO(fetch(call.v2_download_cluster_logs, lab.id))) as archive:
        assert sorted(archive.getnames()) == sorted([f"{lab.bootstrap.id}.tar.gz", "controller.tar.gz"])
    assert fetch(call.v2_download_cluster_logs, lab.id, logs_type="controller") == b"\x1f\x8b logs"
    events = judge.events.v2_list_events(cluster_id=lab.id, severities=["info"], order="descending", limit=5)
    assert len(events) == 5 and {each["severity"] for each in events} == {"info"}
    assert "kubeadmin" in refused(409, call.v2_get_credentials, lab.id)  # the release has no OAuth server


def add_a_host(judge, lab, infra_env, host, url):
    """To a cluster that exists."""
    call = judge.installer
    host.register()
    host.reply("inventory", host.inventory())
    host.reply("ntp-synchronizer", {"ntp_sources": [{"source_name": "192.168.126.1", "source_state": "synced"}]})
    steps = {each.step_type: each.args for each in host.instructions().instructions}
    argument = json.loads(steps["api-vip-connectivity-check"][0])
    assert argument["url"] == url and "CERTIFICATE" in argument["ca_certificate"], argument
    if "domain-resolution" in steps:
        host.reply("domain-resolution", {"resolutions": []})
    host.reply("api-vip-connectivity-check", {"is_success": True, "url": url, "ignition": ""})
    seen = host.view()
    assert (seen["kind"], seen["status"], seen["suggested_role"]) == ("AddToExistingClusterHost", "known", "worker"), seen
    assert call.v2_install_host(infra_env, host.id).status == "installing"
    config = json.loads(fetch(call.v2_download_host_ignition, infra_env, host.id))
    assert config["ignition"]["config"]["merge"][0]["source"] == url
    assert call.v2_reset_host(infra_env, host.id).status == "resetting-pending-user-action"
    host.register()
    host.reply("inventory", host.inventory())
    if "domain-resolution" in steps:
        host.reply("domain-resolution", {"resolutions": []})
    host.reply("api-vip-connectivity-check", {"is_success": True, "url": url, "ignition": ""})
    call.v2_install_host(infra_env, host.id)
    host.stage("Rebooting")
    assert host.view()["status"] == "added-to-existing-cluster"


def take_later_hosts(judge, lab, service, folder):
    call = judge.installer
    assert call.transform_cluster_to_adding_hosts(lab.id).kind == "AddHostsCluster"
    refused(409, call.transform_cluster_to_day2, lab.id)  # the older name of the same
    host = PublicHost(judge, service, lab.infra_env, 8, folder)
    add_a_host(judge, lab, lab.infra_env, host, "https://192.168.126.100:22623/config/worker")

    imported = call.v2_import_cluster(models.ImportClusterParams(
        name="elsewhere", api_vip_dnsname="api.far.example.org", openshift_cluster_id=IMPORTED, openshift_version="4.20"))
    assert (imported.status, imported.imported, imported.openshift_cluster_id) == ("adding-hosts", True, IMPORTED)
    infra_env = call.register_infra_env(models.InfraEnvCreateParams(name="elsewhere", pull_secret=PULL_SECRET, cluster_id=imported.id)).id
    late = PublicHost(judge, service, infra_env, 9, folder)
    late.register()
    late.reply("inventory", late.inventory())
    late.reply("ntp-synchronizer", {"ntp_sources": []})
    late.reply("api-vip-connectivity-check", {"is_success": True, "url": "", "ignition": ""})
    assert "ca_certificate" in refused(409, call.v2_install_host, infra_env, late.id)
    authority = base64.b64encode((folder / "router.crt").read_bytes()).decode()
    call.v2_update_cluster(imported.id, models.V2ClusterUpdateParams(ignition_endpoint=models.IgnitionEndpoint(ca_certificate=authority)))
    call.v2_update_host(infra_env, late.id, models.HostUpdateParams(ignition_endpoint_token="t0ken"))
    assert late.view()["ignition_endpoint_token_set"] is True
    call.v2_deregister_host(infra_env, late.id)
    add_a_host(judge, lab, infra_env, PublicHost(judge, service, infra_env, 10, folder), "https://api.far.example.org:22623/config/worker")
    return imported.id, infra_env


def use_the_pool(judge, service, cluster, folder):
    """Hosts without a cluster are bound to one, and leave it."""
    call = judge.installer
    pool = call.register_infra_env(models.InfraEnvCreateParams(name="pool", pull_secret=PULL_SECRET)).id
    host = PublicHost(judge, service, pool, 5, folder)
    assert host.register()["status"] == "discovering-unbound"
    host.reply("inventory", host.inventory())
    assert call.bind_host(pool, host.id, models.BindHostParams(cluster_id=cluster)).status == "binding"
    assert host.instructions().post_step_action == "exit"
    assert host.register()["cluster_id"] == cluster
    assert call.unbind_host(pool, host.id).status == "unbinding"
    assert host.register()["status"] == "discovering-unbound"
    call.v2_deregister_host(pool, host.id)
    call.deregister_infra_env(pool)


def test_the_generated_client_leads_a_cluster_through_its_life(judge, service, tmp_path):
    look_at_the_service(judge)
    lab = PublicLab(judge, service, tmp_path)
    set_up_the_cluster(judge, lab)
    set_up_the_environment(judge, lab)
    use_the_pool(judge, service, lab.id, tmp_path)
    set_up_hosts(judge, lab)
    add_manifests(judge, lab)
    install(judge, lab, tmp_path)
    fetch_what_remains(judge, lab)
    imported, infra_env = take_later_hosts(judge, lab, service, tmp_path)

    second = PublicLab(judge, service, tmp_path, "second")
    second.discover()
    second.install()
    second.prepare()
    second.hosts[0].stage("Failed", "no disk")
    assert judge.installer.v2_get_cluster(second.id).status == "error"
    assert judge.installer.v2_reset_cluster(second.id).status == "insufficient"
    for cluster in (lab.id, second.id, imported):
        judge.installer.v2_deregister_cluster(cluster)
    judge.installer.deregister_infra_env(infra_env)
    refused(404, judge.installer.v2_get_cluster, lab.id)

    # Everything that the description has was used with success, or is listed as missing, or was refused above with the right reason.
    refusals = {("POST", "/clusters/{cluster_id}/actions/allow-add-workers"), ("GET", "/clusters/{cluster_id}/credentials")}
    left = set(operations()) - judge.judged - set(MISSING) - refusals
    assert not left, sorted(left)


def test_operations_that_the_service_does_not_have(judge):
    listed = set()
    for line in (SOURCE / "docs/assisted.md").read_text().splitlines():
        if row := re.match(r"\| `(\w+) /v2(/\S+)` \| (\d+) \|", line):
            listed.add((row[1], row[2], int(row[3])))
    assert listed == {(method, path, status) for (method, path), status in MISSING.items()}
    values = {"infra_env_id": IMPORTED, "id": "x", "operator_name": "x", "openshift_version": "4.20", "trigger_event_params": {},
              "new_cluster_params": {}}
    for operation, status in MISSING.items():
        name = operations()[operation]
        owner = next(api for api in (judge.installer, judge.operators, judge.events, judge.versions) if hasattr(api, name))
        words = getattr(owner, name + "_with_http_info").__code__.co_varnames
        needed = words[1:getattr(owner, name).__code__.co_argcount]
        refused(status, getattr(owner, name), *(values[each] for each in needed))


def test_tokens_of_the_generated_client(tmp_path):
    """Over TLS, with a token in the header as the generated code sends it, and in the URLs that the service makes."""
    service = Service(tmp_path / "state")
    try:
        lab = Lab(service, tmp_path)
        judge = Judge(service, tmp_path, service.token)
        assert [each["id"] for each in judge.installer.v2_list_clusters()] == [lab.id]
        refused(401, Judge(service, tmp_path, "no.token").installer.v2_list_clusters)
        lab.discover()
        lab.install()
        lab.prepare()
        url = judge.installer.v2_get_presigned_for_cluster_credentials(lab.id, "kubeconfig")
        target = "/" + url.url.split("/", 3)[3]
        assert url.expires_at and b"server: https://" in service.raw("GET", target)[2]
        for path in ("credentials?file_name=kubeconfig-noingress", "files?file_name=bootstrap.ign"):
            assert service.raw("GET", f"{PREFIX}/clusters/{lab.id}/downloads/{path}&api_key={target.split('api_key=')[1]}")[0] == 403
        other = service.call("POST", "/clusters", {**CLUSTER, "name": "other"})["id"]
        assert service.raw("GET", target.replace(lab.id, other))[0] == 404
        assert service.raw("GET", f"{PREFIX}/clusters/{lab.id}?api_key={target.split('api_key=')[1]}")[0] == 401
        # A token that opens more is not taken in a URL.
        assert service.raw("GET", target.replace(target.split("api_key=")[1], service.token))[0] == 401
        token = target.split("api_key=")[1]
        service.call("DELETE", f"/tokens/{token.split('.')[0]}")
        assert service.raw("GET", target)[0] == 401
        user = service.call("POST", "/tokens", {"kind": "user", "cluster_id": lab.id})["token"]
        assert Judge(service, tmp_path, user).installer.v2_get_cluster(lab.id).name == "demo"
    finally:
        assert service.stop() == 0


def test_the_command_line_aicli(service, tmp_path):
    """A program of others that its users have scripts for."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_ed25519.pub").write_text(f"{SSH_KEY}\n")
    (home / "openshift_pull.json").write_text(PULL_SECRET)
    (home / "manifests").mkdir()
    (home / "manifests/99-mine.yaml").write_bytes(MANIFEST)

    def aicli(*words):
        done = subprocess.run([PACKAGES / "bin/aicli", "-u", f"http://127.0.0.1:{service.port}", *words], cwd=home, capture_output=True,
                              text=True, timeout=120, env={"HOME": str(home), "PATH": os.environ["PATH"]}, check=False)
        assert done.returncode == 0 and "Traceback" not in done.stderr, f"{words}: {done.stdout[-2000:]}{done.stderr[-3000:]}"
        return done.stdout

    assert "4.20" in aicli("info", "service")
    aicli("create", "cluster", "-P", "domain=example.com", "-P", "api_vip=192.168.126.100", "-P", "ingress_vip=192.168.126.101", "demo")
    # Made with the cluster.
    [cluster] = service.get("/clusters")
    [infra_env] = service.get("/infra-envs")
    assert infra_env["cluster_id"] == cluster["id"] and cluster["image_info"]["ssh_public_key"] == SSH_KEY
    aicli("download", "iso", "demo_infra-env")
    assert (home / "demo_infra-env.iso").read_bytes()[0x8001:0x8006] == b"CD001"
    aicli("download", "discovery-ignition", "demo_infra-env")

    lab = Lab.__new__(Lab)
    lab.service, lab.folder, lab.id, lab.infra_env, lab.token = service, tmp_path, cluster["id"], infra_env["id"], ""
    lab.hosts = [Host(service, lab.infra_env, "", number, tmp_path) for number in range(3)]
    lab.discover()
    assert "host-1" in aicli("list", "hosts")
    aicli("update", "host", "-P", "role=master", "-P", "name=second", "host-1")
    aicli("create", "manifests", "--dir", "manifests", "--openshift", "demo")
    assert "99-mine.yaml" in aicli("list", "manifests", "demo")
    assert "ready" in aicli("list", "clusters")
    aicli("start", "cluster", "demo")
    lab.prepare()
    for words in (["installconfig"], ["kubeconfig"], ["ignition", "-r", "worker"]):
        aicli("download", *words, "demo")
    assert "server: https://" in (home / "kubeconfig.demo").read_text() and json.loads((home / "worker.ign.demo").read_text())["ignition"]
    assert "preparing-for-installation" in aicli("list", "events", "demo")
    aicli("stop", "cluster", "demo")
    assert service.cluster(lab.id)["status"] == "insufficient"
    aicli("delete", "cluster", "-y", "demo")  # and its infra-env
    assert service.get("/clusters") == service.get("/infra-envs") == []
