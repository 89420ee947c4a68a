"""fake_router.py NAME FILE: a router as far as the address needs it: port 80 answers the name, port 1936 whether it is ready; it is ready
while FILE does not exist."""

import http.server
import pathlib
import sys
import threading

NAME, FILE = sys.argv[1], pathlib.Path(sys.argv[2])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_probe = self.server.server_port == 1936
        assert not is_probe or self.path == "/healthz/ready", self.path
        body = b"" if is_probe else NAME.encode()
        self.send_response(503 if is_probe and FILE.exists() else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


for port in (80, 1936):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), Handler)
    threading.Thread(target=server.serve_forever).start()
