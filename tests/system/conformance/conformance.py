"""Runs the conformance tests of Kubernetes on a cluster, except those of left-out.txt.

    report = run(kubeconfig, storage_of_the_cluster's_registry, folder)
    assert not report.failures

The programs are those of `make -C payload conformance`. On the command line, for a running cluster; ONLY is a regular expression of names, or
"network-policies" for the tests of NetworkPolicies, which are no part of conformance.
The output stays in the folder that is printed at the end:

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
# With six processes on two cores, machines get so little CPU time that virtual addresses move and calls fail.
PROCESSES = int(os.environ.get("SLIPWAY_CONFORMANCE_PROCESSES", "3"))
# Tests that still run after this time are stopped and have failed.
MINUTES = int(os.environ.get("SLIPWAY_CONFORMANCE_MINUTES", "15"))
CONFORMANCE = "--label-filter=Conformance"
# The tests of NetworkPolicies are no part of conformance. Those of SCTP connectivity need the kernel module sctp.
NETWORK_POLICIES = "--label-filter=Feature:NetworkPolicy && !Feature:SCTPConnectivity"
# Nodes with these taints are healthy; they only accept pods with tolerations.
TAINTS = "node-role.kubernetes.io/control-plane,node-role.kubernetes.io/master"


@dataclasses.dataclass
class Report:
    passed: list  # (seconds, name), the longest first
    skipped: list  # name: reason given by the test
    failures: list  # texts
    total: int  # number of all conformance tests
    seconds: float

    def __str__(self):
        return (f"{len(self.passed)} of {self.total} conformance tests passed, {len(self.failures)} failed, "
                f"{len(self.skipped)} skipped themselves, {self.seconds:.0f} s")


def left_out(file=LEFT_OUT):
    """Prefixes of names and reasons: names follow a line with # that contains the reason. A line with ## is a comment."""
    found, reason = {}, None
    for line in file.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line and not line.startswith("##"):
            found[line] = reason
    return found


def quick(drawn=None, seed=None):
    """The names of the short tests, or of a random sample of them, and a regular expression that matches them."""
    lines = [line for line in QUICK.read_text().splitlines() if not line.startswith("##")]
    if drawn is not None:
        lines = random.Random(seed).sample(lines, drawn)
    return lines, "|".join(quoted(line) for line in lines)


def names(folder, *selection, labels=CONFORMANCE):
    """The names of the tests in a selection, without running them."""
    suite(folder, [f"--ginkgo.json-report={folder}/names.json", "--ginkgo.dry-run", "--ginkgo.succinct", "--ginkgo.silence-skips",
                   *(word.replace("--", "--ginkgo.", 1) for word in (labels, *selection))])
    return [name_of(spec) for spec in specs(folder / "names.json") if spec["State"] == "passed" and spec["LeafNodeType"] == "It"]


def selection(out):
    """Arguments of ginkgo: all conformance tests except those with these prefixes. ginkgo matches names with the suite's name in front."""
    return [f"--skip=^[^[]*{quoted(begin)}" for begin in out]


def images_wanted(environment):
    """The images of the tests, in the registry of the cluster."""
    return [line for line in suite(None, ["--list-images"], env=environment).split() if line.startswith(REGISTRY)]


def registries(folder):
    """The environment for tests that pull images from the registry of the cluster."""
    (folder / "registries.yaml").write_text(yaml.safe_dump({kind: REGISTRY for kind in ("promoterE2eRegistry", "gcEtcdRegistry", "gcRegistry")}))
    return {**os.environ, "KUBE_TEST_REPO_LIST": str(folder / "registries.yaml")}


def run(kubeconfig, storage, folder, only=None, labels=CONFORMANCE):
    """Writes the report and the output to `folder`: report.json, output. labels: a label filter of ginkgo."""
    environment = registries(folder)
    (folder / "kubectl").symlink_to(BUILD / "payload/bin/hyperkube")
    add_images(storage, PROGRAMS / "layer.tar", images_wanted(environment))
    total = len(names(folder, labels=labels))
    chosen = [f"--focus={only}"] if only else []
    command = [PROGRAMS / "ginkgo", "run", f"--procs={PROCESSES}", "--no-color", "--succinct", "--silence-skips", "--keep-going",
               f"--timeout={MINUTES}m", labels, *chosen, *selection(left_out()), "--json-report=report.json",
               f"--output-dir={folder}", PROGRAMS / "conformance.test", "--",
               f"--kubeconfig={kubeconfig}", "--provider=skeleton", f"--kubectl-path={folder}/kubectl", "--disable-log-dump",
               "--dump-logs-on-failure=false", f"--non-blocking-taints={TAINTS}", "--allowed-not-ready-nodes=-1"]
    with open(folder / "output", "w") as output, subprocess.Popen(
            [str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=folder, start_new_session=True) as ginkgo:
        try:
            ginkgo.wait((MINUTES + 3) * 60)
        finally:
            if ginkgo.poll() is None:
                os.killpg(ginkgo.pid, signal.SIGKILL)  # including the processes that run tests
    if not (folder / "report.json").exists():
        raise AssertionError(f"ginkgo: {ginkgo.returncode}\n{(folder / 'output').read_text()[-4000:]}")
    return read(folder / "report.json", total)


def suite(folder, words, **options):
    done = subprocess.run([PROGRAMS / "conformance.test", *words], capture_output=True, text=True, cwd=folder, check=False, **options)
    assert done.returncode == 0, f"conformance.test {' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def quoted(text):
    """Quotes text for a regular expression of Go, which has fewer escapes than re.escape uses."""
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
    # The message and the output contain whole objects.
    why = reason.get("Message", "").splitlines()[:12]
    said = spec.get("CapturedGinkgoWriterOutput", "").strip().splitlines()[-25:]
    return "\n    ".join([f"{name_of(spec) or spec['LeafNodeType']} ({spec['State']}, {spec['RunTime'] / 1e9:.0f} s)",
                          f"{where}: {why[0] if why else ''}", *(line[:300] for line in [*why[1:], *said])])


def main(assets, only=None):
    assets = pathlib.Path(assets)
    name = json.loads((assets / "metadata.json").read_text())["clusterName"]
    labels = NETWORK_POLICIES if only == "network-policies" else CONFORMANCE
    only = None if labels == NETWORK_POLICIES else only
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slipway-conformance-", dir="/var/tmp"))
    report = run(assets.resolve() / "auth/kubeconfig", pathlib.Path(os.environ["SLIPWAY_STATE"]) / name / "registry", folder, only, labels)
    print(*report.failures, *report.skipped, *(f"{seconds:6.1f} s  {name}" for seconds, name in report.passed), report, folder, sep="\n")
    return bool(report.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
