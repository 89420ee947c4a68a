"""OS images of a test: layers of its own on top of the machine-os image of the release, and its image of extensions."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
RELEASE, PAYLOAD = BUILD / "release", BUILD / "payload"
REPOSITORY = "registry.example.com/team/os"
ON_MACHINE = "/var/lib/images"
CONFIG = f"""version: 0.1
log: {{accesslog: {{disabled: false}}}}
storage: {{filesystem: {{rootdirectory: {ON_MACHINE}/storage}}, maintenance: {{readonly: {{enabled: true}}, uploadpurging: {{enabled: false}}}}}}
http: {{addr: '127.0.0.1:5000'}}
"""


def is_last_layer_only(messages):
    """Whether the machine had all layers of an image but its last one."""
    fetched = re.findall(r"layer (\d+) of (\d+)", messages)
    return len(fetched) == 1 and fetched[0][0] == fetched[0][1]


def hosts(address):
    """hosts.toml of the machine for registry.example.com."""
    return f'server = "https://registry.example.com"\n[host."http://{address}"]\n  capabilities = ["pull", "resolve"]\n'


def want(current, wanted):
    """The script that gives a machine its config and the next one, each (name, image, kernel arguments, content of /etc/motd) and
    perhaps more of its spec."""
    script = "mkdir -p /etc/machine-config-daemon\n"
    for file, (name, image, arguments, motd, *more) in (("currentconfig", current), ("nextconfig", wanted)):
        spec = {"osImageURL": image, "kernelArguments": list(arguments), "config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [
            {"path": "/etc/motd", "mode": 0o644, "overwrite": True, "contents": {"source": "data:," + motd}}]}}} | dict(*more)
        text = json.dumps({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": name}, "spec": spec})
        script += f"cat > /etc/machine-config-daemon/{file} <<'END'\n{text}\nEND\n"
    return script


# A unit that fails, as a kubelet may.
BROKEN = {"usr/lib/systemd/system/kubelet-stand-in.service": "[Service]\nExecStart=/bin/false\n",
          "usr/lib/systemd/system/multi-user.target.wants/kubelet-stand-in.service": {"type": b"2", "linkname": "../kubelet-stand-in.service"}}


def limit_of_trial(seconds):
    """The script that shortens the trial of the next deployment. By default, systemd may start a timer a minute late."""
    folder = "/etc/systemd/system/slipway-os-limit.timer.d"
    return f"mkdir -p {folder} && printf '[Timer]\\nOnBootSec=\\nOnBootSec={seconds}\\nAccuracySec=100ms\\n' > {folder}/10-test.conf\n"


@contextlib.contextmanager
def new_layout():
    # Its large files are hard links to those of the release.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-os-images-", dir=os.environ.get("SLIPWAY_TEST_DISK", "/var/tmp")))
    try:
        yield Layout(folder)
    finally:
        shutil.rmtree(folder)


def layer(files):
    """Content by path; None: the file of the layer below goes; a dictionary: members of the TarInfo."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, content in files.items():
            folder, _, name = path.rpartition("/")
            entry = tarfile.TarInfo(f"{folder}/.wh.{name}" if content is None else path)
            data = b""
            if isinstance(content, dict):
                for key, value in content.items():
                    setattr(entry, key, value)
            elif content is not None:
                data, entry.mode = content.encode(), 0o644
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return archive.getvalue()


class Layout:
    """An OCI image layout that begins with the machine-os image."""

    def __init__(self, folder):
        self.folder, self.index = folder, {"schemaVersion": 2, "manifests": []}
        (folder / "blobs/sha256").mkdir(parents=True)
        self.base, self.manifest, self.config = self.take("machine-os")

    def take(self, name):
        """Adds an image of the release. Returns its digest, manifest and config."""
        entries = json.loads((RELEASE / "index.json").read_text())["manifests"]
        found = next(entry for entry in entries if entry["annotations"]["org.opencontainers.image.ref.name"] == name)
        manifest = json.loads(self.link(found["digest"]))
        config = json.loads(self.link(manifest["config"]["digest"]))
        for each in manifest["layers"]:
            self.link(each["digest"], read=False)
        self.put(found, name)
        return found["digest"], manifest, config

    def link(self, digest, read=True):
        path = "blobs/" + digest.replace(":", "/")
        os.link(RELEASE / path, self.folder / path)
        return (self.folder / path).read_text() if read else None

    def put(self, descriptor, name):
        kept = {key: descriptor[key] for key in ("mediaType", "digest", "size")}
        self.index["manifests"].append(kept | {"annotations": {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": f"{REPOSITORY}:{name}"}})

    def blob(self, content, kind):
        digest = hashlib.sha256(content).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def add(self, name, *layers, config=None):
        """An image with more layers. Returns its reference."""
        manifest, described = json.loads(json.dumps(self.manifest)), json.loads(json.dumps(self.config | (config or {})))
        for content in layers:
            manifest["layers"].append(self.blob(gzip.compress(content, mtime=0), "layer.v1.tar+gzip"))
            described["rootfs"]["diff_ids"].append("sha256:" + hashlib.sha256(content).hexdigest())
        manifest["config"] = self.blob(json.dumps(described).encode(), "config.v1+json")
        entry = self.blob(json.dumps(manifest).encode(), "manifest.v1+json")
        self.put(entry, name)
        return f"{REPOSITORY}@{entry['digest']}"

    def write(self):
        """Makes the folder a layout for skopeo and others. Returns it."""
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        (self.folder / "index.json").write_text(json.dumps(self.index))
        return self.folder

    def write_storage(self, folder):
        """Makes the storage of a registry, on the same file system."""
        subprocess.run([PAYLOAD / "bin/slipway-images", "registry", "--layout", self.write(), "--output", folder], check=True, capture_output=True)
        return folder

    def serve(self, cluster, machine):
        """Starts a registry with all images on the machine, for its own use."""
        on_machine = cluster.folder / "machines" / machine / "var/lib/images"
        on_machine.mkdir(parents=True)
        self.write_storage(on_machine / "storage")
        shutil.copy(PAYLOAD / "bin/registry", on_machine / "registry")
        (on_machine / "config.yaml").write_text(CONFIG)
        (on_machine / "hosts.toml").write_text(hosts("127.0.0.1:5000"))
        cluster.shell(machine, f"""mkdir -p /etc/containerd/certs.d/registry.example.com
            cp {ON_MACHINE}/hosts.toml /etc/containerd/certs.d/registry.example.com/
            systemd-run --unit=images {ON_MACHINE}/registry serve {ON_MACHINE}/config.yaml
            curl --silent --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:5000/v2/""")
