"""A machine of a cluster pushes an image to the registry of its cluster, and another machine pulls it. The cluster has no API: the files that
`create cluster` gives the registry are the test's."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest
from conftest import PAYLOAD, run
from test_own_images import image_layout

LOGIN, WRONG = "os-builder:secret", "os-builder:other"
LAYOUT = "/var/push"  # on the machine that pushes
# Arguments: URL of a repository, tag, LOGIN or nothing, further options of curl. Pushes the image of the layout, and prints its digest.
PUSH = r"""
repository=$1 tag=$2 login=$3
shift 3
call() { curl --silent --show-error --fail-with-body ${login:+--user "$login"} "$@"; }
type=application/vnd.oci.image.manifest.v1+json
manifest=$(grep -o 'sha256:[0-9a-f]*' index.json)
for file in blobs/sha256/*; do
  digest=sha256:${file##*/}
  [ "$digest" != "$manifest" ] || continue
  upload=$(call "$@" --request POST --dump-header /dev/stdout --output /dev/stderr "$repository/blobs/uploads/" | sed -n 's/^[Ll]ocation: *\([^\r]*\).*/\1/p')
  [ -n "$upload" ] || exit 1
  call "$@" --request PUT --header 'Content-Type: application/octet-stream' --data-binary "@$file" "$upload&digest=$digest" || exit 1
done
call "$@" --request PUT --header "Content-Type: $type" --data-binary "@blobs/sha256/${manifest#sha256:}" "$repository/manifests/$tag" || exit 1
echo "$manifest"
"""


def give_access(cluster):
    """What provider::local::keep_registry_access writes."""
    access = cluster.folder / "registry-access"
    access.mkdir()
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=image-registry", "-addext",
        f"subjectAltName=DNS:{cluster.registry.split(':')[0]},IP:127.0.0.1", "-keyout", access / "server.key", "-out", access / "server.pem")
    shutil.copy(access / "server.pem", access / "authority.pem")
    (access / "password").write_text("people")
    (access / "htpasswd").write_text(run("htpasswd", "-Bbn", "slipway", "people").stdout)
    user, password = LOGIN.split(":")
    (access / "os-password").write_text(password)
    (access / "os-logins").write_text(f"{user}:{{SHA256}}{hashlib.sha256(LOGIN.encode()).hexdigest()}\n")
    (access / "upstream-logins.json").write_text("{}")
    (access / "upstream-authorities.pem").write_text("")


@pytest.fixture(scope="module", autouse=True)
def machines(cluster, tmp_path_factory):
    """m0 is older than the login of machines; m1 and m2 are not."""
    images = tmp_path_factory.mktemp("images")
    for name in ("registry", "bin"):
        (images / name).symlink_to(PAYLOAD / name)
    cluster.create("m0", "--images", images)
    cluster.slipway("stop")
    record = cluster.folder / "cluster.json"
    config = json.loads(record.read_text())
    cluster.registry = f"registry.{config['domain']}:5443"
    config["osRegistry"] = cluster.registry
    config["records"].append({"name": cluster.registry.split(":")[0], "address": "10.97.77.1"})
    record.write_text(json.dumps(config))
    give_access(cluster)
    cluster.create("m1", "m2", "--images", images)


def push(cluster, name, text, login=LOGIN, authority=True):
    """Pushes an image with one file from m1. Returns the finished process, whose output ends with the digest."""
    layout = cluster.folder / "machines/m1" / LAYOUT[1:]
    shutil.rmtree(layout, ignore_errors=True)
    image_layout(layout, text)
    repository, tag = name.rsplit(":", 1)
    trust = ["--cacert", f"/etc/containerd/certs.d/{cluster.registry}/ca.crt"] if authority else []
    return cluster.shell("m1", "sh", "-c", f"cd {LAYOUT}; {PUSH}", "push", f"https://{cluster.registry}/v2/{repository}", tag, login, *trust, check=False)


def pushed(cluster, name, text):
    done = push(cluster, name, text)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()[-1]


def test_another_machine_pulls_it_by_digest(cluster):
    digest = pushed(cluster, "os/master:1", "first")
    cluster.pull("m2", f"{cluster.registry}/os/master@{digest}")
    cluster.pull("m2", f"{cluster.registry}/os/master:1")
    # A tag that moves.
    newer = pushed(cluster, "os/master:1", "second")
    assert newer != digest
    cluster.pull("m2", f"{cluster.registry}/os/master:1")
    listed = cluster.shell("m2", "ctr", "--namespace=k8s.io", "images", "ls").stdout
    assert re.search(rf"{re.escape(cluster.registry)}/os/master:1\s+\S+\s+{newer}", listed), listed
    # A machine without the authority still pulls.
    assert cluster.slipway("start", "m0", "--wait").returncode == 0
    cluster.pull("m0", f"{cluster.registry}/os/master@{digest}")
    assert cluster.shell("m0", "test", "-e", f"/etc/containerd/certs.d/{cluster.registry}", check=False).returncode == 1


def test_a_push_needs_the_login(cluster):
    for login in ("", WRONG, "slipway:people"):
        refused = push(cluster, "os/refused:1", "refused", login)
        assert refused.returncode != 0 and "error: 401" in refused.stderr, refused.stdout + refused.stderr
    assert cluster.pull("m2", f"{cluster.registry}/os/refused:1", check=False).returncode == 1


def test_a_push_needs_the_authority(cluster):
    untrusted = push(cluster, "os/refused:1", "refused", authority=False)
    assert untrusted.returncode != 0 and "certificate" in untrusted.stderr, untrusted.stderr


def test_other_names_are_refused(cluster):
    for name in ("docker.io/library/app:1", "quay.io/team/app:1", "registry.slipway.invalid/slipway/release:1", "127.0.0.1__5000/app:1"):
        refused = push(cluster, name, "refused")
        assert refused.returncode != 0 and "error: 403" in refused.stderr, f"{name}: {refused.stdout}{refused.stderr}"
    assert cluster.pull("m2", "quay.io/team/app:1", check=False).returncode == 1


def test_an_image_that_nobody_pushed_is_not_looked_for_elsewhere(cluster):
    missing = cluster.pull("m2", f"{cluster.registry}/os/none:1", check=False)
    assert missing.returncode == 1 and "not found" in missing.stderr, missing.stderr
    assert f"{cluster.registry}/os/none:1: no machine of the cluster has pushed it" in cluster.log()


def test_the_port_is_closed_to_the_host(cluster):
    assert subprocess.run(["curl", "--silent", "--max-time", "3", "--insecure", "https://10.97.77.1:5443/v2/"]).returncode != 0
