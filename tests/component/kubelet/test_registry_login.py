"""A machine pulls from a mirror that needs a login, with the files that `create ignition-configs` makes for the bootstrap machine."""

import base64
import json
import shutil
import subprocess

from test_kubelet import BUILD, PAYLOAD, SLIPWAY, images_by_digest, new_cluster, payload, release, run  # noqa: F401  fixtures

MIRROR = "127.0.0.1:5000"
USER, PASSWORD = "pull", "secret"
CONFIG = """apiVersion: v1
baseDomain: example.com
metadata: {{name: demo}}
platform: {{none: {{}}}}
imageDigestSources:
- source: registry.slipway.invalid/slipway/release
  mirrors: ['{mirror}/slipway/release']
additionalTrustBundlePolicy: Always
additionalTrustBundle: |
  {bundle}
pullSecret: '{{"auths":{{"{mirror}":{{"auth":"{login}"}},"elsewhere.example.com":{{"auth":"YTpi"}}}}}}'
"""
REGISTRY = """version: 0.1
log: {accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: /var/lib/mirror/storage}, maintenance: {readonly: {enabled: true}, uploadpurging: {enabled: false}}}
http: {addr: '127.0.0.1:5000', tls: {certificate: /var/lib/mirror/mirror.crt, key: /var/lib/mirror/mirror.key}}
auth: {htpasswd: {realm: mirror, path: /var/lib/mirror/logins}}
"""


def mirror(folder):
    """A registry with the images of the release, for a machine: its certificate is for the machine's loopback address."""
    folder.mkdir()
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=mirror", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", folder / "mirror.key", "-out", folder / "mirror.crt")
    (folder / "logins").write_text(run("htpasswd", "-Bbn", USER, PASSWORD).stdout)
    (folder / "config.yaml").write_text(REGISTRY)
    shutil.copy(PAYLOAD / "bin/registry", folder / "registry")
    return folder


def containerd_files(folder, bundle):
    """The files for containerd of a bootstrap.ign, as an Ignition config of their own."""
    folder.mkdir()
    login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    (folder / "install-config.yaml").write_text(CONFIG.format(mirror=MIRROR, bundle=bundle.strip().replace("\n", "\n  "), login=login))
    run(SLIPWAY, "create", "ignition-configs", "--dir", folder, "--release", BUILD / "release")
    config = json.loads((folder / "bootstrap.ign").read_text())
    wanted = ("/etc/containerd/", "/etc/pki/ca-trust/source/anchors/ca.crt")
    files = [file for file in config["storage"]["files"] if file["path"].startswith(wanted)]
    assert len(files) == 3, [file["path"] for file in files]
    return {"ignition": config["ignition"], "storage": {"files": files}}


def test_pulls_with_the_login_of_the_mirror(release, tmp_path):  # noqa: F811
    source = mirror(tmp_path / "mirror")
    config = tmp_path / "machine.ign"
    config.touch(mode=0o600)
    config.write_text(json.dumps(containerd_files(tmp_path / "demo", (source / "mirror.crt").read_text())))
    pod, etcd = (images_by_digest(release, name).pop() for name in ("pod", "etcd"))
    with new_cluster() as cluster:
        cluster.slipway("create", "m0", "--os-repo", PAYLOAD / "os/repo", "--images", "/nowhere", "--ignition", config, "--wait")
        target = cluster.folder / "machines/m0/var/lib/mirror"
        shutil.copytree(source, target)
        subprocess.run(["cp", "--archive", "--link", PAYLOAD / "registry", target / "storage"], check=True)
        cluster.shell("systemd-run", "--unit=mirror", "/var/lib/mirror/registry", "serve", "/var/lib/mirror/config.yaml")
        cluster.shell("curl", "--silent", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "--insecure", f"https://{MIRROR}/v2/")

        assert cluster.shell("stat", "--format=%a", "/etc/containerd/config.toml").stdout == "600\n"
        anonymous = cluster.shell("ctr", "--namespace=k8s.io", "images", "pull", "--hosts-dir", "/etc/containerd/certs.d", pod, check=False)
        assert anonymous.returncode != 0
        cluster.shell("slipway-pull-image", pod)
        cluster.shell("slipway-pull-image", pod)
        images = cluster.shell("ctr", "--namespace=k8s.io", "images", "ls").stdout
        assert [line for line in images.splitlines() if pod in line and "io.cri-containerd.image=managed" in line], images

        # An image that does not exist, and a login that is refused.
        unknown = etcd.partition("@")[0] + "@sha256:" + "0" * 64
        missing = cluster.shell("slipway-pull-image", unknown, check=False)
        assert missing.returncode == 1 and missing.stderr.startswith(f"slipway-pull-image: {unknown}: failed to pull"), missing.stderr
        right = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        cluster.shell("sed", "-i", f"s|{right}|YTpi|", "/etc/containerd/config.toml")
        cluster.shell("systemctl", "restart", "containerd.service")
        refused = cluster.shell("slipway-pull-image", etcd, check=False)
        assert refused.returncode == 1 and etcd in refused.stderr and "401" in refused.stderr, refused.stderr
        assert "YTpi" not in refused.stderr
