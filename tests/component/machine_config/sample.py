"""The inputs of the machine configuration in the asset folder of a bootstrap machine."""
import base64
import json
import pathlib
import subprocess

VERSION = "0.1.0"
TOKEN = "5f0c6b1e9a1d4c3e8f3a0b5f5f7c1a22"
WORKER_TOKEN = "9b1f2f7c0d3e4a5b8c6d7e8f90a1b2c3"
IMAGES = {name: f"registry.slipway.invalid/slipway/release@sha256:{digit * 64}" for name, digit in
          {"machine-config-operator": "1", "pod": "2", "machine-os": "3", "keepalived-ipfailover": "4", "baremetal-runtimecfg": "5",
           "haproxy-router": "6"}.items()}

USER_CONFIG = """apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-user
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  config:
    ignition: {version: 3.2.0}
    storage: {files: [{path: /etc/user-was-here, mode: 420, contents: {source: "data:,yes%0A"}}]}
"""


def openssl(*words, cwd):
    subprocess.run(["openssl", *words], cwd=cwd, check=True, capture_output=True)


def certificate(folder):
    """tls.crt and tls.key of a server on this machine, signed by ca.crt."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=root-ca", cwd=folder)
    (folder / "extensions").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n")
    openssl("req", *key, "-keyout", "tls.key", "-out", "request", "-subj", "/CN=system:machine-config-server", cwd=folder)
    openssl("x509", "-req", "-in", "request", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions",
            "-out", "tls.crt", cwd=folder)


def write_assets(assets: pathlib.Path):
    install_config = {"metadata": {"name": "demo"}, "baseDomain": "example.com",
                      "platform": {"local": {"apiVIPs": ["10.97.77.5"], "ingressVIPs": ["10.97.77.7"]}}}
    auths = base64.b64encode(b'{"auths":{}}').decode()
    manifests = {
        "cluster-config.yaml": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-config-v1", "namespace": "kube-system"},
                                "data": {"install-config": json.dumps(install_config)}},
        "cluster-infrastructure-02-config.yml": {"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"},
                                                 "spec": {}, "status": {"apiServerInternalURI": "https://api-int.demo.example.com:6443",
                                                                        "platformStatus": {"type": "None"}}},
        "cluster-network-02-config.yml": {"apiVersion": "config.openshift.io/v1", "kind": "Network", "metadata": {"name": "cluster"},
                                          "spec": {"clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}], "networkType": "Flannel",
                                                   "serviceNetwork": ["172.30.0.0/16"]}},
        "cluster-dns-02-config.yml": {"apiVersion": "config.openshift.io/v1", "kind": "DNS", "metadata": {"name": "cluster"},
                                      "spec": {"baseDomain": "demo.example.com"}},
        "cluster-proxy-01-config.yaml": {"apiVersion": "config.openshift.io/v1", "kind": "Proxy", "metadata": {"name": "cluster"}, "status": {}},
        "openshift-config-secret-pull-secret.yaml": {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson",
                                                     "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
                                                     "data": {".dockerconfigjson": auths}},
    }
    for folder in ("manifests", "openshift", "tls", "auth"):
        (assets / folder).mkdir(parents=True)
    for name, manifest in manifests.items():
        (assets / "manifests" / name).write_text(json.dumps(manifest))
    (assets / "openshift/99-user.yaml").write_text(USER_CONFIG)
    certificate(assets / "tls")
    (assets / "tls/token").write_text(TOKEN)
    (assets / "tls/worker-token").write_text(WORKER_TOKEN)
    (assets / "auth/kubeconfig-kubelet").write_text("apiVersion: v1\nkind: Config\n")
    tags = [{"name": name, "from": {"kind": "DockerImage", "name": image}} for name, image in IMAGES.items()]
    (assets / "image-references").write_text(json.dumps({"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "spec": {"tags": tags}}))
