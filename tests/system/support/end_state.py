"""The state of a cluster after its installation, to compare a disturbed installation with an undisturbed one.

    state = end_state(installation)        # a cluster that is up; plain data, fit for JSON
    differences(undisturbed, state)        # a sentence each

The state does not contain random values, generated names, and values that depend on the time only.
"""

import json
import re
import urllib.parse

# Events are temporary; addresses of Services are random; the others are generated on request.
LEFT_OUT = {"events", "ipaddresses", "componentstatuses", "apiservices"}
# Measurements have the names of what is measured, and are there a minute later.
LEFT_OUT_GROUPS = {"metrics.k8s.io"}
OWN_SPACES = re.compile(r"recorder")
# Folders of machines with configuration. Programs write their own data elsewhere.
FOLDERS = ["/etc", "/opt", "/root", "/usr/local/bin", "/var/lib/kubelet/pki"]
OPERANDS = {"openshift-etcd": "etcds", "openshift-kube-apiserver": "kubeapiservers",
            "openshift-kube-controller-manager": "kubecontrollermanagers", "openshift-kube-scheduler": "kubeschedulers"}
DRAWN = [(re.compile(r"[0-9a-f]{32,}|\b[0-9a-f]{11,16}\b"), "HASH"), (re.compile(r"kubelet-(client|server)-\d{4}-[\d-]+\.pem"), r"kubelet-\1-DATE.pem"),
         (re.compile(r"(apiserver)-[a-z0-9]{26}$"), r"\1-IDENTITY")]


def end_state(installation):
    api, machines = installation.api, sorted(installation.machines())
    known = revisions(api)
    return {
        "machines": {name: machine["state"] for name, machine in installation.machines().items()},
        "members of etcd": sorted(member["name"] + (" (learner)" if member.get("isLearner") else "") for member in members(installation)),
        "objects": sorted(objects(api, known)),
        "conditions": conditions(api),
        "pods": sorted(pods(api)),
        "files": {machine: files(installation, machine) for machine in machines},
        "failed units": {machine: installation.machine(machine, "systemctl", "list-units", "--failed", "--no-legend", "--plain").stdout
                         for machine in machines},
        "revisions": {space: known[space] for space in sorted(known)},
    }


def differences(one, other):
    """Later revisions are no difference: `reasons` lists them."""
    found = []
    for what in one:
        if what != "revisions":
            found += compare(what, one[what], other[what])
    return found


def compare(what, one, other):
    if isinstance(one, dict):
        return [line for key in sorted({*one, *other}) for line in compare(f"{what}: {key}", one.get(key), other.get(key))]
    if isinstance(one, list) and isinstance(other, list):
        return [f"{what}: {each} is missing" for each in sorted(set(one) - set(other))] + [f"{what}: {each} is too much" for each in sorted(set(other) - set(one))]
    return [] if one == other else [f"{what}: is {other!r} and not {one!r}"]


def extra_revisions(state):
    """(namespace, revision, its reason) for each revision after the first."""
    return [(space, int(number), reason) for space, all_ in state["revisions"].items() for number, reason in all_.items() if int(number) > 1]


def revisions(api):
    """By namespace: {number: reason}."""
    found = {}
    for space in OPERANDS:
        for each in api.all(f"/api/v1/namespaces/{space}/configmaps"):
            if name := re.fullmatch(r"revision-status-(\d+)", each["metadata"]["name"]):
                found.setdefault(space, {})[name[1]] = each.get("data", {}).get("reason", "")
    return found


def members(installation):
    listed = installation.kubectl("exec", "--namespace", "openshift-etcd", "etcd-master-0", "--container", "etcd", "--",
                                  "etcdctl", "member", "list", "--write-out", "json").stdout
    return json.loads(listed)["members"]


def resource_types(api):
    groups = [f"/apis/{group['preferredVersion']['groupVersion']}" for group in api.get("/apis")["groups"] if group["name"] not in LEFT_OUT_GROUPS]
    for path in ["/api/v1", *groups]:
        for resource in api.get(path)["resources"]:
            if "list" in resource["verbs"] and resource["name"] not in LEFT_OUT:
                yield f"{path}/{resource['name']}", resource["name"]


def objects(api, known):
    """TYPE NAMESPACE/NAME, and the keys of ConfigMaps and Secrets."""
    found = set()
    for path, resource in resource_types(api):
        for each in api.all(urllib.parse.quote(path)):
            metadata = each["metadata"]
            space = metadata.get("namespace", "")
            if OWN_SPACES.match(space) or (resource == "namespaces" and OWN_SPACES.match(metadata["name"])):
                continue
            held = sorted(map(general, [*each.get("data", {}), *each.get("binaryData", {})])) if resource in ("configmaps", "secrets") else []
            found.add(" ".join([resource, f"{space}/{general_name(metadata, known.get(space, {}))}", *held]))
    return found


def general_name(metadata, revisions_there):
    name, labels = metadata["name"], metadata.get("labels", {})
    if "generateName" in metadata:
        name = metadata["generateName"] + "*"
    if template := labels.get("pod-template-hash"):
        name = name.replace(template, "HASH")
    if version := labels.get("controller-revision-hash"):
        name = name.replace(version, "HASH")
    name = re.sub(r"-(\d+)$", lambda number: "-REVISION" if number[1] in revisions_there else number[0], name)
    return general(name)


def general(text):
    for pattern, instead in DRAWN:
        text = pattern.sub(instead, text)
    return text


def conditions(api):
    found = {}
    for each in api.get("/apis/config.openshift.io/v1/clusteroperators")["items"] + api.get("/apis/config.openshift.io/v1/clusterversions")["items"]:
        for condition in each.get("status", {}).get("conditions", []):
            if condition["type"] in ("Available", "Progressing", "Degraded", "Failing"):
                found[f"{each['metadata']['name']} {condition['type']}"] = condition["status"]
    for node in api.get("/api/v1/nodes")["items"]:
        name = node["metadata"]["name"]
        found[f"{name} Ready"] = next((each["status"] for each in node["status"]["conditions"] if each["type"] == "Ready"), None)
        found[f"{name} labels"] = " ".join(sorted(node["metadata"]["labels"]))
        found[f"{name} annotations"] = " ".join(sorted(node["metadata"]["annotations"]))
        found[f"{name} taints"] = " ".join(sorted(taint["key"] for taint in node["spec"].get("taints", [])))
    for space, kind in OPERANDS.items():
        for node in api.get(f"/apis/operator.openshift.io/v1/{kind}/cluster")["status"]["nodeStatuses"]:
            found[f"{space} {node['nodeName']}"] = "has no revision" if not node.get("currentRevision") else "is on its way" if node.get("targetRevision") else "has its revision"
    return found


def pods(api):
    """The number of pods of each kind, and whether they are healthy."""
    found = {}
    for pod in api.all("/api/v1/pods"):
        space = pod["metadata"]["namespace"]
        if OWN_SPACES.match(space):
            continue
        ready = any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", []))
        name = f"{space}/{general_name(pod['metadata'], {})} {'Ready' if ready else pod['status'].get('phase', '')}"
        found[name] = found.get(name, 0) + 1
    return [f"{count} {name}" for name, count in found.items()]


def files(installation, machine):
    """PATH MODE OWNER of all files in FOLDERS; one entry for all revisions. The name of the cluster is left out."""
    listed = installation.machine(machine, "find", *FOLDERS, "-xdev", "-printf", "%p %y %m %u:%g\\n", check=False).stdout
    listed = listed.replace(f".{installation.name}.", ".CLUSTER.")
    return sorted({re.sub(r"(-pod|-certs|static-pod-resources/[a-z-]+)-\d+\b", r"\1-REVISION", general(line)) for line in listed.splitlines()})
