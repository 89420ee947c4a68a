"""Events and final state of an undisturbed installation of three masters without workers. Stored in the build directory for the current
release and programs: tests/system/topology writes it; a test that needs it and finds none creates one."""

import dataclasses
import hashlib
import json

from end_state import end_state, extra_revisions
from installation import BUILD, SLIPWAY, Creation, Installation

CONFIG = "controlPlane: {name: master, replicas: 3}\ncompute: [{name: worker, replicas: 0}]\n"


@dataclasses.dataclass
class Undisturbed:
    seconds: float  # duration of `create cluster`
    moments: list  # [kind, name, phase] of its events, in order
    end: dict  # end_state.py


def moments_of(events):
    """Of installation steps, stages, machines and operators; each once."""
    return list(dict.fromkeys((event["kind"], event["name"], event["phase"]) for event in events if event["kind"] != "certificate-request"))


def settled(installation, limit=180):
    """An installation ends when the release is available; pods of a DaemonSet may become ready slightly later."""
    seen = [None]

    def same():
        before, seen[0] = seen[0], end_state(installation)
        unready = [pod for pod in seen[0]["pods"] if not pod.endswith((" Ready", " Succeeded"))]
        return before == seen[0] and not unready
    installation.wait_until("nothing changes any more", same, limit)
    return seen[0]


def keep(creation):
    """Stores the record of a complete, undisturbed installation."""
    kept = Undisturbed(creation.seconds, moments_of(creation.events), settled(creation.installation))
    for old in BUILD.glob("undisturbed-*.json"):
        old.unlink()
    file_of().write_text(json.dumps(dataclasses.asdict(kept)))
    return kept


def find():
    try:
        return Undisturbed(**json.loads(file_of().read_text()))
    except FileNotFoundError:
        return None


def make():
    installation = Installation(more=CONFIG)
    try:
        creation = Creation(installation)
        try:
            creation.wait()
        finally:
            if creation.process.poll() is None:
                creation.kill()
        kept = keep(creation)
        assert not extra_revisions(kept.end), kept.end["revisions"]
        installation.run("destroy", "cluster")
        return kept
    finally:
        installation.remove()


def file_of():
    made_of = hashlib.sha256((BUILD / "release/index.json").read_bytes() + SLIPWAY.read_bytes()).hexdigest()
    return BUILD / f"undisturbed-{made_of[:16]}.json"
