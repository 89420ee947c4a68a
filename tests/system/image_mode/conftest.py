"""A cluster whose machines boot images of the test from their first boot on. The images go to the registry of the cluster."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from installation import Creation, Installation, enough_inotify_instances  # noqa: E402

MASTERS = 1
MARK = "/usr/share/of-the-test"


def containerfile(role):
    return f"""FROM configs AS final
RUN echo "{role} of the test" >{MARK} && chmod 0644 {MARK}
"""


@pytest.fixture(scope="module")
def installed():
    cluster = Installation(more=f"controlPlane: {{name: master, replicas: {MASTERS}}}\ncompute: [{{name: worker, replicas: 1}}]\n"
                                "imageMode: {policy: BuildOnBootstrap}\n")
    cluster.run("create", "manifests", "--with-machine-os-config")
    for role in ("master", "worker"):
        file = cluster.dir / f"openshift/99_machineosconfig_{role}.yaml"
        before = "      FROM configs AS final\n"
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, "".join(f"      {line}\n" for line in containerfile(role).splitlines())))
    with enough_inotify_instances():
        try:
            cluster.creation = Creation(cluster)
            cluster.creation.complete()
            yield cluster
        finally:
            cluster.remove()
