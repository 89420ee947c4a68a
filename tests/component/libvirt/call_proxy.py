"""Stands between a program and libvirtd: counts the calls of the program, and can stop after one of them.

A message of libvirt's protocol begins with its length, program, version, procedure, type, serial number and status, each in four bytes
(https://libvirt.org/kbase/internals/rpc.html)."""

import pathlib
import socket
import struct
import threading

CALL = 0
REPLY = 1


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            return None
        data += piece
    return data


def read_message(connection):
    """Returns the message and its type, or None at the end of the connection."""
    head = read_exactly(connection, 4)
    if head is None:
        return None
    rest = read_exactly(connection, struct.unpack(">I", head)[0] - 4)
    return None if rest is None else (head + rest, struct.unpack(">I", rest[12:16])[0])


class CallProxy:
    """after_call(number) is called when the daemon has answered a call, before the program gets the answer. If it returns False, the program
    gets nothing any more."""

    def __init__(self, host, folder, after_call):
        self.daemon = pathlib.Path(f"/proc/{host.pid}/root/run/libvirt/libvirt-sock")
        self.path = pathlib.Path(folder) / "calls.sock"
        self.uri = f"qemu+unix:///system?socket={self.path}"
        self.after_call, self.calls, self.lock = after_call, 0, threading.Lock()
        self.path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                program, _ = self.listener.accept()
            except OSError:
                return  # closed
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(str(self.daemon))
            threading.Thread(target=self.forward, args=(program, daemon, CALL), daemon=True).start()
            threading.Thread(target=self.forward, args=(daemon, program, REPLY), daemon=True).start()

    def forward(self, source, target, kind):
        try:
            while message := read_message(source):
                data, found = message
                if kind == REPLY and found == REPLY:
                    with self.lock:
                        self.calls += 1
                        number = self.calls
                    if not self.after_call(number):
                        break
                target.sendall(data)
        except OSError:
            pass
        finally:
            for connection in (source, target):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.listener.close()
