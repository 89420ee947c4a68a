"""A cluster of the older release with three masters and two workers, and an application that survives drains.

With SLIPWAY_CLUSTER=DIR, the tests use the running cluster of that asset directory (and of the machine folder SLIPWAY_STATE), and keep it.
"""

import os
import pathlib
import sys
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from application import SPACE, Application  # noqa: E402
from installation import SLIPWAY, Creation, Installation, enough_inotify_instances  # noqa: E402
from next_release import OLDER  # noqa: E402
from recorder import Recorder  # noqa: E402

# One of the two pods always stays.
BUDGET = f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: hello, namespace: {SPACE}}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: hello}}}}}}
"""


@pytest.fixture(scope="module")
def installed():
    cluster = Installation(os.environ.get("SLIPWAY_CLUSTER"),
                           more="controlPlane: {name: master, replicas: 3}\ncompute: [{name: worker, replicas: 2}]\n")
    cluster.release, cluster.os_repo, cluster.images = OLDER / "release", OLDER / "payload/os/repo", OLDER / "payload"
    with enough_inotify_instances():
        try:
            if not cluster.borrowed:
                cluster.creation = Creation(cluster)
                cluster.creation.complete()
            cluster.application = Application(cluster, SLIPWAY, cluster.release)
            cluster.application.deploy()
            cluster.kubectl("apply", "--filename", "-", input=BUDGET)
            cluster.application.fetch()
            cluster.recorder = Recorder(cluster.dir / "auth/kubeconfig", namespace="recorder-" + uuid.uuid4().hex[:5])
            cluster.recorder.start()
            assert cluster.recorder.wait_until_begun(30)
            try:
                yield cluster
            finally:
                cluster.recorder.stop()
        finally:
            cluster.remove()
