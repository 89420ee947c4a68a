"""A switch between the network interfaces of a virtual machine and the test, which has no VLANs in its kernel: frames of one VLAN come out
at a TAP device without their tag, and go in with it. Other frames are dropped."""

import contextlib
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
TAGGED = b"\x81\x00"


class Port:
    """One interface of the machine: QEMU connects, and each frame has its length before it."""

    def __init__(self, path):
        self.path, self.buffer, self.frames = path, b"", 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.connection = None

    def options(self, name, slot):
        """The interface has the name enp0sSLOT."""
        return ["-netdev", f"stream,id={name},server=off,addr.type=unix,addr.path={self.path}", "-device", f"virtio-net-pci,netdev={name},addr={slot:#x}"]

    def receive(self):
        """The frames that have come completely."""
        self.buffer += self.connection.recv(1 << 16)
        while len(self.buffer) >= 4 and len(self.buffer) >= 4 + (size := struct.unpack("!I", self.buffer[:4])[0]):
            frame, self.buffer = self.buffer[4:4 + size], self.buffer[4 + size:]
            yield frame

    def send(self, frame):
        self.connection.sendall(struct.pack("!I", len(frame)) + frame)


def forward(ports, tap, tag, end):
    last = ports[0]  # where the machine was heard last: a bond receives on one of its interfaces
    waiting = {port.listener: port for port in ports}
    open_ports = {}
    while True:
        ready, _, _ = select.select([tap, end, *waiting, *open_ports], [], [])
        if end in ready:
            return
        for source in ready:
            if source in waiting:
                port = waiting.pop(source)
                port.connection = source.accept()[0]
                open_ports[port.connection] = port
            elif source == tap:
                frame = os.read(tap, 1 << 16)
                if last.connection:
                    with contextlib.suppress(OSError):
                        last.send(frame[:12] + TAGGED + tag + frame[12:])
            elif port := open_ports.get(source):
                frames = list(port.receive())
                if not frames:
                    continue
                for frame in frames:
                    if frame[12:16] == TAGGED + tag:
                        last, port.frames = port, port.frames + 1
                        os.write(tap, frame[:12] + frame[16:])


@contextlib.contextmanager
def vlan_switch(folder, number, address, ports=2):
    """Yields the ports. The test has the address ("192.0.2.1/24") in the VLAN."""
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", b"vlan", IFF_TAP | IFF_NO_PI))
    subprocess.run(["ip", "address", "add", address, "dev", "vlan"], check=True)
    subprocess.run(["ip", "link", "set", "vlan", "up"], check=True)
    made = [Port(folder / f"port-{i}.sock") for i in range(ports)]
    end, ending = os.pipe()
    thread = threading.Thread(target=forward, args=(made, tap, struct.pack("!H", number), end), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        os.close(ending)
        thread.join()
        os.close(end)
        os.close(tap)
