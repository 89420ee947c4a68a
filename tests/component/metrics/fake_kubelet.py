"""fake_kubelet.py ADDRESS CERTIFICATE KEY CLIENTS: a kubelet with the metrics of a node whose only pod is shop/web: half a core and a quarter
of a core. CLIENTS: the authority of its clients. Prints the path, the user and the header Authorization of each request."""

import http.server
import ssl
import sys
import time

ADDRESS, CERTIFICATE, KEY, CLIENTS = sys.argv[1:]
BEGIN = time.time() - 3600
POD, CONTAINER = 'namespace="shop",pod="web"', 'container="c",namespace="shop",pod="web"'
MEBI = 2**20


def families():
    """What kubelets of Kubernetes 1.36 report (pkg/kubelet/metrics/collectors/resource_metrics.go): name, type, labels, value. Without a time
    stamp: the last two."""
    used = time.time() - BEGIN
    return [
        ("container_cpu_usage_seconds_total", "counter", CONTAINER, used * 0.25), ("container_memory_working_set_bytes", "gauge", CONTAINER, 64 * MEBI),
        ("container_start_time_seconds", "gauge", CONTAINER, BEGIN), ("container_swap_usage_bytes", "gauge", CONTAINER, 0),
        ("node_cpu_usage_seconds_total", "counter", "", used * 0.5), ("node_memory_working_set_bytes", "gauge", "", 512 * MEBI),
        ("node_swap_usage_bytes", "gauge", "", 0), ("pod_cpu_usage_seconds_total", "counter", POD, used * 0.25),
        ("pod_memory_working_set_bytes", "gauge", POD, 65 * MEBI), ("pod_swap_usage_bytes", "gauge", POD, 0),
        ("resource_scrape_error", "gauge", None, 0), ("scrape_error", "gauge", None, 0)]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as those of kubelets

    def do_GET(self):
        subject = dict(part for parts in self.connection.getpeercert()["subject"] for part in parts)
        print(self.path, subject["commonName"], self.headers.get("Authorization"), flush=True)
        now = int(time.time() * 1000)
        lines = []
        for name, kind, labels, value in families():
            lines += [f"# HELP {name} [STABLE] text", f"# TYPE {name} {kind}", f"{name} {value}" if labels is None else f"{name}{{{labels}}} {value} {now}"]
        text = "".join(f"{line}\n" for line in lines).encode()
        self.send_response(200 if self.path == "/metrics/resource" else 404)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer((ADDRESS, 10250), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
context.load_verify_locations(CLIENTS)
context.verify_mode = ssl.CERT_REQUIRED
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print("ready", flush=True)
server.serve_forever()
