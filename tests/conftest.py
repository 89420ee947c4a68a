"""What tests of all folders may import, and the programs that they start: tests/support."""

import os
import pathlib
import sys

SUPPORT = str(pathlib.Path(__file__).resolve().parent / "support")
sys.path.append(SUPPORT)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), SUPPORT]))
