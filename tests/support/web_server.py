"""A small web server of a test."""

import contextlib
import dataclasses
import http.server
import ssl
import threading


@dataclasses.dataclass
class Request:
    client: str
    path: str


@contextlib.contextmanager
def web_server(address, port, folder, certificate=None):
    """Serves the files of a folder. certificate: (certificate, key). Yields the list of its requests."""
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *words):
            super().__init__(*words, directory=str(folder))

        def log_message(self, *_):
            requests.append(Request(self.client_address[0], self.path))

    server = http.server.ThreadingHTTPServer((address, port), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield requests
    finally:
        server.shutdown()
        server.server_close()
