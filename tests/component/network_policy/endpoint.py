"""A pod or a host of the test, in its own network namespace: echoes on ports of its addresses, and tries connections.

Arguments: a JSON list of addresses and one of ports. A line of JSON on standard input is a list of connections to try: {"source",
"destination", "protocol", "port", "allowed"}. The answer is a line with the list of results, one boolean for each. It waits for the allowed
ones, at most `limit` seconds, and then as long again as the slowest of them took, at least a second, for what must not arrive.
"""
import json
import selectors
import socket
import sys
import threading
import time

LIMIT = 20
LEAST = 1.0


def open_socket(kind, address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family, kind)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return opened


def serve(addresses, ports):
    watcher = selectors.DefaultSelector()
    for address in addresses:
        for port in ports:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                opened = open_socket(kind, address)
                opened.bind((address, port))
                if kind == socket.SOCK_STREAM:
                    opened.listen(64)
                watcher.register(opened, selectors.EVENT_READ, kind)

    def run():
        while True:
            for key, _ in watcher.select():
                if key.data == socket.SOCK_STREAM:
                    key.fileobj.accept()[0].close()
                else:
                    data, peer = key.fileobj.recvfrom(100)
                    key.fileobj.sendto(data, peer)

    threading.Thread(target=run, daemon=True).start()


def attempt(connection):
    """A socket that becomes writable (TCP) or readable (UDP) when the connection works."""
    is_tcp = connection["protocol"] == "TCP"
    opened = open_socket(socket.SOCK_STREAM if is_tcp else socket.SOCK_DGRAM, connection["source"])
    opened.setblocking(False)
    opened.bind((connection["source"], 0))
    error = opened.connect_ex((connection["destination"], connection["port"]))
    assert error in (0, 115), error  # EINPROGRESS
    return opened


def try_all(connections):
    started = time.monotonic()
    sockets = [attempt(each) for each in connections]
    results, last, next_datagrams = [False] * len(sockets), started, started
    while True:
        now = time.monotonic()
        waiting = any(each["allowed"] and not done for each, done in zip(connections, results))
        if now - started > LIMIT or (not waiting and now - started > max(LEAST, 2 * (last - started))):
            break
        watcher = selectors.DefaultSelector()
        for index, (each, opened) in enumerate(zip(connections, sockets)):
            if results[index]:
                continue
            if each["protocol"] == "UDP" and now >= next_datagrams:
                opened.send(b"x")
            watcher.register(opened, selectors.EVENT_WRITE if each["protocol"] == "TCP" else selectors.EVENT_READ, index)
        if now >= next_datagrams:
            next_datagrams = now + 0.3
        for key, _ in watcher.select(0.05):
            error = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            assert error == 0, f"{connections[key.data]}: error {error}"
            results[key.data], last = True, time.monotonic()
        watcher.close()
    for opened in sockets:
        opened.close()
    return results


def main():
    serve(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(try_all(json.loads(line))), flush=True)


main()
