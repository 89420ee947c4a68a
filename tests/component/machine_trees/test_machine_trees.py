"""Ignition configs of the golden install-configs, checked by Ignition: its validator, and the files that it writes for each."""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import pytest
import yaml

for folder in ("support", "registry", "bootstrap_files"):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / folder))
import sample  # noqa: E402
from ignition_machine import Machine  # noqa: E402
from test_bootstrap_files import OS_UNITS, service_of_quadlet  # noqa: E402

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
GOLDEN = pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "tests/golden/install-configs"
CONFIGS = sorted(GOLDEN.glob("*.yaml"))
SINGLE_NODE = GOLDEN / "none-single-node.yaml"

# The files of OpenShift's bootstrap machine, with the modes of docs/compatibility.md. Files that are not listed are 0600.
FILES = {path: 0o555 for path in [
    *(f"usr/local/bin/{name}.sh" for name in [
        "approve-csr", "bootkube", "bootstrap-cluster-gather", "bootstrap-service-record", "bootstrap-verify-api-server-urls", "crio-configure",
        "installer-gather", "installer-masters-gather", "kubelet", "kubelet-pause-image", "release-image", "release-image-download", "report-progress",
        "wait-for-ha-api"])]}
FILES |= {path: 0o644 for path in ["etc/containers/registries.conf", "etc/motd", "opt/openshift/tls/root-ca.crt"]}
FILES |= {path: 0o600 for path in [
    "etc/ignition-machine-config-encapsulated.json", "etc/pki/ca-trust/source/anchors/ca.crt", "etc/profile.d/proxy.sh",
    "etc/systemd/system.conf.d/10-default-env.conf", "etc/systemd/system.conf.d/10-default-env-godebug.conf", "root/.docker/config.json",
    "opt/openshift/original_cvo_overrides.patch", "opt/openshift/auth/kubeconfig", "opt/openshift/auth/kubeconfig-kubelet",
    "opt/openshift/auth/kubeconfig-loopback", "opt/openshift/manifests/cluster-config.yaml", "opt/openshift/manifests/cvo-overrides.yaml"]}

# Files of OpenShift's bootstrap machine on one platform only. Platforms that are not listed have none.
NETWORK = "etc/NetworkManager"
PREPENDER = {f"{NETWORK}/dispatcher.d/30-local-dns-prepender": 0o555}
IRONIC_SCRIPTS = ["build-ironic-env", "build-metal3-env", "dhcp-filter", "master-bmh-update", "prov-iptables", "setup-image-data", "start-provisioning-nic"]
PLATFORM_FILES = {
    "openstack": {**PREPENDER, f"{NETWORK}/conf.d/99-openstack.conf": 0o600, f"{NETWORK}/conf.d/02-ipv6.conf": 0o600},
    "ovirt": {**PREPENDER, f"{NETWORK}/conf.d/99-ovirt.conf": 0o600},
    "vsphere": {**PREPENDER, f"{NETWORK}/conf.d/99-vsphere.conf": 0o600},
    "baremetal": {
        **PREPENDER, f"{NETWORK}/conf.d/99-baremetal.conf": 0o600, f"{NETWORK}/system-connections/nmconnection": 0o600,
        **{f"usr/local/bin/{name}.sh": 0o555 for name in IRONIC_SCRIPTS},
        **{f"etc/containers/systemd/{name}": 0o600 for name in [
            "image-customization.container", "ironic-dnsmasq.container", "ironic-httpd.container", "ironic-ramdisk-logs.container", "ironic.container",
            "ironic.volume", "metal3-baremetal-operator.container"]},
        **{f"etc/{name}.env": 0o600 for name in ["ironic", "ironic-network", "metal3"]},
        **{f"opt/metal3/auth/{name}": 0o600 for name in ["clouds.yaml", "ironic/username", "ironic/password", "ironic-inspector/username",
                                                         "ironic-inspector/password"]}},
}
# The units that OpenShift enables, and journal-gateway-tls of slipway.
ENABLED = {"approve-csr.service", "chown-gatewayd-key.service", "journal-gateway-tls.service", "kubelet.service", "progress.service",
           "systemd-journal-gatewayd.socket"}
PLATFORM_ENABLED = {"baremetal": {"master-bmh-update.service"}}

# Programs of the operating system that units call.
OS_PROGRAMS = {"/bin/mkdir", "/bin/rm", "/bin/sh", "/usr/bin/podman", "/usr/sbin/iptables"}
KINDS = {0o600: "-rw-------", 0o644: "-rw-r--r--", 0o555: "-r-xr-xr-x"}
SECRETS = re.compile(rb"BEGIN [A-Z ]*PRIVATE KEY|cHVsbDpzZWNyZXQ=|(bmc|vcenter|nmstate)-secret")
# One of the install-configs enables FIPS, which does not depend on this host.
os.environ["OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION"] = "true"


def run(*command, status=0, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, **options)
    assert result.returncode == status, (command, result.returncode, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    return sample.Layout(tmp_path_factory.mktemp("release") / "layout").folder


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return Machine(tmp_path_factory.mktemp("machine"))


def create(folder, release, target="ignition-configs", *options, **keywords):
    # P-256 keys are generated quickly, and no file here depends on the key type.
    return run(SLIPWAY, "create", target, "--dir", folder, "--release", release, "--key-type", "ecdsa", *options, **keywords)


def config_of(folder, name="bootstrap.ign"):
    return json.loads((folder / name).read_text())


def content(file):
    head, data = (file.get("contents") or file["append"][0])["source"].split(",", 1)
    return base64.b64decode(data) if head.endswith("base64") else urllib.parse.unquote_to_bytes(data)


def judge_validity(path):
    judged = run("ignition-validate", path)
    assert "Unused key" not in judged.stdout + judged.stderr
    assert json.loads(path.read_text())["ignition"]["version"] == "3.2.0"


def judge_files(config, tree, expected):
    """Every file has the expected content, belongs to root, and is readable by root only if it contains secrets."""
    assert {file["path"][1:] for file in config["storage"]["files"]} <= tree.keys()
    for path, mode in expected.items():
        assert path in tree, path
        assert tree[path][0] == KINDS[mode], path
    for file in config["storage"]["files"]:
        assert file["user"] == {"name": "root"} and file["overwrite"] == ("append" not in file), file["path"]
        kind, user, group, _, text = tree[file["path"][1:]]
        assert (user, group) == (0, 0) and kind in KINDS.values(), file["path"]
        assert text == content(file), file["path"]
        assert kind == "-rw-------" or not SECRETS.search(text), file["path"]
        assert not re.search(rb"\{\{[A-Z_]+\}\}", text), file["path"]
    for folder in ["auth", "manifests", "openshift"]:
        assert tree[f"opt/openshift/{folder}"][0] == "drwx------"


def judge_units(config, tree, enabled):
    """Files and programs that units name exist on the machine; also for the services that podman generates from quadlets."""
    units = {unit["name"]: unit for unit in config["systemd"]["units"]}
    assert {name for name, unit in units.items() if unit.get("enabled")} == enabled
    texts = {path.rsplit("/", 1)[1]: entry[-1].decode() for path, entry in tree.items()
             if re.fullmatch(r"etc/systemd/system/[^/]+\.service", path) and entry[-1] is not None}
    texts |= dict(service_of_quadlet(pathlib.Path(path), entry[-1].decode()) for path, entry in tree.items()
                  if path.startswith("etc/containers/systemd/") and entry[-1] is not None)
    dropins = [entry[-1].decode() for path, entry in tree.items() if re.fullmatch(r"etc/systemd/system/.*\.d/.*\.conf", path)]
    for text in [*texts.values(), *dropins]:
        for line in re.findall(r"^(?:Requires|Wants|BindsTo|PartOf|After|Before|WantedBy|RequiredBy)=(.*)", text, re.MULTILINE):
            assert set(line.split()) <= texts.keys() | OS_UNITS, line
        for line in re.findall(r"^Exec\w+=[-+!:@]*(\S+)", text, re.MULTILINE):
            program = line if line.startswith("/") else f"/usr/bin/{line}"
            assert program in OS_PROGRAMS or tree[program[1:]][0] == "-r-xr-xr-x", line
        for line in re.findall(r"^EnvironmentFile=([^-]\S*)", text, re.MULTILINE):
            assert line[1:] in tree, line
    return texts


def systemd_verifies(root, texts):
    units = root / "etc/systemd/system"
    for name, text in texts.items():
        (units / name).write_text(text)
    for program in OS_PROGRAMS:
        (root / program[1:]).parent.mkdir(parents=True, exist_ok=True)
        (root / program[1:]).write_text("#!/bin/sh\n")
        (root / program[1:]).chmod(0o755)
    for name in ["systemd-journal-gatewayd.service", "zincati.service"]:
        (units / name).write_text("[Service]\nExecStart=/bin/sh\n")
    for target in ["network-online", "multi-user", "sysinit", "basic", "shutdown", "local-fs"]:
        (units / f"{target}.target").write_text("[Unit]\nDefaultDependencies=no\n")
    done = subprocess.run(["systemd-analyze", "verify", f"--root={root}", "--man=no", "--generators=no", *texts], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if not re.search("not found|Failed to load|KillMode=none", line)]
    assert said == [], done.stderr


def judge_machine(machine, config, expected, enabled):
    tree = machine.apply(config, lambda root, tree: systemd_verifies(root, judge_units(config, tree, enabled)))
    judge_files(config, tree, expected)
    return tree


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_golden_install_configs_make_machines(tmp_path, machine, release, path):
    text = path.read_text()
    install_config = yaml.safe_load(text)
    platform = next(iter(install_config["platform"]))
    (tmp_path / "install-config.yaml").write_text(text)
    create(tmp_path, release)
    for name in ("bootstrap.ign", "master.ign", "worker.ign"):
        judge_validity(tmp_path / name)
    vips = install_config["platform"][platform].get("apiVIPs") or []
    for role in ("master", "worker"):
        pointer = config_of(tmp_path, f"{role}.ign")
        source = pointer["ignition"]["config"]["merge"][0]["source"]
        host = urllib.parse.urlsplit(source).hostname
        assert source.endswith(f":22623/config/{role}") and (not vips or host == vips[0]), source
        assert not source.startswith("https://[") or ":" in host
        assert pointer.keys() == {"ignition"}
    config = config_of(tmp_path)
    tree = judge_machine(machine, config, {**FILES, **PLATFORM_FILES.get(platform, {})}, ENABLED | PLATFORM_ENABLED.get(platform, set()))
    extra = {name for name in tree if name.startswith((NETWORK, "opt/metal3", "etc/containers/systemd")) and tree[name][-1] is not None}
    assert extra <= PLATFORM_FILES.get(platform, {}).keys()
    proxy = "proxy" in install_config
    assert (tree["etc/profile.d/proxy.sh"][-1] != b"") == proxy
    assert (tree["etc/pki/ca-trust/source/anchors/ca.crt"][-1] != b"") == ("additionalTrustBundle" in install_config)
    has_mirrors = "imageDigestSources" in install_config or "imageContentSources" in install_config
    assert (tree["etc/containers/registries.conf"][-1] != b"") == has_mirrors
    if platform == "vsphere":
        assert (tree[f"{NETWORK}/conf.d/99-vsphere.conf"][-1] != b"") == bool(vips)


def test_there_are_install_configs_to_judge():
    assert {path.stem for path in CONFIGS} >= {"none", "external", "baremetal", "vsphere", "local"}


def test_what_the_user_wrote_into_a_pointer_config_is_in_the_cluster(tmp_path, machine, release):
    (tmp_path / "install-config.yaml").write_text((GOLDEN / "none.yaml").read_text())
    create(tmp_path, release)
    pointer = config_of(tmp_path, "master.ign")
    pointer["storage"] = {"files": [{"path": "/etc/mine", "mode": 420, "contents": {"source": "data:,mine"}}]}
    (tmp_path / "master.ign").write_text(json.dumps(pointer))
    create(tmp_path, release)
    assert config_of(tmp_path, "master.ign") == pointer
    folder = "opt/openshift/openshift/99_openshift-installer-ignition_"
    tree = machine.apply(config_of(tmp_path))
    assert f"{folder}worker.yaml" not in tree
    manifest = yaml.safe_load(tree[f"{folder}master.yaml"][-1])
    assert manifest["metadata"] == {"name": "99-installer-ignition-master", "labels": {"machineconfiguration.openshift.io/role": "master"}}
    assert manifest["spec"]["config"] == {"ignition": {"version": "3.2.0"}, "storage": pointer["storage"]}


def test_a_single_node_in_place(tmp_path, machine, release):
    (tmp_path / "install-config.yaml").write_text(SINGLE_NODE.read_text())
    create(tmp_path, release, "single-node-ignition-config")
    name = "bootstrap-in-place-for-live-iso.ign"
    assert not (tmp_path / "bootstrap.ign").exists() and not (tmp_path / "master.ign").exists()
    judge_validity(tmp_path / name)
    more = {"usr/local/bin/bootstrap-in-place.sh": 0o555, "usr/local/bin/install-to-disk.sh": 0o555,
            "opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh": 0o600, "opt/openshift/bootstrap-in-place/master-update.fcc": 0o600}
    tree = judge_machine(machine, config_of(tmp_path, name), {**FILES, **more}, ENABLED | {"install-to-disk.service"})
    # Every source file of the installed machine's config is on the live system, or a stage creates it.
    update = yaml.safe_load(tree["opt/openshift/bootstrap-in-place/master-update.fcc"][-1])
    here = {"original-master.ign", "log-bundle-bootstrap.tar.gz", "kubernetes/bootstrap-configs", "etcd-data"}
    made = ("etcd-bootstrap/", "bootstrap-manifests/")
    for entry in [*update["ignition"]["config"]["merge"], *(file["contents"] for file in update["storage"]["files"]), *update["storage"]["trees"]]:
        local = entry["local"]
        place = local.replace("bin/", "usr/local/bin/", 1) if local.startswith("bin/") else f"opt/openshift/{local.rstrip('/')}"
        assert local in here or local.startswith(made) or place in tree, local


def test_a_single_node_is_refused_with_every_field(tmp_path, release):
    text = SINGLE_NODE.read_text()
    for right, wrong in [("replicas: 1\n", "replicas: 3\n"), ("replicas: 0\n", "replicas: 2\n"), ("installationDisk: ", "installationDisk: ''  # ")]:
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    (tmp_path / "install-config.yaml").write_text(text)
    refused = create(tmp_path, release, "single-node-ignition-config", status=1)
    for field in ["controlPlane.replicas", "bootstrapInPlace.installationDisk"]:
        assert field in refused.stderr, refused.stderr
    # Workers join later.
    assert "compute" not in refused.stderr, refused.stderr
    assert not list(tmp_path.glob("*.ign"))


def test_a_release_of_others_needs_slipway_node_from_somewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "REPOSITORY", "quay.example.com/openshift-release-dev/ocp-release")
    release = sample.Layout(tmp_path / "layout").folder
    folder = tmp_path / "assets"
    folder.mkdir()
    (folder / "install-config.yaml").write_text((GOLDEN / "none.yaml").read_text())
    environment = {key: value for key, value in os.environ.items() if key != "SLIPWAY_IMAGE"}
    create(folder, release, "manifests", env=environment)
    refused = create(folder, release, status=1, env=environment)
    assert "SLIPWAY_IMAGE" in refused.stderr and "imageDigestSources" in refused.stderr
    create(folder, release, env={**environment, "SLIPWAY_IMAGE": "quay.example.com/slipway/release:0.1.0"})
    script = next(content(file) for file in config_of(folder)["storage"]["files"] if file["path"].endswith("/release-image-download.sh"))
    assert b"<<<'quay.example.com/slipway/release:0.1.0'" in script


def test_sizes_are_told(tmp_path, release):
    (tmp_path / "install-config.yaml").write_text((GOLDEN / "none.yaml").read_text())
    table = create(tmp_path, release, "ignition-configs", "--size-report").stdout.splitlines()
    assert re.fullmatch(r" *\d\S* kB  100 %  total, \d+ files and \d+ units", table[0]), table
    assert len(table) == 16 and any("/opt/openshift/" in line for line in table)
