"""OpenShift's Go module of types, from which the release takes CustomResourceDefinitions: images/crds.txt lists their paths."""

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def openshift_api():
    """Its folder. SLIPWAY_BUILD/tools gets Go if this machine has none."""
    tools = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve() / "tools"
    go = run(SOURCE / "payload/ensure-go", tools)
    return pathlib.Path(run(go, "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api"))


def crd_paths(names):
    """The paths that contain one of the names."""
    lines = [line.split("#")[0].split() for line in (SOURCE / "images/crds.txt").read_text().splitlines()]
    return [words[0] for words in lines if words and any(name in words[0] for name in names)]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, cwd=SOURCE / "payload/openshift-api").stdout.strip()
