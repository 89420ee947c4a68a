"""An assisted installation of four hosts up to their restart: the real service, real agents with disks of their own in network namespaces,
configs that a small program makes, and the API of a cluster as far as the host with the bootstrap looks at it. Run by
test_assisted_bootstrap.py in namespaces of its own. Arguments: a folder, a loop device for each host. The environment variable CASE
chooses the part."""

import base64
import http.server
import json
import os
import pathlib
import ssl
import sys
import threading
import time

COMPONENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(COMPONENTS / "agent"), str(COMPONENTS / "assist")]
import assist_client  # noqa: E402
from assist_client import CLUSTER, PULL_SECRET  # noqa: E402
from hosts import ADDRESSES, FOLDER, OWN, PORT, agents, kill, make_disks, make_medium, make_network, run, start, until  # noqa: E402

DISK_SIZE = 120 << 30  # sparse
# The states of units are those of a file, which this test writes; the real systemd would do all this to this machine.
SYSTEMCTL = f'''case "$1" in
show) cat {FOLDER}/units-$host ;;
esac
'''
API_PORT = 6443
MASTERS = ["h0", "h1", "h2"]


class Api:
    """The lists of a cluster's API that the bootstrap host reads."""

    def __init__(self):
        self.nodes, self.events, self.is_up = [], [], False
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0]
                lists = {"/api/v1/nodes": ("NodeList", api.nodes), "/api/v1/namespaces/assisted-installer/events": ("EventList", api.events)}
                allowed = self.headers.get("Authorization") == "Bearer administrator"
                status = 503 if not api.is_up else 401 if not allowed else 200 if path in lists else 404
                kind, items = lists.get(path, ("Status", []))
                body = json.dumps({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((OWN, API_PORT), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(FOLDER / "server.pem", FOLDER / "server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def add_master(self, name, ready="True"):
        self.nodes.append({"metadata": {"name": name, "labels": {"node-role.kubernetes.io/master": ""}},
                           "status": {"conditions": [{"type": "Ready", "status": ready}]}})


def file(path, content, mode=0o600, **more):
    return {"path": path, "mode": mode, "contents": {"source": "data:;base64," + base64.b64encode(content.encode()).decode()}, **more}


def make_configs():
    """What `slipway create ignition-configs` makes, small; and a program that is called like it."""
    ca = base64.b64encode((FOLDER / "ca.pem").read_bytes()).decode()
    kubeconfig = json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "admin",
                             "clusters": [{"name": "demo", "cluster": {"server": f"https://{OWN}:{API_PORT}", "certificate-authority-data": ca}}],
                             "users": [{"name": "admin", "user": {"token": "administrator"}}],
                             "contexts": [{"name": "admin", "context": {"cluster": "demo", "user": "admin"}}]})
    unit = {"name": "bootkube.service", "contents": "[Service]\nExecStart=/usr/local/bin/bootkube.sh\n"}
    bootstrap = {
        "ignition": {"version": "3.2.0"},
        "storage": {"directories": [{"path": "/opt/openshift/auth", "mode": 0o700}],
                    "files": [file("/opt/openshift/auth/kubeconfig", kubeconfig), file("/usr/local/bin/bootkube.sh", "#!/bin/sh\n", 0o555),
                              file("/usr/local/bin/slipway-node", "#!/bin/sh\necho registry.example.com/$1@sha256:$2\n", 0o555),
                              {"path": "/etc/motd", "append": [{"source": "data:,The%20bootstrap%20runs%20here.%0A"}]}]},
        "systemd": {"units": [unit, {"name": "kubelet.service", "enabled": True, "contents": "[Service]\n"}]}}
    role = {"ignition": {"version": "3.2.0", "config": {"merge": [{"source": "https://api-int.demo.example.com:22623/config/ROLE"}]}}}
    made = FOLDER / "made"
    (made / "auth").mkdir(parents=True)
    (made / "auth/kubeconfig").write_text(kubeconfig)
    (made / "bootstrap.ign").write_text(json.dumps(bootstrap))
    (made / "metadata.json").write_text("{}")
    for name in ("master", "worker"):
        (made / f"{name}.ign").write_text(json.dumps(role).replace("ROLE", name))
    program = FOLDER / "slipway"
    program.write_text(f'#!/bin/sh\nwhile [ "$1" != --dir ]; do shift; done\ncp "$2/install-config.yaml" {FOLDER}\ncp -r {made}/. "$2"\n')
    program.chmod(0o755)


class Service(assist_client.Service):
    address = OWN

    def __init__(self):
        super().__init__(FOLDER / "state", "--address", OWN, "--slipway", str(FOLDER / "slipway"))

    def start(self):
        self.port = PORT
        super().start()


def show_units(host, **states):
    """States of units: name, with _ for -, to "ACTIVE RESULT RESTARTS"."""
    words = {"release-image": "active success 0", **{name.replace("_", "-"): state for name, state in states.items()}}
    text = "\n".join("Id={}.service\nLoadState=loaded\nActiveState={}\nResult={}\nNRestarts={}\n".format(name, *state.split()) for name, state in words.items())
    (FOLDER / f"units-{host}.new").write_text(text)
    (FOLDER / f"units-{host}.new").rename(FOLDER / f"units-{host}")


class Installation:
    def __init__(self, hosts=tuple(ADDRESSES), **cluster):
        self.names = hosts
        make_network()
        make_disks(DISK_SIZE, SYSTEMCTL)
        (FOLDER / "bin/journalctl").write_text('#!/bin/sh\necho "the journal of $*"\n')
        (FOLDER / "bin/journalctl").chmod(0o755)
        make_medium()
        make_configs()
        self.api, self.service = Api(), Service()
        service = self.service
        self.id = service.call("POST", "/clusters", {**CLUSTER, **cluster})["id"]
        self.infra_env = service.call("POST", "/infra-envs", {"name": "demo", "pull_secret": PULL_SECRET, "cluster_id": self.id})["id"]
        everything = json.dumps(["all"])  # this machine has neither the size nor the names of a cluster
        service.call("PUT", f"/clusters/{self.id}/ignored-validations",
                     {"host-validation-ids": everything, "cluster-validation-ids": everything})
        self.token = assist_client.Lab.agent_token(self)
        for name in hosts:
            show_units(name)
            self.make_live_system(name)
            self.start(name)
        until("hosts", lambda: len(self.hosts()) == len(hosts))

    def make_live_system(self, name):
        """Folders that the bootstrap writes to; they stay when the agent is killed."""
        run("cp", "--archive", "/etc", FOLDER / f"etc-{name}")
        (FOLDER / f"etc-{name}/motd").write_text("A live system.\n")
        for folder in ("opt", "bin", "home"):
            (FOLDER / f"{folder}-{name}").mkdir()

    def start(self, name):
        mounts = {"etc": "/etc", "opt": "/opt", "bin": "/usr/local/bin", "home": "/root"}
        prepare = " && ".join(f"mount --bind {FOLDER}/{ours}-{name} {theirs}" for ours, theirs in mounts.items())
        start(name, self.infra_env, self.token, self.service.folder / "tls/ca.crt", prepare=prepare)

    @staticmethod
    def path(host):
        return f"/infra-envs/{host['infra_env_id']}/hosts/{host['id']}"

    def hosts(self):
        return {host["requested_hostname"]: host for host in self.service.get(f"/clusters/{self.id}/hosts") if host["requested_hostname"]}

    def stage(self, name):
        return self.hosts()[name].get("progress", {}).get("current_stage")

    def stages(self, name):
        """All stages that a host reported, in their order, without repetitions."""
        found = []
        for event in self.service.get(f"/events?cluster_id={self.id}&limit=5000"):
            if event["name"] == "host_install_progress_updated" and event["host_id"] == self.hosts()[name]["id"]:
                stage = json.loads(event["props"])["stage"]
                if not found or found[-1] != stage:
                    found.append(stage)
        return found

    def begin_with_roles(self):
        """Returns the names of the host with the bootstrap, of the other masters, and of the worker."""
        for name, host in self.hosts().items():
            self.service.call("PATCH", self.path(host), {"host_role": "master" if name in MASTERS else "worker"})
        self.begin()
        [bootstrap] = [name for name, host in self.hosts().items() if host["bootstrap"]]
        return bootstrap, [name for name in MASTERS if name != bootstrap], "h3"

    def begin(self):
        until("a cluster that is ready", lambda: self.service.cluster(self.id)["status"] == "ready")
        self.service.call("POST", f"/clusters/{self.id}/actions/install")
        until("the installation", lambda: self.service.cluster(self.id)["status"] == "installing", 200)

    def has_rebooted(self, name):
        log = FOLDER / f"systemctl-{name}"
        return log.exists() and "reboot" in log.read_text().splitlines()


def is_partitioned(number):
    with open(sys.argv[2 + number], "rb") as disk:
        return disk.read(520)[512:] == b"EFI PART"


def config_on_disk(number):
    place = FOLDER / f"installed-{number}"
    place.mkdir()
    run("mount", "-o", "ro,loop,offset=1048576", sys.argv[2 + number], place)
    config = json.loads((place / "ignition/config.ign").read_text())
    run("umount", place)
    return config


def check_installed(lab):
    bootstrap, masters, worker = lab.begin_with_roles()
    service = lab.service
    for name in masters:
        until(f"restart of {name}", lambda: lab.has_rebooted(name), 120)
    until("the worker to wait", lambda: lab.stage(worker) == "Waiting for control plane", 120)
    until("the bootstrap to wait", lambda: lab.stage(bootstrap) == "Waiting for control plane", 120)
    print("masters have restarted")

    # The live system of the bootstrap has what bootstrap.ign says, and its services are started.
    etc, opt = FOLDER / f"etc-{bootstrap}", FOLDER / f"opt-{bootstrap}/openshift"
    assert (etc / "motd").read_text() == "A live system.\nThe bootstrap runs here.\n"
    assert (etc / "systemd/system/bootkube.service").read_text().startswith("[Service]")
    assert (opt / "auth").stat().st_mode & 0o777 == 0o700 and (opt / "assisted-install-bootstrap").exists()
    table = json.loads(json.loads((opt / "manifests/machine-addresses.yaml").read_text())["data"]["machines"])
    assert {(row["name"], row["role"]) for row in table} == {("h0", "master"), ("h1", "master"), ("h2", "master"), ("h3", "worker")}, table
    deployment = opt / "openshift/99_assisted-installer-controller_9_deployment.yaml"
    assert 'image: "registry.example.com/image-for@sha256:cluster-machine-approver"' in deployment.read_text()
    assert deployment.stat().st_mode & 0o777 == 0o600
    commands = (FOLDER / f"systemctl-{bootstrap}").read_text().splitlines()
    order = [commands.index(line) for line in ("daemon-reload", "start --no-block release-image.service",
                                               "start --no-block kubelet.service bootkube.service approve-csr.service progress.service")]
    assert order == sorted(order), commands

    def info():
        return lab.hosts()[bootstrap]["progress"]["progress_info"]

    lab.api.is_up = True
    until("a look at the cluster", lambda: info() == "0 of 2 masters are ready")
    lab.api.add_master(masters[0])
    until("one ready master", lambda: info() == "1 of 2 masters are ready")
    # The agent and the service are killed; neither begins again.
    kill(bootstrap)
    service.kill()
    lab.start(bootstrap)
    log = FOLDER / f"{bootstrap}.log"
    until("an agent without its service", lambda: "continuing the installation" in log.read_text())
    time.sleep(2)
    assert agents[bootstrap].poll() is None
    service.start()
    lab.api.add_master(masters[1], "False")
    lab.api.nodes[1]["status"]["conditions"][0]["status"] = "True"
    until("the next stage", lambda: lab.stage(bootstrap) == "Waiting for bootkube")
    assert (FOLDER / f"systemctl-{bootstrap}").read_text().splitlines().count("daemon-reload") == 1
    print("kills")

    show_units(bootstrap, bootkube="inactive success 0", progress="active success 0")
    (opt / ".bootkube.done").touch()
    until("bootkube to be done", lambda: info() == "progress.service has not finished")
    show_units(bootstrap, bootkube="inactive success 0", progress="inactive success 0")
    until("the last wait", lambda: lab.stage(bootstrap) == "Waiting for controller")
    assert not lab.has_rebooted(bootstrap)
    lab.api.events.append({"reason": "AssistedControllerIsReady", "metadata": {"name": "a"}})
    until("restart of the bootstrap", lambda: lab.has_rebooted(bootstrap))
    assert lab.stages(bootstrap) == ["Starting installation", "Installing", "Writing image to disk", "Waiting for control plane",
                                     "Waiting for bootkube", "Waiting for controller", "Rebooting"], lab.stages(bootstrap)
    print("the bootstrap restarts as a master")

    assert not lab.has_rebooted(worker)
    controller = service.call("POST", "/tokens", {"kind": "controller", "cluster_id": lab.id})["token"]
    for name in masters:
        service.call("PUT", f"{lab.path(lab.hosts()[name])}/progress", {"current_stage": "Done"}, token=controller)
    until("restart of the worker", lambda: lab.has_rebooted(worker))
    for number, name in enumerate(ADDRESSES):
        config = config_on_disk(number)
        role = "worker" if name == worker else "master"
        assert config["ignition"]["config"]["merge"][0]["source"].endswith(f"/config/{role}"), config
        assert [each["path"] for each in config["storage"]["files"]] == ["/etc/hostname"], config
    print("disks")


def check_failed(lab):
    """bootkube fails again and again: the host fails with its journal."""
    bootstrap, _, _ = lab.begin_with_roles()
    until("the bootstrap to wait", lambda: lab.stage(bootstrap) == "Waiting for control plane", 120)
    show_units(bootstrap, bootkube="activating exit-code 11")
    lab.api.is_up = True
    until("a look at the units", lambda: lab.hosts()[bootstrap]["progress"]["progress_info"] == "0 of 2 masters are ready")
    show_units(bootstrap, bootkube="activating exit-code 12")
    until("failure", lambda: lab.hosts()[bootstrap]["status"] == "error")
    why = lab.hosts()[bootstrap]["status_info"]
    assert "bootkube.service failed (exit-code, after 12 restarts)" in why and "the journal of --no-pager" in why, why
    assert lab.service.cluster(lab.id)["status"] == "error" and lab.hosts()[bootstrap]["logs_collected_at"]
    assert not lab.has_rebooted(bootstrap)
    print("a failed unit")


def check_single(lab):
    """The only host bootstraps the cluster in place: it waits for no other master, and its disk gets the state of the cluster."""
    service, node = lab.service, "node-0"
    [host] = lab.hosts().values()
    show_units(node)  # the live system gets the name of the node, because the member of etcd has it
    service.call("PATCH", lab.path(host), {"host_name": node})
    lab.begin()
    cluster = service.cluster(lab.id)
    assert (cluster["high_availability_mode"], cluster["control_plane_count"], cluster["user_managed_networking"]) == ("None", 1, True), cluster
    assert [each["cidr"] for each in cluster["machine_networks"]] == ["192.168.126.0/24"], "of the default route"
    install = json.loads((FOLDER / "install-config.yaml").read_text())
    assert install["bootstrapInPlace"] == {"installationDisk": "/dev/vdz"} and install["platform"] == {"none": {}}, install

    until("the bootstrap", lambda: lab.stage(node) == "Waiting for bootkube")
    etc, opt = FOLDER / "etc-h0", FOLDER / "opt-h0/openshift"
    assert (etc / "hostname").read_text() == f"{node}\n"
    assert (opt / "bootstrap-in-place/master-update.fcc").exists() and (opt / "bootstrap-in-place/bootstrap-in-place-post-reboot.sh").exists()
    assert not (opt / "assisted-install-bootstrap").exists() and not list(etc.glob("systemd/system/install-to-disk*"))
    commands = (FOLDER / f"systemctl-{node}").read_text().splitlines()
    assert "start --no-block release-image.service" in commands and "start --no-block kubelet.service bootkube.service" in commands, commands
    # The agent and the service are killed; the bootstrap does not begin again.
    kill("h0")
    service.kill()
    lab.start("h0")
    until("an agent without its service", lambda: "continuing the installation" in (FOLDER / "h0.log").read_text())
    service.start()
    time.sleep(2)
    assert agents["h0"].poll() is None and lab.stage(node) == "Waiting for bootkube"
    assert not is_partitioned(0), "the disk is written when the bootstrap has ended"
    print("kills")

    master = {"ignition": {"version": "3.1.0", "config": {"merge": [{"source": "data:,%7B%22ignition%22%3A%7B%22version%22%3A%223.2.0%22%7D%7D"}]}},
              "storage": {"files": [file("/var/lib/etcd/member/snap/db", "the state of the cluster")]}}
    (opt / "master.ign").write_text(json.dumps(master))
    (opt / ".bootkube.done").touch()
    until("restart", lambda: lab.has_rebooted("h0") or lab.has_rebooted(node))
    assert lab.stages(node) == ["Starting installation", "Installing", "Waiting for bootkube", "Writing image to disk", "Rebooting"], lab.stages(node)
    config = config_on_disk(0)
    assert config["ignition"]["config"]["merge"] == master["ignition"]["config"]["merge"], config["ignition"]
    assert [each["path"] for each in config["storage"]["files"]] == ["/var/lib/etcd/member/snap/db", "/etc/hostname"]
    print("the disk has the state of the cluster")

    controller = service.call("POST", "/tokens", {"kind": "controller", "cluster_id": lab.id})["token"]
    for stage in ("Joined", "Done"):
        service.call("PUT", f"{lab.path(lab.hosts()[node])}/progress", {"current_stage": stage}, token=controller)
    until("the end", lambda: service.cluster(lab.id)["status"] == "finalizing")
    service.call("POST", f"/clusters/{lab.id}/actions/complete-installation", {"is_success": True}, token=controller)
    until("the end", lambda: service.cluster(lab.id)["status"] == "installed")
    assert [each["status"] for each in service.cluster(lab.id)["hosts"]] == ["installed"]


def main():
    single = {"hosts": ("h0",), "high_availability_mode": "None"}  # with virtual addresses, which have no effect
    lab = Installation(**(single if os.environ["CASE"] == "single" else {}))
    try:
        {"installed": check_installed, "failed": check_failed, "single": check_single}[os.environ["CASE"]](lab)
    except BaseException:
        for name in lab.names:
            print(f"--- {name}\n{(FOLDER / f'{name}.log').read_text()[-3000:]}")
        for name, host in lab.hosts().items():
            print(name, host["status"], host["status_info"], host.get("progress"))
        cluster = lab.service.cluster(lab.id)
        print(cluster["status"], cluster["status_info"], cluster["last-installation-preparation"])
        for event in lab.service.get(f"/events?cluster_id={lab.id}&limit=5000")[-30:]:
            print(event["message"])
        print((FOLDER / "service.log").read_text()[-3000:])
        raise
    assert lab.service.stop() == 0
    print("done", flush=True)


main()
