"""The config operator in a test, with the operators that run in its process (src/main/slipway_operator.cpp). Its process ends while one of them
may not watch something, so a test of one needs the permissions of all.

    plane.install_manifests(config_operator.MANIFESTS)
    config_operator.start(plane, program)
"""

SPACE = "openshift-config-operator"
MANIFESTS = [f"0000_10_{name}" for name in (
    "operators_01_roles", "config-operator_00_openshift-service-ca", "config-operator_00_openshift-cluster-storage-operator",
    "config-operator_00_openshift-metrics-server", "config-operator_04_rbac", "config-operator_04_service-ca", "config-operator_04_storage",
    "config-operator_04_metrics-server", "config-operator_05_service-ca_1_policy", "config-operator_05_service-ca_2_binding", *(f"config-operator_05_storage_{n}_{'policy' if n % 2 else 'binding'}" for n in range(1, 7)))]
# It reads lists of its image at its start; without any, it has no feature gates.
IN_IMAGE = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            'mount -t tmpfs tmpfs /usr/share && mkdir -p /usr/share/bootkube/manifests/featuregates && exec "$@"', "sh"]


def start(plane, program):
    """program: slipway-operator. Starts it as `operator`, with the account of the release in operator.kubeconfig."""
    link = plane.folder / "cluster-config-operator"
    if not link.is_symlink():
        link.symlink_to(program)
    kubeconfig = plane.folder / "operator.kubeconfig"
    if not kubeconfig.exists():
        plane.kubeconfig_of("operator", plane.token(SPACE, "openshift-config-operator"))
    plane.spawn("operator", [*IN_IMAGE, link, "operator", f"--kubeconfig={kubeconfig}"],
                {"RELEASE_VERSION": "0.1.0", "POD_NAME": "test", "METRICS_SERVER_IMAGE": "r.example.com/metrics-server@sha256:1"})
