"""kubectl top, an application that is scaled by what it uses, and the metrics of operators.

It is scaled by memory, because CPU time of a new pod counts a minute later than its memory. tests/component/metrics scales by CPU time.
"""

import re

import host_clock
import pytest
from installation import MASTERS
from test_hand_over import condition

SPACE, PORT = "metrics-test", 9099
OPERATOR = "/apis/config.openshift.io/v1/clusteroperators/metrics-server"
SCRAPED = f"operator-metrics.openshift-machine-config-operator.svc:{PORT}"
# A pod uses more than the target.
OBJECTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: large, namespace: metrics-test}
spec:
  replicas: 1
  selector: {matchLabels: {app: large}}
  template:
    metadata: {labels: {app: large}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: large, image: IMAGE, command: [sleep, infinity]}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: large, namespace: metrics-test}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: large}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 10Ki}}}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: metrics-test}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: nobody, namespace: metrics-test}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-test}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:monitoring}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: metrics-test}]
"""


# For all tests: the application is measured meanwhile.
@pytest.fixture(scope="module", autouse=True)
def space(installed):
    network = installed.api.get("/apis/apps/v1/namespaces/openshift-flannel/daemonsets/flannel-kube-proxy")
    image = next(each["image"] for each in network["spec"]["template"]["spec"]["containers"] if each["name"] == "kube-proxy")
    installed.kubectl("create", "namespace", SPACE)
    try:
        installed.kubectl("apply", "--filename", "-", input=OBJECTS.replace("IMAGE", image))
        yield SPACE
    finally:
        installed.kubectl("delete", "clusterrolebinding", "metrics-test", "--ignore-not-found")
        installed.kubectl("delete", "namespace", SPACE)


def test_the_operator_is_content(installed):
    def is_content():
        seen = installed.api.get(OPERATOR)
        return {kind: condition(seen, kind) for kind in ("Available", "Progressing", "Degraded")} == \
            {"Available": "True", "Progressing": "False", "Degraded": "False"}

    def is_served():
        status, service = installed.api.call("GET", "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io")
        return status == 200 and condition(service, "Available") == "True"

    start = host_clock.now()
    installed.wait_until("metrics are served", is_served, limit=120)
    print(f"\nmetrics are served, {host_clock.now() - start:.1f} s after the first look")
    installed.wait_until("the operator is content", is_content, limit=60)
    service = installed.api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io")["spec"]
    assert service["caBundle"] and not service.get("insecureSkipTLSVerify")
    [pod] = installed.api.get("/api/v1/namespaces/openshift-metrics-server/pods")["items"]
    assert pod["spec"]["nodeName"] in MASTERS


def test_kubectl_top_knows_all_nodes_and_pods(installed):
    nodes = {node["metadata"]["name"] for node in installed.api.get("/api/v1/nodes")["items"]}

    def top_nodes():
        rows = [line.split() for line in installed.kubectl("top", "nodes", "--no-headers", check=False).stdout.splitlines()]
        return {row[0] for row in rows if "<unknown>" not in row} == nodes and rows
    rows = installed.wait_until("all nodes are measured", top_nodes, limit=120)
    print(*(" ".join(row) for row in rows), sep="\n")
    top = installed.kubectl("top", "pods", "--namespace", "openshift-etcd", "--no-headers").stdout
    assert {line.split()[0] for line in top.splitlines()} >= {f"etcd-{name}" for name in MASTERS}, top
    own = installed.kubectl("top", "pods", "--namespace", "openshift-metrics-server", "--no-headers").stdout
    print(own)
    memory = int(re.search(r"(\d+)Mi", own)[1])
    assert memory < 100, own


def test_the_metrics_of_operators_need_a_token(installed, space):
    bundle = installed.api.get("/api/v1/namespaces/openshift-service-ca/configmaps/signing-cabundle")["data"]["ca-bundle.crt"]

    def scrape(machine, token=None):
        header = f"--header 'Authorization: Bearer {token}'" if token else ""
        script = (f"cat >/run/metrics-test.crt <<'END'\n{bundle}\nEND\n"
                  f"curl --silent --max-time 20 --cacert /run/metrics-test.crt --resolve {SCRAPED}:127.0.0.1 --write-out '\\n%{{http_code}}' "
                  f"{header} https://{SCRAPED}/metrics; rm /run/metrics-test.crt")
        text, _, status = installed.machine(machine, "sh", "-c", script).stdout.rpartition("\n")
        return int(status), text

    token, other = (installed.kubectl("create", "token", name, "--namespace", space).stdout.strip() for name in ("prometheus", "nobody"))
    assert scrape(MASTERS[0])[0] == 401
    assert scrape(MASTERS[0], other)[0] == 403
    leaders, programs = [], set()
    for machine in MASTERS:
        status, text = scrape(machine, token)
        assert status == 200, text
        leaders += re.findall(r'^slipway_leader\{program="([^"]+)",lease="[^"]+"\} 1$', text, re.MULTILINE)
        programs |= set(re.findall(r'program="([^"]+)"', text))
    assert sorted(leaders) == sorted(set(leaders)), "each program leads once"
    assert programs >= {"cluster-version-operator", "cluster-etcd-operator", "cluster-config-operator", "dns-operator", "machine-config-controller"}
    assert programs == set(leaders)


def test_an_application_is_scaled(installed, space):
    path = f"/apis/apps/v1/namespaces/{space}/deployments/large"
    start = host_clock.now()
    installed.wait_until("three replicas run", lambda: installed.api.get(path)["status"].get("availableReplicas") == 3, limit=180,
                         missing=lambda: installed.kubectl("describe", "horizontalpodautoscaler", "--namespace", space).stdout)
    print(f"\nscaled {host_clock.now() - start:.1f} s after the other tests")
    scaler = installed.api.get(f"/apis/autoscaling/v2/namespaces/{space}/horizontalpodautoscalers/large")["status"]
    assert {each["type"]: each["status"] for each in scaler["conditions"]}["ScalingActive"] == "True", scaler
