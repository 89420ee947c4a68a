"""Image mode for a cluster under test."""

POLICY = "imageMode: {policy: BuildOnBootstrap}\n"
PREFIX = "machineconfiguration.openshift.io/"
BEGIN = "FROM configs AS final\n"


def write_containerfiles(cluster, texts):
    """texts: role: the lines after BEGIN. The install-config has POLICY."""
    cluster.run("create", "manifests", "--with-machine-os-config")
    for role, text in texts.items():
        file = cluster.dir / f"openshift/99_machineosconfig_{role}.yaml"
        before = f"      {BEGIN}"
        content = file.read_text()
        assert before in content
        file.write_text(content.replace(before, "".join(f"      {line}\n" for line in (BEGIN + text).splitlines())))


def annotations(cluster, node):
    found = cluster.api.get(f"/api/v1/nodes/{node}")["metadata"]["annotations"]
    return {name: found.get(PREFIX + name) for name in ("currentImage", "desiredImage", "currentConfig", "desiredConfig", "state")}


def boots(cluster, machine):
    return cluster.machine(machine, "journalctl", "--list-boots", "--no-pager", "--quiet").stdout.count("\n")
