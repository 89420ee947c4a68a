"""No text of the repository cites a document that is not in the repository: specifications, seed documents and design notes, by name and
section. A comment states the fact or names a public source."""

import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ.get("SLIPWAY_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
NOT_TEXTS = {".git", ".pytest_cache", "__pycache__", "build", "node_modules"}

# The names of the documents; text is searched in lower case.
NAME = (r"(?:assisted|bootable-os|day2|design|english|field|installer|installer-bodies|local-machines|machine-config|operators|payload"
        r"|providers|style)")
# A blank, or a line break in a comment.
GAP = r"(?: | ?\n[ \t]*(?://+|#|\*)?[ \t]*)"

CITATIONS = {kind: re.compile(pattern) for kind, pattern in {
    "a document with a section": rf"(?<![\w/.-]){NAME}{GAP}(?:\d+(?:\.\d+)+[a-z]?|[a-f]\.\d+)\b",
    # A number after these words alone also occurs in other texts ("operators 5 and more"), so only numbers in brackets and tables count.
    "a document with a chapter": rf"[(\t,;] ?{NAME}{GAP}\d+[a-z]?(?=[\t,;):]| (?:and|to) )",
    "a section alone": r"(?<=\s)\(\d{1,2}\.\d{1,2}(?:, \d{1,2}\.\d{1,2})*(?: #\d+)?\)",
    "a section with a letter": r"[ (][a-f]\.\d{1,2}(?![\w.])",
    "a numbered point of a section": r"\.\d{1,2} #\d",
    "a section without a document": r"sections? \d",
    "a seed document": r"seed(?: 00\d|[ -](?:era|documents?))\b",
    "an era of a document": r"era \[\d",
    "a mark of a document": r"quirk[(:]",
    "the file of a document": rf"(?:/\w+|\.\.)/shared\b|spec/{NAME}\.md\b",
}.items()}

# Texts that look like citations but are not. Add a line with its reason for each new one.
FALSE_POSITIVES = re.compile("|".join((
    r"operators 9\.6 to 11\.6, installer 9\.2",  # megabytes of programs, docs/benchmarks.md
    r"judges \(2\.20\)",  # a version of ignition-validate, tests/component/ignition
    r"\brfc \d+,? sections? \d[\d.]*",  # public sources
    r"\bsections? \d[\d.]* of (?:rfc \d+|posix|unicode)",
)))


def citations(text):
    """[(line, kind, words)]"""
    text = text.lower()
    found = [(match, kind) for kind, pattern in CITATIONS.items() for match in pattern.finditer(text)]
    allowed = [match.span() for match in FALSE_POSITIVES.finditer(text)] if found else []
    return [(text.count("\n", 0, match.start()) + 1, kind, " ".join(match[0].split())) for match, kind in found
            if not any(begin <= match.start() and match.end() <= end for begin, end in allowed)]


def texts():
    """(path, content) of all text files except this one."""
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = sorted(set(folders) - NOT_TEXTS)
        for path in (pathlib.Path(folder, name) for name in sorted(names)):
            if path.is_symlink() or not path.is_file() or path.samefile(__file__):
                continue
            try:
                yield path.relative_to(SOURCE), path.read_text()
            except UnicodeDecodeError:
                pass


def test_no_document_is_cited_that_readers_do_not_have():
    found = [f"{path}:{line}: {kind}: {words}" for path, text in texts() for line, kind, words in citations(text)]
    assert not found, "write the fact, or name a public source:\n" + "\n".join(found)


@pytest.mark.parametrize("text, kind", [
    ("// The roll-out of revisions (operators 4.1.2). Pure.", "a document with a section"),
    ("// Operators 1.2 and installer 7.4, with names of images.", "a document with a section"),
    ("# every member is asked (field\n# 3.1a)", "a document with a section"),
    ("// (machine-config A.7, A.8)", "a document with a section"),
    ("kube-proxy\t--v=2\tflag\tdesign 4\tknown", "a document with a chapter"),
    ("// A machine, as measured (local-machines 5 and 6.4)", "a document with a chapter"),
    ("# The gates (openshift/api, payload 4), as they are listed.", "a document with a chapter"),
    ("// The names are OpenShift's (11.5).", "a section alone"),
    ("- case: 'an anchor (11.4 #16)'", "a section alone"),
    ("// by the keys of E.1, \"infraImageKey\"", "a section with a letter"),
    ("// others stay, 11.4 #18", "a numbered point of a section"),
    ("// as section 11 says", "a section without a document"),
    ("| what seed-era documents say | here |", "a seed document"),
    ("// the end of the bootstrap (seed 001, steps 2 to 7)", "a seed document"),
    ("// one table (era [24])", "an era of a document"),
    ("// QUIRK: asked for by another name", "a mark of a document"),
    ("see spec/installer.md", "the file of a document"),
])
def test_a_citation_is_found(text, kind):
    assert kind in [found[1] for found in citations(text)]


@pytest.mark.parametrize("text", [
    "Kubernetes 1.36 and OpenShift 4.18",
    "// RFC 9112 section 6.1; section 5.2 of RFC 9110; RFC 6979 A.2.5",
    "// clock ticks since the start, field 22 of /proc/PID/stat",
    "Ignition's spec 3.0 to 3.5",
    "time.sleep(0.05); scale(0.25, x)",
    "(openshift/installer pkg/types), docs/operators.md",
    "| Degraded after | 30 min; machine-config 90 min; 40 min |",
    'EXPECT_EQ(versions(object), "operator 4.0.0 ");',
])
def test_other_numbers_are_no_citations(text):
    assert citations(text) == []
