"""The Kubernetes API through a kubeconfig, with a new connection for each call.

    api = Api("assets/auth/kubeconfig")
    status, object = api.call("GET", "/api/v1/nodes")
    api.get("/api/v1/nodes")["items"]

A try ends after `timeout` seconds. `ask` tries once; the other functions try again when a busy server asks for it (429 with Retry-After:
storage of a type that has just changed), like every client. Threads: any.
"""

import base64
import copy
import http.client
import json
import pathlib
import socket
import ssl
import tempfile
import time
import urllib.parse

import yaml

# All errors of a connection.
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Api:
    def __init__(self, kubeconfig, timeout=5.0):
        self.timeout, self.headers = timeout, {}
        config = yaml.safe_load(pathlib.Path(kubeconfig).read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        server = urllib.parse.urlsplit(cluster["server"])
        self.address = server.hostname, server.port or 443
        self.name = cluster.get("tls-server-name", server.hostname)
        self.authorities = content_of(cluster, "certificate-authority").decode()
        self.tls = ssl.create_default_context(cadata=self.authorities)
        with tempfile.NamedTemporaryFile() as pair:  # mode 0600; Python reads client certificates from files only
            pair.write(content_of(user, "client-certificate") + b"\n" + content_of(user, "client-key"))
            pair.flush()
            self.tls.load_cert_chain(pair.name)

    def with_credential(self, token=None, pem=None):
        """The same server with a bearer token, or with a certificate and its key in one PEM text."""
        other = copy.copy(self)
        other.headers = {"Authorization": f"Bearer {token}"} if token else {}
        other.tls = ssl.create_default_context(cadata=self.authorities)
        if pem:
            with tempfile.NamedTemporaryFile() as pair:
                pair.write(pem.encode())
                pair.flush()
                other.tls.load_cert_chain(pair.name)
        return other

    def call(self, method, path, body=None, kind="application/json"):
        """(status, JSON of the answer). Raises the exceptions of BROKEN."""
        for _ in range(10):
            status, answer, headers = self.ask(method, path, body, kind)
            if status != 429 or "Retry-After" not in headers:
                break
            time.sleep(float(headers["Retry-After"]))
        return status, answer

    def ask(self, method, path, body=None, kind="application/json"):
        """(status, JSON of the answer, its headers) of one try. Raises the exceptions of BROKEN."""
        with self.connect() as connection:
            text = None if body is None else json.dumps(body)
            client = http.client.HTTPConnection(self.name)
            client.sock = connection
            client.request(method, path, text, {"Content-Type": kind, "Accept": "application/json", "Connection": "close", **self.headers})
            answer = client.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers

    def connect(self):
        end = time.monotonic() + self.timeout
        plain = socket.create_connection(self.address, self.timeout)
        try:
            plain.settimeout(max(0.001, end - time.monotonic()))
            connection = self.tls.wrap_socket(plain, server_hostname=self.name)
        except BaseException:
            plain.close()
            raise
        connection.settimeout(max(0.001, end - time.monotonic()))
        return connection

    def get(self, path):
        return self.expect("GET", path)

    def patch(self, path, body):
        return self.expect("PATCH", path, body, "application/merge-patch+json")

    def expect(self, method, path, body=None, kind="application/json"):
        status, answer = self.call(method, path, body, kind)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer.get('message')}"
        return answer

    def all(self, path, page=500):
        """All objects of a list, page by page."""
        items, more = [], ""
        while True:
            answer = self.get(f"{path}?limit={page}{more}")
            items += answer["items"]
            token = answer["metadata"].get("continue")
            if not token:
                return items
            more = "&continue=" + urllib.parse.quote(token)

    def certificate(self):
        """The serving certificate of the server, DER."""
        with self.connect() as connection:
            return connection.getpeercert(binary_form=True)


def content_of(entry, member):
    """The value of a kubeconfig field that is either text or a file name."""
    if f"{member}-data" in entry:
        return base64.b64decode(entry[f"{member}-data"])
    return pathlib.Path(entry[member]).read_bytes()
