"""The page, in Debian's Chromium: its specifications are web/tests/*.spec.ts."""
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])


def run(*command):
    done = subprocess.run(command, cwd=SOURCE / "web", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@pytest.fixture(scope="module", autouse=True)
def packages():
    subprocess.run([SOURCE / "tools/web", "packages"], check=True)


def test_types():
    run("node_modules/.bin/tsc", "--noEmit")


def test_logic():
    run("node_modules/.bin/vitest", "run")


def test_in_a_browser():
    run("node_modules/.bin/vitest", "run", "--config", "vitest.browser.config.ts")


def test_lock_file_names_no_registry():
    lock = (SOURCE / "web/package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert (SOURCE / "web/package-lock.json").stat().st_size < 100_000
