"""Local machines boot, have their identity, restart, update, and are deleted completely."""
import json
import os
import socket
import subprocess

import host_clock
from local_machines import CGROUPS, OS_REPO, SLIPWAY, until


def config(**more):
    return json.dumps({"ignition": {"version": "3.3.0"}, **more})


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return str(path)


def bytes_besides_repository(cluster, *options):
    """Disk usage of the cluster's files: du counts a hard-linked file once, and the repository comes first."""
    out = subprocess.run(["du", "-s", "-B1", *options, OS_REPO, cluster.state], text=True, capture_output=True, check=True).stdout
    return int(out.splitlines()[1].split()[0])


def test_one_machine_and_then_three_more(cluster, capsys):
    start = host_clock.now()
    cluster.create("m0")
    one = host_clock.now() - start
    cluster.run("destroy", "m0")
    start = host_clock.now()
    cluster.create("m0", "m1", "m2", "m3")
    four = host_clock.now() - start
    each, journals = (bytes_besides_repository(cluster, *pattern) // 4 for pattern in (("--exclude=journal",), ()))
    with capsys.disabled():
        print(f"\ncreate to booted: one machine {one:.1f} s, four at once {four:.1f} s; "
              f"disk a machine {each / 1e6:.1f} MB, and {(journals - each) / 1e6:.1f} MB that journald reserves for its log")
    assert each < 10e6

    machines = cluster.list()
    assert {name: (row["state"], row["address"]) for name, row in machines.items()} == {
        f"m{i}": ("running", f"10.97.77.{10 + i}") for i in range(4)}
    assert cluster.shell("m1", "hostname").stdout == "m1\n"
    assert "inet 10.97.77.12/24" in cluster.shell("m2", "ip addr show eth0").stdout
    assert cluster.shell("m2", "cat /etc/resolv.conf").stdout == f"nameserver 10.97.77.1\nsearch {cluster.name}.internal\noptions timeout:1 attempts:5\n"
    assert "10.97.77.13" in cluster.shell("m0", "getent hosts m3").stdout
    cluster.shell("m0", f"ping -c 1 -W 5 m3 && ping -c 1 -W 5 m1.{cluster.name}.internal")
    assert len({cluster.shell(f"m{i}", "cat /etc/machine-id").stdout for i in range(4)}) == 4
    # The name server is reachable whether or not other machines run.
    assert "52:54:00:73:ff:ff" in cluster.shell("m0", "ip neigh show 10.97.77.1").stdout

    for path in ("/usr/x", "/x", "/sysroot/x", "/boot/x"):
        refused = cluster.shell("m0", f"touch {path}", check=False)
        assert refused.returncode == 1 and "Read-only file system" in refused.stderr
    cluster.shell("m0", "touch /etc/x /var/x")

    # The host has no address of the cluster's network.
    addresses = subprocess.run(["ip", "address"], text=True, capture_output=True, check=True).stdout
    assert "10.97.77." not in addresses


def test_console_shell_stop_start_reboot(cluster):
    cluster.create("m0")
    assert "Reached target" in cluster.run("console", "m0").stdout
    assert cluster.shell("m0", "exit 7", check=False).returncode == 7
    assert cluster.shell("m0", "kill -9 $$", check=False).returncode == 137
    assert cluster.run("shell", "m0", "--", "cat", input="through\n").stdout == "through\n"
    assert cluster.run("shell", "m1", "--", "true", check=False).returncode == 1

    following = subprocess.Popen(cluster.command("console", "m0", "--follow"), stdout=subprocess.PIPE, text=True)
    try:
        cluster.shell("m0", "echo written by a test > /dev/console")
        assert any("written by a test" in line for line in following.stdout)
    finally:
        following.terminate()
        assert following.wait(timeout=120) == 0

    cluster.run("reboot", "m0", "--wait")
    assert cluster.list()["m0"]["boots"] == 2
    before = cluster.shell("m0", "cat /proc/sys/kernel/random/boot_id").stdout
    cluster.shell("m0", "systemctl reboot")
    until("the machine to be back", lambda: (row := cluster.list()["m0"])["boots"] == 3 and row["state"] == "running", 60)
    assert cluster.shell("m0", "cat /proc/sys/kernel/random/boot_id").stdout != before
    cluster.shell("m0", "systemctl poweroff")
    until("the machine to be off", lambda: cluster.list()["m0"]["state"] == "stopped", 60)
    assert cluster.init_of("m0") is None
    cluster.run("start", "m0", "--wait")
    cluster.run("stop")
    until("the owner to end", lambda: not cluster.live_things())
    assert cluster.list()["m0"]["state"] == "stopped"
    refused = cluster.run("reboot", "m0", check=False)
    assert refused.returncode == 1 and "machine start" in refused.stderr
    cluster.run("start", "--wait")
    assert cluster.list()["m0"]["state"] == "running"


def of_hierarchies(text):
    """Paths by hierarchy of /proc/PID/cgroup."""
    return dict(line.rsplit(":", 1) for line in text.splitlines())


def test_the_service_that_started_them_ends(cluster):
    """When a unit or a session ends, systemd kills every process that is still in its cgroup."""
    hierarchies = [path for path in (CGROUPS / "systemd", CGROUPS / "unified", CGROUPS / "pids") if path.is_dir()] or [CGROUPS]
    groups = [hierarchy / f"slipway-test-{cluster.name}" for hierarchy in hierarchies]
    for group in groups:
        group.mkdir()

    def enter():
        for group in groups:
            (group / "cgroup.procs").write_text("0")

    try:
        cluster.create("m0", preexec_fn=enter)
        assert [pid for group in groups for pid in (group / "cgroup.procs").read_text().split()] == []
        assert cluster.members()
        cluster.run("stop")
        cluster.run("start", "--wait", preexec_fn=enter)
        assert [pid for group in groups for pid in (group / "cgroup.procs").read_text().split()] == []
        assert cluster.list()["m0"]["state"] == "running"
    finally:
        for group in groups:
            group.rmdir()


def test_a_shell_is_in_cgroups_of_its_machine(cluster):
    cluster.create("m0")
    init, shell = (of_hierarchies(cluster.shell("m0", f"cat /proc/{process}/cgroup").stdout) for process in ("1", "self"))
    assert shell.keys() == init.keys()
    for hierarchy, path in shell.items():
        assert path in (init[hierarchy], init[hierarchy].replace("init.scope", "slipway-shell")), shell
    # A container engine makes groups below its own.
    cluster.shell("m0", "systemd-run --quiet --scope true")


def test_terminal(cluster):
    """`script` gives slipway a terminal; the program in the machine gets a terminal of the machine."""
    cluster.create("m0")
    command = " ".join(cluster.command("shell", "m0", "--", "sh", "-c", "'tty; test -t 0 && test -e $(tty) && exit 5'"))
    done = subprocess.run(["script", "-qec", command, "/dev/null"], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert "/dev/pts/" in done.stdout
    assert done.returncode == 5, done.stdout


def test_deployment_switch_and_back(cluster):
    cluster.create("m0")
    first = cluster.list()["m0"]["deployment"]
    cluster.shell("m0", """set -e
        echo mine > /etc/kept.conf; echo data > /var/lib/kept
        mkdir -p /var/tmp/new/usr/share /var/tmp/new/usr/etc
        echo second > /var/tmp/new/usr/share/which-one; echo default > /var/tmp/new/usr/etc/added.conf
        unshare -m sh -c 'mount -o remount,bind,rw /sysroot &&
            ostree commit --repo=/sysroot/ostree/repo --branch=test/second --tree=ref=slipway/machine-os --tree=dir=/var/tmp/new \
                --owner-uid=0 --owner-gid=0'
        ostree admin deploy test/second
        systemctl reboot""")
    until("the machine to be back", lambda: (row := cluster.list()["m0"])["boots"] == 2 and row["state"] == "running", 60)
    second = cluster.list()["m0"]["deployment"]
    assert second != first
    assert cluster.shell("m0", "cat /usr/share/which-one /etc/added.conf /etc/kept.conf /var/lib/kept; hostname").stdout == (
        "second\ndefault\nmine\ndata\nm0\n")
    status = cluster.shell("m0", "ostree admin status").stdout
    assert f"* slipway {second}" in status and f"  slipway {first} (rollback)" in status

    cluster.shell("m0", "echo later > /etc/kept.conf; echo more >> /var/lib/kept; ostree admin set-default 1")
    cluster.run("reboot", "m0", "--wait")
    assert cluster.list()["m0"]["deployment"] == first
    # /etc belongs to the deployment, /var to the machine.
    assert cluster.shell("m0", "cat /etc/kept.conf /var/lib/kept; test ! -e /usr/share/which-one; test ! -e /etc/added.conf").stdout == "mine\ndata\nmore\n"


def deploy(cluster, name, files, argument):
    """A second commit in the machine's repository, which has three attempts to boot: the booted one and files on top of it."""
    lines = [f"install -D --mode=0755 /dev/stdin /var/tmp/{name}/{path} <<'EOF'\n{content}EOF" for path, content in files.items()]
    cluster.shell("m0", "\n".join(["set -e", *lines, f"""unshare --mount sh -ec '
        mount -o remount,bind,rw /sysroot; mount -o remount,bind,rw /boot
        ostree commit --repo=/sysroot/ostree/repo --branch={name} --tree=ref=slipway/machine-os --tree=dir=/var/tmp/{name} --owner-uid=0 --owner-gid=0
        ostree admin deploy --karg-append={argument} {name}
        /usr/lib/slipway/boot-counter start'
        test "$(/usr/lib/slipway/boot-counter show)" = 3"""]))


def test_attempts_to_boot_a_new_deployment(cluster):
    cluster.create("m0")
    first = cluster.list()["m0"]["deployment"]
    counter = "/usr/lib/slipway/boot-counter"

    def booted(boots):
        until("the machine to be back", lambda: (row := cluster.list()["m0"])["boots"] == boots and row["state"] == "running", 120)
        return cluster.list()["m0"]["deployment"]

    def arguments():
        return cluster.shell("m0", "cat /proc/cmdline").stdout.split(" ")

    def attempts():
        return [line.split(" ")[3] for line in cluster.run("console", "m0").stdout.splitlines() if line.startswith("-- slipway: attempt")]

    # The kernel's arguments are those of the boot entry. What a machine writes to the file stays in the machine.
    assert cluster.shell("m0", "cat /proc/cmdline").stdout == cluster.shell("m0", "sed -n 's/^options //p' /boot/loader/entries/*.conf").stdout
    assert cluster.shell("m0", "echo x >/proc/cmdline", check=False).returncode != 0
    assert cluster.shell("m0", "systemctl list-units --failed --plain --no-legend").stdout == ""
    refused = cluster.shell("m0", f"{counter} start", check=False)
    assert refused.returncode == 1 and "no deployment to fall back to" in refused.stderr
    assert cluster.shell("m0", f"{counter} stop; {counter} show; test ! -e /boot/grub").stdout == ""

    # A deployment without an init: three attempts, then the one before it, and again.
    deploy(cluster, "bad", {"usr/lib/systemd/systemd": "#!/bin/sh\nexit 1\n"}, "slipway.test=1")
    cluster.shell("m0", "systemctl reboot")
    assert booted(5) == first and attempts() == ["1", "2", "3"]
    fallback = "-- slipway: the newest deployment did not boot three times; booting the one before"
    console = cluster.run("console", "m0").stdout.splitlines()
    assert console.count(fallback) == 1 and console[console.index(fallback) + 1] == f"-- slipway: booting {first}"
    assert "slipway.test=1\n" not in arguments()
    log = "journalctl --boot --unit slipway-boot-success.service --output cat"
    until("the log to say so", lambda: "did not boot three times" in cluster.shell("m0", log).stdout, 60)
    assert cluster.shell("m0", f"{counter} show").stdout == "0\n"
    cluster.run("reboot", "m0", "--wait")
    assert booted(6) == first and cluster.run("console", "m0").stdout.splitlines().count(fallback) == 2

    # A good one: its first complete boot ends the counting.
    deploy(cluster, "good", {"usr/share/which-one": "good\n"}, "slipway.test=2")
    cluster.shell("m0", "systemctl reboot")
    second = booted(7)
    assert second != first and arguments()[-1] == "slipway.test=2\n"
    until("counting to end", lambda: cluster.shell("m0", f"{counter} show").stdout == "", 60)
    assert cluster.shell("m0", "wc -c </boot/grub/grubenv; cat /usr/share/which-one").stdout == "1024\ngood\n"
    assert cluster.shell("m0", "touch /boot/x", check=False).returncode == 1
    cluster.run("reboot", "m0", "--wait")
    assert booted(8) == second and attempts() == ["1", "2", "3", "1"]


def test_ignition(cluster, tmp_path):
    secret = "no-log-may-have-this"
    good = write(tmp_path, "good.ign", config(
        storage={"files": [{"path": "/etc/from-ignition", "contents": {"source": "data:,arrived"}, "mode": 0o600},
                           {"path": "/var/lib/from-ignition", "contents": {"source": "data:," + secret}}]},
        passwd={"users": [{"name": "core", "passwordHash": secret}]},
        systemd={"units": [{"name": "once.service", "enabled": True, "contents":
                            "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ran >> /var/lib/ran'\n[Install]\nWantedBy=multi-user.target\n"}]}))
    cluster.create("m0", "--ignition", good)
    assert cluster.shell("m0", "cat /etc/from-ignition /var/lib/from-ignition /var/lib/ran; getent shadow core").stdout.startswith(
        f"arrived{secret}ran\ncore:{secret}:")
    for path in ("owner.log", "events.jsonl", "machines/m0/console.log"):
        assert secret not in (cluster.folder / path).read_text(), path
    assert (cluster.folder / "machines/m0/ignition.json").stat().st_mode & 0o777 == 0o600
    # Ignition runs once.
    cluster.run("reboot", "m0", "--wait")
    assert cluster.shell("m0", "cat /var/lib/ran").stdout == "ran\nran\n"

    bad = write(tmp_path, "bad.ign", config(storage={"files": [{"path": "/etc/x", "contents": {"source": "data:,x",
                                                                "verification": {"hash": "sha512-" + "0" * 128}}}]}))
    failed = cluster.create("m1", "--ignition", bad, check=False)
    assert failed.returncode == 1 and "m1 ignition-failed" in failed.stderr and "hash" in failed.stderr
    row = cluster.list()["m1"]
    assert row["state"] == "ignition-failed" and "Ignition failed" in row["reason"]
    assert "CRITICAL" in cluster.run("console", "m1").stdout
    # With another config the machine starts with a new disk.
    mended = write(tmp_path, "mended.ign", config(storage={"files": [{"path": "/etc/x", "contents": {"source": "data:,x"}}]}))
    cluster.create("m1", "--ignition", mended)
    assert cluster.shell("m1", "cat /etc/x; hostname").stdout == "xm1\n"
    refused = cluster.create("m1", "--ignition", bad, check=False)
    assert refused.returncode == 1 and "another Ignition config" in refused.stderr


def test_ignition_asks_servers_in_the_cluster(cluster, tmp_path):
    """A pointer config to a server that does not exist yet: Ignition retries, and `stop` ends the retries."""
    pointer = write(tmp_path, "pointer.ign", config(
        **{"ignition": {"version": "3.3.0", "config": {"merge": [{"source": "http://m9:8080/remote.ign"}]}}}))
    creating = subprocess.Popen(cluster.command("create", "m0", "--ignition", pointer, "--wait", "--os-repo", OS_REPO),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until("Ignition to ask", lambda: "m9" in cluster.run("console", "m0", check=False).stdout, 60)
        assert cluster.list()["m0"]["state"] == "igniting"
        cluster.run("stop", "m0")
        assert creating.wait(timeout=120) == 1
        assert cluster.list()["m0"]["state"] == "stopped"
    finally:
        creating.kill()
        creating.wait()


def test_forward(cluster):
    cluster.create("m0", "--forward", "18443:m0:22")
    banner = subprocess.run(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/18443; head -n 1 <&3"], text=True, capture_output=True, timeout=120)
    assert banner.stdout.startswith("SSH-2.0-"), banner.stderr
    assert "127.0.0.1:18443 is forwarded to m0:22" in cluster.run("list").stdout
    cluster.run("stop", "m0")
    refused = subprocess.run(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/18443; cat <&3"], text=True, capture_output=True, timeout=120)
    assert refused.stdout == ""
    other = cluster.create("m0", "--forward", "18444:m0:22", check=False)
    assert other.returncode == 1 and "other forwards" in other.stderr


def test_mistakes(cluster, tmp_path):
    for words, expected in (
            (("create", "M_0"), "got 'M_0'"),
            (("create", "m0", "--ignition", str(tmp_path / "missing")), "reading the Ignition config"),
            (("create", "m0", "--forward", "80"), "HOSTPORT:MACHINE:PORT"),
            (("create", "m0", "--os-repo", str(tmp_path)), "not an OSTree repository"),
            (("list",), f"cluster {cluster.name}: not found in "),
            (("destroy",), "--all"),
    ):
        done = cluster.run(*words, check=False)
        assert done.returncode == 1 and expected in done.stderr, (words, done.stderr)
    assert not cluster.folder.exists()


def test_preflight_tells_everything_at_once(cluster):
    done = subprocess.run([SLIPWAY, "machine", "create", "m0", "--state", "/dev/shm/slipway", "--os-repo", "/nowhere"], text=True,
                          capture_output=True, env={"PATH": "/nowhere"}, timeout=60)
    assert done.returncode == 1
    for part in ("apt-get install ostree", "apt-get install systemd-container", "apt-get install dnsmasq-base", "is on tmpfs", "/nowhere is not"):
        assert part in done.stderr, done.stderr
    assert not os.path.exists("/dev/shm/slipway")


def test_preflight_tells_what_is_taken_with_the_rest(cluster, tmp_path):
    cluster.create("m0")
    other = tmp_path / "other.ign"
    other.write_text('{"ignition": {"version": "3.0.0"}}')
    done = cluster.run("create", "m0", "--ignition", str(other), "--os-repo", "/nowhere", check=False)
    assert done.returncode == 1
    assert "m0 already exists with another Ignition config" in done.stderr
    assert "keeps its machine OS" in done.stderr and "/nowhere is ignored" in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([SLIPWAY, "machine", "create", "m0", "--state", tmp_path, "--os-repo", "/nowhere", "--forward", f"{port}:m0:80"], text=True,
                              capture_output=True, timeout=60)
    assert done.returncode == 1 and f"port {port} of 127.0.0.1 is already in use" in done.stderr and "/nowhere is not an OSTree" in done.stderr, done.stderr
