"""The registry of the release, or of other images, for machines that pull from it."""

import contextlib
import os
import pathlib
import subprocess
import threading

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
CONFIG = """version: 0.1
log: {{level: info, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: '{storage}'}}, maintenance: {{readonly: {{enabled: {readonly}}}, uploadpurging: {{enabled: false}}}}}}
http: {{addr: '{address}'{tls}}}
{auth}"""


@contextlib.contextmanager
def release_registry(folder, address, tls=None, login=None, command=lambda argv: argv, storage=BUILD / "payload/registry", takes_pushes=False):
    """address: "127.0.0.1:0". tls: (certificate, key). login: (user, password), without which it answers nothing. command: turns a command line into the one that runs it elsewhere, for instance in
    another network namespace. storage: of the registry. Yields the port."""
    auth = ""
    if login:
        (folder / "logins").write_text(subprocess.run(["htpasswd", "-Bbn", *login], check=True, capture_output=True, text=True).stdout)
        auth = f"auth: {{htpasswd: {{realm: release, path: '{folder / 'logins'}'}}}}\n"
    (folder / "registry.yaml").write_text(CONFIG.format(
        storage=storage, address=address, readonly=str(not takes_pushes).lower(), tls=", tls: {{certificate: '{}', key: '{}'}}".format(*tls) if tls else "", auth=auth))
    process = subprocess.Popen(command([BUILD / "payload/bin/registry", "serve", folder / "registry.yaml"]), stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in process.stderr if "listening on" in line)
        threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would block it
        yield line.split("listening on ")[1].split('"')[0].split(",")[0].rsplit(":", 1)[1]
    finally:
        process.terminate()
        process.wait()
