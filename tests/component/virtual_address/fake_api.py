"""fake_api.py NAME CERTIFICATE NODES: an API server as far as the proxies need it: /readyz, and the list of Nodes with a watch without
events. /name answers the name, /slow the same after 0.1 to 0.3 s. Listens like kube-apiserver with --permit-port-sharing. After SIGUSR1 it
is not ready but keeps answering, like kube-apiserver during --shutdown-delay-duration."""

import http.server
import json
import pathlib
import random
import signal
import socket
import ssl
import sys
import threading
import time

NAME, CERTIFICATE, NODES = sys.argv[1:]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()

    def finish_request(self, request, client_address):
        # In the thread of the connection: an idle client must not block the others.
        request = context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # a port probe closes the connection during the handshake


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if "watch=true" in query:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            threading.Event().wait()
        if path == "/slow":
            time.sleep(random.uniform(0.1, 0.3))
        known = {"/readyz": b"ok", "/name": NAME.encode(), "/slow": NAME.encode(), "/api/v1/nodes": pathlib.Path(NODES).read_bytes()}
        body = known.get(path)
        self.send_response(500 if path == "/readyz" and about_to_end.is_set() else 200 if body is not None else 404)
        body = body or json.dumps({"kind": "Status"}).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


about_to_end = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: about_to_end.set())
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE)
Server(("0.0.0.0", 6443), Handler).serve_forever()
