"""A cluster whose machines boot images of the test from their first boot on. The images go to the registry of the cluster."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from image_mode import POLICY, write_containerfiles  # noqa: E402
from installation import Creation, Installation, enough_inotify_instances  # noqa: E402

MASTERS = 1
MARK = "/usr/share/of-the-test"


def containerfile(role):
    return f'RUN echo "{role} of the test" >{MARK} && chmod 0644 {MARK}\n'


@pytest.fixture(scope="module")
def installed():
    pools = f"controlPlane: {{name: master, replicas: {MASTERS}}}\ncompute: [{{name: worker, replicas: 1}}]\n"
    cluster = Installation(more=pools + POLICY)
    write_containerfiles(cluster, {role: containerfile(role) for role in ("master", "worker")})
    with enough_inotify_instances():
        try:
            cluster.creation = Creation(cluster)
            cluster.creation.complete()
            yield cluster
        finally:
            cluster.remove()
