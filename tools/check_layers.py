#!/usr/bin/env python3
"""Checks src/LAYERS: which layers include which, and which file includes a third-party header. Also checks that a source file includes
its own header first, which is how every build compiles headers alone (cmake/layers.cmake compiles the other headers).

Prints one line for each violation, "file:line: REASON", and exits with 1 if there is one. Takes the repository as an argument, for its
own test; the default is the repository of this script.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
# Folders whose sub-folders are components that do not include each other, with the sub-folders that all components share. A
# shared sub-folder may include those before it in the list.
PARTS = {"components": ["program", "render", "controller", "static_pod", "workload"], "provider": ["plan"], "assist": ["model"]}


def read_rules(text):
    layers, headers, section = {}, {}, "layers"
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line == "[headers]":
            section = "headers"
        elif section == "layers":
            name, _, allowed = line.partition(":")
            layers[name.strip()] = allowed.split()
        else:
            prefix, *files = line.split()
            headers[prefix] = files
    return layers, headers


def is_test(path):
    return path.name.endswith("_test.cpp")


def violations(root):
    source = root / "src"
    layers, headers = read_rules((source / "LAYERS").read_text())
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        relative = path.relative_to(source)
        folder = relative.parts[0]
        if path.suffix == ".cpp" and path.with_suffix(".h").exists():
            yield from check_own_header(path, relative)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            ours, theirs = match.groups()
            where = f"src/{relative}:{number}"
            if folder not in layers:
                yield f"{where}: folder '{folder}' has no line in src/LAYERS"
                break
            if ours:
                yield from check_ours(where, relative, ours, layers, is_test(path))
            elif not is_test(path):
                for prefix, files in headers.items():
                    if theirs.startswith(prefix) and str(relative) not in files:
                        yield f"{where}: <{theirs}> may only be included by {' or '.join(files)}"


def check_own_header(path, relative):
    own = f'"{relative.with_suffix(".h")}"'
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if INCLUDE.match(line):
            if own not in line:
                yield f"src/{relative}:{number}: {own} has to be the first header here"
            return


def check_ours(where, relative, included, layers, test):
    folder, target = relative.parts[0], included.split("/")[0]
    if test and target == "support":
        return
    if "/" not in included:
        yield f'{where}: "{included}": write the path from src/'
    elif target not in layers:
        yield f'{where}: "{included}": no such folder in src/LAYERS'
    elif target != folder and target not in layers[folder] and "*" not in layers[folder]:
        yield f"{where}: {folder} may not include {target} (src/LAYERS: {' '.join(layers[folder]) or 'nothing'})"
    elif target == folder and folder in PARTS and len(relative.parts) > 2:
        part, other = relative.parts[1], included.split("/")[1]
        shared = PARTS[folder][: PARTS[folder].index(part)] if part in PARTS[folder] else PARTS[folder]
        if "/" in included.partition("/")[2] and other != part and other not in shared:
            yield f"{where}: {folder}/{part} may not include {folder}/{other}: what both need belongs further down"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
