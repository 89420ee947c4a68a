"""Searches for secrets in places where they must not be."""

import json
import re
import tarfile

from leak_finder import Finder
from user_files import LICENSE, PASSWORD

PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
IN_BASE64 = b"LS0tLS1CRUdJTiBFQyBQUklWQVRF"


def finder_of(cluster):
    """A finder for secrets: those that the asset directory generated, and those of the user."""
    assert not (cluster.dir / "auth/kubeadmin-password").exists(), "nothing in this release takes a password"
    state = json.loads((cluster.dir / ".openshift_install_state.json").read_text())
    secrets = {"token of the machine-config-server": state["machineConfigServerToken"],
               "password of a registry": PASSWORD, "file of a MachineConfig": LICENSE.strip(),
               **{f"key {name}": "".join(pair["key"].strip().splitlines()[1:-1])[20:60] for name, pair in state["tls"].items() if pair["key"]}}
    assert len(secrets) > 20 and all(len(text) > 10 for text in secrets.values())
    return Finder({name: text.encode() for name, text in secrets.items()})


def has_secret(cluster, content):
    """Whether a text contains a secret, as it is or in base64 at any alignment."""
    return bool(PRIVATE_KEY.search(content) or IN_BASE64 in content or cluster.finder.find(content, depth=0))


def names_in(bundle):
    with tarfile.open(bundle) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def assert_no_secrets(cluster, archive):
    with tarfile.open(archive) as bundle:
        assert not [member.name for member in bundle if member.isfile() and has_secret(cluster, bundle.extractfile(member).read())]
    found = cluster.finder.find_in_archive(archive)
    assert not found, sorted(found)


def readable_by_others(cluster, machines):
    """Files with secrets that other users can read, and journals with secrets; on the host and on machines."""
    found = []
    roots = [cluster.dir, cluster.state / cluster.name / "owner.log", cluster.state / cluster.name / "events.jsonl"]
    for root in roots:
        for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
            if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077 and has_secret(cluster, path.read_bytes()):
                found.append(str(path))
    for machine in machines:
        # Files that other users can reach, given the modes of all folders above.
        script = ("find /etc /var /run /opt /tmp -xdev \\( -type d ! -perm -o=x -prune \\) -o -type f -perm -o=r -size -4096k -print0 2>/dev/null"
                  " | grep --null-data --invert-match -e ^/var/lib/containerd/ -e ^/var/lib/containers/"
                  " | xargs -0 grep --files-with-matches --text -e 'BEGIN [A-Z ]*PRIVATE KEY' -e LS0tLS1CRUdJTiBFQyBQUklWQVRF 2>/dev/null || true")
        found += [f"{machine}:{path}" for path in cluster.machine(machine, "sh", "-c", script).stdout.split()]
        if has_secret(cluster, cluster.machine(machine, "journalctl", "--no-pager", "--quiet", "--all").stdout.encode()):
            found.append(f"{machine}: its journal")
    return found
