"""What the nodes of a cluster spend on an update of their machines, as their Node objects show it five times a second.

    times = NodeTimes(cluster)
    times.start()
    ...                        # an update of the machines
    times.end()
    print(times.summary())
    times.seconds["worker-0"]["boot"]    # from the last sign of its machine-config-daemon until it is Ready again
    times.boots["worker-0"]              # how often the machine has booted

Masters and workers are updated at the same time, the nodes of each pool one after another.
"""

import collections
import threading

import host_clock
from api import BROKEN

MARK = "machineconfiguration.openshift.io/"


def note(node, name):
    """An annotation of the machine-config-daemon or its controller."""
    return node["metadata"].get("annotations", {}).get(MARK + name, "")


def is_ready(node):
    return any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", []))


class NodeTimes:
    def __init__(self, cluster):
        self.seconds, self.boots = collections.defaultdict(collections.Counter), collections.Counter()
        self._cluster, self._known_boots, self._looked = cluster, {}, 0.0
        self._over, self._thread = threading.Event(), None

    def start(self):
        self._looked = host_clock.now()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self):
        self._over.set()
        self._thread.join()

    def summary(self):
        """The time of each pool that changed, then each of its nodes."""
        changed, lines = {name: spent for name, spent in sorted(self.seconds.items()) if spent}, []
        for pool in ("master", "worker"):
            total = sum((spent for name, spent in changed.items() if name.startswith(pool)), collections.Counter())
            if total:
                lines.append(f"{pool}s: drains {total['drain']:.0f} s, boots {total['boot']:.0f} s")
        for name, spent in changed.items():
            lines.append(f"{name}: drain {spent['drain']:.1f} s, boot {spent['boot']:.1f} s, of which NotReady {spent['not ready']:.1f} s")
        return "\n".join(lines)

    def _run(self):
        while not self._over.wait(0.2):
            try:
                nodes = self._cluster.api.get("/api/v1/nodes")["items"]
            except (AssertionError, *BROKEN):
                continue
            now = host_clock.now()
            self.look(nodes, now - self._looked)
            self._looked = now

    def look(self, nodes, passed):
        """passed: seconds since the look before, which count for what is seen now."""
        for node in nodes:
            name, boot, is_rebooting = node["metadata"]["name"], node["status"]["nodeInfo"]["bootID"], note(node, "state") == "Rebooting"
            spent, known = self.seconds[name], self._known_boots.setdefault(name, boot)
            if not is_ready(node):
                spent["not ready"] += passed
            if is_rebooting and (boot == known or not is_ready(node)):
                spent["boot"] += passed
            elif note(node, "desiredDrain").startswith("drain-") and note(node, "desiredDrain") != note(node, "lastAppliedDrain"):
                spent["drain"] += passed
            if not is_rebooting and boot != known:
                self.boots[name] += 1
                self._known_boots[name] = boot
