"""The scripts of data/provider that run on a machine, with stand-ins for the programs of systemd."""

import io
import os
import pathlib
import socket
import subprocess
import tarfile

SCRIPTS = pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "data/provider"
# systemd pads the numbers of jobs on the right to the longest one.
JOBS = """\
99  release-image.service start running
7   ready.target          start waiting
105 approve-csr.service   start waiting
"""


# Properties of two units; process 1 runs everywhere.
UNITS = """\
Id=kubelet.service
ActiveState=active
SubState=running
MainPID=1

Id=containerd.service
ActiveState=failed
SubState=failed
MainPID=0
"""


def run_there(script, folder, *arguments):
    """The output of the script on a machine that starts."""
    programs = folder / "programs"
    programs.mkdir()
    systemctl = f"if [ $1 = show ]; then cat <<'END'\n{UNITS}END\nelse cat <<'END'\n{JOBS}END\nfi"
    for name, text in (("systemctl", systemctl), ("journalctl", 'echo "journal of $2"')):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-s", "--", *arguments], input=(SCRIPTS / script).read_bytes(), stdout=subprocess.PIPE, check=True, timeout=60,
                          env={"PATH": path, "TMPDIR": str(folder)}).stdout


def test_the_journals_of_units_that_a_starting_machine_waits_for(tmp_path):
    with tarfile.open(fileobj=io.BytesIO(run_there("gather-start", tmp_path))) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
    assert files == {"./journals/release-image.log": b"journal of release-image\n"}


def test_a_probe_tries_ports_and_tells_the_state_of_units(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        served, refused = (f"127.0.0.1:{each.getsockname()[1]}" for each in (server, taken))
        lines = run_there("probe-machine", tmp_path, "demo.invalid", "", served, refused).decode().splitlines()
    assert f"port {served} open" in lines and f"port {refused} refused" in lines
    assert "unit containerd.service failed failed" in [line.strip() for line in lines]
    (kubelet,) = [line.split() for line in lines if line.startswith("unit kubelet.service ")]
    assert kubelet[2:4] == ["active", "running"] and kubelet[4] in "RSD"
    (memory,) = [line.split() for line in lines if line.startswith("memory ")]
    assert int(memory[1]) >= int(memory[2]) > 0


def test_the_jobs_of_a_probe(tmp_path):
    lines = run_there("probe-machine", tmp_path).decode().splitlines()
    assert [line for line in lines if line.startswith("job ")] == [
        "job release-image.service start running", "job ready.target start waiting", "job approve-csr.service start waiting"]
