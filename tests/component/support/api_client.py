"""A client of an API server: what kubectl does for get, apply and patch, without a process for each call.

    client = ApiClient("https://127.0.0.1:6443", ca, certificate, key)
    client.get("pods", "-n", "shop")["items"]
"""

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from typing import NamedTuple

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
NEW_TYPE = 5  # seconds in which the server lists a type whose definition it has established
GONE = 60  # seconds
BUSY = 30  # seconds in which a server may ask to be asked again: the storage of a new type is "(re)initializing"


class Refused(AssertionError):
    """An answer of 400 or more; the text is that of kubectl."""

    def __init__(self, status, body):
        try:
            reason, message = json.loads(body).get("reason", ""), json.loads(body).get("message", "")
        except ValueError:
            reason, message = str(status), body.decode(errors="replace")
        super().__init__(f"Error from server ({reason}): {message}")
        self.status = status


class Resource(NamedTuple):
    group: str
    version: str
    kind: str
    plural: str
    names: frozenset  # that a command line may use
    is_namespaced: bool

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace=None, name=None):
        """namespace: None for all namespaces, and for resources without namespaces."""
        start = f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"
        space = f"/namespaces/{namespace}" if self.is_namespaced and namespace else ""
        return f"{start}{space}/{self.plural}" + (f"/{urllib.parse.quote(name)}" if name else "")


class ApiClient:
    """Calls block and may come from several threads. A call that fails raises AssertionError, as does a server that does not answer."""

    def __init__(self, server, ca, certificate, key):
        self.address, self.context = urllib.parse.urlsplit(server).netloc, ssl.create_default_context(cafile=ca)
        self.context.load_cert_chain(certificate, key)
        self.own, self.resources = threading.local(), []

    def request(self, method, path, body=None, kind="application/json", accept="application/json"):
        """The document of the answer."""
        content, deadline = None if body is None else json.dumps(body).encode(), time.monotonic() + BUSY
        while True:
            connection = getattr(self.own, "connection", None)
            is_new = connection is None
            if is_new:
                connection = self.own.connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=10)
            try:
                connection.request(method, path, content, {"Accept": accept, "Content-Type": kind})
                answer = connection.getresponse()
                data = answer.read()
                if answer.status != 429 or time.monotonic() > deadline:
                    break
                time.sleep(0.2)
            except (OSError, http.client.HTTPException) as failure:
                connection.close()
                self.own.connection = None
                # The server has closed the connection meanwhile, or it has ended.
                if is_new or method == "POST":
                    raise AssertionError(f"{method} {path}: {failure!r}") from failure
        if answer.status >= 400:
            raise Refused(answer.status, data)
        return json.loads(data)

    # ---- types -------------------------------------------------------------------------------------------------------

    def _discover(self):
        self.resources = [
            Resource(group["metadata"].get("name", ""), version["version"], each["responseKind"]["kind"], each["resource"],
                     frozenset([each["resource"], each.get("singularResource", ""), each["responseKind"]["kind"].lower(), *each.get("shortNames", [])]),
                     each["scope"] == "Namespaced")
            for root in ("/api", "/apis") for group in self.request("GET", root, accept=DISCOVERY)["items"]
            for version in group.get("versions", []) for each in version.get("resources", []) if each.get("responseKind")]

    def _find(self, what, is_it):
        deadline = time.monotonic() + NEW_TYPE
        while True:
            found = next(filter(is_it, self.resources), None)
            if found:
                return found
            assert time.monotonic() < deadline, f"the server doesn't have a resource type {what}"
            self._discover()

    def resource(self, name):
        """name: as for kubectl: "pods", "pod", "po", "etcds.operator.openshift.io"."""
        short, _, group = name.lower().partition(".")
        return self._find(name, lambda each: short in each.names and (not group or group == each.group))

    def resource_of(self, api_version, kind):
        return self._find(f"{kind} of {api_version}", lambda each: (each.api_version, each.kind) == (api_version, kind))

    # ---- objects -----------------------------------------------------------------------------------------------------

    def get(self, kind, *words):
        """The object, None if it does not exist, or the list. words: those of kubectl: a name, -n NAMESPACE, -A, -l SELECTOR."""
        words, names, space, query = list(words), [], "default", ""
        while words:
            word = words.pop(0)
            if word == "-n":
                space = words.pop(0)
            elif word == "-A":
                space = None
            elif word == "-l":
                query = "?labelSelector=" + urllib.parse.quote(words.pop(0))
            else:
                assert not word.startswith("-"), word
                names.append(word)
        assert len(names) <= 1, names
        try:
            found = self.request("GET", self.resource(kind).path(space, *names) + query)
        except Refused as refused:
            if refused.status == 404 and names:
                return None
            raise
        for item in [] if names else found["items"]:
            # The server leaves them out of lists of its own types.
            item.update(apiVersion=found["apiVersion"], kind=found["kind"].removesuffix("List"))
        return found

    def apply(self, *objects):
        """Server-side apply; conflicts are overwritten. All objects are tried."""
        failures = []
        for each in objects:
            if each["kind"] == "List":
                self.apply(*each["items"])
                continue
            metadata = each["metadata"]
            resource = self.resource_of(each["apiVersion"], each["kind"])
            path = resource.path(metadata.get("namespace", "default"), metadata["name"])
            try:
                self.request("PATCH", f"{path}?fieldManager=kubectl&force=true&fieldValidation=Strict", each, "application/apply-patch+yaml")
            except Refused as refused:
                failures.append(f"{each['kind']} {metadata['name']}: {refused}")
        assert not failures, "\n".join(failures)

    def patch(self, kind, name, patch, namespace="default", subresource=None):
        """Merges the patch into the object, or into its subresource, for example "status"."""
        path = self.resource(kind).path(namespace, name) + (f"/{subresource}" if subresource else "")
        self.request("PATCH", path + "?fieldManager=kubectl-patch", patch, "application/merge-patch+json")

    def delete(self, kind, name, namespace="default"):
        """Returns when the object is gone."""
        path = self.resource(kind).path(namespace, name)
        self.request("DELETE", path)
        deadline = time.monotonic() + GONE
        while self.get(kind, name, "-n", namespace):
            assert time.monotonic() < deadline, f"{path}: not gone after {GONE} s"
            time.sleep(0.02)
