"""A network of the host that is a namespace of the test: an address, a name of it, and an authority that the host trusts."""

import contextlib
import ctypes
import os
import pathlib
import subprocess

CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000
ADDRESS, HOST, METADATA = "192.0.2.1", "registry.example.com", "169.254.169.254"


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **{"timeout": 240} | options)
    assert not check or done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def enter(folder):
    """This process gets the network, for the rest of its life. `folder` gets server.crt and server.key, the certificate of HOST."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS | CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    run("mount", "--make-rprivate", "/")
    run("ip", "-batch", "-", input=f"link set lo up\naddress add {METADATA}/32 dev lo\nlink add uplink type bridge\n"
        f"address add {ADDRESS}/24 dev uplink\nlink set uplink up\nroute add default via 192.0.2.254\n")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext",
        f"subjectAltName=DNS:{HOST},DNS:localhost,IP:127.0.0.1", "-keyout", folder / "server.key", "-out", folder / "server.crt")
    files = {"/etc/hosts": f"127.0.0.1 localhost\n{ADDRESS} {HOST}\n", "/etc/resolv.conf": f"nameserver {ADDRESS}\n",
             "/etc/ssl/certs/ca-certificates.crt": (folder / "server.crt").read_text()}
    for path, text in files.items():
        own = folder / pathlib.Path(path).name
        own.write_text(text)
        run("mount", "--bind", own, path)


@contextlib.contextmanager
def name_server(*names):
    """The name server of this network, which knows these names of ADDRESS. Machines with a way out ask it: /etc/hosts is for this host only."""
    command = ["dnsmasq", "--conf-file=/dev/null", "--keep-in-foreground", "--pid-file=", "--user=root", "--bind-interfaces", "--no-resolv", "--no-hosts",
               f"--listen-address={ADDRESS}", *(f"--address=/{name}/{ADDRESS}" for name in names)]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
