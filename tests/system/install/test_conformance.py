"""Conformance tests of Kubernetes: a random sample of the short ones; all short ones in `make test-long`."""

import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
import conformance  # noqa: E402

DRAWN = 30


def test_it_conforms_to_kubernetes(installed, tmp_path):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED") or random.randrange(1 << 32))
    chosen, expression = conformance.quick(None if os.environ.get("SLIPWAY_LONG") else DRAWN, seed)
    print(f"\nSLIPWAY_TEST_SEED = {seed}: {len(chosen)} conformance tests")
    report = conformance.run(installed.dir / "auth/kubeconfig", installed.state / installed.name / "registry", tmp_path, expression)
    print("", *(f"{seconds:6.1f} s  {name}" for seconds, name in report.passed[:10]), *report.skipped, report, sep="\n")
    assert not report.failures, "\n\n".join(report.failures)
    assert len(report.passed) + len(report.skipped) == len(chosen)


if "SLIPWAY_LONG" in os.environ:
    def test_network_policies_as_kubernetes_tests_them(installed, tmp_path):
        storage = installed.state / installed.name / "registry"
        report = conformance.run(installed.dir / "auth/kubeconfig", storage, tmp_path, labels=conformance.NETWORK_POLICIES)
        print("", *(f"{seconds:6.1f} s  {name}" for seconds, name in report.passed), *report.skipped, report, sep="\n")
        assert not report.failures, "\n\n".join(report.failures)
        assert len(report.passed) == report.total > 40
