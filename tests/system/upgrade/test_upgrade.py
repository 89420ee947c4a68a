"""A cluster moves from the older release to today's while it is used. It comes to the same end when programs are killed meanwhile or all machines
lose their power. It serves on under a release whose API server cannot start, and goes on to a good one.

    SLIPWAY_BIN=... SLIPWAY_SOURCE=. SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/upgrade

-s prints figures and seeds; SLIPWAY_TEST_SEED=NUMBER repeats the draws. Each test needs the cluster in the state that the previous one left."""

import os
import random
import re
import subprocess
import threading
import time

import host_clock
from api import BROKEN
from faults import Victim, owner_of, power_off_all
from installation import BUILD, MASTERS, SLIPWAY, WORKERS, run
from next_release import OLDER, check_every_part, kubernetes_of, next_release, release_without_api_server, todays_release
from node_times import NodeTimes, is_ready, note
from os_images import layer, new_layout

LIMIT = 900
# Two cores, nothing else on the host.
UPGRADE_GOAL, SILENCE_GOAL, BOOT_GOAL = 240, 1.0, 15.0
# What differs in the older release besides Kubernetes and etcd: payload/older/differences.
MISSING_PROGRAM, MISSING_TYPE, OLD_GRACE, NEW_GRACE = "less", "ipaddressclaims.ipam.cluster.x-k8s.io", 20, 15
GROUP = "/apis/machineconfiguration.openshift.io/v1/"


class Requests:
    """Requests the application through the router all the time, each once."""

    def __init__(self, application):
        self.command, self.failed, self.count = application.command(), [], 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.wait(0.2):
            self.count += 1
            begun = time.time()
            done = subprocess.run(self.command, capture_output=True, text=True, timeout=30)
            if done.returncode != 0:
                self.failed.append(f"{time.strftime('%H:%M:%S', time.gmtime(begun))} after {time.time() - begun:.2f} s: {done.stderr.strip()}")

    def end(self):
        self.over.set()
        self.thread.join()


def look(cluster, path):
    """The answer; nothing while the API does not answer."""
    try:
        return cluster.api.get(path)
    except (AssertionError, *BROKEN):
        return None


def nodes_of(cluster):
    return (look(cluster, "/api/v1/nodes") or {"items": []})["items"]


def nodes_in_update(cluster):
    return [node["metadata"]["name"] for node in nodes_of(cluster) if note(node, "state") in ("Working", "Rebooting")]


def history(cluster):
    """The newest entry: of the release that the cluster has or works towards."""
    version = look(cluster, "/apis/config.openshift.io/v1/clusterversions/version")
    return version["status"]["history"][0] if version else {}


def wait_for_upgrade(cluster, version, folder, *words):
    done = cluster.run("upgrade", *words, "--wait", check=False, timeout=LIMIT)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{cluster.run('upgrade', 'status', check=False).stdout}"
    check_every_part(cluster, version, folder)


def draw(what):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"\nSLIPWAY_TEST_SEED={seed}: {what}", flush=True)
    return random.Random(seed)


def parts_of(cluster):
    """What differs between the older release and today's."""
    approver = cluster.api.get("/apis/apps/v1/namespaces/openshift-cluster-machine-approver/deployments/machine-approver")
    return {
        "kubelets": {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes_of(cluster)},
        "API server": cluster.api.get("/version")["gitVersion"],
        "etcd": {cluster.kubectl("exec", f"etcd-{master}", "--namespace", "openshift-etcd", "--container", "etcd", "--", "etcd", "--version").stdout.split("\n")[0]
                 for master in MASTERS},
        "OS has the program": {cluster.machine(name, "which", MISSING_PROGRAM, check=False).returncode == 0 for name in cluster.machines()},
        "has the type": cluster.kubectl("get", "customresourcedefinition", MISSING_TYPE, check=False).returncode == 0,
        "grace of an operator": approver["spec"]["template"]["spec"]["terminationGracePeriodSeconds"],
    }


def parts_from(build, is_older):
    kubernetes = f"v{kubernetes_of(build / 'release')}"
    return {
        "kubelets": {kubernetes},
        "API server": kubernetes,
        "etcd": {run(build / "payload/bin/etcd", "--version").stdout.split("\n")[0]},
        "OS has the program": {not is_older},
        "has the type": not is_older,
        "grace of an operator": OLD_GRACE if is_older else NEW_GRACE,
    }


def test_todays_release_while_the_cluster_is_used(installed):
    version, folder = todays_release()
    older, today = parts_from(OLDER, True), parts_from(BUILD, False)
    assert parts_of(installed) == older
    assert all(older[name] != today[name] for name in older), (older, today)

    times, requests = NodeTimes(installed), Requests(installed.application)
    times.start()
    begun, span, start = time.time(), host_clock.Span(), host_clock.now()
    try:
        wait_for_upgrade(installed, version, folder, "--release", folder)
    finally:
        took = host_clock.now() - start
        requests.end()
        times.end()
        refused, silence = installed.recorder.refused_since(begun), installed.recorder.silence_since(begun)
        print(f"\nthree masters and two workers after {took:.0f} s (goal {UPGRADE_GOAL} s)\n{times.summary()}\n"
              f"recorder: {len(refused)} calls refused, longest time without an answer {silence:.2f} s (goal {SILENCE_GOAL} s)\n"
              f"{requests.count} requests of the application, {len(requests.failed)} failed", *map(str, refused), sep="\n", flush=True)
    assert parts_of(installed) == today
    assert times.boots == dict.fromkeys(MASTERS + WORKERS, 1)
    problems = f"{len(refused)} calls refused, {len(requests.failed)} requests of the application failed"
    assert refused == requests.failed == [] or span.excuses(problems), "\n".join([installed.explain(refused), problems, *requests.failed])


def pool(cluster):
    return look(cluster, GROUP + "machineconfigpools/worker")


def has_config(seen, before):
    """Whether all machines of the pool have another config than `before`."""
    if not seen:
        return False
    wanted, has = seen["spec"]["configuration"]["name"], seen["status"].get("configuration", {}).get("name")
    return wanted == has != before and any(each["type"] == "Updated" and each["status"] == "True" for each in seen["status"]["conditions"])


def change_workers(cluster, what, *call):
    """call: of the API. The workers get another config, for which they boot once."""
    before, times, span = pool(cluster)["spec"]["configuration"]["name"], NodeTimes(cluster), host_clock.Span()
    times.start()
    try:
        cluster.api.expect(*call)
        cluster.wait_until(f"{what} on the workers", lambda: has_config(pool(cluster), before), limit=300, missing=lambda: pool(cluster))
    finally:
        times.end()
    print(f"\n{what} (goal {BOOT_GOAL} s from the end of the drain until Ready)\n{times.summary()}", flush=True)
    assert times.boots == dict.fromkeys(WORKERS, 1)
    slowest = max(times.seconds[worker]["boot"] for worker in WORKERS)
    assert slowest < BOOT_GOAL or span.excuses(f"{what}: {slowest:.1f} s until Ready")


def test_a_worker_with_another_os_is_soon_ready_again(installed):
    with new_layout() as layout:
        layout.add("next", layer({"usr/share/of-the-test": "next\n"}))
        layout.write()
        name = "registry.example.com/team/os"
        digest = installed.run("image", "load", f"oci:{layout.folder}:next", "--name", f"{name}:next").stdout.split()[-1]
    config = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
              "metadata": {"name": "99-of-the-test", "labels": {"machineconfiguration.openshift.io/role": "worker"}},
              "spec": {"osImageURL": f"{name}@{digest}", "kernelArguments": ["slipway.test=1"]}}
    change_workers(installed, "another OS", "POST", GROUP + "machineconfigs", config)
    for worker in WORKERS:
        assert installed.machine(worker, "cat", "/usr/share/of-the-test").stdout == "next\n"
    # The image is still on their disks.
    change_workers(installed, "the OS before", "DELETE", GROUP + "machineconfigs/99-of-the-test")
    assert installed.recorder.check() == []


def kill_one(cluster, drawn, is_meant):
    """Kills one of the processes that are meant; returns it, or nothing if there is none."""
    victims = [victim for victim in Victim.all(cluster) if is_meant(victim)]
    victim = drawn.choice(victims) if victims else None
    return victim if victim and victim.kill() else None


def test_with_kills_it_comes_to_the_same_end(installed):
    version, folder = next_release(1)
    drawn = draw("kills")
    kinds = {
        "the operator of the release": lambda victim: victim.name == "cluster-version-operator",
        "an operator": lambda victim: victim.kind == "operator",
        "a kubelet": lambda victim: victim.kind == "kubelet",
        "a kubelet in mid-update": lambda victim: victim.kind == "kubelet" and victim.place in nodes_in_update(installed),
    }
    installed.run("upgrade", "--release", folder, timeout=300)
    start, killed = host_clock.now(), []
    for name in ["the operator of the release", "an operator", "an operator", "a kubelet", "a kubelet in mid-update", "a kubelet in mid-update"]:
        time.sleep(drawn.uniform(0, 15))
        # There may be none for a moment, and no update in the end.
        victim = installed.wait_until(name, lambda: kill_one(installed, drawn, kinds[name]) or is_over(installed, version), LIMIT)
        if victim is True:
            break
        killed.append(name)
        print(f"  {host_clock.now() - start:.0f} s after the request: {victim} is killed", flush=True)
    assert "a kubelet in mid-update" in killed
    wait_for_upgrade(installed, version, folder)


def is_over(cluster, version):
    newest = history(cluster)
    return newest.get("version") == version and newest["state"] == "Completed" and nodes_in_update(cluster) == []


def test_with_power_cuts_it_comes_to_the_same_end(installed):
    version, folder = next_release(2)
    drawn = draw("all machines lose their power, twice")
    installed.run("upgrade", "--release", folder, timeout=300)
    for moment, longest, has_come in (("the request", 30, lambda: True), ("the update of the first node", 40, lambda: nodes_in_update(installed))):
        installed.wait_until(moment, has_come, LIMIT)
        delay = drawn.uniform(0, longest)
        time.sleep(delay)
        busy = ", ".join(nodes_in_update(installed)) or "none"
        power_off_all(installed)
        installed.wait_until("nothing runs any more", lambda: owner_of(installed) is None)
        start = host_clock.now()
        run(SLIPWAY, "machine", "start", "--cluster", installed.name, "--state", installed.state)
        installed.wait_until("the API answers", lambda: look(installed, "/api/v1/namespaces/default"), limit=240)
        print(f"  {delay:.0f} s after {moment}, in update: {busy}; the API answers {host_clock.now() - start:.0f} s after the start", flush=True)
    wait_for_upgrade(installed, version, folder)


def masters_with_failed_revision(cluster):
    seen = look(cluster, "/apis/operator.openshift.io/v1/kubeapiservers/cluster") or {"status": {}}
    return [each["nodeName"] for each in seen["status"].get("nodeStatuses", []) if each.get("lastFailedRevision", 0) > each.get("currentRevision", 0)]


def ready_servers(cluster):
    pods = look(cluster, "/api/v1/namespaces/openshift-kube-apiserver/pods?labelSelector=apiserver%3Dtrue")
    return sum(1 for pod in pods["items"] if is_ready(pod)) if pods else None


def test_a_release_whose_api_server_cannot_start_stops_at_the_first_master(installed):
    _, broken = release_without_api_server(3)
    begun, start, span = time.time(), host_clock.now(), host_clock.Span()
    installed.run("upgrade", "--release", broken, timeout=300)
    counts, failed, told = set(), set(), [""]

    def is_named():
        counts.add(ready_servers(installed))
        failed.update(masters_with_failed_revision(installed))
        told[0] = installed.run("upgrade", "status", check=False).stdout
        return re.search(r"^  kube-apiserver +\S+ +Degraded: .*?kube-apiserver-master-[0-2]", told[0], re.MULTILINE | re.DOTALL)

    installed.wait_until("slipway upgrade status names the API server", is_named, LIMIT, missing=lambda: told[0])
    refused, silence = installed.recorder.refused_since(begun), installed.recorder.silence_since(begun)
    print(f"\nnamed after {host_clock.now() - start:.0f} s; {len(refused)} calls refused, longest time without an answer {silence:.2f} s\n{told[0]}", flush=True)
    assert len(failed) == 1 and min(counts - {None}) == len(MASTERS) - 1
    assert refused == [] or span.excuses(f"{len(refused)} calls refused"), installed.explain(refused)
    assert installed.recorder.check() == []
    assert nodes_in_update(installed) == []

    version, good = next_release(4)
    answer = installed.run("upgrade", "--release", good, check=False)
    assert answer.returncode != 0 and "--allow-upgrade-with-warnings" in answer.stderr, answer.stderr
    wait_for_upgrade(installed, version, good, "--release", good, "--allow-upgrade-with-warnings")
    assert masters_with_failed_revision(installed) == [] and ready_servers(installed) == len(MASTERS)
    states = [(entry["version"], entry["state"]) for entry in installed.api.get("/apis/config.openshift.io/v1/clusterversions/version")["status"]["history"][:2]]
    assert states[0] == (version, "Completed") and states[1][1] == "Partial", states
