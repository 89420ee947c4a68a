"""A virtual machine of QEMU that boots a disk image: its console, and a shell in it on the second serial line."""

import base64
import contextlib
import functools
import json
import os
import pathlib
import re
import select
import socket
import subprocess
import tempfile

import host_clock

OVMF = pathlib.Path("/usr/share/OVMF")
HOST = "10.0.2.2"
READY = "slipway-test-shell"
# The shell starts before the multi-user target; a failed unit does not keep it away.
SHELL_UNIT = f"""[Unit]
Description=Shell of the test on the second serial line
DefaultDependencies=no
After=sysinit.target

[Service]
ExecStart=/bin/bash -c 'stty -echo raw; echo {READY}; exec bash --norc'
StandardInput=tty-force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS1
TTYReset=yes
Restart=always

[Install]
WantedBy=multi-user.target
"""


def config(*, files=(), units=(), version="3.3.0", **more):
    """An Ignition config with the test's shell. files: (path, content), units: (name, content)."""
    sources = [{"path": path, "mode": 0o755 if content.startswith("#!") else 0o644,
                "contents": {"source": "data:;base64," + base64.b64encode(content.encode()).decode()}} for path, content in files]
    all_units = [("test-shell.service", SHELL_UNIT), *units]
    return {"ignition": {"version": version}, "storage": {"files": sources},
            "systemd": {"units": [{"name": name, "enabled": True, "contents": content} for name, content in all_units]}, **more}


class Line:
    """One serial line: what came out of it, and what goes in."""

    def __init__(self, path):
        self.path, self.text, self.socket = path, "", None
        path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()

    def accept(self, seconds):
        """QEMU connects while it starts."""
        self.listener.settimeout(seconds)
        self.socket, _ = self.listener.accept()
        self.listener.close()

    def take(self):
        """Reads what is there. Returns False at the end of the line, which is the end of QEMU."""
        data = self.socket.recv(65536)
        self.text += data.decode(errors="replace")
        return bool(data)


class VirtualMachine:
    """One run of QEMU, from power on to power off. Reboots of the guest are in the same run."""

    def __init__(self, folder, *devices, firmware="bios", memory=2560):
        self.folder = pathlib.Path(folder)
        self.console, self.shell = Line(self.folder / "console.sock"), Line(self.folder / "shell.sock")
        accelerator = "kvm" if usable_kvm() else "tcg,thread=multi"
        command = ["qemu-system-x86_64", "-machine", "q35", "-accel", accelerator, "-cpu", "max", "-smp", "2", "-m", str(memory), "-display", "none",
                   "-monitor", "none", "-device", "virtio-rng-pci"]
        if firmware == "uefi":
            variables = self.folder / "OVMF_VARS.fd"
            if not variables.exists():
                variables.write_bytes((OVMF / "OVMF_VARS.fd").read_bytes())
            command += ["-drive", f"if=pflash,format=raw,readonly=on,file={OVMF / 'OVMF_CODE.fd'}", "-drive", f"if=pflash,format=raw,file={variables}"]
        for line, name in ((self.console, "console"), (self.shell, "shell")):
            command += ["-chardev", f"socket,id={name},path={line.path},logfile={self.folder / name}.log,logappend=on", "-serial", f"chardev:{name}"]
        self.started = host_clock.now()
        self.process = subprocess.Popen([*command, *devices], stderr=(self.folder / "qemu.log").open("w"))
        for line in (self.console, self.shell):
            try:
                line.accept(30)
            except TimeoutError:
                self.process.kill()
                raise AssertionError(f"QEMU did not start:\n{(self.folder / 'qemu.log').read_text()}") from None

    def seconds(self):
        return host_clock.now() - self.started

    def take(self, seconds):
        """Reads what the machine writes, or waits until it writes something: a machine stops when nobody reads its lines. False when QEMU has ended."""
        ready, _, _ = select.select([self.console.socket, self.shell.socket], [], [], max(0, seconds))
        return all([line.take() for line in (self.console, self.shell) if line.socket in ready])

    def wait(self, pattern, seconds, line=None):
        """Waits until the line (the console) shows the pattern. Returns the match, and forgets the text before its end."""
        line = line or self.console
        end = host_clock.now() + seconds
        while not (match := re.search(pattern, line.text)):
            assert host_clock.now() < end, f"no {pattern!r} within {seconds} s; the console ends with:\n{self.console.text[-3000:]}"
            assert self.take(end - host_clock.now()), f"QEMU ended before {pattern!r}:\n{(self.folder / 'qemu.log').read_text()}\n{self.console.text[-3000:]}"
        line.text = line.text[match.end():]
        return match

    def wait_for_shell(self, seconds=300):
        self.wait(READY, seconds, self.shell)

    def run(self, script, seconds=120, check=True):
        """Runs a script of bash in the machine, as root. Returns its output."""
        encoded = base64.b64encode(script.encode()).decode()
        for start in range(0, len(encoded), 1000):
            self.shell.socket.sendall(f"printf %s {encoded[start:start + 1000]} >>/run/test-script.base64\n".encode())
        self.shell.socket.sendall(b"base64 -d /run/test-script.base64 >/run/test-script; rm /run/test-script.base64; "
                                  b"bash /run/test-script >/run/test-output 2>&1 </dev/null; echo \"<$? $(base64 -w0 /run/test-output)>\"\n")
        found = self.wait(r"<(\d+) ([A-Za-z0-9+/=]*)>", seconds, self.shell)
        output = base64.b64decode(found[2]).decode(errors="replace").strip()
        assert not check or found[1] == "0", f"{script}: exit status {found[1]}: {output}"
        return output

    def settled(self, seconds=240):
        """Waits until the machine has started. Returns "running", or what is wrong with it."""
        self.wait_for_shell(seconds)
        state = self.run("systemctl is-system-running --wait", seconds, check=False)
        return state if state == "running" else state + "\n" + self.run("systemctl --failed --no-legend --plain; journalctl -b -p err --no-pager")

    def power_off(self, seconds=120):
        self.shell.socket.sendall(b"systemctl poweroff\n")
        self.wait_for_end(seconds)

    def wait_for_end(self, seconds):
        end = host_clock.now() + seconds
        while self.take(end - host_clock.now()):
            assert host_clock.now() < end, f"QEMU did not end within {seconds} s; the console ends with:\n{self.console.text[-3000:]}"
        self.process.wait(10)

    def close(self):
        for line in (self.console, self.shell):
            line.socket.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


# A boot sector that writes 1 to the device that ends QEMU: mov dx, 0x501; mov al, 1; out dx, al; hlt.
BOOT_SECTOR = b"\xba\x01\x05\xb0\x01\xee\xf4".ljust(510, b"\0") + b"\x55\xaa"


@functools.cache
def usable_kvm():
    """/dev/kvm may exist and not work, so this boots a sector with it."""
    if not os.access("/dev/kvm", os.W_OK):
        return False
    with tempfile.NamedTemporaryFile() as disk:
        disk.write(BOOT_SECTOR)
        disk.flush()
        command = ["qemu-system-x86_64", "-machine", "q35", "-accel", "kvm", "-cpu", "max", "-display", "none", "-monitor", "none", "-nodefaults",
                   "-device", "isa-debug-exit", *drive(disk.name)]
        try:
            return subprocess.run(command, capture_output=True, timeout=20).returncode == 3
        except subprocess.TimeoutExpired:
            return False


def drive(path, kind="raw", interface="virtio"):
    return ["-drive", f"file={path},format={kind},if={interface}"]


def fw_cfg(path):
    return ["-fw_cfg", f"name=opt/com.coreos/config,file={path}"]


def network():
    """DHCP. HOST is the loopback address of the test's network namespace (conftest.py), which has no other network."""
    return ["-nic", "user,model=virtio-net-pci"]


def write(path, content):
    path.write_text(json.dumps(content))
    return path


@contextlib.contextmanager
def machine(folder, *devices, **options):
    running = VirtualMachine(folder, *(word for device in devices for word in device), **options)
    try:
        yield running
    finally:
        running.close()
