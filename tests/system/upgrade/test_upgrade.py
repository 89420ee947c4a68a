"""A cluster moves to the next release while it is used, and comes to the same end when its parts are killed meanwhile."""

import json
import os
import random
import threading
import time

import host_clock
from next_release import check_every_part, next_release

LIMIT = 900
# Each restart of a master ends the calls that its API server is answering.
REFUSED_FOR_EACH_MASTER = 30


class Requests:
    """Requests the application through the router all the time."""

    def __init__(self, application):
        self.application, self.failed, self.count = application, [], 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.over.wait(0.5):
            self.count += 1
            try:
                self.application.fetch()
            except AssertionError as failure:
                self.failed.append(str(failure))

    def end(self):
        self.over.set()
        self.thread.join()


def version_of(cluster):
    return cluster.api.get("/apis/config.openshift.io/v1/clusterversions/version")


def test_the_next_release_while_the_cluster_is_used(installed):
    version, folder = next_release(1)
    requests, begun, span, start = Requests(installed.application), time.time(), host_clock.Span(), host_clock.now()
    done = installed.run("upgrade", "--release", folder, "--wait", check=False, timeout=LIMIT)
    took = host_clock.now() - start
    requests.end()
    assert done.returncode == 0, done.stdout + done.stderr
    refused = installed.recorder.refused_since(begun)
    print(f"\nthree masters and two workers after {took:.0f} s; {installed.recorder.summary()}; {len(refused)} refused since it began; "
          f"{requests.count} requests of the application, {len(requests.failed)} failed")
    check_every_part(installed, version, folder)
    assert requests.failed == []
    assert len(refused) <= 3 * REFUSED_FOR_EACH_MASTER or span.excuses(f"{len(refused)} calls refused"), installed.explain(refused)


def test_with_kills_it_comes_to_the_same_end(installed):
    version, folder = next_release(2)
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    draw = random.Random(seed)
    print(f"\nseed {seed}")
    kills = {
        "the operator of the release": lambda: installed.kubectl("delete", "pods", "--namespace", "openshift-cluster-version", "--all", "--force", check=False),
        "an operator": lambda: installed.kubectl("delete", "pods", "--namespace", draw.choice(["openshift-etcd-operator", "openshift-machine-config-operator"]),
                                                 "--all", "--force", check=False),
        "a daemon and its kubelet": lambda: installed.machine(draw.choice(["worker-0", "worker-1", "master-1"]), "sh", "-c",
                                                              "pkill -KILL -f 'machine-config-daemon start'; pkill -KILL kubelet", check=False),
    }
    installed.run("upgrade", "--release", folder, timeout=300)
    for name in draw.sample(sorted(kills), len(kills)):
        delay = draw.uniform(2, 25)
        time.sleep(delay)
        print(f"{delay:.0f} s later: {name}")
        kills[name]()
    done = installed.run("upgrade", "--wait", check=False, timeout=LIMIT)
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}{done.stderr}\n{json.dumps(version_of(installed)['status'].get('conditions'))}"
    check_every_part(installed, version, folder)
