"""The commands for clusters in README.md and docs/ work as they are written."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
from pages import Checkout, blocks, pages  # noqa: E402


@pytest.mark.parametrize("page", [page for page in pages() if blocks(page, "sh cluster")])
def test_commands_about_a_cluster_work(installed, page):
    checkout = Checkout(os.environ["SLIPWAY_BIN"], os.environ["SLIPWAY_BUILD"], demo=installed.dir, state=installed.state)
    try:
        for block in blocks(page, "sh cluster"):
            checkout.run(block)
    finally:
        checkout.close()
