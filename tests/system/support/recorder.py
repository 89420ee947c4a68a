"""Recorder: checks the API for its clients during an installation.

    recorder = Recorder("assets/auth/kubeconfig")
    recorder.start()              # begins when the API answers for the first time
    ...
    recorder.stop()
    assert not recorder.check()   # acknowledged writes that are missing or different
    print(recorder.summary(), recorder.refused)

Ten times a second it creates a ConfigMap in its own namespace and reads the last acknowledged one. Acknowledged writes (2xx) must exist
from then on. All other calls count as refused: they are recorded, not retried, and may have taken effect. A call that hangs does not delay
others.
"""

import dataclasses
import threading
import time
import uuid

from api import BROKEN, Api


@dataclasses.dataclass
class Refused:
    time: float  # of the start of the call, seconds since 1970
    seconds: float
    call: str
    reason: str

    def __str__(self):
        return f"{clock(self.time)} after {self.seconds:.2f} s, {self.call}: {self.reason}"


@dataclasses.dataclass
class Acknowledged:
    name: str
    value: str
    time: float


class Recorder:
    def __init__(self, kubeconfig, namespace="recorder", pause=0.1, timeout=5.0):
        self.api, self.pause = Api(kubeconfig, timeout), pause
        self.namespace, self.path = namespace, f"/api/v1/namespaces/{namespace}/configmaps"
        # Identifies the objects of this run.
        self.run = uuid.uuid4().hex
        self.acknowledged, self.refused, self.wrong = [], [], []
        self.calls, self.answered = 0, []  # times of answers
        self._lock, self._over, self._begun = threading.Lock(), threading.Event(), threading.Event()
        self._clock, self._calls = None, []

    def start(self):
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    def wait_until_begun(self, limit):
        return self._begun.wait(limit)

    def stop(self):
        """Returns after the end of the last call."""
        self._over.set()
        self._clock.join()
        for call in self._calls:
            call.join()

    def refused_since(self, moment):
        with self._lock:
            return [refused for refused in self.refused if refused.time >= moment]

    def silence_since(self, moment):
        """The longest time without an answer since then, in seconds."""
        with self._lock:
            begun, now = time.monotonic() - (time.time() - moment), time.monotonic()
            return longest_gap([begun, *sorted(each for each in self.answered if each >= begun), now])

    def check(self):
        """Acknowledged writes that are missing or different, one sentence each. While the recorder runs: those so far."""
        with self._lock:
            acknowledged, wrong = list(self.acknowledged), list(self.wrong)
        found = {item["metadata"]["name"]: item.get("data", {}).get("value") for item in self.api.all(self.path)}
        for write in acknowledged:
            if found.get(write.name) != write.value:
                wrong.append(self._says(write, found.get(write.name), "at the end"))
        return wrong

    def summary(self):
        with self._lock:
            return (f"recorder: {self.calls} calls, {len(self.acknowledged)} writes acknowledged, {len(self.refused)} calls refused, "
                    f"longest time without an answer {longest_gap(sorted(self.answered)):.2f} s")

    def _tick(self):
        while not self._over.is_set() and not self._make_namespace():
            self._over.wait(self.pause)
        self._begun.set()
        number, due = 0, time.monotonic()
        while not self._over.is_set():
            call = threading.Thread(target=self._write_and_read, args=(number,), daemon=True)
            call.start()
            self._calls = [other for other in self._calls if other.is_alive()] + [call]
            number, due = number + 1, due + self.pause
            self._over.wait(max(0.0, due - time.monotonic()))

    def _make_namespace(self):
        try:
            status, _ = self.api.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
            return status in (201, 409)
        except BROKEN:
            return False

    def _write_and_read(self, number):
        with self._lock:
            earlier = self.acknowledged[-1] if self.acknowledged else None
        name, value = f"recorder-{number}", f"{self.run}-{number}"
        if self._call(f"create {name}", "POST", self.path, {"metadata": {"name": name}, "data": {"value": value}}):
            with self._lock:
                self.acknowledged.append(Acknowledged(name, value, time.time()))
        if not earlier:
            return
        seen = self._call(f"read {earlier.name}", "GET", f"{self.path}/{earlier.name}", missing={})
        if seen is not None and seen.get("data", {}).get("value") != earlier.value:
            with self._lock:
                self.wrong.append(self._says(earlier, seen.get("data", {}).get("value"), f"at {clock(time.time())}"))

    def _call(self, what, *call, missing=None):
        """The answer, or nothing when the call was refused. `missing`: the meaning of a 404."""
        begun, start = time.time(), time.monotonic()
        try:
            status, answer, _ = self.api.ask(*call)
            reason = None if 200 <= status < 300 else f"{status} {answer.get('message', '')}"
            if status == 404 and missing is not None:
                answer, reason = missing, None
        except BROKEN as why:
            answer, reason = None, f"{type(why).__name__}: {why}"
        with self._lock:
            self.calls += 1
            if reason is None:
                self.answered.append(time.monotonic())
                return answer
            self.refused.append(Refused(begun, time.monotonic() - start, what, reason))
            return None

    def _says(self, write, value, when):
        what = "is missing" if value is None else f"says {value!r} and not {write.value!r}"
        return f"{write.name}, acknowledged at {clock(write.time)}, {what} {when}"


def longest_gap(times):
    return max((after - before for before, after in zip(times, times[1:])), default=0.0)


def clock(moment):
    return time.strftime("%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03}"
