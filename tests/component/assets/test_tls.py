"""Keys and certificates, checked by openssl and ssh-keygen: those of certificates.tsv for both key types, those of the user, and those
generated from a seed."""
import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "registry"))
from sample import Layout  # noqa: E402

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
TABLE = pathlib.Path(__file__).with_name("certificates.tsv")
CONFIG = """\
apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
"""
PLATFORMS = {
    "local": "platform: {local: {apiVIPs: [10.97.77.5], ingressVIPs: [10.97.77.7]}}\n",
    "none": "platform: {none: {}}\n",
    "baremetal": """\
networking: {machineNetwork: [{cidr: 10.97.77.0/24}]}
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 0}]
platform:
  baremetal:
    apiVIPs: [10.97.77.5]
    ingressVIPs: [10.97.77.7]
    provisioningNetwork: Disabled
    hosts:
""" + "".join(f"""\
    - name: host-{i}
      role: master
      bootMACAddress: 52:54:00:00:00:0{i}
      bmc: {{address: "redfish-virtualmedia://10.97.78.{i}/redfish/v1/Systems/1", username: admin, password: secret}}
""" for i in (1, 2, 3)),
}
BUNDLES = {
    "admin-kubeconfig-ca-bundle": "admin-kubeconfig-signer",
    "aggregator-ca-bundle": "aggregator-signer",
    "kube-apiserver-to-kubelet-ca-bundle": "kube-apiserver-to-kubelet-signer",
    "kube-apiserver-localhost-ca-bundle": "kube-apiserver-localhost-signer",
    "kube-apiserver-service-network-ca-bundle": "kube-apiserver-service-network-signer",
    "kube-apiserver-lb-ca-bundle": "kube-apiserver-lb-signer",
    "kube-apiserver-complete-server-ca-bundle":
        "kube-apiserver-localhost-signer kube-apiserver-service-network-signer kube-apiserver-lb-signer",
    "kube-apiserver-complete-client-ca-bundle":
        "admin-kubeconfig-signer kubelet-signer kube-control-plane-signer kube-apiserver-to-kubelet-signer kubelet-bootstrap-kubeconfig-signer",
    "kube-control-plane-ca-bundle":
        "kube-control-plane-signer kube-apiserver-lb-signer kube-apiserver-localhost-signer kube-apiserver-service-network-signer",
    "kubelet-client-ca-bundle": "kubelet-signer",
    "kubelet-serving-ca-bundle": "kubelet-signer",
    "kubelet-bootstrap-kubeconfig-ca-bundle": "kubelet-bootstrap-kubeconfig-signer",
}
# Certificates that are on the machine in bundles only: bundle, and number of the certificate in it.
IN_BUNDLES = {"admin-kubeconfig-signer": ("kube-apiserver-complete-client-ca-bundle", 0),
              "kubelet-bootstrap-kubeconfig-signer": ("kube-apiserver-complete-client-ca-bundle", 4)}
# Which client verifies which certificate: certificate, CA bundle of the client, purpose, and expected name.
CONSUMERS = [
    ("kube-apiserver-lb-server", "kube-apiserver-complete-server-ca-bundle", "sslserver", "api.demo.example.com"),
    ("kube-apiserver-internal-lb-server", "kube-apiserver-complete-server-ca-bundle", "sslserver", "api-int.demo.example.com"),
    ("kube-apiserver-localhost-server", "kube-apiserver-complete-server-ca-bundle", "sslserver", "localhost"),
    ("kube-apiserver-localhost-server", "kube-apiserver-localhost-ca-bundle", "sslserver", "localhost"),
    ("kube-apiserver-service-network-server", "kube-apiserver-complete-server-ca-bundle", "sslserver", "kubernetes.default.svc"),
    ("machine-config-server", "root-ca", "sslserver", "api-int.demo.example.com"),
    ("journal-gatewayd", "root-ca", "sslserver", None),
    ("journal-gatewayd", "root-ca", "sslclient", None),
    ("admin-kubeconfig-client", "kube-apiserver-complete-client-ca-bundle", "sslclient", None),
    ("kubelet-client", "kube-apiserver-complete-client-ca-bundle", "sslclient", None),
    ("kubelet-client", "kubelet-bootstrap-kubeconfig-ca-bundle", "sslclient", None),
    ("kube-apiserver-to-kubelet-client", "kube-apiserver-to-kubelet-ca-bundle", "sslclient", None),
    ("kube-control-plane-kube-controller-manager-client", "kube-apiserver-complete-client-ca-bundle", "sslclient", None),
    ("kube-control-plane-kube-scheduler-client", "kube-control-plane-ca-bundle", "sslclient", None),
    ("aggregator-client", "aggregator-ca-bundle", "sslclient", None),
    ("apiserver-proxy", "aggregator-ca", "sslclient", None),
]


def run(*command, status=0, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, **options)
    assert result.returncode == status, (command, result.returncode, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True).folder


@pytest.fixture
def create(release):
    def create(folder, target, *options, platform="local", status=0, **variables):
        folder.mkdir(exist_ok=True)
        if not any(folder.iterdir()):
            (folder / "install-config.yaml").write_text(CONFIG + PLATFORMS[platform])
        return run(SLIPWAY, "create", target, "--dir", folder, "--release", release, *options, status=status, env={**os.environ, **variables})

    return create


def files_of(config):
    """path -> content of an Ignition config."""
    files = {}
    for file in config["storage"]["files"]:
        source = (file.get("contents") or file["append"][0])["source"]
        if source.startswith("data:"):
            head, data = source.split(",", 1)
            files[file["path"]] = base64.b64decode(data) if head.endswith("base64") else urllib.parse.unquote_to_bytes(data)
    return files


def unpack(folder, tls):
    """Writes the files of tls/ from the assets of a folder; returns the configs."""
    config = json.loads((folder / "bootstrap.ign").read_text())
    for path, content in files_of(config).items():
        if path.startswith("/opt/openshift/tls/"):
            target = tls / path.removeprefix("/opt/openshift/tls/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    kubeconfig = (folder / "auth/kubeconfig").read_text()
    for field, name in (("client-certificate-data", "admin-kubeconfig-client.crt"), ("client-key-data", "admin-kubeconfig-client.key")):
        (tls / name).write_bytes(base64.b64decode(re.search(rf"{field}: (\S+)", kubeconfig).group(1)))
    for name, (bundle, number) in IN_BUNDLES.items():
        assert not (tls / f"{name}.crt").exists(), "nothing on the machine reads it"
        blocks = re.findall(r"-----BEGIN CERTIFICATE-----\n.*?-----END CERTIFICATE-----\n", (tls / f"{bundle}.crt").read_text(), re.S)
        (tls / f"{name}.crt").write_text(blocks[number])
    return config


def describe(path, directory):
    """A row of the table, from the output of openssl."""
    said = run("openssl", "x509", "-in", path, "-noout", "-subject", "-issuer", "-nameopt", "sep_comma_plus,utf8", "-startdate", "-enddate",
               "-ext", "basicConstraints,keyUsage,extendedKeyUsage,subjectAltName,authorityKeyIdentifier").stdout
    subject, issuer = (re.search(rf"^{word}=(.*)$", said, re.M).group(1) for word in ("subject", "issuer"))
    start, end = (run("date", "-ud", re.search(rf"not{word}=(.*)", said).group(1), "+%s").stdout for word in ("Before", "After"))

    def extension(name):
        found = re.search(rf"{name}: (critical)?\s*\n +(.*)", said)
        return (found.group(2).strip(), found.group(1) == "critical") if found else ("-", True)

    usage, is_critical = extension("X509v3 Key Usage")
    assert is_critical
    for long, short in (("Digital Signature", "DS"), ("Key Encipherment", "KE"), ("Certificate Sign", "CS"), (", ", ",")):
        usage = usage.replace(long, short)
    assert extension("X509v3 Basic Constraints") == ("CA:TRUE" if "CS" in usage else "CA:FALSE", True)
    extended = extension("X509v3 Extended Key Usage")[0].replace("TLS Web Server Authentication", "server").replace("TLS Web Client Authentication", "client")
    names = re.sub(r"(DNS|IP Address):", "", extension("X509v3 Subject Alternative Name")[0]).replace(",", "")
    is_self = subject == issuer
    assert ("Authority Key Identifier" in said) != is_self
    return [subject, "self" if is_self else issuer, str((int(end) - int(start)) // 86400), usage, extended.replace(" ", ""), names]


@pytest.mark.parametrize("platform, options, is_rsa", [("none", [], True), ("none", ["--key-type", "ecdsa"], False), ("local", [], False),
                                                       ("baremetal", ["--key-type", "ecdsa"], False)])
def test_certificates_are_those_of_the_table(create, tmp_path, platform, options, is_rsa):
    assets, tls = tmp_path / "assets", tmp_path / "tls"
    create(assets, "ignition-configs", *options, platform=platform)
    config = unpack(assets, tls)
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in rows if row[7] in ("", platform)]
    api_int, vip = "api-int.demo.example.com", "10.97.77.5"
    names = api_int if platform == "none" else f"{api_int} {vip} {vip}"
    subjects = {row[0]: row[1] for row in rows}
    for file, subject, issuer, days, usage, extended, alternatives, _ in rows:
        expected = [subject, subjects.get(issuer, issuer), days, usage, extended, alternatives.replace("api-int VIPS", names)]
        assert [file, *describe(tls / f"{file}.crt", tls)] == [file, *expected]

    def of_table(pattern):
        return {str(path.relative_to(tls).with_suffix("")) for path in tls.rglob(pattern)}

    assert of_table("*.crt") == set(subjects) | set(BUNDLES)
    for name, signers in BUNDLES.items():
        assert (tls / f"{name}.crt").read_text() == "".join((tls / f"{signer}.crt").read_text() for signer in signers.split()), name
    for certificate, bundle, purpose, name in CONSUMERS:
        host = ["-verify_hostname", name] if name else []
        run("openssl", "verify", "-x509_strict", "-CAfile", tls / f"{bundle}.crt", "-purpose", purpose, *host, tls / f"{certificate}.crt")
    run("openssl", "verify", "-CAfile", tls / "root-ca.crt", tls / "kubelet-client.crt", status=2)

    # Only keys that the machine needs are on it.
    assert of_table("*.key") == set(subjects) - {"root-ca", "admin-kubeconfig-signer", "kubelet-bootstrap-kubeconfig-signer"} | {"service-account"}
    for key in tls.rglob("*.key"):
        assert key.read_text().startswith("-----BEGIN RSA PRIVATE KEY-----\n" if is_rsa else "-----BEGIN EC PRIVATE KEY-----\n"), key
        if not is_rsa or key.stem == "service-account":  # checking an RSA key takes half a second
            run("openssl", "pkey", "-in", key, "-check", "-noout")
        public = run("openssl", "pkey", "-in", key, "-pubout").stdout
        if key.with_suffix(".crt").exists():
            text = run("openssl", "x509", "-in", key.with_suffix(".crt"), "-noout", "-pubkey", "-text").stdout
            assert public in text and ("Signature Algorithm: sha256WithRSAEncryption" if is_rsa else "Signature Algorithm: ecdsa-with-SHA256") in text
            assert not is_rsa or "(2048 bit)" in text and "Exponent: 65537" in text
        else:
            # The original's name of the PEM block, for both key types.
            assert key.with_suffix(".pub").read_text() == (public.replace("PUBLIC KEY", "RSA PUBLIC KEY") if is_rsa else public)
    # The identifier is the SHA-1 of the bits of the public key; for RSA, of the PKCS#1 structure.
    body = base64.b64decode("".join(run("openssl", "x509", "-in", tls / "root-ca.crt", "-noout", "-pubkey").stdout.splitlines()[1:-1]))
    digest = hashlib.sha1(body[24 if is_rsa else 26:]).hexdigest().upper()
    shown = run("openssl", "x509", "-in", tls / "root-ca.crt", "-noout", "-ext", "subjectKeyIdentifier").stdout
    assert digest == shown.split()[-1].replace(":", "")

    [generated] = [key for user in config["passwd"]["users"] if user["name"] == "core" for key in user["sshAuthorizedKeys"]]  # the config has none
    (tmp_path / "ssh.pub").write_text(generated + "\n")
    size, _, *rest = run("ssh-keygen", "-l", "-f", tmp_path / "ssh.pub").stdout.split()
    assert [size, *rest] == ["2048" if is_rsa else "256", "no", "comment", "(RSA)" if is_rsa else "(ECDSA)"]


def test_kubeconfigs_have_the_members_of_the_original(create, tmp_path):
    create(tmp_path / "a", "ignition-configs", "--key-type", "ecdsa", platform="none")
    [text] = [(tmp_path / "a/auth/kubeconfig").read_text()]
    assert re.findall(r"^([a-z-]+):", text, re.M | re.I) == ["clusters", "contexts", "current-context", "preferences", "users"]
    assert "server: https://api.demo.example.com:6443\n" in text


def tree(folder):
    """All files except those about the run itself."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and ".slipway" not in path.parts and path.suffix not in (".lock", ".log")}


@pytest.fixture
def seed(tmp_path):
    path = tmp_path / "seed"
    path.write_bytes(b"no secret, but long enough for a test")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("key_type", ["rsa", "ecdsa"])
def test_a_seed_gives_the_same_bytes(create, tmp_path, seed, key_type):
    options = ["--seed", seed, "--key-type", key_type]
    moment = {"SOURCE_DATE_EPOCH": "1795000000"}
    create(tmp_path / "a", "ignition-configs", *options, platform="none", **moment)
    create(tmp_path / "b", "manifests", *options, platform="none", **moment)
    create(tmp_path / "b", "ignition-configs", *options, platform="none", **moment)
    create(tmp_path / "c", "ignition-configs", *options, platform="none", **moment)
    a, b, c = (tree(tmp_path / name) for name in "abc")
    assert {"bootstrap.ign", "master.ign", "worker.ign", "auth/kubeconfig", "auth/kubeadmin-password", "metadata.json"} <= set(a)
    assert a == c
    for path in set(a) - {".openshift_install_state.json"}:
        assert a[path] == b[path], path
    tls = tmp_path / "tls"
    unpack(tmp_path / "a", tls)
    assert run("openssl", "x509", "-in", tls / "root-ca.crt", "-noout", "-startdate").stdout == "notBefore=Nov 18 11:06:40 2026 GMT\n"
    for certificate, bundle, purpose, _ in CONSUMERS:
        run("openssl", "verify", "-x509_strict", "-attime", "1795000060", "-CAfile", tls / f"{bundle}.crt", "-purpose", purpose, tls / f"{certificate}.crt")


def test_another_seed_or_another_cluster_has_other_keys(create, tmp_path, seed):
    options = ["--seed", seed, "--key-type", "ecdsa"]
    create(tmp_path / "a", "ignition-configs", *options)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/install-config.yaml").write_text((CONFIG + PLATFORMS["local"]).replace("example.com", "example.org"))
    create(tmp_path / "b", "ignition-configs", *options)
    seed.write_bytes(os.urandom(32))
    create(tmp_path / "c", "ignition-configs", *options)
    a, b, c = (tree(tmp_path / name) for name in "abc")
    for path in ("auth/kubeconfig", "auth/kubeadmin-password", "metadata.json"):
        assert len({a[path], b[path], c[path]}) == 3, path
    seed.chmod(0o644)
    refused = create(tmp_path / "d", "ignition-configs", *options, status=1)
    assert "readable by other users (mode 0644)" in refused.stderr and set(tree(tmp_path / "d")) == {"install-config.yaml"}


def authority(folder, name, *options):
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt", "-subj",
        f"/OU=us/CN=our-{name}", "-days", "100", *options)


def test_what_users_give_takes_the_place_of_ours(create, tmp_path):
    assets, tls = tmp_path / "assets", tmp_path / "tls"
    create(assets, "manifests", "--key-type", "ecdsa", platform="none")
    given = assets / "tls"
    given.mkdir()
    for name in ("admin-kubeconfig-signer", "kube-apiserver-lb-signer"):
        authority(given, name)
    run("openssl", "genrsa", "-traditional", "-out", given / "bound-service-account-signing-key.key", "2048")
    hashed = "$2y$10$" + "a" * 53
    (given / "kubeadmin-password.hash").write_text(hashed + "\n")
    create(assets, "ignition-configs", OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS="true")
    config = unpack(assets, tls)
    for certificate, bundle, purpose, _ in CONSUMERS:
        run("openssl", "verify", "-CAfile", tls / f"{bundle}.crt", "-purpose", purpose, tls / f"{certificate}.crt")
    assert "our-kube-apiserver-lb-signer" in run("openssl", "x509", "-in", tls / "kube-apiserver-lb-server.crt", "-noout", "-issuer").stdout
    assert "our-admin-kubeconfig-signer" in run("openssl", "x509", "-in", tls / "admin-kubeconfig-client.crt", "-noout", "-issuer").stdout
    public = run("openssl", "pkey", "-in", given / "bound-service-account-signing-key.key", "-pubout").stdout
    assert (tls / "bound-service-account-signing-key.pub").read_text() == public.replace("PUBLIC KEY", "RSA PUBLIC KEY")
    assert (assets / "auth/kubeadmin-password").read_text() == ""
    secret = files_of(config)["/opt/openshift/openshift/99_kubeadmin-password-secret.yaml"].decode()
    assert base64.b64encode(hashed.encode()).decode() in secret or base64.b64encode(base64.b64encode(hashed.encode())).decode() in secret


def test_mistakes_in_what_users_give_are_told_all_at_once(create, tmp_path):
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "install-config.yaml").write_text(CONFIG + PLATFORMS["none"])
    given = assets / "tls"
    given.mkdir()
    authority(given, "admin-kubeconfig-signer")
    authority(given, "kube-apiserver-lb-signer")
    (given / "admin-kubeconfig-signer.key").unlink()
    (given / "kube-apiserver-lb-signer.key").write_text("s3cr3t")
    (given / "kubeadmin-password.hash").write_text("s3cr3t")
    told = create(assets, "ignition-configs", status=1, OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS="true").stderr
    for line in ("tls/kubeadmin-password.hash: error: not a bcrypt hash", "tls/admin-kubeconfig-signer.key: error: missing",
                 "tls/kube-apiserver-lb-signer.key: error: the private key cannot be read"):
        assert line in told
    assert "s3cr3t" not in told and not (assets / "bootstrap.ign").exists()
