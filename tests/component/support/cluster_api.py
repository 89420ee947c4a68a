"""The API of a cluster whose machines do not run: a real API server, and nodes that join as soon as the machine table names them."""

import base64
import json
import threading

TABLE = ("openshift-config", "machine-addresses")


class Nodes:
    """Plays the kubelets of machines. Ends with the context."""

    def __init__(self, plane):
        self.plane, self.stop, self.known = plane, threading.Event(), set()
        self.thread = threading.Thread(target=self.join_all, daemon=True)

    def __enter__(self):
        namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("openshift-config", "openshift-machine-api")]
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "openshift-machine-api", "name": "worker-user-data"},
                  "data": {"userData": base64.b64encode(b'{"ignition":{"version":"3.3.0"}}').decode()}}
        self.plane.apply(*namespaces)
        self.plane.apply(secret)
        self.put("master-0", "master")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(60)

    def put(self, name, role):
        self.known.add(name)
        self.plane.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {f"node-role.kubernetes.io/{role}": ""}}})
        self.plane.patch("node", name, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")

    def rows(self):
        table = self.plane.get("configmap", "-n", TABLE[0], TABLE[1])
        return json.dumps(table["data"]) if table else ""

    def join_all(self):
        while not self.stop.wait(0.3):
            text = self.rows()
            for name in (f"worker-{i}" for i in range(8)):
                if name in text and name not in self.known:
                    self.put(name, "worker")
                if name not in text:
                    self.known.discard(name)
