"""A machine builds an operating system image on that of the release, pushes it to a registry with logins, and imports it."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess

import host_clock
import pytest
from os_images import ON_MACHINE, PAYLOAD, REPOSITORY, layer, new_layout
from local_machines import new_cluster, until

SLIPWAY_NODE = "/usr/local/bin/slipway-node"
ADDRESS = "127.0.0.1:5001"
RESULT = f"{ADDRESS}/team/built"
USER, PASSWORD = "pusher", "secret-of-the-pusher"
BUILDS, OUTPUT = "/var/lib/os-builds", "/var/lib/slipway/os-images"
PODMAN = "podman --root=/var/lib/slipway/os-build-storage --runroot=/run/slipway-os-build"
REGISTRY = f"""version: 0.1
log: {{accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: /var/lib/pushed/storage}}, maintenance: {{uploadpurging: {{enabled: false}}}}}}
auth: {{htpasswd: {{realm: test, path: /var/lib/pushed/logins}}}}
http: {{addr: '{ADDRESS}'}}
"""


def docker_config(password):
    """Logins for the registry that takes pushes."""
    return json.dumps({"auths": {ADDRESS: {"auth": base64.b64encode(f"{USER}:{password}".encode()).decode()}}})


class Builder:
    """A machine with builds and two registries: one has the image of the release, the other takes pushes."""

    def __init__(self, cluster, layout, tools):
        self.cluster, self.base, self.tools = cluster, f"{REPOSITORY}@{layout.base}", tools
        self.var = cluster.folder / "machines/m0/var"

    def shell(self, script, check=True):
        return self.cluster.shell("m0", script, check=check)

    def put(self, name, containerfile, password=PASSWORD, **files):
        """The folder of a build, as the machine-config-controller writes it."""
        text = f'FROM {self.base} AS configs\nCOPY root/ /\nLABEL machineconfig="rendered-1" machineconfigpool="master"\n{containerfile}'
        folder = self.var / "lib/os-builds" / name
        folder.mkdir(parents=True)
        for path, content in {"root/etc/of-config": "of the config\n", **files}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        (folder / "Containerfile").write_text(text)
        (folder / "logins.json").write_text(docker_config(password))
        build = {"name": f"master-{name}", "pool": "master", "rendered": "rendered-1", "baseImage": self.base, "repository": RESULT,
                 "registry": ADDRESS, "containerfile": text}
        (folder / "build.json").write_text(json.dumps(build))

    def command(self, name):
        return f"{SLIPWAY_NODE} os-image-build --folder={BUILDS}/{name} --output={OUTPUT}/{name} --push-logins={BUILDS}/{name}/logins.json"

    def build(self, name, *options, check=True):
        return self.shell(" ".join([self.command(name), *options]), check=check)

    def stored_images(self):
        return set(self.shell(PODMAN + " images --format '{{.Repository}}:{{.Tag}}'").stdout.split())

    def file(self, name, path):
        return (self.var / "lib/slipway/os-images" / name / path).read_text()


@pytest.fixture(scope="module")
def machine():
    with new_layout() as layout, new_cluster() as cluster:
        tools = layout.add("tools", layer({"usr/share/tool": "a tool\n"}))
        cluster.create("m0")
        var = cluster.folder / "machines/m0/var"
        for source, place in ((pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway-node", "usrlocal/bin"), *((path, "usrlocal/lib/slipway") for path in (PAYLOAD / "lib/slipway").glob("*.so*"))):
            (var / place).mkdir(parents=True, exist_ok=True)
            shutil.copy(source, var / place)
        layout.serve(cluster, "m0")
        pushed = var / "lib/pushed"
        pushed.mkdir()
        (pushed / "config.yaml").write_text(REGISTRY)
        (pushed / "logins").write_text(subprocess.run(["htpasswd", "-Bbn", USER, PASSWORD], check=True, capture_output=True, text=True).stdout)
        (var / "lib/kubelet").mkdir(exist_ok=True)
        (var / "lib/kubelet/config.json").write_text(docker_config(PASSWORD))
        cluster.shell("m0", f"""systemd-run --unit=pushed {ON_MACHINE}/registry serve /var/lib/pushed/config.yaml
            curl --silent --retry 20 --retry-connrefused --retry-delay 1 http://{ADDRESS}/v2/""")
        yield Builder(cluster, layout, tools)


def test_an_image_is_built_pushed_and_imported(machine, capsys):
    machine.put("first", "FROM configs AS final\nRUN echo built > /usr/share/which-one && rm /usr/share/common-licenses/GPL-3\n")
    start = host_clock.now()
    done = machine.build("first")
    took = host_clock.now() - start
    image = json.loads(done.stdout)
    assert image == json.loads(machine.file("first", "image.json"))
    assert image["isPushed"] and image["image"] == f"{RESULT}@{image['digest']}" and image["bytes"] > 300e6, image
    assert "STEP" in machine.file("first", "build.log") and "podman: " in done.stderr

    # Nothing is left to do.
    start = host_clock.now()
    assert json.loads(machine.build("first").stdout) == image
    again = host_clock.now() - start

    # The machine has the layers of the release.
    start = host_clock.now()
    fetched = machine.shell(f"{SLIPWAY_NODE} os fetch {image['image']}")
    imported = host_clock.now() - start
    sizes = re.findall(r"layer \d+ of \d+: [0-9.]+ (\w+)", fetched.stderr)
    assert sizes and set(sizes) <= {"B", "kB"}, fetched.stderr  # only what the build added
    ref = "slipway/os/" + image["digest"].rpartition(":")[2]

    def cat(path):
        return machine.shell(f"ostree --repo=/ostree/repo cat {ref} {path}", check=False).stdout
    assert cat("/usr/share/which-one") == "built\n" and cat("/usr/etc/of-config") == "of the config\n"
    changes = machine.shell(f"ostree --repo=/ostree/repo diff slipway/machine-os {ref}").stdout
    assert sorted(changes.splitlines()) == ["A    /usr/etc/of-config", "A    /usr/share/which-one", "D    /usr/share/common-licenses/GPL-3"], changes
    with capsys.disabled():
        print(f"\nbuild {took:.1f} s ({image['bytes'] / 1e6:.0f} MB), again {again:.1f} s, import {imported:.1f} s")


def test_a_failed_step_has_its_line_and_output(machine):
    machine.put("failing", "FROM configs AS final\n# a comment\nRUN echo before && \\\n  ls /nowhere\n")
    done = machine.build("failing", check=False)
    assert done.returncode == 1
    words = "line 3 of the Containerfile (RUN echo before && ls /nowhere): exit status 2; its last output: before | ls: cannot access '/nowhere'"
    assert words in done.stderr, done.stderr
    failure = json.loads(machine.file("failing", "failure.json"))
    assert failure["code"] == "invalid" and words in failure["message"]
    assert "ls: cannot access" in machine.file("failing", "build.log")


def test_a_wrong_login_is_found_before_the_build(machine):
    machine.put("denied", "FROM configs AS final\nRUN true\n", password="wrong")
    done = machine.build("denied", check=False)
    assert done.returncode == 1 and json.loads(machine.file("denied", "failure.json"))["code"] == "denied", done.stderr
    assert f"pushing to {RESULT}" in done.stderr and "STEP" not in done.stderr and "wrong" not in done.stderr


def test_killed_in_the_middle_the_same_command_finishes(machine):
    machine.put("killed", "FROM configs AS final\nRUN echo one > /usr/share/one\nRUN sleep 2; echo two > /usr/share/two\n")
    machine.shell(f"systemd-run --unit=build {machine.command('killed')}")
    log = machine.var / "lib/slipway/os-images/killed/build.log"
    until("the last step", lambda: log.exists() and "RUN sleep" in log.read_text(), 60)
    machine.shell("kill -KILL $(systemctl show --property=MainPID --value build)")
    until("podman to end", lambda: machine.shell("pgrep podman", check=False).returncode != 0, 10)
    image = json.loads(machine.build("killed").stdout)
    assert image["isPushed"]
    log = machine.file("killed", "build.log")
    assert log.count("Using cache") >= 2, log
    # What the killed build had begun is gone.
    assert machine.shell(f"{PODMAN} ps --all --external --quiet").stdout == ""
    # Only this build's image has a name.
    assert machine.shell(f"{PODMAN} images --format '{{{{.Tag}}}}' {RESULT}").stdout == "master-killed\n"


def test_the_storage_keeps_the_result_and_what_it_is_made_of(machine):
    machine.put("copied", f"FROM {machine.tools} AS tools\nFROM configs AS final\nCOPY --from=tools /usr/share/tool /usr/share/\n")
    machine.build("copied")
    assert machine.stored_images() == {f"{REPOSITORY}:<none>", f"{RESULT}:master-copied"}
    # One is the release's, which the result is made of.
    listed = machine.shell(PODMAN + " images --digests --format '{{.Digest}}' " + REPOSITORY).stdout.split()
    assert listed == [machine.base.partition("@")[2]], listed


def test_without_the_cache_all_steps_run_again(machine):
    containerfile = "FROM configs AS final\nRUN date +%N > /usr/share/when\n"
    machine.put("cached", containerfile)
    first = json.loads(machine.build("cached").stdout)
    machine.put("same", containerfile)
    assert "Using cache" in machine.build("same").stderr
    assert json.loads(machine.build("same").stdout)["digest"] == first["digest"]
    again = machine.build("same", "--no-cache")
    assert "Using cache" not in again.stderr and json.loads(again.stdout)["digest"] != first["digest"]


def test_the_start_of_the_daemon_removes_what_builds_left(machine):
    """Without a cluster: the daemon cleans before it needs the API."""
    machine.shell(f"mkdir -p {OUTPUT}/worker-1 && echo secret > {OUTPUT}/worker-1/push-logins.json")
    kubeconfig = json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
                             "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}], "users": [{"name": "a", "user": {"token": "x"}}]})
    machine.shell(f"echo '{kubeconfig}' > /run/kubeconfig")
    start = f"{SLIPWAY_NODE} start --node-name=m0 --root-mount=/ --kubeconfig=/run/kubeconfig"
    left = f"ls -d {OUTPUT} /var/lib/slipway/os-build-storage"
    # A build that runs keeps what it needs.
    machine.shell(f"systemd-run --unit=holder flock /run/slipway-os-build.lock sleep 600; systemd-run --unit=daemon {start}")
    until("the daemon leaves it alone", lambda: "earlier builds left is kept" in machine.shell("journalctl --unit=daemon", check=False).stdout, 30)
    assert len(machine.shell(left).stdout.split()) == 2
    machine.shell(f"systemctl stop holder daemon; systemd-run --unit=daemon-again {start}")
    until("all of it is gone", lambda: not machine.shell(left, check=False).stdout, 60)
    machine.shell("systemctl stop daemon-again")
