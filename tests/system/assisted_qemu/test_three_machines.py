"""Three virtual machines boot the discovery image of the service, report themselves, and are installed with the disk image of the machine
OS. With KVM they become a cluster. By emulation the masters are switched off when their disks are written: the one with the bootstrap goes
on until its API server answers.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build SLIPWAY_SOURCE=. /usr/bin/python3 -m pytest -s -x tests/system/assisted_qemu
"""

import json
import ssl
import subprocess
import urllib.error
import urllib.request

from machines import API, BUILD, DISK, mac_of
from virtual_machine import usable_kvm


def test_a_machine_boots_the_image_and_reports_itself(lab):
    machine = lab.boot(0)
    seconds = lab.wait_for("a host", lambda: 0 in lab.hosts())
    host = lab.hosts()[0]
    inventory = json.loads(host["inventory"])
    [disk] = [each for each in inventory["disks"] if each["size_bytes"] == DISK]
    assert disk["path"] == "/dev/vda" and disk["installation_eligibility"]["eligible"], disk
    assert inventory["interfaces"][0]["mac_address"] == mac_of(0) and inventory["boot"]["current_boot_mode"] == "bios"
    assert inventory["system_vendor"]["manufacturer"] == "QEMU", inventory["system_vendor"]
    machine.wait_for_shell()
    assert machine.run("findmnt --noheadings --output FSTYPE /") == "overlay"
    assert "active" in machine.run("systemctl is-active slipway-agent")
    print(f"\nthe first host is known {seconds:.0f} s after it was switched on")


def test_three_machines_can_be_installed(lab):
    for number in (1, 2):
        lab.boot(number)
    seconds = lab.wait_for("three hosts", lambda: len(lab.hosts()) == 3)
    for number, host in lab.hosts().items():
        lab.service.call("PATCH", f"/infra-envs/{lab.infra_env}/hosts/{host['id']}", {"host_name": f"master-{number}"})
    seconds += lab.wait_for("a ready cluster", lambda: lab.service.cluster(lab.id)["status"] == "ready")
    print(f"\nthe cluster is ready {seconds:.0f} s after the last hosts were switched on")


def test_the_disks_are_written(lab):
    lab.service.call("POST", f"/clusters/{lab.id}/actions/install")
    lab.wait_for("the installation", lambda: lab.service.cluster(lab.id)["status"] == "installing")
    masters = [number for number, host in lab.hosts().items() if not host["bootstrap"]]
    assert len(masters) == 2
    seconds = lab.wait_for("written disks", lambda: all(lab.stage(number) not in ("", "Starting installation", "Installing", "Writing image to disk")
                                                        for number in range(3)))
    print(f"\nall disks are written {seconds:.0f} s after the installation began")
    for number in masters:
        # The installed system asks the bootstrap for its config.
        machine = lab.machines[number]
        lab.wait_for(f"a start of host {number} from its disk", lambda machine=machine: "/config/master" in machine.console.text)
        if not usable_kvm():
            lab.switch_off(number)


def api_answers():
    try:
        with urllib.request.urlopen(f"https://{API}:6443/readyz", context=ssl._create_unverified_context(), timeout=60) as answer:
            return answer.read() == b"ok"
    except (OSError, urllib.error.URLError):
        return False


def test_the_bootstrap_runs_in_memory(lab):
    [bootstrap] = [number for number, host in lab.hosts().items() if host["bootstrap"]]
    seconds = lab.wait_for("an API server", api_answers)
    print(f"\nthe API server of the bootstrap answers {seconds:.0f} s after the disks were written")
    assert lab.stage(bootstrap) == "Waiting for control plane"
    if not usable_kvm():
        return
    lab.wait_for("an installed cluster", lambda: lab.service.cluster(lab.id)["status"] == "installed")
    kubeconfig = lab.folder / "kubeconfig"
    status, _, content = lab.service.raw("GET", f"/api/assisted-install/v2/clusters/{lab.id}/downloads/credentials?file_name=kubeconfig",
                                         headers={"X-Secret-Key": lab.service.token})
    assert status == 200
    kubeconfig.write_bytes(content)
    nodes = subprocess.run([BUILD / "payload/bin/hyperkube", "kubectl", "--kubeconfig", kubeconfig, "--server", f"https://{API}:6443", "--tls-server-name",
                            "api.demo.example.com", "get", "nodes", "--output", "name"], check=True, capture_output=True, text=True).stdout
    assert sorted(nodes.split()) == [f"node/master-{number}" for number in range(3)]
