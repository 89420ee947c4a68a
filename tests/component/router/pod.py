"""pod.py ADDRESS NAME [CERTIFICATE]: the server of a pod, on port 8080, and on 8443 with a certificate. Answers its name and the request as
JSON; /long is 40 MB in four seconds; /socket switches to an echo of lines, like a websocket."""

import http.server
import json
import ssl
import sys
import time

ADDRESS, NAME, *CERTIFICATE = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/long":
            self.send_response(200)
            self.send_header("Content-Length", str(40 << 20))
            self.end_headers()
            for _ in range(160):
                self.wfile.write(b"x" * (256 << 10))
                time.sleep(0.025)
        elif self.path == "/socket":
            self.send_response(101)
            self.send_header("Connection", "Upgrade")
            self.send_header("Upgrade", "lines")
            self.end_headers()
            self.close_connection = True
            while line := self.rfile.readline():
                self.wfile.write(line)
        else:
            body = json.dumps({"name": NAME, "path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def finish_request(self, request, client_address):
        if CERTIFICATE:
            request = context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, *_):
        pass


if CERTIFICATE:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE[0])
Server((ADDRESS, 8443 if CERTIFICATE else 8080), Handler).serve_forever()
