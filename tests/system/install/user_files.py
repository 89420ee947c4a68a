"""Changes of the user before the cluster is created."""

import base64
import gzip
import json
import uuid

HELLO = "from the user's MachineConfig\n"
LICENSE = f"license = {uuid.uuid4().hex}\n"
PASSWORD = uuid.uuid4().hex
PULL_SECRET = json.dumps({"auths": {"registry.example.com": {"auth": base64.b64encode(f"pull:{PASSWORD}".encode()).decode()}}})
USER_FILES = {
    "openshift/99-hello.yaml": f"""apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {{name: 99-master-hello, labels: {{machineconfiguration.openshift.io/role: master}}}}
spec:
  config:
    ignition: {{version: 3.2.0}}
    storage: {{files: [{{path: /etc/hello, mode: 420, contents: {{source: "data:;base64,{base64.b64encode(HELLO.encode()).decode()}"}}}}]}}
""",
    "openshift/99-license.yaml": f"""apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {{name: 99-master-license, labels: {{machineconfiguration.openshift.io/role: master}}}}
spec:
  config:
    ignition: {{version: 3.2.0}}
    storage:
      files:
      - path: /etc/license
        mode: 384
        contents: {{compression: gzip, source: "data:;base64,{base64.b64encode(gzip.compress(LICENSE.encode())).decode()}"}}
""",
    # An object of an unknown type, in a file before that of its type.
    "manifests/00-widget.yaml": """apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 3}
""",
    "manifests/99-widgets.yaml": """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""",
}
# Without its operator no API server runs on a master, so there is no handover.
HELD_BACK = {"kind": "Deployment", "group": "apps", "namespace": "openshift-kube-apiserver-operator", "name": "kube-apiserver-operator", "unmanaged": True}
