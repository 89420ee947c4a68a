"""A whole cluster with a way out: pods run images of another registry, and reach the outside by name."""

import os
import pathlib
import shutil
import tempfile

import pytest
from conftest import BUILD, HOST, PAYLOAD, SLIPWAY, run
from test_egress import outside  # noqa: F401  a fixture
from test_own_images import upstream  # noqa: F401  a fixture

CONFIG = """apiVersion: v1
metadata: {name: outward}
baseDomain: example.com
controlPlane: {name: master, replicas: 1}
compute: [{name: worker, replicas: 0}]
platform: {local: {egress: true}}
"""


@pytest.fixture(scope="module")
def kubectl(host):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-outward-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    environment = os.environ | {"SLIPWAY_STATE": str(folder / "state")}
    (folder / "demo").mkdir()
    (folder / "demo/install-config.yaml").write_text(CONFIG)
    try:
        run(SLIPWAY, "create", "cluster", "--dir", folder / "demo", "--release", BUILD / "release", env=environment, timeout=900)
        yield lambda *words, **more: run(PAYLOAD / "bin/hyperkube", "kubectl", "--kubeconfig", folder / "demo/auth/kubeconfig", *words, **more)
    finally:
        run(SLIPWAY, "destroy", "cluster", "--dir", folder / "demo", check=False, env=environment)
        shutil.rmtree(folder)


def wait(kubectl, pod):
    kubectl("wait", "--for=condition=Ready", f"pod/{pod}", "--timeout=180s")


def test_a_pod_with_an_image_of_another_registry(kubectl, upstream):  # noqa: F811
    run("skopeo", "--insecure-policy", "copy", f"oci:{BUILD / 'release'}:pod", f"docker://{HOST}/team/waits:1")
    kubectl("run", "waits", f"--image={HOST}/team/waits:1")
    wait(kubectl, "waits")


def test_a_pod_reaches_the_outside_by_name(kubectl, outside):  # noqa: F811
    network = kubectl("get", "daemonset", "--namespace=openshift-flannel", "flannel-kube-proxy",
                      "--output=jsonpath={.spec.template.spec.containers[?(@.name=='kube-proxy')].image}").stdout
    kubectl("run", "client", f"--image={network}", "--command", "--", "sleep", "600")
    wait(kubectl, "client")
    answer = kubectl("exec", "client", "--", "curl", "--silent", "--show-error", "--max-time", "20", "http://outside.example.com/hello")
    assert answer.stdout == "hello\n"
