"""Faults that no rule names, in installations of three masters: the wait says the deepest broken link, `slipway why` prints its chain, and
`slipway analyze` finds it in a bundle. Each fault has a cluster of its own. Part of `make test-long`.
"""

import dataclasses
import json
import os
import signal
import time
from typing import Callable

import host_clock
import pytest
import ways
from faults import Victim, power_off
from installation import SLIPWAY, Creation, Installation, run

THREE_MASTERS = "compute: [{name: worker, replicas: 0}]\n"
ADDRESSES = {f"master-{number}": f"10.97.77.{11 + number}" for number in range(3)}


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    inject: Callable
    links: tuple  # any of them is right
    objects: tuple
    words: tuple
    begins: tuple  # (kind, name, phase) of the event after which the fault can be seen
    is_early: bool = False  # injected as soon as the cluster has its network; otherwise after the event
    limit: int = 30  # seconds from the event to the sentence


def freeze_kubelet(cluster):
    (kubelet,) = [victim for victim in Victim.all(cluster) if victim.kind == "kubelet" and victim.place == "master-2"]
    os.kill(kubelet.process, signal.SIGSTOP)


FAULTS = [
    Fault("master-off", lambda c: power_off(c, ["master-1"]), ("machine-off", "machine-broken"), ("machine/master-1",), ("master-1",),
          ("node", "master-1", "finished")),
    Fault("kubelet-frozen", freeze_kubelet, ("kubelet-frozen",), ("machine/master-2",), ("kubelet.service", "master-2", "signal"),
          ("node", "master-2", "finished")),
    Fault("port-of-peers-closed", lambda c: ways.close(c, ADDRESSES["master-0"], ADDRESSES["master-1"], 2380), ("port-closed",),
          ("reach/master-0", "reach/master-1"), ("2380", "master-0", "master-1"), ("node", "master-1", "finished"), is_early=True, limit=60),
    Fault("config-port-closed", lambda c: ways.drop(c, ADDRESSES["master-1"], 22623), ("port-closed",), ("reach/master-1",),
          ("22623", "master-1"), ("boot", "master-0", "started"), is_early=True, limit=60),
]


@pytest.fixture
def cluster():
    made = Installation(more=THREE_MASTERS)
    try:
        yield made
    finally:
        made.remove()


def causes(creation):
    return [event for event in creation.events if event["kind"] == "cause" and event["phase"] == "failed"]


def is_right(fault, name, place):
    return name in fault.links and place in fault.objects


def wait_for_cause(fault, creation, begun):
    while not (told := causes(creation)):
        assert creation.process.poll() is None, f"it ended by itself\n{creation.words()}"
        assert host_clock.now() < begun + fault.limit, f"no cause within {fault.limit} s\n{creation.words()}"
        time.sleep(0.1)
    return told[0], host_clock.now() - begun


def end_of_first_chain(text):
    return json.loads(text)["chains"][0]["links"][-1]


# A test that is left out would be reported as skipped.
if os.environ.get("SLIPWAY_FAULTS") == "all":
    @pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
    def test_a_wait_says_the_cause(cluster, fault):
        creation = Creation(cluster)
        try:
            if fault.is_early:
                fault.inject(cluster)
            creation.wait_for(*fault.begins)
            if not fault.is_early:
                assert not causes(creation), f"an alarm without a fault\n{creation.words()}"
                fault.inject(cluster)
            cause, seconds = wait_for_cause(fault, creation, host_clock.now())
            print(f"\n{fault.name}: after {seconds:.1f} s: {cause['error']['message']}")
            assert is_right(fault, cause["name"], cause["object"]), cause
            for word in fault.words:
                assert word in cause["error"]["message"], cause
            assert cause["next_step"]
            assert cause["error"]["message"] in cluster.said.read_text()

            begun = host_clock.now()
            looked = cluster.run("why", "--output", "json", check=False)
            took = host_clock.now() - begun
            assert looked.returncode == 2, looked.stdout + looked.stderr
            end = end_of_first_chain(looked.stdout)
            assert is_right(fault, end["name"], end["object"]), looked.stdout
            assert took < 15, f"a look took {took:.1f} s"
        finally:
            if creation.process.poll() is None:
                creation.kill()
        cluster.run("gather", "bootstrap", check=False)
        (bundle,) = cluster.dir.glob("log-bundle-*.tar.gz")
        analyzed = run(SLIPWAY, "analyze", bundle, "--output", "json", check=False)
        assert analyzed.returncode == 1, analyzed.stdout + analyzed.stderr
        ends = [chain["links"][-1] for chain in json.loads(analyzed.stdout)["chains"]]
        assert any(is_right(fault, end["name"], end["object"]) for end in ends), analyzed.stdout
