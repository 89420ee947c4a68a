"""Searches bytes for secrets in every encoding that programs write: percent, JSON and systemd escapes, base64 at each alignment and in
lines, gzip, and any nesting of these. It shares no code with the redactor under test."""

import base64
import binascii
import re
import tarfile
import urllib.parse
import zlib

DEEPEST = 5
LARGEST = 64 << 20  # of the data unpacked at one place
RUN = re.compile(rb"[A-Za-z0-9+/_-]{16,}")
LINES = re.compile(rb"(?m)^(?:[ \t]*[A-Za-z0-9+/]{16,}\r?\n){1,}[ \t]*[A-Za-z0-9+/]{1,}={0,2}")
ESCAPE = re.compile(rb"\\(?:u00([0-9a-fA-F]{2})|x([0-9a-fA-F]{2})|([^A-Za-z0-9]|[nrt]))")
TEXT = re.compile(rb"\x1f\x8b\x08|[\t-~]{12,48}(?:[\t-~]|$)")
OF_URLS = bytes.maketrans(b"-_", b"+/")
PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def cores(secret):
    """The parts of the base64 text that depend on the secret alone, for each alignment, in both alphabets."""
    found = set()
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret)
        core = encoded[-(-8 * before // 6):8 * (before + len(secret)) // 6]
        found |= {core, core.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def unescaped(match):
    number = match[1] or match[2]
    return bytes([int(number, 16)]) if number else PLAIN.get(match[3], match[3])


def unpacked(data, at):
    """A gzip file that starts at `at`, or as much of it as can be read."""
    try:
        return zlib.decompressobj(31).decompress(data[at:], LARGEST)
    except zlib.error:
        return b""


def decoded(run):
    run = run.translate(OF_URLS)
    for skipped in range(4):
        part = run[skipped:len(run) - (len(run) - skipped) % 4 * ((len(run) - skipped) % 4 == 1)]
        yield binascii.a2b_base64(part + b"==")


def changed(data, sign, decode):
    """The decoded lines, without those that do not change."""
    lines = [line for line in data.split(b"\n") if sign in line] if sign in data else []
    return b"\n".join(decoded_line for line in lines if (decoded_line := decode(line)) != line)


def layers(data):
    """(name of the encoding, decoded data); for base64 only data that is long enough."""
    for match in re.finditer(rb"\x1f\x8b\x08", data):
        yield "gzip", unpacked(data, match.start())
    yield "percent", changed(data, b"%", urllib.parse.unquote_to_bytes)
    yield "%%", changed(data, b"%%", lambda line: line.replace(b"%%", b"%"))
    yield "escapes", changed(data, b"\\", lambda line: ESCAPE.sub(unescaped, line))
    runs = [match[0] for match in RUN.finditer(data)] + [b"".join(match[0].split()).rstrip(b"=") for match in LINES.finditer(data)]
    texts = []
    for run in dict.fromkeys(runs):
        texts += [each for each in decoded(run) if TEXT.match(each)]
        for match in re.finditer(rb"H4sI", run):
            yield "base64", next(decoded(run[match.start():]))
    yield "base64", b"\n".join(texts)


class Finder:
    def __init__(self, secrets):
        """secrets: bytes by name."""
        self.needles = {name: {secret, *cores(secret)} for name, secret in secrets.items()}

    def find(self, data, depth=DEEPEST, trail=()):
        """{(name, encodings)}"""
        found = {(name, trail) for name, needles in self.needles.items() if any(needle in data for needle in needles)}
        if depth:
            for encoding, inner in layers(data):
                if inner and inner != data:
                    found |= self.find(inner, depth - 1, (*trail, encoding))
        return found

    def find_in_archive(self, archive):
        """{(file, name, encodings)} of a .tar.gz"""
        with tarfile.open(archive) as bundle:
            return {(member.name, *each) for member in bundle if member.isfile() for each in self.find(bundle.extractfile(member).read())}
