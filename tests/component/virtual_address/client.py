"""client.py URL FILE: requests the server's name twenty times a second, each time with a new connection. Writes one line for each request:
start, duration, and the name or the error."""

import http.client
import ssl
import sys
import threading
import time
import urllib.parse

URL, FILE = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2]
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def ask(log):
    begin = time.time()
    try:
        if URL.scheme == "https":
            connection = http.client.HTTPSConnection(URL.hostname, URL.port, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=10)
        connection.request("GET", URL.path)
        said = connection.getresponse().read().decode()
        connection.close()
    except OSError as failure:
        said = f"error {type(failure).__name__} {failure}".replace("\n", " ")
    log.write(f"{begin:.3f} {time.time() - begin:.3f} {said}\n")


with open(FILE, "w", buffering=1) as log:
    due = time.monotonic()
    while True:
        threading.Thread(target=ask, args=(log,), daemon=True).start()
        due += 0.05
        time.sleep(max(0, due - time.monotonic()))
