"""Tests every flag that slipway passes to Kubernetes, etcd and metrics-server with the programs of the payload.

flags.tsv lists the flags and variables of OpenShift's manifests and scripts with the expected result: `known`, or `gone` with what slipway
does instead. Its column `source` names the OpenShift repository that uses the flag, or slipway for a program that OpenShift does not run.
SLIPWAY_PAYLOAD_BIN is the directory with the programs.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess

import pytest

from control_plane import ControlPlane, free_port

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
COLUMNS = ["program", "flag", "kind", "source", "expectation", "instead"]
CONTROL = "slipway-control"


def read_rows():
    head, *lines = (HERE / "flags.tsv").read_text().splitlines()
    assert head.split("\t") == COLUMNS
    return [dict(zip(COLUMNS, line.split("\t"))) for line in lines]


ROWS = read_rows()


def name_of(row):
    return f"{row['program']} {row['flag']}"


@pytest.fixture(scope="session")
def payload():
    directory = os.environ.get("SLIPWAY_PAYLOAD_BIN")
    if not directory:
        if os.environ.get("CI") == "true":
            pytest.fail("SLIPWAY_PAYLOAD_BIN is not set; it must name the directory with hyperkube, etcd and etcdctl")
        pytest.skip("SLIPWAY_PAYLOAD_BIN is not set")
    return pathlib.Path(directory).resolve()


def run(command, environment=None):
    """Returns the exit code and the output."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"HOME": "/nonexistent", **(environment or {})}, cwd="/", timeout=60, text=True)
    return done.returncode, done.stdout


def command_of(payload, program):
    words = program.split()
    if words[0] in ("etcd", "etcdctl", "metrics-server"):
        return [payload / words[0], *words[1:]]
    return [payload / "hyperkube", *words]


def flags_are_known(payload, program, *flags):
    """Runs the program with the flags and with an error that stops it right after flags are parsed."""
    command = [*command_of(payload, program), *flags]
    if program == "kubelet":
        # --help stops before values are checked, a missing configuration file afterwards.
        nowhere = "/nowhere/kubelet.conf"
        said = run([*command, f"--config={nowhere}"])[1]
        return nowhere in said, said
    code, said = run([*command, "--version" if program == "etcd" else "--help"])
    return code == 0, said


def variables_are_known(payload, program, *variables):
    environment = dict(variable.split("=", 1) for variable in variables)
    if program == "etcd":
        # An invalid flag that is checked last stops etcd before it listens.
        said = run([payload / "etcd", "--auto-compaction-mode=none"], environment)[1]
        return "unknown auto-compaction-mode" in said and all(f'"variable-name":"{name}"' in said for name in environment), said
    said = run([*command_of(payload, program), "--command-timeout=1ms", "--dial-timeout=1ms"], environment)[1]
    return "unrecognized environment variable" not in said, said


def try_rows(payload, rows):
    """The results of rows of one program and kind. Programs refuse the first flag that they do not know, so one run shows that they know all.
    If it does not, each row is tried alone."""
    trial = variables_are_known if rows[0]["kind"] == "env" else flags_are_known
    known, said = trial(payload, rows[0]["program"], *(row["flag"] for row in rows))
    if known or len(rows) == 1:
        return {name_of(row): (known, said) for row in rows}
    return {name_of(row): trial(payload, row["program"], row["flag"]) for row in rows}


def groups():
    """Rows that are tried in one run. A flag without a value could take the next flag as its value."""
    together = {}
    for row in ROWS:
        is_alone = row["expectation"] == "gone" or "=" not in row["flag"]
        together.setdefault((row["program"], row["kind"], name_of(row) if is_alone else ""), []).append(row)
    return list(together.values())


@pytest.fixture(scope="session")
def trials(payload):
    """The result of each row; runs on all processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = {}
        for outcomes in pool.map(lambda rows: try_rows(payload, rows), groups()):
            results |= outcomes
        return results


def known_flags(program, kind):
    return [row["flag"] for row in ROWS if (row["program"], row["kind"], row["expectation"]) == (program, kind, "known") and "=" in row["flag"]]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_flag(trials, row):
    known, said = trials[name_of(row)]
    assert known == (row["expectation"] == "known"), \
        f"{name_of(row)} ({row['source']}) should be {row['expectation']}; the program said:\n{said[:2000]}"


@pytest.mark.parametrize("program", sorted({row["program"] for row in ROWS if row["kind"] == "flag"}))
def test_control_flag_is_refused(payload, program):
    known, said = flags_are_known(payload, program, f"--{CONTROL}=1", *known_flags(program, "flag"))
    assert not known and CONTROL in said, f"{program} took an unknown flag, so the rows for it prove nothing:\n{said[:2000]}"


@pytest.mark.parametrize("program", sorted({row["program"] for row in ROWS if row["kind"] == "env"}))
def test_control_variable_is_refused(payload, program):
    variable = f"{program.split()[0].upper()}_{CONTROL.upper().replace('-', '_')}=1"
    known, said = variables_are_known(payload, program, variable, *known_flags(program, "env"))
    assert not known, f"{program} took {variable}, so the rows for it prove nothing:\n{said[:2000]}"


def test_table_is_well_formed():
    names = [name_of(row) for row in ROWS]
    assert len(names) == len(set(names))
    for row in ROWS:
        assert row["kind"] in ("flag", "env") and row["expectation"] in ("known", "gone"), name_of(row)
        assert (row["expectation"] == "gone") == bool(row["instead"]), f"{name_of(row)}: say what slipway does instead"
        assert re.fullmatch("slipway|openshift/[a-z-]+", row["source"]), f"{name_of(row)}: name the repository that uses it"


def test_page_names_what_is_gone():
    page = (ROOT / "docs" / "payload-flags.md").read_text()
    for row in ROWS:
        if row["expectation"] == "gone":
            assert f"`{row['flag'].split('=')[0]}" in page, f"{name_of(row)} is missing on docs/payload-flags.md"


# Values in OpenShift's configs that Kubernetes rejects, and why the launcher removes them.
REFUSED_VALUES = [
    ("kube-apiserver", "--enable-admission-plugins=config.openshift.io/ValidateAPIServer"),
    ("kube-apiserver", "--authorization-mode=Scope"),
    ("kube-apiserver", "--feature-gates=RouteExternalCertificate=true"),
    ("kube-controller-manager", "--feature-gates=RouteExternalCertificate=true"),
    ("kube-controller-manager", "--controllers=slipway-control"),
]


@pytest.mark.parametrize("program,flag", REFUSED_VALUES)
def test_upstream_refuses_value(payload, program, flag):
    beside = {"kube-apiserver": ["--etcd-servers=http://127.0.0.1:1"], "kube-controller-manager": ["--kubeconfig=/nowhere"]}
    code, said = run([payload / "hyperkube", program, flag, *beside[program]])
    refused = re.split("[=,]", flag)[1]
    assert code != 0 and refused in said, f"{program} {flag} is no longer refused:\n{said[:2000]}"


def test_control_plane_starts_from_openshift_documents(payload):
    gates = [line for line in (HERE / "openshift_feature_gates.txt").read_text().splitlines() if not line.startswith("#")]
    variables = dict(row["flag"].split("=", 1) for row in ROWS
                     if row["program"] == "etcd" and row["kind"] == "env" and row["expectation"] == "known")
    with ControlPlane(payload, ROOT / "payload" / "kubernetes" / "openshiftconfig" / "testdata", gates) as cluster:
        cluster.start_etcd(variables)
        cluster.start_api_server()
        cluster.start_controller_manager()
        cluster.start_scheduler()
        namespaces = cluster.kubectl("get", "namespaces", "--output=name").split()
        assert {"namespace/default", "namespace/kube-system"} <= set(namespaces)
        cluster.end_api_server()


def test_hyperkube_names_its_programs(payload, tmp_path):
    hyperkube = payload / "hyperkube"
    for arguments, code, words in (([], 2, "no program"), (["nonsense"], 2, '"nonsense"'), (["--help"], 0, "usage")):
        outcome, said = run([hyperkube, *arguments])
        assert outcome == code and words in said and "kube-apiserver" in said and "kube-proxy" in said, said
    (tmp_path / "kubectl").symlink_to(hyperkube)
    code, said = run([tmp_path / "kubectl", "version", "--client"])
    assert code == 0 and "Client Version: v1.36" in said, said


def test_hyperkube_refuses_malformed_document(payload, tmp_path):
    document = tmp_path / "config.yaml"
    document.write_text("apiVersion: v1\nkind: Pod\n")
    code, said = run([payload / "hyperkube", "kube-apiserver", f"--openshift-config={document}"])
    assert code == 2 and f"{document}: kind" in said and "KubeAPIServerConfig" in said, said


def test_flanneld_names_everything_that_is_missing(payload):
    code, said = run([payload / "flanneld", "--ip-masq", "--kube-subnet-mgr", "--iface=eth0", "-v=2"])
    assert code == 1
    for missing in ("NODE_NAME", "--net-config-path", "--kubeconfig-file"):
        assert missing in said, said


def test_flanneld_ends_on_term_while_it_waits_for_the_api(payload, tmp_path):
    config = tmp_path / "net-conf.json"
    config.write_text('{"Network": "10.128.0.0/14", "EnableNFTables": true, "Backend": {"Type": "host-gw"}}')
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\nkind: Config\ncurrent-context: test\n"
                          f"clusters: [{{name: test, cluster: {{server: 'http://127.0.0.1:{free_port()}'}}}}]\n"
                          "contexts: [{name: test, context: {cluster: test}}]\n")
    flanneld = subprocess.Popen(
        [payload / "flanneld", f"--kubeconfig-file={kubeconfig}", f"--net-config-path={config}", f"--subnet-file={tmp_path}/subnet.env"],
        env={"NODE_NAME": "test"}, stderr=subprocess.PIPE, text=True)
    try:
        for line in flanneld.stderr:
            if "Waiting" in line:
                break
        flanneld.terminate()
        assert flanneld.wait(timeout=120) == 0
    finally:
        flanneld.kill()
        flanneld.wait()
        flanneld.stderr.close()
