"""Machines with rpm-ostree or bootc get another operating system, other kernel arguments, packages and another kernel by `slipway-node os`, go
back by themselves, and finish after a kill of every step. The programs are stand-ins (tests/support/host_os_programs.py).

    SLIPWAY_BIN=... SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s tests/component/host_os_update
"""

import json
import os
import pathlib
import stat
import sys

import pytest

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/support"))
from host_os import CONTENT, IMAGES, KERNEL, REALTIME, RECORD, REGISTRY, HostMachine, digest_of, image_of  # noqa: E402

RPM_OSTREE, BOOTC = ("rpm-ostree", "bootc"), ("bootc",)
EXTENSIONS = (IMAGES["extensions"], "kernel-rt", "usbguard")


@pytest.fixture(params=[RPM_OSTREE, BOOTC], ids=["rpm-ostree", "bootc"])
def machine(request, tmp_path):
    return new_machine(tmp_path, request.param)


@pytest.fixture
def rpm_machine(tmp_path):
    return new_machine(tmp_path, RPM_OSTREE)


def new_machine(folder, programs):
    machine = HostMachine(folder, programs)
    machine.put("etc/motd", "one")
    machine.want(machine.config("rendered-1", "first", motd="one"), machine.config("rendered-2", "second", motd="two"))
    return machine


def is_of(deployment, name):
    return deployment["digest"] == digest_of(name)


def test_another_image_is_fetched_staged_offline_booted_and_accepted(machine):
    fetched = machine.os("fetch", IMAGES["second"])
    program = "rpm-ostree" if (machine.root / "usr/bin/rpm-ostree").is_symlink() else "bootc"
    assert f"the operating system of this machine is changed by {program}" in fetched.stderr
    assert list(machine.read()["storage"]) == [IMAGES["second"]]
    assert is_of(machine.next(), "first"), "a restart before the pods have left boots the running system"
    machine.change(is_offline=True)
    machine.os("stage", "next-config")
    assert machine.text("etc/motd") == "one" and machine.trial()["state"] == "none"
    machine.reboot()
    assert machine.trial() == {"state": "on-trial", "config": "rendered-2", "reason": ""}
    assert is_of(machine.booted(), "second")
    assert machine.text("etc/motd") == "two" and machine.text("etc/issue") == "second\n" and machine.text("etc/added.conf") == "default\n"
    assert machine.text("etc/which") == "mine\n"
    machine.os("accept")
    assert machine.trial()["state"] == "none" and not (machine.root / RECORD).exists()
    assert not machine.read()["storage"] and not (machine.root / "var/lib/slipway/os-images.json").exists()
    machine.reboot()
    assert is_of(machine.booted(), "second")


def test_the_units_that_end_a_trial_are_those_of_the_machine_os(machine):
    machine.os("fetch", IMAGES["second"])
    machine.os("stage", "next-config")
    units = machine.folder_of(machine.next()) / "etc/systemd/system"
    for name in ("slipway-os-limit.service", "slipway-os-limit.timer"):
        assert (units / name).read_text() == (SOURCE / "os/root/usr/lib/systemd/system" / name).read_text()
    assert "Wants=slipway-os-limit.timer" in (units / "multi-user.target.d/50-slipway-os-limit.conf").read_text()


def test_one_that_nobody_accepts_is_left(machine):
    machine.os("fetch", IMAGES["second"])
    machine.os("stage", "next-config")
    machine.reboot()
    machine.change(failed_units=["kubelet.service"])
    machine.os("give-up")
    assert machine.has_to_reboot()
    machine.os("give-up")
    machine.reboot()
    trial = machine.trial()
    assert trial["state"] == "failed" and IMAGES["second"] in trial["reason"] and "kubelet.service" in trial["reason"], trial
    assert is_of(machine.booted(), "first") and machine.text("etc/motd") == "one" and machine.text("etc/issue") == "first\n"
    machine.os("forget")
    assert machine.trial()["state"] == "none"
    machine.reboot()
    assert is_of(machine.booted(), "first")


def test_a_power_cut_before_the_deployment_is_written_leaves_the_running_system(machine):
    machine.change(can_finalize=False)
    machine.os("fetch", IMAGES["second"])
    refused = machine.os("stage", "next-config", check=False)
    assert refused.returncode == 1 and "see journalctl --unit=ostree-finalize-staged.service" in refused.stderr, refused.stderr
    machine.power_cut()
    assert machine.trial()["state"] == "none" and is_of(machine.booted(), "first")
    machine.change(can_finalize=True)
    machine.os("stage", "next-config")
    machine.reboot()
    assert is_of(machine.booted(), "second")


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_each_command_the_same_commands_finish(machine, when):
    steps = [("fetch", IMAGES["second"]), ("stage", "next-config"), None, ("accept",)]
    saved = machine.root.parent / "saved"
    kills = 0
    for step in steps:
        if step is None:
            machine.reboot()
            continue
        for number in range(1, 100):
            machine.save(saved)
            machine.change(kill={"left": number, "when": when})
            killed = machine.os(*step, check=False)
            left = machine.read()["kill"]["left"]
            machine.change(kill=None)
            machine.os(*step)
            if left > 0:
                assert killed.returncode == 0, killed.stderr
                break
            kills += 1
            if step[0] == "stage":
                machine.reboot()
                assert machine.trial()["state"] == "on-trial" and is_of(machine.booted(), "second") and machine.text("etc/motd") == "two"
            machine.restore(saved)
    assert kills >= 10, kills
    assert machine.trial()["state"] == "none" and is_of(machine.booted(), "second") and not machine.read()["storage"]


def test_kernel_arguments_are_a_difference_in_one_command(rpm_machine):
    machine = rpm_machine
    machine.want(machine.config("rendered-1", "first", ["nosmt", "debug"]), machine.config("rendered-2", "first", ["debug", "audit=0 panic=10"]))
    state = machine.read()
    state["deployments"][0]["kargs"] += ["nosmt", "debug", "mine=1"]
    machine.write(state)
    machine.os("stage", "next-config")
    assert "rpm-ostree kargs --delete-if-present=nosmt --append=audit=0 --append=panic=10" in machine.read()["journal"]
    assert machine.next()["kargs"] == ["root=x", "quiet", "debug", "mine=1", "audit=0", "panic=10"]
    machine.reboot()
    assert machine.trial()["config"] == "rendered-2"


def test_packages_and_the_kernel_come_from_the_image_of_extensions(rpm_machine):
    machine = rpm_machine
    state = machine.read()
    machine.want(machine.config("rendered-1", "first"),
                 machine.config("rendered-2", "second", extensions=["usbguard"], kernelType="realtime",
                                baseOSExtensionsContainerImage=IMAGES["extensions"]))
    machine.os("fetch", IMAGES["second"], *EXTENSIONS)
    machine.change(is_offline=True)
    machine.os("stage", "next-config")
    machine.reboot()
    assert machine.booted()["packages"] == ["usbguard", *REALTIME] and machine.booted()["base_removals"] == KERNEL
    machine.os("accept")
    assert machine.text("etc/yum.repos.d/slipway-extensions.repo").count("enabled=1") == 1

    # The next image takes them along; then they go.
    machine.change(is_offline=False, images={**state["images"], digest_of("third"): {**CONTENT["second"], "version": "3.0"}})
    machine.want(json.loads(machine.text("etc/machine-config-daemon/currentconfig")),
                 machine.config("rendered-3", image_of("third"), kernelType="realtime", extensions=["usbguard"],
                                baseOSExtensionsContainerImage=IMAGES["extensions"]))
    machine.os("fetch", image_of("third"), *EXTENSIONS)
    machine.os("stage", "next-config")
    machine.reboot()
    assert is_of(machine.booted(), "third") and machine.booted()["packages"] == ["usbguard", *REALTIME]
    machine.os("accept")
    machine.want(json.loads(machine.text("etc/machine-config-daemon/currentconfig")), machine.config("rendered-4", "second"))
    machine.os("fetch", IMAGES["second"])
    machine.os("stage", "next-config")
    machine.reboot()
    assert is_of(machine.booted(), "second") and not machine.booted()["packages"] and not machine.booted()["base_removals"]
    machine.os("accept")
    assert not (machine.root / "var/lib/slipway/extensions").exists() and not (machine.root / "etc/yum.repos.d/slipway-extensions.repo").exists()


@pytest.mark.parametrize(("words", "message"), [
    (("", IMAGES["poor-extensions"], "usbguard"), f"{IMAGES['poor-extensions']}: the image has no package usbguard"),
    (("", IMAGES["extensions"], "nano", "usbguard"), "extensions: nano: unknown on machines with rpm-ostree; known are ipsec, kerberos, "),
    (("", IMAGES["first"], "usbguard"), f"{IMAGES['first']} is no image of extensions, because it has no /usr/share/rpm-ostree/extensions"),
    (("", "registry.example.com/x:latest", "usbguard"), "baseOSExtensionsContainerImage registry.example.com/x:latest has no digest"),
])
def test_extensions_that_do_not_exist_are_told_before_the_pods_leave(rpm_machine, words, message):
    refused = rpm_machine.os("fetch", *words, check=False)
    assert refused.returncode == 1 and message in refused.stderr, refused.stderr


def test_bootc_installs_no_packages_and_sets_no_arguments(tmp_path):
    machine = new_machine(tmp_path, BOOTC)
    refused = machine.os("fetch", "", IMAGES["extensions"], "usbguard", check=False)
    assert refused.returncode == 1 and "extensions: usbguard: bootc installs no packages" in refused.stderr, refused.stderr
    machine.want(machine.config("rendered-1", "first"), machine.config("rendered-2", "first", ["nosmt"]))
    refused = machine.os("stage", "next-config", check=False)
    assert refused.returncode == 1 and "kernelArguments: bootc does not set them" in refused.stderr, refused.stderr


def test_the_login_reaches_podman_only_and_is_not_left(machine):
    machine.os("fetch", IMAGES["second"])
    assert not (machine.root / "run/slipway/os-pull").exists()
    assert not list((machine.root / "run").rglob("auth.json")) and not (machine.root / "etc/ostree/auth.json").exists()
    machine.change(storage={})
    machine.put("var/lib/kubelet/config.json", '{"auths": {}}', 0o600)
    refused = machine.os("fetch", IMAGES["second"], check=False)
    assert refused.returncode == 1 and "unauthorized: authentication required" in refused.stderr, refused.stderr


def test_mirrors_of_the_cluster_and_of_the_machine_are_used(machine):
    machine.put("etc/containers/registries.conf",
                f'[[registry]]\nlocation = "{REGISTRY}"\n[[registry.mirror]]\nlocation = "mirror.example.net:5000"\n')
    machine.change(down=[REGISTRY])
    machine.os("fetch", IMAGES["second"])
    assert machine.read()["asked"] == ["mirror.example.net:5000"]
    machine.change(storage={}, asked=[])
    machine.put(f"etc/containerd/certs.d/{REGISTRY}/hosts.toml",
                'server = "https://registry.example.com"\n[host."https://other.example.net"]\ncapabilities = ["pull", "resolve"]\n')
    machine.os("fetch", IMAGES["second"])
    assert machine.read()["asked"] == ["other.example.net"]


@pytest.mark.parametrize(("prepare", "image", "message"), [
    (lambda m: m.change(down=[REGISTRY]), IMAGES["second"], "connection refused"),
    (lambda m: None, f"{REGISTRY}/team/os@sha256:{'0' * 64}", "manifest unknown"),
    (lambda m: None, f"{REGISTRY}/team/os:latest", "has no digest"),
    (lambda m: m.put("etc/containers/policy.json", '{"default": [{"type": "reject"}]}'), IMAGES["second"], "A signature was required"),
])
def test_an_image_that_cannot_be_fetched_is_told(machine, prepare, image, message):
    prepare(machine)
    refused = machine.os("fetch", image, check=False)
    assert refused.returncode == 1 and message in refused.stderr, refused.stderr
    assert not machine.read()["storage"] and len(machine.deployments()) == 1


@pytest.mark.parametrize(("prepare", "image", "message"), [
    (lambda m: m.change(update_driver="Zincati"), IMAGES["second"], "Updates and deployments are driven by Zincati"),
    (lambda m: m.put("etc/containers/policy.json", json.dumps({"default": [{"type": "reject"}], "transports": {
        "docker": {"": [{"type": "insecureAcceptAnything"}]}}})), IMAGES["second"], "is rejected by policy"),
    (lambda m: None, IMAGES["no-os"], "is not an ostree container"),
])
def test_what_rpm_ostree_will_refuse_shows_before_the_pods_leave(rpm_machine, prepare, image, message):
    prepare(rpm_machine)
    refused = rpm_machine.os("fetch", image, check=False)
    assert refused.returncode == 1 and message in refused.stderr, refused.stderr


def test_the_first_boot_brings_the_image_and_the_arguments(machine):
    config = machine.config("rendered-1", "second")
    machine.put("etc/ignition-machine-config-encapsulated.json", json.dumps(config), 0o600)
    first_boot = ("/usr/local/bin/slipway-node", "firstboot-complete-machineconfig")
    # It waits for the restart after it has asked for one.
    machine.run("timeout", "--signal=KILL", "10", "sh", "-c", " ".join(first_boot) + " & pid=$!; until grep -q 'systemctl reboot' /state.json; do "
                "kill -0 $pid || exit 1; done; kill -KILL $pid")
    machine.reboot()
    assert is_of(machine.booted(), "second") and not (machine.root / "etc/ignition-machine-config-encapsulated.json").exists()
    assert machine.trial()["state"] == "none"


def test_the_secret_files_are_private(machine):
    machine.os("fetch", IMAGES["second"])
    machine.os("stage", "next-config")
    for path in (RECORD, "var/lib/slipway/os-images.json"):
        assert stat.S_IMODE((machine.root / path).stat().st_mode) == 0o600, path


@pytest.mark.parametrize("words", [
    ("rpm-ostree", "rebase", "--no-such-option", "x"), ("rpm-ostree", "upgrade-all"), ("rpm-ostree", "kargs", "--delete=missing"),
    ("rpm-ostree", "uninstall", "missing"), ("rpm-ostree", "install", "missing"), ("rpm-ostree", "override", "reset", "kernel"),
    ("rpm-ostree", "rollback"), ("rpm-ostree", "rebase", "ostree-image-signed:docker://x@sha256:0"),
    ("rpm-ostree", "rebase", "ostree-unverified-registry:" + IMAGES["second"]), ("rpm-ostree", "override", "remove", "kernel", "kernel-core"),
    ("bootc", "switch", "--no-such-option", "x"), ("bootc", "switch", IMAGES["second"]), ("bootc", "rollback"),
    ("podman", "pull", IMAGES["second"]), ("ostree", "admin", "undeploy", "0"),
])
def test_the_stand_ins_refuse_what_the_programs_refuse(rpm_machine, words):
    before = rpm_machine.deployments()
    refused = rpm_machine.run(*words, check=False)
    assert refused.returncode in (1, 2, 125) and refused.stderr.lower().startswith("error: "), refused
    assert rpm_machine.deployments() == before
