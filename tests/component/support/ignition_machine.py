"""Applies a config to folders with the real Ignition."""
import itertools
import json
import os
import shutil
import stat
import subprocess

IGNITION = "/usr/lib/dracut/modules.d/30ignition/ignition"
# Ignition writes the keys of core as user core, who could not enter the folders of a test.
PASSWD = "root:x:0:0::/root:/bin/sh\ncore:x:0:0::/home/core:/bin/sh\n"


class Machine:
    """Folders that the real Ignition fills, in a mount namespace with its own /run."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = itertools.count()
        (folder / "bin").mkdir()
        # Ignition labels files and creates users with tools of the system; here these tools do nothing.
        for program in ["setfiles", "useradd", "usermod", "groupadd"]:
            (folder / "bin" / program).write_text("#!/bin/sh\n")
            (folder / "bin" / program).chmod(0o755)

    def apply(self, config, look=None):
        """The files that a config (a dictionary or text) creates: path -> (kind, mode, owner, content). `look` is called with the folder
        and these files."""
        root = self.folder / f"root-{next(self.numbers)}"
        (root / "etc/selinux/targeted/contexts/files").mkdir(parents=True)
        (root / "etc/selinux/config").write_text("SELINUX=disabled\nSELINUXTYPE=targeted\n")
        (root / "etc/selinux/targeted/contexts/files/file_contexts").touch()
        (root / "etc/passwd").write_text(PASSWD)
        (root / "home/core").mkdir(parents=True)
        file = root.with_suffix(".ign")
        file.write_text(config if isinstance(config, str) else json.dumps(config))
        stages = "".join(
            f' && "$0" -platform file -stage {stage} -root "$1" -config-cache /run/ignition.json -log-to-stdout'
            for stage in ("fetch", "files"))
        unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        result = subprocess.run([*unshare, "sh", "-c", "mount -t tmpfs tmpfs /run" + stages, IGNITION, str(root)], capture_output=True, text=True, timeout=60,
                                env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "IGNITION_CONFIG_FILE": str(file)})
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr
        (root / "etc/.ignition-result.json").unlink()  # contains the time of the run
        tree = {str(path.relative_to(root)): self.describe(path) for path in sorted(root.rglob("*"))}
        if look:
            look(root, tree)
        shutil.rmtree(root)
        return tree

    @staticmethod
    def describe(path):
        info = path.lstat()
        content = None
        if stat.S_ISLNK(info.st_mode):
            content = os.readlink(path)
        elif stat.S_ISREG(info.st_mode):
            content = path.read_bytes()
        if path.suffix == ".preset":
            content = sorted(content.splitlines())  # Ignition writes them in random order (a Go map)
        return stat.filemode(info.st_mode), info.st_uid, info.st_gid, info.st_nlink if content is not None else None, content
