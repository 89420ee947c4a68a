"""Installations with disturbances: a program or a machine is killed at a random time, and the same command completes the installation.

    SLIPWAY_BIN=... SLIPWAY_BUILD=build /usr/bin/python3 -m pytest -s tests/system/resume

-s prints the disturbances. SLIPWAY_TEST_SEED=NUMBER repeats them, SLIPWAY_TEST_COUNT=N runs N installations with the seeds from there on,
and SLIPWAY_TEST_VICTIMS=etcd,machine restricts the kinds of victims (support/faults.py).
"""

import os
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import undisturbed as reference  # noqa: E402


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        first = int(os.environ.get("SLIPWAY_TEST_SEED") or random.SystemRandom().randrange(10**6))
        metafunc.parametrize("seed", range(first, first + int(os.environ.get("SLIPWAY_TEST_COUNT", "1"))))


@pytest.fixture(scope="session")
def undisturbed():
    return reference.find() or reference.make()


def pytest_configure(config):
    config.disturbed_installations = []


@pytest.fixture
def summary(request):
    """Lines about all installations, printed at the end."""
    return request.config.disturbed_installations


def pytest_terminal_summary(terminalreporter, config):
    if config.disturbed_installations:
        terminalreporter.write_line("\n".join(["seed    seconds  victims", *config.disturbed_installations]))
