"""client.py URL FOLDER RATE LIMIT: requests the URL RATE times a second, each time with a new connection. Each request is a line in two
files: in "begun" its start (host_clock.py); in "asked", when it ends, after LIMIT seconds at the latest, also its duration, and the name of
the server or the error."""

import http.client
import ssl
import sys
import threading
import time
import urllib.parse

import host_clock

URL, FOLDER, RATE, LIMIT = urllib.parse.urlsplit(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def ask(begun, log):
    begin = host_clock.now()
    begun.write(f"{begin:.3f}\n")
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


with open(f"{FOLDER}/begun", "w", buffering=1) as begun, open(f"{FOLDER}/asked", "w", buffering=1) as asked:
    due = time.monotonic()
    while True:
        threading.Thread(target=ask, args=(begun, asked), daemon=True).start()
        due += 1 / RATE
        time.sleep(max(0, due - time.monotonic()))
