"""The scripts of data/provider that run on a machine, with stand-ins for the programs of systemd."""

import io
import os
import pathlib
import subprocess
import tarfile

SCRIPTS = pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "data/provider"
# systemd pads the numbers of jobs on the right to the longest one.
JOBS = """\
99  release-image.service start running
7   ready.target          start waiting
105 approve-csr.service   start waiting
"""


def run_there(script, folder):
    """The output of the script on a machine that starts."""
    programs = folder / "programs"
    programs.mkdir()
    for name, text in (("systemctl", f"cat <<'END'\n{JOBS}END"), ("journalctl", 'echo "journal of $2"')):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-s"], input=(SCRIPTS / script).read_bytes(), stdout=subprocess.PIPE, check=True, timeout=60,
                          env={"PATH": path, "TMPDIR": str(folder)}).stdout


def test_the_journals_of_units_that_a_starting_machine_waits_for(tmp_path):
    with tarfile.open(fileobj=io.BytesIO(run_there("gather-start", tmp_path))) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    assert files == {"./journals/release-image.log": b"journal of release-image\n"}


def test_the_jobs_of_a_probe(tmp_path):
    lines = run_there("probe-machine", tmp_path).decode().splitlines()
    assert [line for line in lines if line.startswith("job ")] == [
        "job release-image.service start running", "job ready.target start waiting", "job approve-csr.service start waiting"]
