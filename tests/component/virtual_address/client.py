"""client.py URL FILE RATE LIMIT: requests the URL RATE times a second, each time with a new connection. Writes one line for each request when
it ends, after LIMIT seconds at the latest: start (host_clock.py), duration, and the name of the server or the error."""

import http.client
import ssl
import sys
import threading
import time
import urllib.parse

import host_clock

URL, FILE, RATE, LIMIT = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def ask(log):
    begin = host_clock.now()
    try:
        if URL.scheme == "https":
            connection = http.client.HTTPSConnection(URL.hostname, URL.port, timeout=LIMIT, context=context)
        else:
            connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=LIMIT)
        connection.request("GET", URL.path)
        said = connection.getresponse().read().decode()
        connection.close()
    except (OSError, http.client.HTTPException) as failure:
        said = f"error {type(failure).__name__} {failure}".replace("\n", " ")
    log.write(f"{begin:.3f} {host_clock.now() - begin:.3f} {said}\n")


with open(FILE, "w", buffering=1) as log:
    due = time.monotonic()
    while True:
        threading.Thread(target=ask, args=(log,), daemon=True).start()
        due += 1 / RATE
        time.sleep(max(0, due - time.monotonic()))
