"""Looking for secrets where they do not belong."""

import base64
import re
import tarfile

PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
IN_BASE64 = b"LS0tLS1CRUdJTiBFQyBQUklWQVRF"


def secrets_of(cluster):
    """Texts that nobody else may read, as they are and in base64. Asks the bootstrap machine."""
    token = cluster.machine("bootstrap", "cat", "/opt/openshift/tls/machine-config-server-token").stdout.strip()
    password = (cluster.dir / "auth/kubeadmin-password").read_text().strip()
    plain = [token.encode(), password.encode()]
    return plain + [base64.b64encode(text) for text in plain]


def has_secret(cluster, content):
    return PRIVATE_KEY.search(content) or IN_BASE64 in content or any(secret in content for secret in cluster.secrets)


def names_in(bundle):
    with tarfile.open(bundle) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def assert_no_secrets(cluster, archive):
    with tarfile.open(archive) as bundle:
        assert not [member.name for member in bundle if member.isfile() and has_secret(cluster, bundle.extractfile(member).read())]


def readable_by_others(cluster, machines):
    """Files with secrets that others can read, and journals with secrets; on the host and on machines."""
    found = []
    roots = [cluster.dir, cluster.state / cluster.name / "owner.log", cluster.state / cluster.name / "events.jsonl"]
    for root in roots:
        for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
            if path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o077 and has_secret(cluster, path.read_bytes()):
                found.append(str(path))
    for machine in machines:
        # Whatever others can reach, by the modes of all folders above it.
        script = ("find /etc /var /run /opt /tmp -xdev \\( -type d ! -perm -o=x -prune \\) -o -type f -perm -o=r -size -4096k -print0 2>/dev/null"
                  " | grep --null-data --invert-match -e ^/var/lib/containerd/ -e ^/var/lib/containers/"
                  " | xargs -0 grep --files-with-matches --text -e 'BEGIN [A-Z ]*PRIVATE KEY' -e LS0tLS1CRUdJTiBFQyBQUklWQVRF 2>/dev/null || true")
        found += [f"{machine}:{path}" for path in cluster.machine(machine, "sh", "-c", script).stdout.split()]
        if has_secret(cluster, cluster.machine(machine, "journalctl", "--no-pager", "--quiet", "--all").stdout.encode()):
            found.append(f"{machine}: its journal")
    return found
