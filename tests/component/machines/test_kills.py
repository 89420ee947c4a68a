"""Kills any process at any time: nothing keeps running that should not, the same command continues, and destroy deletes everything."""
import json
import os
import random
import signal
import socket
import subprocess
import time

import host_clock
from local_machines import OS_REPO, until

SEED = int(os.environ.get("SLIPWAY_TEST_SEED", random.randrange(1 << 32)))
MOMENTS = 20
CONTROL = "control.sock"


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reach(cluster, creating, phase):
    """Waits until m0 has reached a phase; false when the command ended earlier."""
    order = ["preparing", "igniting", "booting", "running"]
    while (state := cluster.state_of("m0")) not in order[order.index(phase):]:
        if creating.poll() is not None:
            return False
    return state == phase


def test_twenty_moments(cluster, tmp_path, capsys):
    draw = random.Random(SEED)
    ignition = tmp_path / "config.ign"
    files = [{"path": f"/etc/part-{i}", "contents": {"source": f"data:,{i}"}} for i in range(200)]
    ignition.write_text(json.dumps({"ignition": {"version": "3.3.0"}, "storage": {"files": files}}))
    create = ("create", "m0", "--ignition", str(ignition), "--wait", "--os-repo", OS_REPO)
    victims = {"owner": cluster.owner, "init": lambda: cluster.init_of("m0")}
    # (phase, process to kill, maximum wait before the kill)
    places = [(phase, victim, limit)
              for phase, limit in (("start", 0.3), ("preparing", 1.0), ("igniting", 0.3), ("booting", 0.4), ("running", 0.2))
              for victim in ("owner", "command", "init")
              if victim != "init" or phase in ("booting", "running")]
    drawn = draw.sample(places, len(places))
    drawn += draw.choices(places, k=MOMENTS - len(drawn))

    with capsys.disabled():
        print(f"\nSLIPWAY_TEST_SEED={SEED}")
    for number, (phase, victim, limit) in enumerate(drawn):
        wait = draw.uniform(0, limit)
        creating = subprocess.Popen(cluster.command(*create), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            met = phase == "start" or reach(cluster, creating, phase)
            time.sleep(wait)
            state = cluster.state_of("m0")
            pid = creating.pid if victim == "command" else victims[victim]()
            if pid is not None:
                kill(pid)
            killed_at = host_clock.now()
            if victim == "owner" and pid is not None:
                until("everything of the owner to be gone", lambda: not cluster.live_things(), 2)
            elif victim == "init" and pid is not None:
                until("the init to be gone", lambda: cluster.init_of("m0") != pid, 2)
            gone = host_clock.now() - killed_at
            if victim == "init" and pid is not None:
                # systemd-nspawn of the machine ends later. Until the owner knows, it reports the machine as running.
                until("the owner to know", lambda: cluster.state_of("m0") == "failed", 5)
            with capsys.disabled():
                print(f"{number + 1:2}. {phase}{'' if met else ' (missed)'} and {wait:.2f} s, then {state}: "
                      f"{victim} {f'killed, gone in {gone:.2f} s' if pid else 'is not there'}")
            creating.communicate(timeout=300)
        finally:
            creating.kill()
            creating.wait()
        cluster.remember_id()
        # The same command continues.
        cluster.run(*create)
        seen = cluster.shell("m0", "cat /etc/part-* | wc -c; systemctl is-system-running --wait; hostname").stdout.split()
        assert seen == ["490", "running", "m0"]
        cluster.run("destroy", "m0")
        assert cluster.leftovers() == []


def test_an_owner_that_is_still_dying(cluster):
    """The socket accepts connections until the last thread of the owner ends, but requests are not answered."""
    cluster.create("m0")
    kill(cluster.owner())
    until("everything of the owner to be gone", lambda: not cluster.live_things(), 2)
    folder = os.open(cluster.folder, os.O_PATH)  # as a file descriptor: socket paths have a length limit
    control = f"/proc/self/fd/{folder}/{CONTROL}"
    try:
        with socket.socket(socket.AF_UNIX) as dying:
            os.unlink(control)
            dying.bind(control)
            dying.listen()
            dying.settimeout(10)
            starting = subprocess.Popen(cluster.command("start", "m0"), stderr=subprocess.PIPE, text=True)
            try:
                dying.accept()[0].close()
            finally:
                dying.close()
                said = starting.communicate(timeout=60)[1]
    finally:
        os.close(folder)
    assert starting.returncode == 0, said
    until("m0 to run", lambda: cluster.state_of("m0") == "running", 60)


def test_a_destroy_that_is_killed(cluster):
    draw = random.Random(SEED + 1)
    print(f"SLIPWAY_TEST_SEED={SEED}")
    for _ in range(3):
        cluster.create("m0")
        destroying = subprocess.Popen(cluster.command("destroy", "--all"))
        try:
            time.sleep(draw.uniform(0, 0.5))
        finally:
            destroying.kill()
            destroying.wait()
        cluster.run("destroy", "--all")
        assert cluster.leftovers() == []
