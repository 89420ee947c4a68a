"""Scripts and units of the bootstrap machine, checked by bash and systemd, and run with the folders of the test in place of their paths."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
DATA = SOURCE / "data/bootstrap"
VARIANTS = SOURCE / "data/bootstrap-variants"
SCRIPTS = sorted((DATA / "files/usr/local/bin").iterdir())
ALL_SCRIPTS = [*SCRIPTS, *sorted(path for path in VARIANTS.rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!"))]
RELEASE = "registry.example.com/release@sha256:" + "a" * 64
POD = "registry.example.com/release@sha256:" + "b" * 64
HOLES = {"RELEASE_IMAGE": RELEASE, "CLUSTER_DOMAIN": "demo.example.com", "API_HOST": "api.demo.example.com",
         "API_INT_HOST": "api-int.demo.example.com", "SLIPWAY_IMAGES": "", "BOOTSTRAP_NODE_IP": "", "NODE_IP_FAMILY": "4", "PLATFORM": "local",
         "API_VIPS": "10.97.77.5", "INSTALLATION_DISK": "/dev/vda", "INSTALLATION_DISKS": "/dev/vda"}


def filled(path, **holes):
    text = path.read_text()
    for name, value in {**HOLES, **holes}.items():
        text = text.replace("{{" + name + "}}", value)
    return text


@pytest.mark.parametrize("script", ALL_SCRIPTS, ids=lambda script: str(script.relative_to(SOURCE / "data")))
def test_script_is_bash(script):
    assert script.read_text().startswith("#!/usr/bin/env bash\n# ")
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# Warnings that do not apply: sourced scripts have other paths on a machine (SC1090, SC1091) and share variables with the sourcing script
# (SC2034); a placeholder "{{NAME}}" is neither a brace nor a constant (SC1083, SC2157, SC2194).
NOT_HERE = "SC1090,SC1091,SC2034,SC1083,SC2157,SC2194"


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="no shellcheck here")
def test_shellcheck_has_nothing_to_say():
    done = subprocess.run(["shellcheck", "--external-sources", f"--exclude={NOT_HERE}", *ALL_SCRIPTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# Folders that are merged on a machine, and the number of their services.
LAYERS = [([DATA], 9), ([DATA, VARIANTS / "on-premise", VARIANTS / "baremetal"], 9 + 6 + 7), ([DATA, VARIANTS / "in-place"], 9 + 1)]
# Units of the operating system of the bootstrap machine.
OS_UNITS = {"containerd.service", "crio.service", "multi-user.target", "network-online.target", "rpc-statd.service", "systemd-journal-gatewayd.service"}
BAREMETAL = {"IRONIC_USER": "bootstrap-user", "IRONIC_IP": "192.168.111.5", "PROVISIONING_MAC": "52:54:00:00:00:01", "PROVISIONING_NETWORK": "Managed",
             "PROVISIONING_SUBNET": "172.22.0.2/24", "CONTROL_PLANE_REPLICAS": "3",
             "PROVISIONING_UNITS": "Requires=provisioning-interface.service\nWants=ironic-dnsmasq.service\n"}


def service_of_quadlet(path, text):
    """Name and text of the service that podman's generator creates from a quadlet, as far as systemd parses it."""
    sections = re.findall(r"^\[(\w+)\]\n((?:(?!\[).*\n?)*)", text, re.MULTILINE)
    assert {name for name, _ in sections} <= {"Unit", "Container", "Volume", "Service", "Install"}, path
    kept = {name: body for name, body in sections if name not in ("Container", "Volume")}
    if path.suffix == ".container":
        keys = [line.split("=", 1)[0] for line in dict(sections)["Container"].splitlines() if line]
        assert set(keys) <= {"ContainerName", "Image", "Network", "Exec", "Volume", "Environment", "PodmanArgs", "AddCapability"}, path
        assert {"Image", "Exec"} <= set(keys), path
        name, command = path.stem, "/usr/bin/podman run"
    else:
        name, command = f"{path.stem}-volume", "/usr/bin/podman volume create"
    text = "".join(f"[{section}]\n{body}" for section, body in kept.items() if section != "Service")
    return f"{name}.service", f"{text}[Service]\n{kept.get('Service', '')}ExecStart={command}\n"


def test_quadlets_are_read_as_podman_would():
    name, text = service_of_quadlet(pathlib.Path("a.container"), "[Unit]\nWants=b.service\n\n[Container]\nImage=$I\nExec=/x\n[Service]\nRestart=always\n[Install]\n")
    assert (name, text) == ("a.service", "[Unit]\nWants=b.service\n\n[Install]\n[Service]\nRestart=always\nExecStart=/usr/bin/podman run\n")
    with pytest.raises(AssertionError):
        service_of_quadlet(pathlib.Path("a.container"), "[Container]\nImage=$I\nExec=/x\nVolumes=/a\n")


@pytest.mark.parametrize("folders,count", LAYERS, ids=lambda value: value[-1].name if isinstance(value, list) else "")
def test_systemd_understands_the_units(tmp_path, folders, count):
    root = tmp_path / "root"
    units = root / "etc/systemd/system"
    units.mkdir(parents=True)
    programs = ["bin/sh", "bin/mkdir", "bin/rm", "usr/bin/podman", "usr/sbin/iptables", "usr/lib/systemd/systemd-journal-gatewayd"]
    names, wanted = set(), set()
    for folder in folders:
        programs += [f"usr/local/bin/{path.name}" for path in (folder / "files/usr/local/bin").glob("*")]
        texts = {path.relative_to(folder / "units"): filled(path, **BAREMETAL) for path in (folder / "units").rglob("*") if path.is_file()}
        for path in (folder / "files/etc/containers/systemd").glob("*"):
            name, text = service_of_quadlet(path, filled(path, **BAREMETAL))
            texts[pathlib.Path(name)] = text
        for path, text in texts.items():
            if str(path) == "systemd-journal-gatewayd.socket":  # part of the machine OS; the file only enables it
                continue
            (units / path).parent.mkdir(exist_ok=True)
            (units / path).write_text(text)
            names |= {str(path)} if path.suffix == ".service" else set()
            for line in re.findall(r"^(?:Requires|Wants|BindsTo|PartOf|After|Before|WantedBy|RequiredBy)=(.*)", text, re.MULTILINE):
                wanted |= set(line.split())
    assert wanted <= names | OS_UNITS, wanted - names - OS_UNITS
    (units / "systemd-journal-gatewayd.service").write_text("[Service]\nExecStart=/bin/sh\n")
    (units / "zincati.service").write_text("[Service]\nExecStart=/bin/sh\n")
    for program in programs:
        (root / program).parent.mkdir(parents=True, exist_ok=True)
        (root / program).write_text("#!/bin/sh\n")
        (root / program).chmod(0o755)
    for target in ["network-online.target", "multi-user.target", "sysinit.target", "basic.target", "shutdown.target", "local-fs.target"]:
        (units / target).write_text("[Unit]\nDefaultDependencies=no\n")
    names = sorted([*names, "systemd-journal-gatewayd.service", "zincati.service"])
    done = subprocess.run(["systemd-analyze", "verify", f"--root={root}", "--man=no", "--generators=no", *names], capture_output=True, text=True)
    # The warnings about missing units of the machine OS are expected; KillMode=none is from OpenShift. Any other warning is an error.
    said = [line for line in done.stderr.splitlines() if not re.search("not found|Failed to load|KillMode=none", line)]
    assert said == [], done.stderr
    assert len(names) == count + 1


class Machine:
    """A mount namespace in which /etc, /opt, /run, /usr/local and /var/log are folders of the test, with fake programs."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree("/etc/alternatives", folder / "etc/alternatives", symlinks=True)
        for name in ["opt/openshift", "run", "local/bin", "local/lib", "log", "played", "home"]:
            (folder / name).mkdir(parents=True, exist_ok=True)
        for script in SCRIPTS:
            self.install(script)
        self.play("systemctl", 'echo "systemctl $*" >>/run/calls\n')
        self.play("agetty", "true\n")

    def install(self, script, **holes):
        target = self.folder / "local/bin" / script.name
        target.write_text(filled(script, **holes))
        target.chmod(0o755)

    def calls(self):
        path = self.folder / "run/calls"
        return path.read_text().splitlines() if path.exists() else []

    def play(self, name, text):
        path = self.folder / "played" / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(0o755)

    def run(self, command, **environment):
        mounts = "".join(f"mount --bind {self.folder}/{source} {target}\n" for source, target in
                         [("etc", "/etc"), ("opt", "/opt"), ("run", "/run"), ("local", "/usr/local"), ("log", "/var/log")])
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "bash", "-c", f"set -e\n{mounts}{command}"],
                              capture_output=True, text=True, timeout=120,
                              env={"PATH": f"{self.folder}/played:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.folder / "home"),
                                   "LANG": "C.UTF-8", **environment})

    def record(self, service):
        return json.loads((self.folder / f"log/openshift/{service}.json").read_text())


@pytest.fixture
def machine(tmp_path):
    if os.geteuid() != 0:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("needs root, for a mount namespace")
    return Machine(tmp_path)


def words(entries):
    return [" ".join(entry[key] for key in ("preCommand", "stage", "phase", "result") if key in entry) for entry in entries]


def test_service_record_of_a_script(machine):
    machine.play("journalctl", r'''printf 'one "quoted"\nback\\slash\ttab\n' ''')
    script = """. /usr/local/bin/bootstrap-service-record.sh
record_service_stage_start good
record_service_stage_success
record_service_stage_start bad
set -e
false
"""
    done = machine.run(f"bash -c '{script}' || true", SERVICE_NAME="demo")
    assert done.stderr == ""
    entries = machine.record("demo")
    assert words(entries) == ["service start", "good stage start", "good stage end success", "bad stage start", "bad stage end failure", "service end failure"]
    assert entries[4]["errorMessage"] == 'one "quoted"\nback\\slash tab'
    assert entries[4]["errorLine"].startswith("line 6, main")
    machine.run("bash -c '. /usr/local/bin/bootstrap-service-record.sh'", SERVICE_NAME="demo", PRE_COMMAND="kubelet-pause-image")
    assert words(machine.record("demo"))[6:] == ["kubelet-pause-image pre-command start", "kubelet-pause-image pre-command end success"]


def release_image(machine):
    root = machine.folder / "image"
    for path, text in {"release-manifests/image-references": "{}", "release-manifests/release-metadata": "{}", "usr/bin/slipway-node": "#!/bin/sh\necho new\n",
                       "usr/lib/slipway/libfmt.so.9": "library"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "usr/bin/slipway-node").chmod(0o755)
    return root


def test_release_image_is_pulled_until_it_is_here_and_taken_apart(machine):
    root = release_image(machine)
    machine.play("sleep", 'echo "sleep $1" >>/run/calls; cat /etc/issue.d/50_release-image.issue >>/run/console\n')
    machine.play("mountpoint", "exit 1\n")
    machine.play("ctr", rf"""
case "$*" in
    *"images ls --quiet"*) cat /run/here 2>/dev/null || true ;;
    *"images ls"*) echo "{RELEASE} x sha256:aa 1 MiB linux/amd64,linux/arm64 -" ;;
    *"images mount"*) cp -r {root}/. "${{@: -1}}" ;;
    *"images unmount"*) rm -r "${{@: -1}}" ;;
esac""")
    machine.play("slipway-pull-image", 'echo pull >>/run/calls; [ "$(grep --count pull /run/calls)" -ge 3 ] && echo x >/run/here\n')
    done = machine.run("release-image-download.sh", SERVICE_NAME="release-image")
    assert done.returncode == 0, done.stderr
    assert (machine.folder / "run/calls").read_text().split("\n")[:5] == ["pull", "sleep 1", "pull", "sleep 2", "pull"]
    assert RELEASE in (machine.folder / "run/console").read_text()
    assert not (machine.folder / "etc/issue.d/50_release-image.issue").exists()
    assert machine.run("slipway-node").stdout == "new\n"
    assert (machine.folder / "local/lib/slipway/libfmt.so.9").read_text() == "library"
    assert sorted(path.name for path in (machine.folder / "opt/openshift").iterdir()) == ["image-references", "release-metadata"]
    assert words(machine.record("release-image"))[:4] == ["service start", "pull-release-image stage start", "pull-release-image stage end failure",
                                                          "pull-release-image stage start"]
    assert words(machine.record("release-image"))[-2:] == ["unpack-release-image stage end success", "service end success"]


def test_slipway_node_comes_from_an_image_of_its_own_where_the_release_has_none(machine):
    ours = release_image(machine)
    others = machine.folder / "others"
    (others / "release-manifests").mkdir(parents=True)
    for name in ["image-references", "release-metadata"]:
        (others / "release-manifests" / name).write_text("{}")
    machine.install(DATA / "files/usr/local/bin/release-image-download.sh", SLIPWAY_IMAGES="a.example.com/slipway:1 b.example.com/slipway:1")
    machine.play("mountpoint", "exit 1\n")
    machine.play("ctr", rf"""
image="${{@: -1}}"
case "$*" in
    *"images ls --quiet"*) [[ $image == *{RELEASE}* ]] && echo x || grep --only-matching "here.*${{image#name==}}" /run/calls 2>/dev/null || true ;;
    *"images ls"*) echo "{RELEASE} x sha256:aa 1 MiB linux/amd64,linux/arm64 -" ;;
    *"images mount {RELEASE}"*) cp -r {others}/. "$image" ;;
    *"images mount b.example.com/slipway:1"*) cp -r {ours}/. "$image" ;;
    *"images unmount"*) rm -r "$image" ;;
esac""")
    machine.play("slipway-pull-image", 'echo "pull $1" >>/run/calls; [[ $1 == b.* ]] && echo "here $1" >>/run/calls\n')
    done = machine.run("release-image-download.sh", SERVICE_NAME="release-image")
    assert done.returncode == 0, done.stderr
    assert machine.calls() == ["pull a.example.com/slipway:1", "pull b.example.com/slipway:1", "here b.example.com/slipway:1"]
    assert machine.run("slipway-node").stdout == "new\n"
    assert words(machine.record("release-image"))[-4:] == ["pull-slipway-image stage end success", "unpack-slipway-image stage start",
                                                           "unpack-slipway-image stage end success", "service end success"]
    # A second start finds all images present.
    assert machine.run("release-image-download.sh", SERVICE_NAME="release-image").returncode == 0
    assert len(machine.calls()) == 3
    # An image without slipway-node is reported on the console.
    machine.play("ctr", rf"""
case "$*" in
    *--quiet*) echo x ;;
    *"images ls"*) echo "x linux/amd64,linux/arm64 -" ;;
    *"images mount"*) cp -r {others}/. "${{@: -1}}" ;;
    *"images unmount"*) rm -r "${{@: -1}}" ;;
esac""")
    assert machine.run("release-image-download.sh", SERVICE_NAME="release-image").returncode == 1
    assert "has no /usr/bin/slipway-node" in (machine.folder / "etc/issue.d/50_release-image.issue").read_text()


def test_an_image_for_another_machine_ends_it(machine):
    machine.play("ctr", 'case "$*" in *--quiet*) echo x ;; *) echo "x linux/s390x -" ;; esac\n')
    done = machine.run("release-image-download.sh", SERVICE_NAME="release-image")
    assert done.returncode == 1
    assert "not for this machine" in (machine.folder / "etc/issue.d/50_release-image.issue").read_text()
    assert words(machine.record("release-image"))[-2:] == ["image-metadata-arches-match stage end failure", "service end failure"]


def test_pause_image_of_containerd(machine):
    settings = (SOURCE / "os/root/etc/containerd/config.toml").read_text()
    (machine.folder / "etc/containerd").mkdir()
    (machine.folder / "etc/containerd/config.toml").write_text(settings)
    slipway_node = machine.folder / "local/bin/slipway-node"
    slipway_node.write_text(f"#!/bin/sh\n[ \"$*\" = 'image-for pod' ] && printf %s '{POD}'\n")
    slipway_node.chmod(0o755)
    (machine.folder / "run/containerd").mkdir()
    socket = machine.folder / "run/containerd/containerd.sock"
    socket.touch()
    assert machine.run("sleep 0.02; crio-configure.sh", SERVICE_NAME="crio-configure").returncode == 0
    file = machine.folder / "etc/containerd/conf.d/10-pause-image.toml"
    assert file.stat().st_mode & 0o777 == 0o600  # logins of registries may be in it
    override = file.read_text()
    own = [line for line in settings.splitlines() if not line.strip().startswith("#") and not line.startswith("imports")]
    assert override.splitlines() == [line.replace("registry.slipway.invalid/slipway/release:pod", POD) for line in own]
    assert f'  sandbox_image = "{POD}"' in override.splitlines()
    assert (machine.folder / "run/calls").read_text() == "systemctl restart containerd.service\n"
    # The daemon was restarted, and the configuration has not changed.
    socket.touch()
    assert machine.run("crio-configure.sh", SERVICE_NAME="crio-configure").returncode == 0
    assert (machine.folder / "run/calls").read_text() == "systemctl restart containerd.service\n"
    (machine.folder / "etc/containerd/config.toml").write_text("version = 2\n")
    assert machine.run("crio-configure.sh", SERVICE_NAME="crio-configure").returncode == 1


SECRETS = {
    "tls/root-ca.key": "SECRET1", "auth/kubeconfig-loopback": "SECRET2", "openshift/99_kubeadmin-password-secret.yaml": "SECRET3",
    "tls/machine-config-server-token": "SECRET4", "master.ign": "SECRET5",
    "manifests/odd-name.yaml": "apiVersion: v1\nkind: Secret\ndata: {a: SECRET6}\n", "manifests/odd.json": '{"apiVersion":"v1","kind":"Secret","x":"SECRET7"}',
    "cvo-bootstrap/pretty.json": '{\n  "kind": "Secret",\n  "x": "SECRET8"\n}', "etcd-bootstrap/pem": "-----BEGIN EC PRIVATE KEY-----\nSECRET9",
    "bootstrap-manifests/encoded.yaml": "x: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0t SECRET0", "rendered/kc.yaml": "client-key-data: SECRETA",
    "openshift/99_any.yaml": "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nspec: {config: SECRETB}\n",
    "manifests/proxy.yaml": "a: http://me:SECRETC@proxy:3128\n", "manifests/list.json": '{"source": "data:text/plain;base64,SECRETD", "auth": "SECRETE"}',
    "manifests/token.txt": "eyJhbGciOiJSUzI1NiJ9.eyJSECRETF.SECRETG",
}


def test_gather_without_api_has_everything_but_secrets(machine):
    for path, text in SECRETS.items():
        (machine.folder / "opt/openshift" / path).parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / "opt/openshift" / path).write_text(text)
    (machine.folder / "opt/openshift/manifests/cluster-config.yaml").write_text("kind: ConfigMap\n")
    (machine.folder / "opt/openshift/etcd-bootstrap.done").touch()
    (machine.folder / "log/openshift").mkdir()
    (machine.folder / "log/openshift/bootkube.json").write_text("[]")
    (machine.folder / "log/openshift/events.jsonl").write_text("{}\n")
    (machine.folder / "log/pods/kube-system_etcd").mkdir(parents=True)
    (machine.folder / "log/pods/kube-system_etcd/0.log").write_text("etcd says\n")
    for path, text in {"os-builds/master/build.json": '{"name": "master-1"}', "os-builds/master/root/etc/motd": "SECRETH",
                       "os-logins/master/push.json": '{"auths": {"r": {"auth": "SECRETI"}}}'}.items():
        (machine.folder / "etc/mcs/bootstrap" / path).parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / "etc/mcs/bootstrap" / path).write_text(text)
    machine.play("podman", 'echo "podman $*"\n')
    machine.play("systemctl", 'case "$1" in list-units) echo "bad.service loaded failed" ;; status) echo "failed $*" ;; esac\n')
    machine.play("journalctl", 'echo "journal $*"\n')
    machine.play("kubectl", "exit 1\n")
    machine.play("ctr", 'echo "ctr $*"\n')
    machine.play("crictl", "exit 127\n")
    (machine.folder / "played/crictl").unlink()
    done = machine.run("installer-gather.sh --id 20261121")
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(machine.folder / "home/log-bundle-20261121.tar.gz") as bundle:
        names = {member.name for member in bundle.getmembers()}
        text = b"".join(bundle.extractfile(member).read() for member in bundle.getmembers() if member.isfile())
    assert all(name.startswith("log-bundle-20261121") for name in names)
    for path in ["gather.log", "failed-units.txt", "unit-status/bad.service.txt", "bootstrap/services/bootkube.json", "bootstrap/services/events.jsonl",
                 "bootstrap/journals/bootkube.log", "bootstrap/journals/journal.log.gz", "bootstrap/network/ip-addr.txt", "bootstrap/containers/list.txt",
                 "bootstrap/containers/logs/kube-system_etcd/0.log", "rendered-assets/openshift/manifests/cluster-config.yaml",
                 "rendered-assets/openshift/etcd-bootstrap.done", "bootstrap/os-images/master/build.json", "bootstrap/os-images/podman.txt"]:
        assert f"log-bundle-20261121/{path}" in names, sorted(names)
    assert b"SECRET" not in text, [name for name in names if "rendered" in name]
    assert not any("resources" in name for name in names)
    assert not list(pathlib.Path("/tmp").glob("artifacts-20261121"))


def test_gather_with_api_has_objects_and_ends(machine):
    machine.play("kubectl", 'case "$*" in *secrets*custom-columns*) echo names ;; *pods*json|*machineos*json|*jobs*json) echo "{}" ;;'
                 ' */version*) echo v1 ;; *) exit 1 ;; esac\n')
    machine.play("journalctl", "true\n")
    (machine.folder / "opt/openshift/auth").mkdir()
    (machine.folder / "opt/openshift/auth/kubeconfig").write_text("SECRET1")
    done = machine.run("timeout 60 installer-gather.sh --id with-api", TAR_FILE=str(machine.folder / "home/x.tar.gz"))
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(machine.folder / "home/x.tar.gz") as bundle:
        resources = {member.name.rsplit("/", 1)[1] for member in bundle.getmembers() if "/resources/" in member.name}
    assert resources >= {"pods.json", "secrets-names.txt", "machineosconfigs.json", "machineosbuilds.json", "jobs.json"} and "nodes.json" not in resources


def test_gather_refuses_an_id_that_is_a_path(machine):
    assert machine.run("installer-gather.sh --id ../x").returncode == 2
