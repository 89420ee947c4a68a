"""Kubernetes' own conformance tests against a cluster: all of them but those of left-out.txt.

    report = run(kubeconfig, storage_of_the_cluster's_registry, folder)
    assert not report.failures

The programs are those of `make -C payload conformance`. On the command line, for a cluster that is up, ONLY being a regular
expression of names; what the run said stays in the folder that it names at its end:

    SLIPWAY_BUILD=build SLIPWAY_STATE=MACHINES tests/system/conformance/conformance.py DIR [ONLY]
"""

import dataclasses
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from images import REGISTRY, add_images  # noqa: E402

BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"]).resolve()
PROGRAMS = BUILD / "payload/conformance"
LEFT_OUT = pathlib.Path(__file__).with_name("left-out.txt")
QUICK = pathlib.Path(__file__).with_name("quick.txt")
# With six of them on two cores machines get so little that addresses move to others, and calls are cut.
PROCESSES = int(os.environ.get("SLIPWAY_CONFORMANCE_PROCESSES", "3"))
# Then those that still run are stopped and have failed.
MINUTES = int(os.environ.get("SLIPWAY_CONFORMANCE_MINUTES", "15"))
# Nodes with these serve, they only take no pods that did not ask for it.
TAINTS = "node-role.kubernetes.io/control-plane,node-role.kubernetes.io/master"


@dataclasses.dataclass
class Report:
    passed: list  # (seconds, name), the longest first
    skipped: list  # name: why, found out by the test itself
    failures: list  # texts
    total: int  # conformance tests that there are
    seconds: float

    def __str__(self):
        return (f"{len(self.passed)} of {self.total} conformance tests passed, {len(self.failures)} failed, "
                f"{len(self.skipped)} skipped themselves, {self.seconds:.0f} s")


def left_out(file=LEFT_OUT):
    """Beginnings of names and why: lines of names follow a line with # that says it. Two # are only a comment."""
    found, reason = {}, None
    for line in file.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line and not line.startswith("##"):
            found[line] = reason
    return found


def quick(drawn=None, seed=None):
    """Names of the short tests, or of so many drawn ones, and a regular expression of them all."""
    lines = [line for line in QUICK.read_text().splitlines() if not line.startswith("##")]
    if drawn is not None:
        lines = random.Random(seed).sample(lines, drawn)
    return lines, "|".join(quoted(line) for line in lines)


def names(folder, *selection):
    """Of the conformance tests of a selection, without running one."""
    suite(folder, [f"--ginkgo.json-report={folder}/names.json", "--ginkgo.dry-run", "--ginkgo.succinct", "--ginkgo.silence-skips",
                   "--ginkgo.label-filter=Conformance", *(word.replace("--", "--ginkgo.", 1) for word in selection)])
    return [name_of(spec) for spec in specs(folder / "names.json") if spec["State"] == "passed" and spec["LeafNodeType"] == "It"]


def selection(out):
    """Words of ginkgo's command line: all conformance tests but those that begin like this. What it compares has the suite's name in front."""
    return [f"--skip=^[^[]*{quoted(begin)}" for begin in out]


def images_wanted(environment):
    """What tests ask for below our registry."""
    return [line for line in suite(None, ["--list-images"], env=environment).split() if line.startswith(REGISTRY)]


def registries(folder):
    """The environment for tests that take images from our registry."""
    (folder / "registries.yaml").write_text(yaml.safe_dump({kind: REGISTRY for kind in ("promoterE2eRegistry", "gcEtcdRegistry", "gcRegistry")}))
    return {**os.environ, "KUBE_TEST_REPO_LIST": str(folder / "registries.yaml")}


def run(kubeconfig, storage, folder, only=None):
    """`folder` gets what the run says: report.json, output."""
    environment = registries(folder)
    (folder / "kubectl").symlink_to(BUILD / "payload/bin/hyperkube")
    add_images(storage, PROGRAMS / "layer.tar", images_wanted(environment))
    total = len(names(folder))
    chosen = [f"--focus={only}"] if only else []
    command = [PROGRAMS / "ginkgo", "run", f"--procs={PROCESSES}", "--no-color", "--succinct", "--silence-skips", "--keep-going",
               f"--timeout={MINUTES}m", "--label-filter=Conformance", *chosen, *selection(left_out()), "--json-report=report.json",
               f"--output-dir={folder}", PROGRAMS / "conformance.test", "--",
               f"--kubeconfig={kubeconfig}", "--provider=skeleton", f"--kubectl-path={folder}/kubectl", "--disable-log-dump",
               "--dump-logs-on-failure=false", f"--non-blocking-taints={TAINTS}", "--allowed-not-ready-nodes=-1"]
    with open(folder / "output", "w") as output, subprocess.Popen(
            [str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=folder, start_new_session=True) as ginkgo:
        try:
            ginkgo.wait((MINUTES + 3) * 60)
        finally:
            if ginkgo.poll() is None:
                os.killpg(ginkgo.pid, signal.SIGKILL)  # with the processes that run tests
    if not (folder / "report.json").exists():
        raise AssertionError(f"ginkgo: {ginkgo.returncode}\n{(folder / 'output').read_text()[-4000:]}")
    return read(folder / "report.json", total)


def suite(folder, words, **options):
    done = subprocess.run([PROGRAMS / "conformance.test", *words], capture_output=True, text=True, cwd=folder, check=False, **options)
    assert done.returncode == 0, f"conformance.test {' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def quoted(text):
    """For a regular expression of Go, which knows fewer escapes than Python's own function makes."""
    return re.sub(r"([][.*+?^${}()|\\])", r"\\\1", text)


def specs(file):
    return [spec for suite in json.loads(file.read_text()) for spec in suite["SpecReports"]]


def name_of(spec):
    return " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]]).strip()


def read(file, total):
    passed, skipped, failures = [], [], []
    for spec in specs(file):
        reason = spec.get("Failure", {})
        if spec["State"] == "passed" and spec["LeafNodeType"] == "It":
            passed.append((spec["RunTime"] / 1e9, name_of(spec)))
        elif spec["State"] == "skipped" and reason.get("Message"):
            skipped.append(f"{name_of(spec)}: {reason['Message']}")
        elif spec["State"] not in ("passed", "skipped", "pending"):
            failures.append(describe(spec, reason))
    suites = json.loads(file.read_text())
    return Report(sorted(passed, reverse=True), skipped, failures, total, max(suite["RunTime"] for suite in suites) / 1e9)


def describe(spec, reason):
    place = reason.get("Location", {})
    where = f"{place.get('FileName', '').partition('/test/')[2]}:{place.get('LineNumber')}"
    # Whole objects are in both.
    why = reason.get("Message", "").splitlines()[:12]
    said = spec.get("CapturedGinkgoWriterOutput", "").strip().splitlines()[-25:]
    return "\n    ".join([f"{name_of(spec) or spec['LeafNodeType']} ({spec['State']}, {spec['RunTime'] / 1e9:.0f} s)",
                          f"{where}: {why[0] if why else ''}", *(line[:300] for line in [*why[1:], *said])])


def main(assets, only=None):
    assets = pathlib.Path(assets)
    name = json.loads((assets / "metadata.json").read_text())["clusterName"]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-conformance-", dir="/var/tmp"))
    report = run(assets.resolve() / "auth/kubeconfig", pathlib.Path(os.environ["SLIPWAY_STATE"]) / name / "registry", folder, only)
    print(*report.failures, *report.skipped, *(f"{seconds:6.1f} s  {name}" for seconds, name in report.passed), report, folder, sep="\n")
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
