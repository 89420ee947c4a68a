#!/usr/bin/env python3
"""Finds uses of TRY whose early return leaks: in a braced list after other members or arguments (see base/result.h).

Prints "file:line: ..." for each and exits with 1 if there is one. Checks designated initializers and constructor lists that span
lines; the address sanitizer finds other cases.
"""
import pathlib
import re
import sys

LEAKING = re.compile(r"(?:\w\{|(?:[=(,]|return)\s*\{)[^;{}]*,\s*(?:\.\w+\s*=\s*)?TRY\(|\.\w+\s*=\s*TRY\([^;]*,\s*\.\w+\s*=")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    found = 0
    for path in sorted((root / "src").rglob("*.cpp")):
        text = path.read_text()
        for match in LEAKING.finditer(text):
            line = text.count("\n", 0, match.end()) + 1
            print(f"{path.relative_to(root)}:{line}: TRY in a list leaks what was made before it; give it a variable of its own")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
