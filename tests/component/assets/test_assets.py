"""The assets of an install-config, checked by openssl and by Ignition's validator."""
import base64
import fcntl
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "registry"))
from sample import REPOSITORY, Layout  # noqa: E402

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
CONFIG = """\
apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {local: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
"""
MACHINE_CONFIG = """\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-master-mine
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.2.0}
"""
UNKNOWN = "apiVersion: example.com/v7\nkind: NobodyKnows\nmetadata: {name: mine}\n"


def run(*command, status=0, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, **options)
    assert result.returncode == status, (command, result.returncode, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True)


@pytest.fixture
def folder(tmp_path, release):
    (tmp_path / "install-config.yaml").write_text(CONFIG)

    def create(target, status=0, **options):
        return run(SLIPWAY, "create", target, "--dir", tmp_path, "--release", release.folder, status=status, **options)

    create.path = tmp_path
    return create


def files_of(config):
    """path -> (mode, content) of an Ignition config."""
    files = {}
    for file in config["storage"]["files"]:
        source = (file.get("contents") or file["append"][0])["source"]
        head, data = source.split(",", 1)
        files[file["path"]] = (file["mode"], base64.b64decode(data) if head.endswith("base64") else urllib.parse.unquote_to_bytes(data))
    return files


def names(folder):
    """Files without the log, the lock and consumed files."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in paths if path.parts[0] not in (".slipway", ".openshift_install.log"))


@pytest.fixture
def made(folder):
    folder("manifests")
    (folder.path / "openshift" / "99-mine.yaml").write_text(MACHINE_CONFIG)
    (folder.path / "manifests" / "unknown.yml").write_text(UNKNOWN)
    folder("ignition-configs")
    return folder


def test_ignition_configs_are_made_of_manifests_and_the_users_files(made, release):
    assert names(made.path) == [
        ".openshift_install_state.json", "auth/kubeadmin-password", "auth/kubeconfig", "bootstrap.ign",
        "install-config.yaml", "master.ign", "metadata.json", "worker.ign"]
    config = json.loads((made.path / "bootstrap.ign").read_text())
    files = files_of(config)
    assert files["/opt/openshift/openshift/99-mine.yaml"] == (0o600, MACHINE_CONFIG.encode())
    assert files["/opt/openshift/manifests/unknown.yml"] == (0o600, UNKNOWN.encode())
    overrides = files["/opt/openshift/manifests/cvo-overrides.yaml"][1].decode()
    assert "kind: NobodyKnows" in overrides and "99-master-mine" not in overrides
    image = f"{REPOSITORY}@{release.images['']}"
    assert any(image in content.decode(errors="replace") for mode, content in files.values())
    addresses = files["/opt/openshift/manifests/machine-addresses.yaml"][1].decode()
    assert "master-0" in addresses and "master-2" in addresses


def test_every_config_is_valid_to_ignition(made):
    for name in ("bootstrap.ign", "master.ign", "worker.ign"):
        judged = run("ignition-validate", made.path / name)
        assert "Unused key" not in judged.stdout + judged.stderr
        assert json.loads((made.path / name).read_text())["ignition"]["version"] == "3.2.0"


def test_nobody_else_can_read_what_is_written(made):
    for path in made.path.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        if path.name == "metadata.json":
            assert mode == 0o640
        elif path.name not in ("install-config.yaml", ".openshift_install.log"):
            modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, *path.parents) if made.path in each.parents]
            assert any(mode & 0o077 == 0 for mode in modes), (path, modes)


def test_chains_hold_for_openssl(made, tmp_path_factory):
    """Verifies each certificate with the CA bundle of its clients."""
    tls = tmp_path_factory.mktemp("tls")
    for path, (mode, content) in files_of(json.loads((made.path / "bootstrap.ign").read_text())).items():
        if path.startswith("/opt/openshift/tls/"):
            (tls / pathlib.Path(path).name).write_bytes(content)
    server, client = "kube-apiserver-complete-server-ca-bundle", "kube-apiserver-complete-client-ca-bundle"
    for certificate, bundle, purpose, name in [
            ("kube-apiserver-lb-server", server, "sslserver", "api.demo.example.com"),
            ("kube-apiserver-internal-lb-server", server, "sslserver", "api-int.demo.example.com"),
            ("kube-apiserver-localhost-server", server, "sslserver", "localhost"),
            ("kube-apiserver-service-network-server", server, "sslserver", "kubernetes.default.svc"),
            ("machine-config-server", "root-ca", "sslserver", "api-int.demo.example.com"),
            ("journal-gatewayd", "root-ca", "sslclient", None),
            ("kubelet-client", client, "sslclient", None),
            ("kube-apiserver-to-kubelet-client", "kube-apiserver-to-kubelet-ca-bundle", "sslclient", None),
            ("kube-control-plane-kube-controller-manager-client", client, "sslclient", None),
            ("kube-control-plane-kube-scheduler-client", "kube-control-plane-ca-bundle", "sslclient", None),
            ("aggregator-client", "aggregator-ca-bundle", "sslclient", None),
            ("apiserver-proxy", "aggregator-ca", "sslclient", None)]:
        host = ["-verify_hostname", name] if name else []
        run("openssl", "verify", "-x509_strict", "-CAfile", tls / f"{bundle}.crt", "-purpose", purpose, *host, tls / f"{certificate}.crt")
    run("openssl", "verify", "-CAfile", tls / "root-ca.crt", "-verify_ip", "10.97.77.5", tls / "machine-config-server.crt")
    assert run("openssl", "verify", "-CAfile", tls / "root-ca.crt", tls / "kubelet-client.crt", status=2)
    for key in tls.glob("*.key"):
        run("openssl", "pkey", "-in", key, "-noout")
        certificate = key.with_suffix(".crt")
        if certificate.exists():
            of_key = run("openssl", "pkey", "-in", key, "-pubout").stdout
            assert of_key == run("openssl", "x509", "-in", certificate, "-pubkey", "-noout").stdout, key
    run("openssl", "pkey", "-pubin", "-in", tls / "service-account.pub", "-noout")


def test_the_same_command_again_touches_nothing(made):
    before = {path: path.stat().st_mtime_ns for path in made.path.rglob("*") if path.name not in ("lock", ".slipway", ".openshift_install.log")}
    made("ignition-configs")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_broken_manifest_is_told_with_its_place_and_nothing_is_written(folder):
    folder("manifests")
    (folder.path / "manifests" / "mine.yaml").write_text("a: [1\n")
    before = names(folder.path)
    result = folder("ignition-configs", status=1)
    assert "manifests/mine.yaml:2:1" in result.stderr
    assert names(folder.path) == before


def test_a_program_that_is_killed_leaves_what_the_next_one_continues(made, release):
    """Kills the program at many points; the unit tests stop it between any two changes of the folder."""
    (made.path / "install-config.yaml").write_text(CONFIG.replace("example.com", "example.org"))
    for milliseconds in range(2, 140, 6):
        program = subprocess.Popen([SLIPWAY, "create", "ignition-configs", "--dir", made.path, "--release", release.folder],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            program.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
    made("ignition-configs")
    files = files_of(json.loads((made.path / "bootstrap.ign").read_text()))
    assert files["/opt/openshift/manifests/unknown.yml"][1] == UNKNOWN.encode()
    assert b"example.com:" not in files["/opt/openshift/auth/kubeconfig"][1]
    password = (made.path / "auth" / "kubeadmin-password").read_text()
    assert json.loads((made.path / ".openshift_install_state.json").read_text())["kubeadmin"]["password"] == password
    made("ignition-configs")
    assert (made.path / "auth" / "kubeadmin-password").read_text() == password


def test_a_password_is_made_only_for_a_release_that_takes_it(tmp_path):
    """No file and no Secret; a warning says that the hash of the user is unused."""
    without = Layout(tmp_path / "layout").folder
    folder = tmp_path / "demo"
    (folder / "tls").mkdir(parents=True)
    (folder / "install-config.yaml").write_text(CONFIG)
    (folder / "tls/kubeadmin-password.hash").write_text("$2y$10$" + "a" * 53 + "\n")
    said = run(SLIPWAY, "create", "ignition-configs", "--dir", folder, "--release", without).stderr
    assert "tls/kubeadmin-password.hash: ignored, this release has no OAuth server" in said
    assert not (folder / "auth/kubeadmin-password").exists() and (folder / "auth/kubeconfig").exists()
    assert not [path for path in files_of(json.loads((folder / "bootstrap.ign").read_text())) if "kubeadmin" in path]


def test_two_at_once_are_told_of_each_other(folder):
    (folder.path / ".slipway").mkdir()
    with open(folder.path / ".slipway/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = folder("manifests", status=1)
    assert "in use" in result.stderr


def test_a_folder_without_an_install_config_is_told_so(folder):
    (folder.path / "install-config.yaml").unlink()
    assert "install-config.yaml" in folder("manifests", status=3).stderr


def test_the_release_comes_from_the_environment_too(folder, release):
    environment = {**os.environ, "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE": str(release.folder), "OPENSHIFT_INSTALL_INVOKER": "me"}
    run(SLIPWAY, "create", "manifests", "--dir", folder.path, env=environment)
    assert re.search(r"invoker: me\n +version: .*0\.1\.0", (folder.path / "openshift" / "openshift-install-manifests.yaml").read_text())


OPENSHIFT = "registry.example.com/openshift/release"
NONE = CONFIG.replace("{local: {}}", "{none: {}}")


def without_network(*command, status=0, **variables):
    """Runs the program without a network, not even loopback."""
    return run("unshare", "--net", SLIPWAY, *command, status=status, env={**os.environ, **variables})


def test_assets_of_a_release_by_digest_need_no_network(tmp_path):
    (tmp_path / "install-config.yaml").write_text(NONE)
    image = f"{OPENSHIFT}@sha256:{'a' * 64}"
    flags = ["--dir", tmp_path, "--release", image]
    said = without_network("create", "manifests", *flags).stderr
    assert f"warning: release {image}: cannot be read, generating assets as for version 4.18: " in said, said
    assert "--release-info" in said
    assert "channel: stable-4.18" in (tmp_path / "manifests/cvo-overrides.yaml").read_text()
    without_network("plan", *flags, SLIPWAY_IMAGE="quay.example.com/slipway:1")
    without_network("create", "ignition-configs", *flags, SLIPWAY_IMAGE="quay.example.com/slipway:1")
    first = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".log"}
    assert {path.name for path in first} >= {"bootstrap.ign", "master.ign", "worker.ign", "metadata.json"}
    without_network("create", "ignition-configs", *flags, SLIPWAY_IMAGE="quay.example.com/slipway:1")
    assert {path: path.read_bytes() for path in first} == first
    assert any(image.encode() in content for mode, content in files_of(json.loads((tmp_path / "bootstrap.ign").read_text())).values())


def test_a_release_by_tag_needs_its_registry_or_what_was_read_of_it(tmp_path, release):
    (tmp_path / "install-config.yaml").write_text(NONE)
    flags = ["--dir", tmp_path, "--release", f"{OPENSHIFT}:0.1.0"]
    said = without_network("create", "manifests", *flags, status=1).stderr
    assert "(use a reference with a digest, or --release-info)" in said, said
    assert not (tmp_path / "manifests").exists()
    (tmp_path / "info.json").write_text(run(SLIPWAY, "release", "info", release.folder, "--output", "json").stdout)
    without_network("create", "ignition-configs", *flags, "--release-info", tmp_path / "info.json")
    config = files_of(json.loads((tmp_path / "bootstrap.ign").read_text()))
    assert any(f"{OPENSHIFT}@{release.images['']}".encode() in content for mode, content in config.values())
    other = without_network("create", "manifests", "--dir", tmp_path, "--release", f"{OPENSHIFT}@sha256:{'a' * 64}",
                            "--release-info", tmp_path / "info.json", status=1).stderr
    assert "info.json: describes sha256:" in other, other


def test_fips_is_refused_on_a_host_without_it_unless_the_check_is_skipped(tmp_path, release):
    if pathlib.Path("/proc/sys/crypto/fips_enabled").exists() and pathlib.Path("/proc/sys/crypto/fips_enabled").read_text().strip() == "1":
        pytest.skip("this host is in FIPS mode")
    (tmp_path / "install-config.yaml").write_text(NONE + "fips: true\n")
    flags = ["--dir", tmp_path, "--release", release.folder]
    assert "fips: requires a host in FIPS mode" in run(SLIPWAY, "create", "manifests", *flags, status=3).stderr
    assert "fips: requires a host in FIPS mode" in run(SLIPWAY, "validate", "--dir", tmp_path, status=3).stdout
    assert names(tmp_path) == ["install-config.yaml"]
    skip = {**os.environ, "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION": "true"}
    run(SLIPWAY, "create", "manifests", *flags, env=skip)
    assert (tmp_path / "openshift/99_openshift-machineconfig_99-master-fips.yaml").exists()
    assert (tmp_path / "openshift/99_openshift-machineconfig_99-worker-fips.yaml").exists()
    assert "hostcrypt-check-bypassed" in (tmp_path / "manifests/cluster-config.yaml").read_text()


PLATFORMS = ["none", "baremetal", "vsphere", "vsphere-static-addresses", "external", "aws"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_targets_repeated_give_the_same_bytes(tmp_path, release, platform):
    source = pathlib.Path(__file__).parents[2] / f"golden/install-configs/{platform}.yaml"
    (tmp_path / "install-config.yaml").write_text(source.read_text())
    flags = ["--dir", tmp_path, "--release", release.folder, "--key-type", "ecdsa"]

    def contents():
        return {path: path.read_bytes() for path in sorted(tmp_path.rglob("*"))
                if path.is_file() and path.name not in (".openshift_install.log", "lock")}

    for target in ("manifests", "ignition-configs"):
        run(SLIPWAY, "create", target, *flags)
        first = contents()
        run(SLIPWAY, "create", target, *flags)
        assert contents() == first, target


def test_what_the_user_changes_goes_into_user_data_and_what_he_removes_stays_away(tmp_path, release):
    (tmp_path / "install-config.yaml").write_text(NONE)
    flags = ["--dir", tmp_path, "--release", release.folder, "--key-type", "ecdsa"]
    run(SLIPWAY, "create", "manifests", *flags)
    removed = ["openshift/99_kubeadmin-password-secret.yaml", "manifests/kube-cloud-config.yaml"]
    for path in removed:
        (tmp_path / path).unlink()
    run(SLIPWAY, "create", "manifests", *flags)
    assert not any((tmp_path / path).exists() for path in removed)
    run(SLIPWAY, "create", "ignition-configs", *flags)
    worker = json.loads((tmp_path / "worker.ign").read_text())
    worker["storage"] = {"files": [{"path": "/etc/mine", "mode": 420, "contents": {"source": "data:,mine"}}]}
    (tmp_path / "worker.ign").write_text(json.dumps(worker))
    run(SLIPWAY, "create", "ignition-configs", *flags)
    files = files_of(json.loads((tmp_path / "bootstrap.ign").read_text()))
    assert not any(f"/opt/openshift/{path}" in files for path in removed)
    secret = files["/opt/openshift/openshift/99_openshift-cluster-api_worker-user-data-secret.yaml"][1].decode()
    data = base64.b64decode(re.search(r"userData: (\S+)", secret).group(1))
    assert json.loads(data) == worker
