"""Machines on one bridge, in the namespaces of the importing script (test_virtual_address.py): shared code of the scenarios. Pods run as
under a kubelet; the pods of each machine share a /run."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import host_clock
import yaml

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[2] / "data/machine-config"
FOLDER = pathlib.Path(sys.argv[1])
BUILD, PROGRAMS = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve(), pathlib.Path(os.environ["SLIPWAY_BIN"]).resolve()
API, INGRESS, DOMAIN = "10.97.77.5", "10.97.77.7", "demo.example.com"
VALUES = {"API_VIPS": API, "INGRESS_VIPS": INGRESS, "CLUSTER_DOMAIN": DOMAIN, "PLATFORM": "local", "NEEDED_API_SERVERS": "2",
          "HAPROXY_IMAGE": "haproxy", "KEEPALIVED_IMAGE": "keepalived", "RUNTIMECFG_IMAGE": "runtimecfg"}
DEADLINE = 30  # of each wait; normally a second or two

addresses = {}  # of the machines, by name
processes = {}  # by machine and container
pods = {}  # by machine


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def filled(path):
    """A template with values for the placeholders that do not depend on the machine."""
    return re.sub(r"\{\{([A-Z_]+)\}\}", lambda hole: VALUES.get(hole[1], hole[0]), path.read_text())


def make_network(machines):
    addresses.update(machines)
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "link", "set", "bridge", "up")
    for name, address in machines.items():
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "host0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "bridge", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "link", "set", "host0", "up")
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "host0")


def make_programs():
    """The programs of the images, found through the PATH of the image."""
    root, folder = FOLDER / "root", FOLDER / "bin"
    root.mkdir()
    folder.mkdir()
    run("tar", "-xf", BUILD / "payload/debian/root.tar", "-C", root, "./usr/sbin", "./usr/lib/x86_64-linux-gnu", "./etc/keepalived")
    # keepalived needs a file that its Debian package installs.
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


def make_kubelet_folder(masters):
    folder = FOLDER / "kubelet"
    folder.mkdir()
    cluster = {"server": f"https://api-int.{DOMAIN}:6443", "certificate-authority": str(FOLDER / "ca.crt")}
    (folder / "kubeconfig").write_text(json.dumps({
        "clusters": [{"name": "demo", "cluster": cluster}], "users": [{"name": "kubelet", "user": {"token": "kubelet"}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "demo", "user": "kubelet"}}], "current-context": "kubelet"}))
    nodes = [{"metadata": {"name": name}, "status": {"addresses": [{"type": "InternalIP", "address": address}]}}
             for name, address in masters.items()]
    (FOLDER / "nodes.json").write_text(json.dumps({"kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": nodes}))


def start(machine, name, words):
    """Starts a program on a machine. Each machine has its own /run; files below /run/vrrp are visible here."""
    shared = FOLDER / machine / "run"
    shared.mkdir(parents=True, exist_ok=True)
    inside = 'mount -t tmpfs tmpfs /run && mkdir /run/vrrp && mount --bind "$1" /run/vrrp && shift && exec "$@"'
    environment = {"PATH": f"{FOLDER}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONPATH": os.environ["PYTHONPATH"]}
    with open(FOLDER / machine / f"{name}.log", "ab") as log:
        processes[machine, name] = subprocess.Popen(
            ["ip", "netns", "exec", machine, "sh", "-c", inside, "sh", str(shared), *[str(word) for word in words]],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment)


def tell(machine, name, number):
    processes[machine, name].send_signal(number)


def end(machine, name, number=signal.SIGTERM):
    process = processes.pop((machine, name))
    process.send_signal(number)
    process.wait(timeout=DEADLINE)


def start_container(machine, name):
    """Starts a container of the machine's pod."""
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


def stop_pod(machine):
    """Stops the pod as a kubelet does: runs the hooks of all containers at the same time, and ends each container after its hook."""
    grace = pods[machine]["spec"]["terminationGracePeriodSeconds"]

    def stop(container):
        hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
        if hook:
            start(machine, f"{container['name']}-hook", hook)
            processes.pop((machine, f"{container['name']}-hook")).wait(timeout=grace)
        ending[container["name"]].send_signal(signal.SIGTERM)
        ending[container["name"]].wait(timeout=grace)
        ended.append(container["name"])

    containers, ended = pods[machine]["spec"]["containers"], []
    ending = {container["name"]: processes.pop((machine, container["name"])) for container in containers}
    threads = [threading.Thread(target=stop, args=(container,)) for container in containers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == len(containers), f"only {ended} ended within {grace} s\n{tail()}"


def start_pod_again(machine):
    for path in (FOLDER / machine / "run").iterdir():
        path.unlink()
    for container in pods[machine]["spec"]["containers"]:
        start_container(machine, container["name"])


def start_api(machine):
    start(machine, "api", [sys.executable, HERE / "fake_api.py", machine, FOLDER / "server.pem", FOLDER / "nodes.json"])


def start_router(machine):
    start(machine, "router", [sys.executable, HERE / "fake_router.py", machine, FOLDER / machine / "not-ready"])


def start_pod_of(role, machine):
    """Starts the keepalived pod as on machines of the role."""
    folders = [DATA / scope / "00/on-prem/files/etc/kubernetes/static-pod-resources/keepalived" for scope in ("common", role)]
    configs = sorted(path for folder in folders if folder.exists() for path in folder.iterdir())
    start_pod(machine, DATA / role / "00/on-prem/files/etc/kubernetes/manifests/keepalived.yaml", configs)


def holders(address):
    return {name for name in addresses if f'"{address}"' in run("ip", "-n", name, "-json", "address")}


def track_file(machine, name):
    """The track file that the monitor writes for keepalived."""
    path = FOLDER / machine / "run" / name
    return path.read_text().strip() if path.exists() else ""


def is_ready(machine, name):
    """Whether the monitor says that the machine's proxy or router is ready."""
    return int(track_file(machine, name) or -254) >= 100


def wait(what, ready):
    """Waits until ready() returns a value. Returns the value and the seconds."""
    begin = host_clock.now()
    while True:
        answer = ready()
        if answer:
            return answer, host_clock.now() - begin
        for (machine, name), process in processes.items():
            assert process.poll() is None, f"{what}: {machine} {name} ended\n{tail()}"
        assert host_clock.now() - begin < DEADLINE, f"{what}: not after {DEADLINE} s; API at {holders(API)}, ingress at {holders(INGRESS)}\n{tail()}"
        time.sleep(0.01)


def tail():
    return "\n".join(f"--- {log.relative_to(FOLDER)}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-25:])
                     for log in sorted(FOLDER.glob("*/*.log")))


def only_holder(address, among, what):
    """Waits until exactly one of these machines has the address; for a moment two may have it."""
    def holder():
        now = holders(address)
        return now.pop() if len(now) == 1 and now <= set(among) else None

    return wait(what, holder)


def stays(seconds, address, holder, track_files):
    """Checks that only this machine has the address during the whole time (None: no machine), and that no monitor changes its state."""
    wait("the monitors know the holder",
         lambda: all((track_file(*each) == "190") == (each[0] == holder) for each in track_files if is_ready(*each)))
    until, expected = host_clock.now() + seconds, {holder} - {None}
    before = [track_file(*each) for each in track_files]
    while host_clock.now() < until:
        assert holders(address) == expected, f"{address} is at {holders(address)}, not {expected}\n{tail()}"
        assert before == [track_file(*each) for each in track_files], tail()
        time.sleep(0.05)


def start_client(url, rate=20, limit=10):
    """Starts a client that sends requests continuously; report() returns the results."""
    start("client", "client", [sys.executable, HERE / "client.py", url, "/run/vrrp", rate, limit])


def lines_of_client(name):
    return (FOLDER / "client/run" / name).read_text().splitlines()


def asked(since):
    """The results of the client: (time, duration, result)."""
    rows = [line.split(" ", 2) for line in lines_of_client("asked")]
    return [(float(when), float(long), what) for when, long, what in rows if float(when) >= since]


def asked_until_now(since):
    """The results of all requests that have begun; waits for their ends."""
    until = host_clock.now()
    begun = sum(since <= float(when) <= until for when in lines_of_client("begun"))
    wait("the requests end", lambda: sum(when <= until for when, _, _ in asked(since)) >= begun)
    return [row for row in asked(since) if row[0] <= until]


def report(what, since, took):
    time.sleep(1)  # the new holder continues to answer
    rows = asked_until_now(since)
    assert len(rows) > 17 * (took + 1), f"only {len(rows)} answers\n{tail()}"
    failures = [f"{when - since:.2f} s: {what}" for when, _, what in rows if what.startswith("error")]
    slowest = max((long for _, long, _ in rows), default=0)
    print(f"{what}: {took:.2f} s; {len(rows)} questions, {len(failures)} not answered {failures}, the slowest took {slowest:.2f} s, "
          f"the longest time without an answer was {longest_silence(rows):.2f} s")
    return failures


def longest_silence(rows):
    ends = sorted(when + long for when, long, what in rows if not what.startswith("error"))
    return max((after - before for before, after in zip(ends, ends[1:])), default=0)
