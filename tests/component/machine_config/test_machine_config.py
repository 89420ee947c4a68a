"""The config of a machine with the real programs: machine-config-operator bootstrap, machine-config-controller bootstrap,
machine-config-server bootstrap, then curl, ignition-validate, the kubelet and Ignition."""
import json
import os
import socket
import urllib.parse

import host_clock
import pytest
import sample
from server_world import ACCEPT, STARTS, World, content_of, kubelet_says, program, run

IGNITION = "/usr/lib/dracut/modules.d/30ignition/ignition"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("machine-config"))
    made.render_operator()
    made.start_server()
    made.before = {pool: made.curl(f"/config/{pool}")[0] for pool in ("master", "worker")}
    made.render_pools()
    yield made
    made.stop_server()


@pytest.fixture(scope="module")
def served(world):
    status, text = world.curl("/config/master")
    assert status == 200, text
    return json.loads(text)


def content(config, path):
    [text] = [content_of(file) for file in config["storage"]["files"] if file["path"] == path]
    return text


def test_answers_come_as_soon_as_something_is_rendered(world, served):
    assert world.before == {"master": 503, "worker": 500}
    assert content(served, "/etc/user-was-here") == "yes\n"


@pytest.mark.parametrize("path, options, status", [
    ("/config/worker", {}, 500), ("/config/arbiter", {}, 404), ("/other", {}, 404), ("/healthz", {"token": None}, 200),
    ("/config/master", {"method": "POST"}, 405), ("/config/master", {"method": "HEAD"}, 200), ("/config/master", {"accept": None}, 200),
    ("/config/master", {"accept": ACCEPT + "2.2.0"}, 400), ("/config/master", {"plain": True}, 200),
    ("/config/master", {"token": None}, 403), ("/config/master", {"token": "guess"}, 403), ("/config/master", {"token": None, "plain": True}, 403),
])
def test_each_request_gets_its_status(world, served, path, options, status):
    assert world.curl(path, **options)[0] == status


def test_strangers_are_logged_without_what_they_sent(world, served):
    world.curl("/config/master", token="stranger-danger")
    deadline = host_clock.now() + 5
    while "refused /config/master to" not in (log := (world.folder / "server.log").read_text()):
        assert host_clock.now() < deadline, log
    assert "danger" not in log and sample.TOKEN not in log


def test_what_strangers_send_is_logged_in_one_line(world, served):
    path = "/config/a%0alevel=error%20forged%1b%5b31m"
    assert world.curl(path)[0] == 404
    deadline = host_clock.now() + 10
    while "forged" not in (log := (world.folder / "server.log").read_text()):  # refusals are logged once a second
        assert host_clock.now() < deadline, log
        assert world.curl(path, token=None)[0] == 403
    assert "\x1b" not in log and [line for line in log.splitlines() if "forged" in line and "/config/a\\x0alevel=error forged\\x1b[31m" not in line] == []


def test_idle_strangers_do_not_keep_machines_out(world, served):
    """More idle connections from one address than the server accepts; another address still gets its config at once."""
    strangers = []
    try:
        for _ in range(600):
            strangers.append(socket.create_connection(("127.0.0.1", world.ports[0]), timeout=10, source_address=("127.0.0.9", 0)))
        start = host_clock.now()
        assert world.curl("/config/master")[0] == 200
        print(f"\na config beside 600 idle connections: {host_clock.now() - start:.2f} s")
        assert host_clock.now() - start < 10
    finally:
        for each in strangers:
            each.close()


def test_without_a_token_the_server_refuses_to_start(world):
    a = world.assets
    done = run(program(world.bin, "machine-config-server"), "bootstrap", f"--server-basedir={world.mcs}",
               f"--bootstrap-kubeconfig={a}/auth/kubeconfig-kubelet", f"--cert={a}/tls/tls.crt", f"--key={a}/tls/tls.key",
               f"--token-file={a}/tls/no-token", "--secure-port=0", "--insecure-port=0", check=False)
    assert done.returncode == 1 and "no-token: no token" in done.stderr, done.stderr


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"])
def test_the_validator_takes_every_version(world, served, version, tmp_path):
    status, text = world.curl("/config/master", accept=ACCEPT + version)
    assert status == 200 and json.loads(text)["ignition"]["version"] == version
    (tmp_path / "config.ign").write_text(text)
    if version <= "3.3.0":  # the validator is 2.14
        assert run("ignition-validate", tmp_path / "config.ign").stdout == ""


def test_the_kubelet_takes_its_configuration(served, tmp_path):
    configuration, drop_in = (content(served, path) for path in ("/etc/kubernetes/kubelet.conf", "/etc/openshift/kubelet.conf.d/10-local.conf"))

    def said(more=""):
        return kubelet_says(tmp_path, configuration, [drop_in], more)

    assert STARTS in said()
    # The same check finds errors.
    assert "noSuchField" in said("noSuchField: 1\n")
    assert "imageMinimumGCAge" in said("imageMinimumGCAge: -1s\nimageMaximumGCAge: -2s\n")


def test_the_boot_script_is_shell_without_mistakes(served, tmp_path):
    for path in ("/usr/local/bin/kubelet-start", "/usr/local/bin/machine-config-daemon-pull"):
        (tmp_path / "script").write_text(content(served, path))
        run("sh", "-n", tmp_path / "script")


def test_systemd_takes_the_units(served, tmp_path):
    """systemd-analyze of the host finds no errors in the units, except for programs that only machines have."""
    for unit in served["systemd"]["units"]:
        if "contents" in unit:
            (tmp_path / unit["name"]).write_text(unit["contents"].replace("/usr/local/bin/", "/bin/true #"))
    (tmp_path / "containerd.service").write_text("[Service]\nExecStart=/bin/true\n")
    said = run("systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir()), check=False,
               env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}).stderr
    ours = [line for line in said.splitlines() if str(tmp_path) in line and "RestartMode" not in line]  # RestartMode: systemd 254
    assert ours == []


def test_ignition_follows_a_pointer_with_the_token(world, served, tmp_path):
    ca = "data:," + urllib.parse.quote((world.assets / "tls/ca.crt").read_text())
    pointer = {"ignition": {"version": "3.2.0",
                            "config": {"merge": [{"source": f"https://127.0.0.1:{world.ports[0]}/config/master",
                                                  "httpHeaders": [{"name": "Authorization", "value": f"Bearer {sample.TOKEN}"}]}]},
                            "security": {"tls": {"certificateAuthorities": [{"source": ca}]}}}}
    (tmp_path / "pointer.ign").write_text(json.dumps(pointer))
    run(IGNITION, "-platform", "file", "-stage", "fetch", "-root", tmp_path, "-config-cache", tmp_path / "cache.json", "-log-to-stdout",
        env={**os.environ, "IGNITION_CONFIG_FILE": str(tmp_path / "pointer.ign")})
    fetched = json.loads((tmp_path / "cache.json").read_text())
    assert {file["path"] for file in fetched["storage"]["files"]} == {file["path"] for file in served["storage"]["files"]}
    assert "Ignition 3.3.0" in (world.folder / "server.log").read_text()


def test_keepalived_pod_gets_its_config(world, tmp_path):
    """Runs runtimecfg in its own network, as on the bootstrap machine."""
    templates = world.assets / "mco-bootstrap/local/static-pod-resources/keepalived"
    render = [program(world.bin, "runtimecfg"), "render", "--api-vips=10.97.77.5", "--cluster-domain=demo.example.com",
              f"--out-dir={tmp_path}", templates]
    script = "ip link add v0 type veth peer name v1; ip link set v0 up; ip address add 10.97.77.10/24 dev v0; exec \"$@\""
    run("unshare", "-n", "sh", "-c", script, "sh", *render)
    text = (tmp_path / "keepalived.conf").read_text()
    assert "interface v0\n" in text and "{{" not in text
