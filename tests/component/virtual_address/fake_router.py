"""fake_router.py NAME FILE: a router as far as the address needs it: port 80 answers the name, for /slow after 0.1 to 0.3 s,
port 1936 whether it is ready; it is ready while FILE does not exist."""

import http.server
import pathlib
import random
import sys
import threading
import time

NAME, FILE = sys.argv[1], pathlib.Path(sys.argv[2])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_probe = self.server.server_port == 1936
        assert not is_probe or self.path == "/healthz/ready", self.path
        if self.path == "/slow":
            time.sleep(random.uniform(0.1, 0.3))
        body = b"" if is_probe else NAME.encode()
        self.send_response(503 if is_probe and FILE.exists() else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128


for port in (80, 1936):
    server = Server(("0.0.0.0", port), Handler)
    threading.Thread(target=server.serve_forever).start()
