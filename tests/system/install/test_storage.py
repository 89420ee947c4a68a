"""Local volumes: a StatefulSet keeps its data while all its nodes lose their power, and deleted claims leave nothing on the machines."""

import pytest
from faults import power_off
from installation import SLIPWAY, run
from test_hand_over import condition

SPACE = "storage-test"
OPERATOR = "/apis/config.openshift.io/v1/clusteroperators/storage"
REPLICAS = 3
# A user of the pod and a group of the volume. Each pod writes a text of its own once.
STATEFUL_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: storage-test}
spec:
  replicas: 3
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Mi}}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000, runAsNonRoot: true}
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: db}}}
      containers:
        - name: db
          image: IMAGE
          command: [sh, -c, "test -s /data/id || cat /proc/sys/kernel/random/uuid >/data/id; exec sleep infinity"]
          readinessProbe: {exec: {command: [test, -s, /data/id]}, periodSeconds: 1}
          volumeMounts: [{name: data, mountPath: /data}]
"""


def pods(installed):
    return {pod["metadata"]["name"]: pod for pod in installed.objects("pods", "--namespace", SPACE, "--selector=app=db")}


def ready(installed):
    """The names of the pods that are ready, with their nodes."""
    return {name: pod["spec"]["nodeName"] for name, pod in pods(installed).items()
            if condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]}


def containers(installed):
    return {pod["status"]["containerStatuses"][0]["containerID"] for pod in pods(installed).values()}


def texts(installed):
    return {name: installed.kubectl("exec", "--namespace", SPACE, name, "--", "cat", "/data/id").stdout for name in sorted(pods(installed))}


def folders(installed, machine):
    path = installed.disk(machine)[1] / "lib/slipway/volumes"
    return sorted(each.name for each in path.iterdir()) if path.exists() else []


@pytest.fixture(scope="module")
def workers(installed):
    return sorted(name for name in installed.machines() if name.startswith("worker"))


@pytest.fixture(scope="module")
def space(installed):
    network = installed.api.get("/apis/apps/v1/namespaces/openshift-flannel/daemonsets/flannel-kube-proxy")
    image = next(each["image"] for each in network["spec"]["template"]["spec"]["containers"] if each["name"] == "kube-proxy")
    installed.kubectl("create", "namespace", SPACE)
    try:
        installed.kubectl("apply", "--filename", "-", input=STATEFUL_SET.replace("IMAGE", image))
        yield
    finally:
        installed.kubectl("delete", "namespace", SPACE, "--wait=false", "--ignore-not-found")


def test_the_operator_is_content(installed):
    seen = installed.api.get(OPERATOR)
    assert {kind: condition(seen, kind) for kind in ("Available", "Progressing", "Degraded")} == \
        {"Available": "True", "Progressing": "False", "Degraded": "False"}, seen["status"]
    capacities = installed.objects("csistoragecapacities", "--namespace", "openshift-cluster-storage-operator")
    nodes = {each["nodeTopology"]["matchLabels"]["kubernetes.io/hostname"] for each in capacities if each["storageClassName"] == "local"}
    assert nodes == set(installed.machines())


def test_a_stateful_set_keeps_its_data_when_its_nodes_lose_their_power(installed, workers, space):
    installed.wait_until("all pods are ready", lambda: len(ready(installed)) == REPLICAS, limit=120, missing=lambda: str(ready(installed)))
    before, places = texts(installed), ready(installed)
    assert len(set(before.values())) == REPLICAS and set(places.values()) == set(workers), (before, places)
    owner = installed.kubectl("exec", "--namespace", SPACE, "db-0", "--", "stat", "--format=%u:%g %a", "/data/id").stdout
    assert owner.startswith("1000:2000 "), owner
    started = {node: installed.api.get(f"/api/v1/nodes/{node}")["status"]["nodeInfo"]["bootID"] for node in workers}
    of_before = containers(installed)
    power_off(installed, workers)
    installed.wait_until("they are off", lambda: all(installed.machines()[name]["state"] != "running" for name in workers))
    run(SLIPWAY, "machine", "start", *workers, "--cluster", installed.name, "--state", installed.state)
    installed.wait_until("they have started again", lambda: all(
        installed.api.get(f"/api/v1/nodes/{node}")["status"]["nodeInfo"]["bootID"] != boot for node, boot in started.items()), limit=180)
    # Containers of before end with their machine; the kubelet starts new ones. Until it has, the API has the state of before.
    installed.wait_until("all pods are ready again", lambda: ready(installed) == places and not containers(installed) & of_before, limit=180,
                         missing=lambda: str(ready(installed)))
    assert texts(installed) == before


def test_a_claim_that_fits_nowhere_says_why(installed, space):
    claim = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: huge, namespace: storage-test}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 9000Ti}}}
"""
    installed.kubectl("apply", "--filename", "-", input=claim)
    events = f"/api/v1/namespaces/{SPACE}/events"
    installed.wait_until("an Event says why", lambda: any(
        "no node has that much room" in each["message"] for each in installed.api.get(events)["items"] if each["involvedObject"]["name"] == "huge"), limit=30)


def test_deleted_claims_leave_nothing(installed, workers, space):
    assert sum(len(folders(installed, worker)) for worker in workers) == REPLICAS
    installed.kubectl("delete", "namespace", SPACE, "--timeout=120s")
    installed.wait_until("their folders are gone", lambda: not any(folders(installed, machine) for machine in installed.machines()), limit=60)
    installed.wait_until("their PersistentVolumes are gone", lambda: not installed.objects("persistentvolumes"), limit=60)
