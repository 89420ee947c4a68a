"""Packages of PyPI that tests need and Debian does not have. They are installed once, below build/python."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

LIMIT = 240


def use_packages(requirements):
    """Installs the packages of a requirements file unless that was done, and makes them importable. Returns the folder, which has their
    programs in bin."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    folder = pathlib.Path(os.environ["SLIPWAY_BUILD"]) / "python" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=LIMIT)
            subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
                           check=True, timeout=LIMIT)
            (folder / "complete").touch()
    sys.path.append(str(next((folder / "lib").glob("python3*/site-packages"))))
    return folder
