"""All certificates and all expiring tokens of a cluster of local machines: on the disks of its machines, in Secrets and ConfigMaps, and of
listening ports. docs/lifetimes.md lists the allowed ones.

    rows = table("docs/lifetimes.md")
    found = walk(installation)
    problems(rows, found)        # sentences; none when table and cluster agree

Needs root. The result contains no private keys.
"""

import base64
import dataclasses
import fnmatch
import gzip
import json
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse
import zlib

from figures import cgroup
from faults import inits

PEM = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")
# Long enough to contain a certificate.
IN_BASE64 = re.compile(r"[A-Za-z0-9+/]{300,}={0,2}")
TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]+\.(eyJ[A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+")
# Folders with files for the machine. Images of containers are in /var/lib/containerd; the content of etcd is read through the API.
FOLDERS = ["etc", "opt", "root", "run", "srv", "var"]
SKIPPED = ["var/lib/containerd", "var/lib/containerd-images", "var/lib/containers", "var/lib/etcd", "var/log", "var/cache", "run/containerd",
           "run/netns", "run/systemd/journal", "run/udev", "sysroot"]
# CAs that the operating system trusts: Debian's package ca-certificates.
OF_SYSTEM = "usr/share/ca-certificates"
LARGEST = 4 << 20
DAY = 86400


@dataclasses.dataclass(frozen=True)
class Found:
    kind: str  # "certificate", "token"
    name: str  # common name, or the token's subject
    issuer: str
    is_authority: bool
    begin: float
    end: float  # without an end: infinity
    place: str  # "Secret", "ConfigMap"; "master", "worker": on a machine's disk; "port 6443"
    detail: str  # "openshift-etcd/etcd-client", "master-0:/etc/..."

    def __str__(self):
        return f"{self.kind} '{self.name}' of '{self.issuer}', {(self.end - self.begin) / DAY:.2f} days: {self.place} {self.detail}"


@dataclasses.dataclass(frozen=True)
class Row:
    kind: str
    name: str  # patterns
    issuer: str
    places: frozenset
    days: float
    renewed_by: str
    line: int

    def takes(self, found):
        by = found.name == found.issuer if self.issuer == "itself" else matches(self.issuer, found.issuer)
        return self.kind == found.kind and matches(self.name, found.name) and by


def matches(pattern, text):
    return any(fnmatch.fnmatchcase(text, one.strip()) for one in pattern.split(" or "))


# ---- the page

UNITS = {"minutes": 1 / 1440, "hours": 1 / 24, "days": 1, "years": 366}


def days_of(text):
    """"30 days" as 30; "none" as infinity."""
    if text.startswith("none"):
        return float("inf")
    number, unit = text.split()[:2]
    return float(number) * UNITS[unit if unit.endswith("s") else unit + "s"]


def table(page):
    """The rows of the tables whose first column is Certificate or Token."""
    rows, columns = [], None
    for number, line in enumerate(pathlib.Path(page).read_text().splitlines(), 1):
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if columns is None:
            columns = cells
        elif columns[0] in ("Certificate", "Token") and not set(line) <= set("|-: "):
            row = dict(zip(columns, cells))
            assert len(cells) == len(columns), f"{page}:{number}: {len(cells)} cells, not {len(columns)}"
            rows.append(Row(columns[0].lower(), row[columns[0]].replace("`", ""), row["Signed by"].replace("`", ""),
                            frozenset(place.strip() for place in row["Kept in"].split(",")), days_of(row["Lifetime"]), row["Renewed by"], number))
    assert rows, page
    return rows


def sound(rows):
    """Errors in the page itself."""
    wrong = []
    for row in rows:
        if not row.renewed_by:
            wrong.append(f"line {row.line}: {row.name}: column Renewed by is empty")
        if row.renewed_by.startswith("not renewed") and (row.days < 3650 or not row.renewed_by.startswith("not renewed: ")):
            wrong.append(f"line {row.line}: {row.name}: not renewed although it ends within ten years, or without a reason")
    return wrong


def problems(rows, found):
    """Entries of the cluster that are missing on the page, and the reverse."""
    wrong, seen = sound(rows), {row: set() for row in rows}
    for one in sorted(found, key=str):
        fits = [row for row in rows if row.takes(one)]
        if len(fits) != 1:
            lines = ", ".join(str(row.line) for row in fits)
            wrong.append(f"{'in no row' if not fits else f'in rows of lines {lines}'}: {one}")
            continue
        row = fits[0]
        seen[row].add(one.place)
        if one.place not in row.places:
            wrong.append(f"line {row.line}: is also kept in {one.place}: {one}")
        # Servers backdate the start by some minutes, for clocks that are slow.
        if one.end - one.begin > row.days * DAY + 400:
            wrong.append(f"line {row.line}: lives longer than {row.days} days: {one}")
    for row, places in seen.items():
        if row.places - places:
            wrong.append(f"line {row.line}: '{row.name}' of '{row.issuer}' was not found in {', '.join(sorted(row.places - places))}")
    return wrong


# ---- the cluster

def walk(installation):
    found = Collector()
    for secret in installation.api.all("/api/v1/secrets"):
        where = f"{secret['metadata']['namespace']}/{secret['metadata']['name']}"
        for value in secret.get("data", {}).values():
            found.add(base64.b64decode(value).decode(errors="replace"), "Secret", where)
    for config in installation.api.all("/api/v1/configmaps"):
        where = f"{config['metadata']['namespace']}/{config['metadata']['name']}"
        for value in config.get("data", {}).values():
            found.add(value, "ConfigMap", where)
    for path in ("kubeconfig",):
        found.add((installation.dir / "auth" / path).read_text(), "auth/kubeconfig", str(installation.dir))
    names = ["", "localhost", "localhost-recovery", f"api.{installation.domain}", f"api-int.{installation.domain}", "kubernetes.default.svc",
             f"console.apps.{installation.domain}"]
    for machine, process in sorted(inits(cgroup(installation.state / installation.name)).items()):
        role = machine.rpartition("-")[0]
        root = pathlib.Path(f"/proc/{process}/root")
        for path in (root / OF_SYSTEM).rglob("*.crt"):
            found.of_system |= certificates_in(path.read_text())
        for path in files_below(root):
            text = read(path)
            if text:
                found.add(text, role, f"{machine}:/{path.relative_to(root)}")
        for port, pem in shown_by_ports(process, names):
            found.add(pem, f"port {port}", machine)
    return found.all()


def files_below(root):
    pending = [root / folder for folder in FOLDERS]
    skipped = {root / folder for folder in SKIPPED}
    while pending:
        folder = pending.pop()
        if folder in skipped or folder.is_symlink():
            continue
        try:
            entries = list(folder.iterdir())
        except OSError:
            continue  # deleted meanwhile, like folders of pods
        for entry in entries:
            try:
                if entry.is_symlink():
                    continue
                if entry.is_dir():
                    # Root file systems of containers contain the certificates of their image.
                    if not (entry.name == "rootfs" and "containerd" in str(entry)):
                        pending.append(entry)
                elif entry.is_file() and entry.stat().st_size <= LARGEST:
                    yield entry
            except OSError:
                continue


def read(path):
    try:
        data = path.read_bytes()
    except OSError:
        return ""
    interesting = any(mark in data for mark in (b"CERTIFICATE", b"LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR", b"eyJ", b"base64,"))
    return data.decode(errors="replace") if interesting else ""


# Runs in the machine's network: the certificate of each listening port for each name, as lines of JSON.
PROBE = """
import json, socket, ssl, sys
names, ports = json.loads(sys.argv[1]), set()
for file in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
    for line in open(file).readlines()[1:]:
        words = line.split()
        address, port = words[1].split(":")
        if words[3] == "0A":
            ports.add((address, int(port, 16)))
def addresses(raw):
    four = [".".join(str(byte) for byte in bytes.fromhex(raw)[::-1])] if len(raw) == 8 else ["127.0.0.1", "::1"]
    return ["127.0.0.1"] if four == ["0.0.0.0"] else four
for raw, port in sorted(ports):
    for address in addresses(raw):
        for name in names:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            try:
                with socket.create_connection((address, port), 2) as plain:
                    plain.settimeout(2)
                    with context.wrap_socket(plain, server_hostname=name or None) as tls:
                        print(json.dumps([port, ssl.DER_cert_to_PEM_cert(tls.getpeercert(True))]), flush=True)
            except ssl.SSLError as error:
                if "WRONG_VERSION_NUMBER" in str(error):
                    break  # it speaks without TLS
            except OSError:
                break
"""


def shown_by_ports(process, names):
    command = ["nsenter", "--target", str(process), "--net", "--", "/usr/bin/python3", "-c", PROBE, json.dumps(names)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return {tuple(json.loads(line)) for line in done.stdout.splitlines()}


class Collector:
    def __init__(self):
        self.places = {}  # by text
        self.of_system = set()

    def add(self, text, place, detail):
        for pem in certificates_in(text):
            self.places.setdefault(("certificate", pem), {}).setdefault(place, detail)
        for payload in TOKEN.findall(text):
            self.places.setdefault(("token", payload), {}).setdefault(place, detail)

    def all(self):
        found = []
        for (kind, text), places in self.places.items():
            if text in self.of_system:
                continue
            about = describe(text) if kind == "certificate" else describe_token(text)
            if about is None:
                continue
            found += [Found(kind, *about, place, detail) for place, detail in places.items()]
        return found


def certificates_in(text, depth=0):
    """Certificates in a text: as they are, with escapes of JSON and URLs, or in base64."""
    whole = text.replace("\\n", "\n")
    if "-----BEGIN%20CERTIFICATE" in text:
        whole += urllib.parse.unquote(text)
    found = {"\n".join(line.strip() for line in pem.splitlines() if line.strip()) for pem in PEM.findall(whole)}
    if depth < 3:
        for encoded in IN_BASE64.findall(text):
            found |= certificates_in(decoded(encoded), depth + 1)
    return found


def decoded(encoded):
    try:
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
        return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode(errors="replace")
    except (ValueError, OSError, EOFError, zlib.error):
        return ""


def describe(pem):
    """(common name, issuer, is a CA, start, end); nothing for text that is not a certificate."""
    command = ["openssl", "x509", "-noout", "-subject", "-issuer", "-startdate", "-enddate", "-ext", "basicConstraints", "-nameopt", "sep_multiline,utf8"]
    done = subprocess.run(command, input=pem, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "notAfter" not in done.stdout:
        return None
    names = {"subject": "", "issuer": ""}
    part = None
    dates = {}
    for line in done.stdout.splitlines():
        word = line.partition("=")
        if word[0] in names:
            part = word[0]
        elif word[0].strip() == "CN" and part:
            names[part] = word[2]
        elif word[0] in ("notBefore", "notAfter"):
            dates[word[0]] = time.mktime(time.strptime(word[2].strip(), "%b %d %H:%M:%S %Y GMT")) - time.timezone
    return names["subject"], names["issuer"], "CA:TRUE" in done.stdout, dates["notBefore"], dates["notAfter"]


def describe_token(payload):
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        return None
    if not isinstance(claims, dict) or "sub" not in claims:
        return None
    made_for = "pod" if "pod" in claims.get("kubernetes.io", {}) else "request" if "exp" in claims else "Secret"
    return claims["sub"], made_for, False, claims.get("iat", 0), claims.get("exp", float("inf"))


if __name__ == "__main__":  # certificates.py DIR STATE: prints the result
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
    from installation import Installation

    shown = {}
    for each in walk(Installation(sys.argv[1])):
        shown.setdefault((each.kind, each.name, each.issuer, each.is_authority, round((each.end - each.begin) / DAY, 2)), {}).setdefault(each.place, []).append(each.detail)
    for key, where in sorted(shown.items(), key=str):
        print(*key, {place: sorted(details)[:2] for place, details in where.items()}, sep="\t")
