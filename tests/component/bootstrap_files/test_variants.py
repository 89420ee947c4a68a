"""Scripts of some platforms only, run with fake programs and with the folders of the test in place of their paths."""
import re

import pytest
from test_bootstrap_files import DATA, POD, VARIANTS, filled, machine, words  # noqa: F401

BAREMETAL = VARIANTS / "baremetal/files"
DISPATCHER = VARIANTS / "on-premise/files/etc/NetworkManager/dispatcher.d/30-local-dns-prepender"
IN_PLACE = VARIANTS / "in-place/files"
LEARNED = "# made by NetworkManager\nsearch example.com\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n"


def write(machine, path, text):
    (machine.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (machine.folder / path).write_text(text)


def read(machine, path):
    return (machine.folder / path).read_text()


def node_says(machine, answers):
    """A fake slipway-node: answers image-for NAME from a table and records other commands."""
    cases = "".join(f"    'image-for {name}') printf %s '{image}' ;;\n" for name, image in answers.items())
    write(machine, "local/bin/slipway-node", f'#!/bin/bash\ncase "$*" in\n{cases}    *) echo "slipway-node $*" >>/run/calls ;;\nesac\n')
    (machine.folder / "local/bin/slipway-node").chmod(0o755)


@pytest.mark.parametrize("action,changes", [("up", True), ("dhcp4-change", True), ("dns-change", True), ("down", False), ("", False)])
def test_names_are_asked_of_the_machine_first(machine, action, changes):
    machine.install(DISPATCHER)
    machine.play("systemctl", "exit 1\n")
    write(machine, "run/NetworkManager/resolv.conf", LEARNED)
    write(machine, "etc/resolv.conf", LEARNED)
    for _ in range(2):
        done = machine.run(f"{DISPATCHER.name} eth0 {action}")
        assert done.returncode == 0, done.stderr
        assert read(machine, "etc/resolv.conf") == (LEARNED.replace("nameserver 192.0.2.1", "nameserver 127.0.0.1\nnameserver 192.0.2.1") if changes else LEARNED)


def test_a_lease_is_waited_for_until_it_is_written_down(machine):
    machine.install(DISPATCHER)
    machine.play("systemctl", "exit 1\n")
    machine.play("sleep", f"mkdir -p /run/NetworkManager; printf '{LEARNED}' >/run/NetworkManager/resolv.conf; echo sleep >>/run/calls\n")
    assert machine.run(f"{DISPATCHER.name} eth0 dhcp6-change").returncode == 0
    assert machine.calls() == ["sleep"]
    assert "nameserver 127.0.0.1" in read(machine, "etc/resolv.conf")


@pytest.mark.parametrize("platform,domains", [("baremetal", "Domains=~api.demo.example.com ~api-int.demo.example.com ~apps.demo.example.com\n"),
                                              ("vsphere", "Domains=guest.example.com\n"), ("ovirt", "")])
def test_systemd_resolved_is_told_and_restarted_once(machine, platform, domains):
    machine.install(DISPATCHER, PLATFORM=platform)
    machine.play("systemctl", '[[ $* == *is-enabled* ]] || echo "systemctl $*" >>/run/calls\n')
    machine.play("vmtoolsd", "echo guest.example.com\n")
    for _ in range(2):
        assert machine.run(f"{DISPATCHER.name} eth0 up").returncode == 0
    assert read(machine, "etc/systemd/resolved.conf.d/60-kni.conf") == "[Resolve]\nDNS=127.0.0.1\n" + domains
    assert machine.calls() == ["systemctl restart systemd-resolved.service"]


def test_without_a_virtual_address_nothing_is_changed(machine):
    machine.install(DISPATCHER, API_VIPS="")
    write(machine, "run/NetworkManager/resolv.conf", LEARNED)
    write(machine, "etc/resolv.conf", LEARNED)
    assert machine.run(f"{DISPATCHER.name} eth0 up").returncode == 0
    assert read(machine, "etc/resolv.conf") == LEARNED


IMAGES = {name: f"quay.example.com/release@sha256:{digit * 64}" for name, digit in
          [("ironic", "1"), ("ironic-agent", "2"), ("machine-image-customization-controller", "3"), ("machine-os-images", "4"), ("baremetal-operator", "5")]}
IRONIC_ENV = 'AUTH_DIR=/opt/metal3/auth\nHTTP_PORT=6180\nDHCP_RANGE="a,b,24"\nIPTABLES=iptables\n'
UNIT = {"PROVISIONING_MAC": "52:54:00:AB:CD:01", "PROVISIONING_NETWORK_TYPE": "Managed", "IRONIC_IP": "192.168.111.5", "IRONIC_USERNAME": "bootstrap-user",
        "PROV_IP_FAMILY": "ip4", "SERVICE_NAME": "build-ironic-env"}


def ironic_machine(machine):
    for script in sorted((BAREMETAL / "usr/local/bin").iterdir()):
        machine.install(script)
    node_says(machine, IMAGES)
    machine.play("ip", 'case "$*" in *route*) echo "default via 192.0.2.1 dev eth9 proto dhcp" ;; *) cat /run/links ;; esac\n')
    machine.play("podman", r"""case "$*" in
    *"image exists"*) exit 1 ;;
    *pull*) echo "podman $*" >>/run/calls ;;
    *htpasswd*) echo "podman $*" >>/run/calls; printf 'bootstrap-user:$2y$05$%s\n\n' "$(cat)" ;;
esac
""")
    write(machine, "run/links", "1: lo: <UP> mtu 65536 link/loopback 00:00:00:00:00:00 brd 00\n"
                                "2: eth0: <UP> mtu 1500\\    link/ether 52:54:00:ab:cd:00 brd ff\n3: eth1@if4: <UP> mtu 1500\\    link/ether 52:54:00:ab:cd:01 brd ff\n")
    write(machine, "etc/ironic.env", IRONIC_ENV)
    write(machine, "opt/metal3/auth/ironic/password", "SECRET")


def settings(text):
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("changes,expected", [
    ({"EXTERNAL_IP_FAMILY": "ip4"}, {"PROVISIONING_INTERFACE": "eth1", "PROVISIONING_IP_OPTIONS": "ip=dhcp", "EXTERNAL_IP_OPTIONS": "ip=dhcp",
                                     "IRONIC_BASE_URL": "http://192.168.111.5"}),
    ({"PROV_IP_FAMILY": "ip6", "IRONIC_IP": "fd00::5"}, {"PROVISIONING_IP_OPTIONS": "ip=dhcp6", "EXTERNAL_IP_OPTIONS": "", "IRONIC_BASE_URL": "http://[fd00::5]"}),
    ({"PROVISIONING_MAC": "", "PROVISIONING_NETWORK_TYPE": "Disabled"}, {"PROVISIONING_INTERFACE": "eth9"}),
])
def test_settings_of_ironic_are_found_on_the_machine(machine, changes, expected):
    ironic_machine(machine)
    for _ in range(2):
        done = machine.run("build-ironic-env.sh", **{**UNIT, **changes})
        assert done.returncode == 0, done.stderr
        text = read(machine, "etc/ironic.env")
        assert text.startswith(IRONIC_ENV + "# Found on this machine\n") and text.count("IRONIC_IMAGE") == 1
        found = settings(text)
        assert {key: found[key] for key in expected} == expected
        assert found["IRONIC_HTPASSWD"] == "'bootstrap-user:$2y$05$SECRET'"
        assert found["IRONIC_IMAGE"] == IMAGES["ironic"] and found["MACHINE_OS_IMAGES_IMAGE"] == IMAGES["machine-os-images"]
    assert "SECRET" not in "".join(machine.calls())
    assert (machine.folder / "etc/ironic.env").stat().st_mode & 0o777 == 0o600


def test_variables_of_the_quadlets_are_all_given(machine):
    """Each variable of a quadlet is in the template of its environment file or is added on the machine."""
    ironic_machine(machine)
    assert machine.run("build-ironic-env.sh", **UNIT).returncode == 0
    write(machine, "etc/ironic-network.env", "PROV_IP_FAMILY=ip6\n")
    write(machine, "etc/metal3.env", filled(BAREMETAL / "etc/metal3.env"))
    assert machine.run("build-metal3-env.sh", SERVICE_NAME="build-metal3-env").returncode == 0
    assert settings(read(machine, "etc/metal3.env"))["IRONIC_KERNEL_PARAMS"] == "ip=dhcp6"
    template = settings((BAREMETAL / "etc/ironic.env").read_text()).keys()
    given = {name: settings(read(machine, f"etc/{name}")).keys() for name in ["ironic.env", "metal3.env"]}
    files = [*(BAREMETAL / "etc/containers/systemd").glob("*.container"), *(VARIANTS / "baremetal/units").glob("*.service")]
    for path in files:
        text = path.read_text()
        wanted = {name for name in re.findall(r"\$\{?([A-Z0-9_]+)", text) if name != "UID"}
        allowed = set(template) if "ironic.env" in text else set()
        for name, keys in given.items():
            allowed |= set(keys) if f"EnvironmentFile=/etc/{name}" in text else set()
        # Requires= on build-ironic-env alone provides no variables: quadlets without an environment file must not use any.
        assert wanted <= allowed, (path.name, wanted - allowed)


def test_only_the_control_plane_gets_addresses(machine):
    ironic_machine(machine)
    machine.play("iptables", 'echo "$*" >>/run/calls\n')
    filtered = {"IPTABLES": "iptables", "PROVISIONING_INTERFACE": "eth1", "DHCP_ALLOW_MACS": "aa:01 aa:02"}
    assert machine.run("dhcp-filter.sh install", **filtered).returncode == 0
    calls = machine.calls()
    assert calls[3:] == ["--wait --table raw --new-chain slipway-dhcp", "--wait --table raw --append slipway-dhcp --match mac --mac-source aa:01 --jump ACCEPT",
                         "--wait --table raw --append slipway-dhcp --match mac --mac-source aa:02 --jump ACCEPT",
                         "--wait --table raw --append slipway-dhcp --jump DROP",
                         "--wait --table raw --insert PREROUTING --in-interface eth1 --protocol udp --dport 67 --jump slipway-dhcp"]
    assert machine.run("dhcp-filter.sh remove", **filtered).returncode == 0
    assert machine.calls()[len(calls):] == calls[:3]
    assert machine.run("dhcp-filter.sh install", **{**filtered, "DHCP_ALLOW_MACS": ""}).returncode == 0
    assert len(machine.calls()) == len(calls) + 6
    assert machine.run("dhcp-filter.sh", **filtered).returncode == 2


def test_ports_are_opened_once_and_closed(machine):
    ironic_machine(machine)
    machine.play("ip6tables", '[[ $* != *--check* ]] || exec test -e /run/open\necho "$*" >>/run/calls\n[[ $* != *--insert* ]] || touch /run/open\n')
    environment = {"IPTABLES": "ip6tables", "PROVISIONING_INTERFACE": "eth1"}
    for word in ["enable", "enable", "disable"]:
        assert machine.run(f"prov-iptables.sh --{word}-port 6385", **environment).returncode == 0
    rule = "INPUT --in-interface eth1 --protocol tcp --dport 6385 --jump ACCEPT"
    assert machine.calls() == [f"--wait --insert {rule}", f"--wait --delete {rule}"]
    assert machine.run("prov-iptables.sh --enable-port", **environment).returncode != 0


def test_the_provisioning_interface_gets_its_address(machine):
    ironic_machine(machine)
    machine.play("nmcli", 'echo "$*" >>/run/calls\n')
    environment = {"PROVISIONING_INTERFACE": "eth1", "PROV_IP_FAMILY": "ip4", "SERVICE_NAME": "provisioning-interface"}
    assert machine.run("start-provisioning-nic.sh", PROVISIONING_SUBNET="/0", **environment).returncode == 0
    assert machine.calls() == []
    assert machine.run("start-provisioning-nic.sh", PROVISIONING_SUBNET="172.22.0.2/24", **environment).returncode == 0
    assert machine.calls() == ["connection delete provisioning", "connection add type ethernet con-name provisioning ifname eth1 ipv4.method manual "
                               "ipv4.addresses 172.22.0.2/24 ipv6.method disabled", "connection up provisioning"]


def test_hosts_are_handed_over_when_the_control_plane_is_provisioned(machine):
    ironic_machine(machine)
    machine.play("sleep", 'echo "sleep $1" >>/run/calls\n')
    machine.play("systemctl", 'echo "systemctl $*" >>/run/calls\n[[ $* != *is-active* ]] || [ "$(grep --count is-active /run/calls)" -lt 2 ]\n')
    machine.play("kubectl", r"""
echo "kubectl $*" >>/run/asked
case "$*" in
    *kubeconfig-loopback*annotate*) exit 1 ;;
    *jsonpath*) [ "$(grep --count jsonpath /run/asked)" -ge 2 ] && printf 'provisioned\nprovisioned\nprovisioned\n' || printf 'provisioned\nprovisioning\n' ;;
esac""")
    done = machine.run("master-bmh-update.sh", CONTROL_PLANE_REPLICA_COUNT="3", SERVICE_NAME="master-bmh-update")
    assert done.returncode == 0, done.stderr
    assert machine.calls() == ["sleep 20", "systemctl stop ironic.service", "systemctl --quiet is-active metal3-baremetal-operator.service", "sleep 10",
                               "systemctl --quiet is-active metal3-baremetal-operator.service"]
    last = read(machine, "run/asked").splitlines()[-1]
    assert "auth/kubeconfig " in last and last.endswith("annotate --overwrite baremetalhosts --all baremetalhost.metal3.io/paused-")
    assert words(machine.record("master-bmh-update"))[-2:] == ["release-hosts stage end success", "service end success"]


def test_on_gcp_the_routes_go_before_the_report(machine):
    machine.install(VARIANTS / "gcp/files/usr/local/bin/report-progress.sh")
    node_says(machine, {})
    machine.play("sleep", "touch /opt/openshift/cb-bootstrap.done; echo sleep >>/run/calls\n")
    assert machine.run("report-progress.sh /k").returncode == 0
    assert machine.calls() == ["sleep", "systemctl stop gcp-routes.service", "slipway-node report-progress /k"]


def stages_of_the_engine():
    """The names of all stages in src/bootstrap."""
    root = DATA.parents[1] / "src/bootstrap"
    text = (root / "renders.cpp").read_text() + (root / "stages.cpp").read_text()
    names = set(re.findall(r'(?:\.stage = |push_back\(\s*\{\.name = )"([a-z-]+)"', text)) | set(re.findall(r'inputs, "([a-z-]+-render)"', text))
    return names | set(re.findall(r'frozen = "([a-z-]+)"', text))


def single_node(machine):
    for script in sorted((IN_PLACE / "usr/local/bin").iterdir()):
        machine.install(script)


def test_the_config_of_a_single_node_can_be_made_again(machine):
    single_node(machine)
    node_says(machine, {})
    done = machine.run("bootstrap-in-place.sh")
    assert done.returncode == 0, done.stderr
    stages = [call.rsplit(" ", 1)[1] for call in machine.calls()]
    assert stages == ["stop-etcd", "master-ignition"] and set(stages) <= stages_of_the_engine()
    assert all(call.startswith("slipway-node bootstrap --release-image=registry.example.com/") for call in machine.calls())


def test_a_single_node_is_installed_when_it_is_bootstrapped(machine):
    single_node(machine)
    machine.play("sleep", "touch /opt/openshift/.bootkube.done; echo sleep >>/run/calls\n")
    for program in ["coreos-installer", "shutdown"]:
        machine.play(program, f'echo "{program} $*" >>/run/calls\n')
    done = machine.run("install-to-disk.sh", SERVICE_NAME="install-to-disk")
    assert done.returncode == 0, done.stderr
    calls = machine.calls()
    assert calls[:2] == ["sleep", "coreos-installer install --copy-network --ignition-file=master.ign /dev/vda"]
    assert calls[2].startswith("shutdown --reboot +1 ")
    assert (machine.folder / "opt/openshift/.install-to-disk.done").exists()


def test_the_kubelet_of_the_installed_node_starts_before_its_certificate_exists(machine):
    script = IN_PLACE / "opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh"
    machine.install(script)
    write(machine, "local/bin/kubelet-start", "#!/bin/sh\n")
    (machine.folder / "local/bin/kubelet-start").chmod(0o755)
    # No API server answers; the first wait ends the script.
    machine.play("kubectl", "exit 1\n")
    machine.play("sleep", "kill $PPID\n")
    machine.run("timeout 60 bootstrap-in-place-post-reboot.sh")
    assert machine.calls() == ["systemctl daemon-reload", "systemctl stop kubelet-certificate.service",
                                   "systemctl --no-block restart kubelet.service"]
    unit = read(machine, "run/systemd/system/kubelet.service.d/10-in-place.conf").splitlines()
    assert "ConditionPathExists=" in unit and "ExecStart=" in unit
    assert "ExecStart=/usr/local/bin/kubelet-start --bootstrap-kubeconfig=/etc/kubernetes/kubeconfig" in unit


def test_the_installed_node_approves_only_itself_and_cleans_up(machine):
    script = IN_PLACE / "opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh"
    machine.install(script)
    machine.play("hostname", "echo master-0\n")
    machine.play("sleep", "true\n")
    machine.play("kubectl", r"""
echo "$*" >>/run/asked
count() { grep --count -e "$1" /run/asked; }
case "$*" in
    *'get configmap bootstrap'*) ;;
    *'get csr'*)
        [ "$(count 'get csr')" -lt 2 ] || echo "metadata: {labels: {revision: '1'}}" >/etc/kubernetes/manifests/kube-apiserver-pod.yaml
        printf '%s\n' 'a kubernetes.io/kube-apiserver-client-kubelet system:serviceaccount:openshift-machine-config-operator:node-bootstrapper' \
            'b kubernetes.io/kubelet-serving system:node:master-0' 'c kubernetes.io/kubelet-serving system:node:stranger' \
            'd kubernetes.io/kube-apiserver-client system:admin' ;;
    *'get nodes'*Ready*) [ "$(count Ready)" -lt 3 ] || echo True ;;
    *'get nodes'*) echo master-0 ;;
    *'get clusterversion'*) [ "$(count clusterversion)" -lt 3 ] || echo True ;;
esac""")
    write(machine, "etc/kubernetes/manifests/kube-apiserver-pod.yaml", "kind: Pod\n")
    write(machine, "etc/kubernetes/bootstrap-secrets/kubeconfig", "SECRET")
    write(machine, "opt/openshift/original_cvo_overrides.patch", "{}")
    done = machine.run("timeout 60 bootstrap-in-place-post-reboot.sh")
    assert done.returncode == 0, done.stderr
    asked = read(machine, "run/asked").splitlines()
    approved = {line.rsplit(" ", 1)[1] for line in asked if "certificate approve" in line}
    assert approved == {"a", "b"}
    assert "label node master-0 node-role.kubernetes.io/master= node-role.kubernetes.io/control-plane= --overwrite" in read(machine, "run/asked")
    order = ["--raw=/readyz", "create configmap bootstrap", "delete lease version", "cluster-policy-controller-lock", "patch clusterversion", "get nodes",
             "get clusterversion"]
    places = [next(i for i, line in enumerate(asked) if word in line) for word in order]
    assert places == sorted(places), asked
    assert machine.calls() == ["systemctl restart kubelet.service", "systemctl daemon-reload", "systemctl disable bootkube.service"]
    assert not (machine.folder / "etc/kubernetes/bootstrap-secrets").exists()
    assert not (machine.folder / "local/bin/bootstrap-in-place-post-reboot.sh").exists()
