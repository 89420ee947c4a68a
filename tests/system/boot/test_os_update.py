"""A virtual machine boots another OS image with other kernel arguments, leaves one that nobody accepts, and boots the real-time kernel."""

import contextlib
import json
import shutil

from disk import BUILD, check_running, copy
from os_images import BROKEN, REPOSITORY, hosts, is_last_layer_only, layer, limit_of_trial, new_layout, want
from release_registry import release_registry
from virtual_machine import config, drive, fw_cfg, machine, network, write
from web_server import web_server

HOST = "10.0.2.2"  # the loopback address of the test, for the machine
SLIPWAY_NODE = "/usr/local/bin/slipway-node"


def reboot(running):
    running.shell.socket.sendall(b"systemctl reboot\n")


def trial(running):
    return json.loads(running.run(f"{SLIPWAY_NODE} os trial"))


def counter(running):
    return running.run("/usr/lib/slipway/boot-counter show")


@contextlib.contextmanager
def machine_with_registry(image, folder, layout):
    """A machine with slipway-node that can pull the images of the layout."""
    programs = folder / "programs"
    programs.mkdir()
    for source in (BUILD / "payload/bin/slipway-node", *(BUILD / "payload/lib/slipway").glob("*.so*")):
        shutil.copy(source, programs)
    get = "\n".join(f"curl --silent --fail --create-dirs --output /usr/local/{'bin' if path.name == 'slipway-node' else 'lib/slipway'}/{path.name} "
                    f"http://{HOST}:8000/{path.name}" for path in programs.iterdir())
    storage = layout.write_storage(layout.folder / "storage")
    with (release_registry(folder, "127.0.0.1:0", storage=storage) as port, web_server("127.0.0.1", 8000, programs),
          machine(folder, drive(copy(image, folder)), fw_cfg(write(folder / "config.ign", config(
              files=[("/etc/containerd/certs.d/registry.example.com/hosts.toml", hosts(f"{HOST}:{port}"))]))), network()) as running):
        check_running(running)
        running.run(f"set -e\n{get}\nchmod 755 {SLIPWAY_NODE}")
        yield running


def test_the_real_time_kernel_boots(image, folder):
    with new_layout() as layout:
        first = f"{REPOSITORY}@{layout.base}"
        spec = {"baseOSExtensionsContainerImage": f"{REPOSITORY}@{layout.take('machine-os-extensions')[0]}", "kernelType": "realtime",
                "extensions": ["usbguard"]}
        with machine_with_registry(image, folder, layout) as running:
            assert "-rt-" not in running.run("uname -r") and "PREEMPT_RT" not in running.run("uname -v")
            running.run(want(("rendered-1", first, (), "one"), ("rendered-2", first, (), "two", spec)))
            running.run(f"{SLIPWAY_NODE} os fetch {first} {spec['baseOSExtensionsContainerImage']} kernel-rt usbguard", 600)
            running.run(f"{SLIPWAY_NODE} os stage next-config", 300)
            reboot(running)
            check_running(running)
            assert running.run("uname -r").endswith("-rt-amd64") and "PREEMPT_RT" in running.run("uname -v")
            assert "usbguard 1." in running.run("usbguard --version")
            running.run(f"{SLIPWAY_NODE} os accept", 300)

            running.run(want(("rendered-2", first, (), "two", spec), ("rendered-3", first, (), "three")))
            running.run(f"{SLIPWAY_NODE} os stage next-config", 300)
            reboot(running)
            check_running(running)
            assert "-rt-" not in running.run("uname -r") and running.run("command -v usbguard || echo gone") == "gone"


def test_an_image_is_booted_on_trial_and_a_broken_one_is_left(image, folder):
    with new_layout() as layout:
        first = f"{REPOSITORY}@{layout.base}"
        second = layout.add("second", layer({"usr/share/which-one": "second\n"}))
        broken = layout.add("broken", layer(BROKEN))
        with machine_with_registry(image, folder, layout) as running:
            running.run(want(("rendered-1", first, (), "one"), ("rendered-2", second, ("slipway.test=1",), "two")))
            fetched = running.run(f"{SLIPWAY_NODE} os fetch {second}", 300)
            assert is_last_layer_only(fetched), fetched
            running.run(f"{SLIPWAY_NODE} os stage next-config", 300)
            reboot(running)
            check_running(running)
            assert trial(running) == {"state": "on-trial", "config": "rendered-2", "reason": ""} and counter(running) == "2"
            assert running.run("cat /usr/share/which-one /etc/motd") == "second\ntwo"
            assert running.run("cat /proc/cmdline").split().count("slipway.test=1") == 1
            running.run(f"{SLIPWAY_NODE} os accept", 300)
            assert trial(running)["state"] == "none" and counter(running) == ""

            running.run(limit_of_trial(20) + want(("rendered-2", second, ("slipway.test=1",), "two"), ("rendered-3", broken, (), "three")))
            running.run(f"{SLIPWAY_NODE} os fetch {broken}", 300)
            running.run(f"{SLIPWAY_NODE} os stage next-config", 300)
            reboot(running)
            running.wait_for_shell()
            # Into the second image, into the broken one, and back.
            for _ in range(3):
                running.wait("reboot: Restarting system", 400)
            running.wait_for_shell()
            failed = trial(running)
            assert failed["state"] == "failed" and broken in failed["reason"] and "kubelet-stand-in.service" in failed["reason"], failed
            assert running.run("cat /etc/motd") == "two" and "slipway.test=1" in running.run("cat /proc/cmdline")
            running.run(f"{SLIPWAY_NODE} os forget")
            assert trial(running)["state"] == "none"
