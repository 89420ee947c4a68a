"""What tests of all folders may import, and the programs that they start: tests/support."""

import os
import pathlib
import re
import sys

import pytest

SUPPORT = str(pathlib.Path(__file__).resolve().parent / "support")
sys.path.append(SUPPORT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), SUPPORT]))

# What may be skipped in CI, by the reason that the test gives, and why.
MAY_BE_SKIPPED = {
    r"takes a minute and a mirror; SLIPWAY_SLOW=1 runs it": "two Debian roots from a mirror: other tests compare the one that was built",
}


def judge(report):
    """A skipped test judges nothing, so in CI it is a failure, with the reason that it gave."""
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: ")
    if not any(re.fullmatch(allowed, reason) for allowed in MAY_BE_SKIPPED):
        report.outcome, report.longrepr = "failed", f"skipped, which is an error in CI: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    judge((yield).get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report():
    judge((yield).get_result())
