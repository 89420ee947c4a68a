"""scenario.py FOLDER: a bootstrap machine, three masters and a client on one bridge; run by test_virtual_address.py in namespaces of
its own. Pods run as the kubelet would run them, each machine's with a /run of its own."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[2] / "data/machine-config"
ON_MASTERS = DATA / "master/00/on-prem/files/etc/kubernetes"
FOLDER = pathlib.Path(sys.argv[1])
BUILD, PROGRAMS = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve(), pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve()
ADDRESS, DOMAIN = "10.97.77.5", "demo.example.com"
MASTERS = {"m0": "10.97.77.11", "m1": "10.97.77.12", "m2": "10.97.77.13"}
MACHINES = {"bootstrap": "10.97.77.10", **MASTERS, "client": "10.97.77.20"}
VALUES = {"API_VIPS": ADDRESS, "CLUSTER_DOMAIN": DOMAIN, "PLATFORM": "local", "NEEDED_API_SERVERS": "2", "HAPROXY_IMAGE": "haproxy",
          "KEEPALIVED_IMAGE": "keepalived", "RUNTIMECFG_IMAGE": "runtimecfg"}
DEADLINE = 30  # of each wait, for what takes a second or two

processes = {}  # by machine and container


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def filled(path):
    """A template with the holes filled that do not wait for the machine."""
    return re.sub(r"\{\{([A-Z_]+)\}\}", lambda hole: VALUES.get(hole[1], hole[0]), path.read_text())


def make_network():
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "link", "set", "bridge", "up")
    for name, address in MACHINES.items():
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "host0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "bridge", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "link", "set", "host0", "up")
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "host0")


def make_programs():
    """The programs of the images, as the image's PATH finds them."""
    root, folder = FOLDER / "root", FOLDER / "bin"
    root.mkdir()
    folder.mkdir()
    run("tar", "-xf", BUILD / "payload/debian/root.tar", "-C", root, "./usr/sbin", "./usr/lib/x86_64-linux-gnu", "./etc/keepalived")
    # keepalived ends without a file that its package has here.
    run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={root}/etc:/etc", "/etc")
    libraries = root / "usr/lib/x86_64-linux-gnu"
    for name in ("haproxy", "keepalived"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} {root}/usr/sbin/{name} "$@"\n')
        script.chmod(0o755)
    (folder / "runtimecfg").symlink_to(PROGRAMS / "slipway-operator")


def make_certificate():
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run("openssl", "req", "-x509", *key, "-keyout", FOLDER / "key", "-out", FOLDER / "ca.crt", "-days", "2", "-subj", "/CN=api-int",
        "-addext", f"subjectAltName=DNS:api-int.{DOMAIN}")
    (FOLDER / "server.pem").write_text((FOLDER / "key").read_text() + (FOLDER / "ca.crt").read_text())


def make_kubelet_folder():
    folder = FOLDER / "kubelet"
    folder.mkdir()
    cluster = {"server": f"https://api-int.{DOMAIN}:6443", "certificate-authority": str(FOLDER / "ca.crt")}
    (folder / "kubeconfig").write_text(json.dumps({
        "clusters": [{"name": "demo", "cluster": cluster}], "users": [{"name": "kubelet", "user": {"token": "kubelet"}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "demo", "user": "kubelet"}}], "current-context": "kubelet"}))
    nodes = [{"metadata": {"name": name}, "status": {"addresses": [{"type": "InternalIP", "address": address}]}}
             for name, address in MASTERS.items()]
    (FOLDER / "nodes.json").write_text(json.dumps({"kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": nodes}))


def start(machine, name, words):
    """A program on a machine. /run is the machine's own; what is below /run/vrrp stays visible here."""
    shared = FOLDER / machine / "run"
    shared.mkdir(parents=True, exist_ok=True)
    inside = 'mount -t tmpfs tmpfs /run && mkdir /run/vrrp && mount --bind "$1" /run/vrrp && shift && exec "$@"'
    with open(FOLDER / machine / f"{name}.log", "ab") as log:
        processes[machine, name] = subprocess.Popen(
            ["ip", "netns", "exec", machine, "sh", "-c", inside, "sh", str(shared), *[str(word) for word in words]],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env={"PATH": f"{FOLDER}/bin:/usr/sbin:/usr/bin:/sbin:/bin"})


def end(machine, name, number=signal.SIGTERM):
    process = processes.pop((machine, name))
    process.send_signal(number)
    process.wait(timeout=DEADLINE)


def start_container(machine, name):
    """A container of the machine's pod."""
    container = next(one for one in pods[machine]["spec"]["containers"] if one["name"] == name)
    words = container["command"] + container["args"]
    for path, place in (("/config", FOLDER / machine / "config"), ("/var/lib/kubelet", FOLDER / "kubelet")):
        words = [word.replace(path, str(place)) for word in words]
    start(machine, name, words)


def start_pod(machine, pod, configs):
    config = FOLDER / machine / "config"
    config.mkdir(parents=True)
    for path in configs:
        (config / path.name).write_text(filled(path))
    pods[machine] = yaml.safe_load(filled(pod))
    for container in pods[machine]["spec"]["containers"]:
        start_container(machine, container["name"])


def start_api(machine):
    start(machine, "api", [sys.executable, HERE / "fake_api.py", machine, FOLDER / "server.pem", FOLDER / "nodes.json"])


def holders():
    return {name for name in ["bootstrap", *MASTERS] if f'"{ADDRESS}"' in run("ip", "-n", name, "-json", "address")}


def proxy_file(machine):
    path = FOLDER / machine / "run/proxy"
    return path.read_text().strip() if path.exists() else ""


def wait(what, ready):
    """Until ready() says something. Returns it and how long that took."""
    begin = time.monotonic()
    while True:
        answer = ready()
        if answer:
            return answer, time.monotonic() - begin
        for (machine, name), process in processes.items():
            assert process.poll() is None, f"{what}: {machine} {name} ended\n{tail()}"
        assert time.monotonic() - begin < DEADLINE, f"{what}: not after {DEADLINE} s; address at {holders()}\n{tail()}"
        time.sleep(0.01)


def tail():
    return "\n".join(f"--- {log.relative_to(FOLDER)}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-25:])
                     for log in sorted(FOLDER.glob("*/*.log")))


def only_holder(among, what):
    """Waits until one of these machines, and nobody else, has the address; two may for a moment."""
    def holder():
        now = holders()
        return now.pop() if len(now) == 1 and now <= set(among) else None

    return wait(what, holder)


def stays(seconds, holder):
    """The address is on this machine and no other all the time, and nobody changes its mind."""
    until, files = time.monotonic() + seconds, [proxy_file(machine) for machine in MASTERS]
    while time.monotonic() < until:
        assert holders() == {holder}, f"address at {holders()}, not {holder}\n{tail()}"
        assert files == [proxy_file(machine) for machine in MASTERS], tail()
        time.sleep(0.05)


def asked(since):
    """What the client got: (when, how long, what)."""
    rows = [line.split(" ", 2) for line in (FOLDER / "client" / "run" / "asked").read_text().splitlines()]
    return [(float(when), float(long), what) for when, long, what in rows if float(when) >= since]


def report(what, since, took):
    time.sleep(3.5)  # connections that began before are answered, with the second or third SYN at the latest
    rows = asked(since)
    assert len(rows) > 17 * (took + 3), f"only {len(rows)} answers\n{tail()}"
    failures = [f"{when - since:.2f} s: {what}" for when, _, what in rows if what.startswith("error")]
    slowest = max((long for _, long, _ in rows), default=0)
    print(f"{what}: {took:.2f} s; {len(rows)} questions, {len(failures)} not answered {failures}, the slowest took {slowest:.2f} s")
    return failures


def main():
    make_network()
    make_programs()
    make_certificate()
    make_kubelet_folder()

    start_api("bootstrap")
    start_pod("bootstrap", DATA / "bootstrap/keepalived.yaml", [DATA / "bootstrap/keepalived.conf.tmpl"])
    _, took = wait("the bootstrap machine has the address", lambda: holders() == {"bootstrap"})
    print(f"the bootstrap machine has the address after {took:.2f} s")

    configs = sorted((ON_MASTERS / "static-pod-resources/keepalived").iterdir())
    for machine in MASTERS:
        start_pod(machine, ON_MASTERS / "manifests/keepalived.yaml", configs)
    wait("proxies say that they have nobody", lambda: all(proxy_file(machine) == "-254" for machine in MASTERS))
    start("client", "client", [sys.executable, HERE / "client.py", ADDRESS, "/run/vrrp/asked"])
    stays(1.5, "bootstrap")

    start_api("m0")
    _, took = wait("the proxy of m0 has its own server", lambda: proxy_file("m0") == "0")
    print(f"a proxy finds its own API server after {took:.2f} s")
    stays(1.5, "bootstrap")

    begin = time.time()
    start_api("m1")
    holder, took = only_holder(["m0", "m1"], "a master has the address")
    assert not [one for one in report(f"from the bootstrap machine to {holder}, with the second API server", begin, took) if "refused" in one]
    stays(1, holder)
    assert {what for _, _, what in asked(time.time() - 2)} <= {"m0", "m1"}
    assert len({what for _, _, what in asked(time.time() - 2)}) == 2, "haproxy has the address's port, not the API server of the machine"

    begin = time.time()
    end("bootstrap", "keepalived")
    end("bootstrap", "api")
    start_api("m2")
    wait("all proxies work", lambda: all(proxy_file(machine) == "40" for machine in MASTERS))
    stays(1.5, holder)
    assert not report("the bootstrap machine leaves", begin, 0)

    begin, before = time.time(), holder
    end(holder, "haproxy", signal.SIGKILL)
    holder, took = only_holder(set(MASTERS) - {before}, "another has the address")
    report(f"the proxy of {before} is killed, {holder} takes over", begin, took)
    start_container(before, "haproxy")
    _, took = wait("the proxy has its servers again", lambda: proxy_file(before) == "40")
    print(f"a new haproxy has its servers after {took:.2f} s")
    stays(1.5, holder)

    begin = time.time()
    end(holder, "api", signal.SIGKILL)
    stays(3, holder)
    # What was asked in the moment of the end is lost; whoever connects afterwards is not.
    assert not [one for one in report(f"the API server of {holder} is killed", begin, 0) if "refused" in one]
    assert {what for _, _, what in asked(time.time() - 1)} == set(MASTERS) - {holder}
    start_api(holder)
    time.sleep(1)

    begin, before = time.time(), holder
    run("ip", "link", "set", f"to-{holder}", "down")
    run("ip", "-n", holder, "address", "flush", "dev", "host0")  # as seen from the others: the machine is gone
    holder, took = only_holder(set(MASTERS) - {before}, "another has the address")
    report(f"the machine {before} is lost, {holder} takes over", begin, took)

    begin, last = time.time(), (set(MASTERS) - {before, holder}).pop()
    end(holder, "keepalived")
    holder, took = only_holder({last}, "the last has the address")
    report(f"keepalived ends, {last} takes over", begin, took)


pods = {}
main()
