"""Kubernetes' own tests find a Kubernetes."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
import conformance  # noqa: E402



def test_it_conforms_to_kubernetes(installed, tmp_path):
    chosen, expression = conformance.quick()
    report = conformance.run(installed.dir / "auth/kubeconfig", installed.state / installed.name / "registry", tmp_path, expression)
    print("", *(f"{seconds:6.1f} s  {name}" for seconds, name in report.passed[:10]), *report.skipped, report, sep="\n")
    assert not report.failures, "\n\n".join(report.failures)
    assert len(report.passed) + len(report.skipped) == len(chosen)
