"""Expected settings of the programs of a control plane and of a node, from the CIS Benchmark for Kubernetes, and the deviations with their
reasons.

    for failure in failures({"kube-apiserver": {"anonymous-auth": "false", ...}}): print(failure)

Settings are flags by name without dashes, as texts, including defaults; a list is "[a,b]" or "a,b". Those of etcd are flags, too
(ETCD_CIPHER_SUITES is cipher-suites); those of kubelets are the members of a KubeletConfiguration by path.
"""

import dataclasses
import typing

# Allowed suites of TLS 1.2; all suites of 1.3 are allowed. OpenShift's profile Intermediate, with Go's names.
SUITES = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
}
API_SERVER, CONTROLLERS, SCHEDULER = "kube-apiserver", "kube-controller-manager", "kube-scheduler"
ETCD, KUBELET = "etcd", "kubelet"


def items(text):
    return [item for item in (text or "").strip("[]").replace(",", " ").split() if item != "<nil>"]


def has_value(text):
    return bool(items(text))


def is_off(text):
    return text in (None, "", "false", "[]")


def only_suites(text):
    return bool(items(text)) and set(items(text)) <= SUITES


def at_least(least):
    return lambda text: text not in (None, "") and int(text) >= least


def includes(*names):
    return lambda text: set(names) <= set(items(text))


def excludes(*names):
    return lambda text: not set(names) & set(items(text))


def equals(value):
    return lambda text: text == value


def unless(value):
    return lambda text: text != value


def nothing_but(*values):
    return lambda text: set(items(text)) <= set(values)


@dataclasses.dataclass(frozen=True)
class Check:
    program: str
    setting: str
    good: typing.Callable
    what: str
    name: str = ""  # when several checks are about one setting

    @property
    def key(self):
        return self.program, self.name or self.setting


def for_each(programs, *rest):
    return [Check(program, *rest) for program in programs]


CHECKS = [
    # Authentication and authorization.
    Check(API_SERVER, "anonymous-auth", equals("false"), "nobody is let in without a name"),
    Check(API_SERVER, "token-auth-file", is_off, "no tokens in a file"),
    Check(API_SERVER, "client-ca-file", has_value, "client certificates are judged"),
    Check(API_SERVER, "requestheader-client-ca-file", has_value, "a front proxy is believed by its certificate alone"),
    Check(API_SERVER, "requestheader-allowed-names", has_value, "and only under these names"),
    Check(API_SERVER, "authorization-mode", includes("Node", "RBAC"), "rights are those of roles, kubelets have those of their node"),
    Check(API_SERVER, "authorization-mode", excludes("AlwaysAllow"), "not everything is allowed", "always allow"),
    Check(API_SERVER, "service-account-lookup", equals("true"), "tokens of accounts that are gone are worth nothing"),
    Check(API_SERVER, "service-account-key-file", has_value, "tokens are judged by keys of their own"),
    Check(API_SERVER, "service-account-signing-key-file", has_value, "tokens are signed by a key of their own"),
    Check(API_SERVER, "service-account-extend-token-expiration", equals("false"), "tokens of pods live an hour"),
    Check(API_SERVER, "insecure-port", is_off, "no port without TLS"),
    Check(API_SERVER, "secure-port", unless("0"), "a port with TLS"),
    *for_each([CONTROLLERS, SCHEDULER], "secure-port", unless("0"), "metrics and health over TLS alone"),
    *for_each([CONTROLLERS, SCHEDULER], "authentication-kubeconfig", has_value, "who asks for metrics is known"),
    *for_each([CONTROLLERS, SCHEDULER], "authorization-kubeconfig", has_value, "who asks for metrics may do so"),
    *for_each([CONTROLLERS, SCHEDULER], "authorization-always-allow-paths", nothing_but("/healthz", "/readyz", "/livez"),
              "all others may see health alone"),
    *for_each([CONTROLLERS, SCHEDULER], "bind-address", equals("127.0.0.1"), "listens on its own host alone"),
    Check(CONTROLLERS, "use-service-account-credentials", equals("true"), "each controller has its own rights"),
    Check(CONTROLLERS, "service-account-private-key-file", has_value, "tokens are signed by a key of their own"),
    Check(CONTROLLERS, "root-ca-file", has_value, "pods can judge the API server"),
    Check(CONTROLLERS, "terminated-pod-gc-threshold", at_least(1), "pods that have ended do not pile up"),
    # Admission.
    Check(API_SERVER, "enable-admission-plugins", includes("NodeRestriction", "NamespaceLifecycle", "ServiceAccount"),
          "kubelets change what is theirs, nothing comes into namespaces that go, pods have accounts"),
    Check(API_SERVER, "enable-admission-plugins", includes("DenyServiceExternalIPs"), "Services do not take the addresses of others", "external addresses"),
    Check(API_SERVER, "enable-admission-plugins", includes("EventRateLimit"), "events do not flood etcd", "event rate limit"),
    Check(API_SERVER, "enable-admission-plugins", includes("AlwaysPullImages"), "images are for those with credentials for them", "always pull images"),
    Check(API_SERVER, "enable-admission-plugins", excludes("AlwaysAdmit"), "not everything is admitted", "always admit"),
    Check(API_SERVER, "disable-admission-plugins", excludes("NodeRestriction", "NamespaceLifecycle", "ServiceAccount", "PodSecurity"), "none of these is off"),
    Check(API_SERVER, "admission-control-config-file", has_value, "pods are held against the security standards"),
    # Auditing.
    Check(API_SERVER, "audit-log-path", has_value, "who did what is written down"),
    Check(API_SERVER, "audit-policy-file", has_value, "and what of it"),
    Check(API_SERVER, "audit-log-maxage", at_least(30), "for a month"),
    Check(API_SERVER, "audit-log-maxbackup", at_least(10), "in enough files"),
    Check(API_SERVER, "audit-log-maxsize", at_least(100), "of enough size"),
    Check(API_SERVER, "encryption-provider-config", has_value, "Secrets are encrypted at rest"),
    # Limits.
    Check(API_SERVER, "request-timeout", unless("0s"), "requests end"),
    Check(API_SERVER, "max-requests-inflight", at_least(1), "no more than it can bear"),
    Check(API_SERVER, "max-mutating-requests-inflight", at_least(1), "no more than it can bear"),
    Check(API_SERVER, "enable-priority-and-fairness", equals("true"), "one client does not starve the others"),
    # Keys and certificates.
    Check(API_SERVER, "kubelet-certificate-authority", has_value, "kubelets are who they say"),
    Check(API_SERVER, "kubelet-client-certificate", has_value, "kubelets know the API server"),
    Check(API_SERVER, "kubelet-client-key", has_value, "kubelets know the API server"),
    Check(API_SERVER, "etcd-servers", lambda text: all(item.startswith("https://") for item in items(text)), "etcd over TLS"),
    *[Check(API_SERVER, f"etcd-{file}", has_value, "etcd and the API server know each other") for file in ("cafile", "certfile", "keyfile")],
    *for_each([API_SERVER], "tls-cert-file", has_value, "a certificate that clients can judge"),
    *for_each([API_SERVER], "tls-private-key-file", has_value, "a certificate that clients can judge"),
    *for_each([API_SERVER, CONTROLLERS, SCHEDULER], "tls-min-version", lambda text: text in ("VersionTLS12", "VersionTLS13"), "no old TLS"),
    *for_each([API_SERVER, CONTROLLERS, SCHEDULER], "tls-cipher-suites", only_suites, "no weak ciphers"),
    *for_each([API_SERVER, CONTROLLERS, SCHEDULER], "profiling", equals("false"), "nobody looks into a program at work"),
    Check(CONTROLLERS, "feature-gates", excludes("RotateKubeletServerCertificate=false"), "kubelets renew their certificates"),
    # etcd: all peers and clients need a certificate of etcd's CA.
    *[Check(ETCD, f"{prefix}{file}", has_value, "a certificate, and the authority of the others'")
      for prefix in ("", "peer-") for file in ("cert-file", "key-file", "trusted-ca-file")],
    *[Check(ETCD, f"{prefix}client-cert-auth", equals("true"), "who asks shows a certificate") for prefix in ("", "peer-")],
    *[Check(ETCD, setting, is_off, "no certificates out of thin air") for setting in ("auto-tls", "peer-auto-tls")],
    *[Check(ETCD, setting, lambda text: all(url.startswith("https://") for url in items(text)), "no port without TLS")
      for setting in ("listen-client-urls", "listen-client-http-urls", "listen-peer-urls", "advertise-client-urls", "initial-advertise-peer-urls")],
    Check(ETCD, "listen-metrics-urls", lambda text: all(url.startswith(("https://", "http://127.0.0.1:")) for url in items(text)),
          "no port without TLS but for probes on its own host"),
    Check(ETCD, "cipher-suites", only_suites, "no weak ciphers"),
    Check(ETCD, "tls-min-version", lambda text: text in ("TLS1.2", "TLS1.3"), "no old TLS"),
    Check(ETCD, "enable-pprof", is_off, "nobody looks into a program at work"),
    # Kubelets.
    Check(KUBELET, "authentication.anonymous.enabled", equals("false"), "nobody is let in without a name"),
    Check(KUBELET, "authorization.mode", equals("Webhook"), "the API server says who may"),
    Check(KUBELET, "authentication.webhook.enabled", equals("true"), "tokens are shown to the API server"),
    Check(KUBELET, "authentication.x509.clientCAFile", has_value, "client certificates are judged"),
    Check(KUBELET, "readOnlyPort", lambda text: text in (None, "0"), "no port without TLS"),
    Check(KUBELET, "streamingConnectionIdleTimeout", lambda text: text not in ("0", "0s"), "connections that are idle end"),
    Check(KUBELET, "protectKernelDefaults", equals("true"), "settings of the kernel are as they should be, or it does not start"),
    Check(KUBELET, "makeIPTablesUtilChains", unless("false"), "its rules of the firewall are kept"),
    Check(KUBELET, "eventRecordQPS", unless("0"), "events do not flood the API server"),
    Check(KUBELET, "rotateCertificates", equals("true"), "its client certificate is renewed"),
    Check(KUBELET, "serverTLSBootstrap", equals("true"), "its serving certificate is the cluster's"),
    Check(KUBELET, "tlsMinVersion", lambda text: text in ("VersionTLS12", "VersionTLS13"), "no old TLS"),
    Check(KUBELET, "tlsCipherSuites", only_suites, "no weak ciphers"),
    Check(KUBELET, "podPidsLimit", at_least(1), "a pod does not use up the node's processes"),
    Check(KUBELET, "seccompDefault", equals("true"), "pods may call of the kernel what they usually need"),
]

# Deviations, and why. An exception that no check needs is a failure. The test tests/system/install/test_security.py checks on a cluster
# that roles and certificates protect the listeners named here.
EXCEPTIONS = {
    (API_SERVER, "anonymous-auth"): "probes and load balancers ask for health without a name, as on OpenShift; roles show them no more",
    (API_SERVER, "service-account-extend-token-expiration"): "operators read the token of their pod once, when they start",
    (API_SERVER, "event rate limit"): "priority and fairness bounds who writes too much; events last three hours",
    (API_SERVER, "always pull images"): "pods start again without the registry; a machine has one owner",
    (API_SERVER, "encryption-provider-config"): "off on OpenShift too until an administrator asks for it (APIServer, spec.encryption); "
                                                "that is not there yet. etcd's data is 0700",
    (API_SERVER, "profiling"): "on as on OpenShift; for cluster administrators alone",
    (CONTROLLERS, "bind-address"): "probes and monitoring ask over the network, with a name; all others see health alone",
    (SCHEDULER, "bind-address"): "as the controller manager's",
    (ETCD, "enable-pprof"): "on as on OpenShift; for those with a client certificate of etcd alone, who may do everything",
    (KUBELET, "seccompDefault"): "off on OpenShift too, where SCCs ask for the profile RuntimeDefault; here pods ask for it themselves",
}

# Privileged containers by pod, and why.
HOST_FOLDERS = "reads and writes folders of the host, which SELinux keeps from other containers"
PRIVILEGED = {
    ("etcd-bootstrap-member", "etcd"): HOST_FOLDERS,
    ("etcd-bootstrap-member", "etcdctl"): HOST_FOLDERS,
    ("etcd", "etcd"): HOST_FOLDERS,
    ("bootstrap-machine-config-operator", "machine-config-server"): HOST_FOLDERS,
    ("bootstrap-cluster-version-operator", "cluster-version-operator"): HOST_FOLDERS,
    ("machine-config-daemon", "machine-config-daemon"): "changes the machine: its files, units and operating system",
    ("keepalived", "keepalived"): "gives the machine addresses, and speaks a protocol of its own",
    ("keepalived", "haproxy"): "listens on addresses that the machine does not have yet",
}


@dataclasses.dataclass(frozen=True)
class Failure:
    place: str  # "master/kube-apiserver"
    check: Check
    value: str

    def __str__(self):
        return f"{self.place}: {self.check.setting} is {self.value!r}; wanted: {self.check.what}"


def failures(places):
    """places: settings by place; a place ends with the name of its program."""
    return [Failure(place, check, settings.get(check.setting)) for place, settings in places.items() for check in CHECKS
            if place.rsplit("/", 1)[-1] == check.program and not check.good(settings.get(check.setting))]


def flattened(document, prefix=""):
    """A document as settings: {"a": {"b": [True, 1]}} is {"a.b": "true,1"}."""
    found = {}
    for key, value in document.items():
        if isinstance(value, dict):
            found |= flattened(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = ",".join(map(text_of, value)) if isinstance(value, list) else text_of(value)
    return found


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
