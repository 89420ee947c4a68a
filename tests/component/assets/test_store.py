"""The asset directory with the real program: full and read-only disks, two programs at once, the name of the original program, and commands
that only read the directory."""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "registry"))
from sample import Layout  # noqa: E402

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
CONFIG = """\
apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {local: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
"""
# Files that are not assets.
BESIDES = {".slipway", ".slipway/lock", ".openshift_install.log"}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/install-config.yaml").write_text(CONFIG)
    return tmp_path / "demo"


@pytest.fixture
def slipway(folder, release):
    def run(*words, status=0, program=SLIPWAY, **options):
        command = [program, *words, "--dir", folder]
        if words[1:] != ("install-config",):
            command += ["--release", release.folder]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **options)
        assert result.returncode == status, (command, result.returncode, result.stdout, result.stderr)
        return result

    return run


def tree(folder):
    """path -> (mode, content), without the log and the lock."""
    return {str(path.relative_to(folder)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes() if path.is_file() else None)
            for path in folder.rglob("*") if str(path.relative_to(folder)) not in BESIDES}


FULL = """
mount -t tmpfs -o size=$SIZE tmpfs "$FOLDER" && cp install-config.yaml "$FOLDER" || exit 99
"$SLIPWAY" create ignition-configs --release "$RELEASE" --dir "$FOLDER" 2>said; echo $?
find "$FOLDER" -mindepth 1 -printf '%P\\n' | sort > left
mount -o remount,size=20m "$FOLDER" || exit 99
"$SLIPWAY" create ignition-configs --release "$RELEASE" --dir "$FOLDER" 2>/dev/null; echo $?
find "$FOLDER" -type f -printf '%P\\n' | sort > end
"""


def in_own_mounts(script, folder, release, **variables):
    """Runs a script next to the folder in its own mount namespace."""
    environment = {**os.environ, "SLIPWAY": str(SLIPWAY), "RELEASE": str(release.folder), "FOLDER": str(folder), **variables}
    result = subprocess.run(["unshare", "--mount", "sh", "-c", script], cwd=folder.parent, env=environment, capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 0, (result.stdout, result.stderr)
    return result.stdout.split()


@pytest.mark.parametrize("size", ["60k", "140k", "220k"])
def test_a_full_disk_loses_nothing_and_gets_nothing(folder, release, size):
    (folder.parent / "install-config.yaml").write_text(CONFIG)
    assert in_own_mounts(FULL, folder, release, SIZE=size) == ["1", "0"]
    said = (folder.parent / "said").read_text()
    assert "No space left on device" in said and "all changes were undone" in said, said
    assert set((folder.parent / "left").read_text().split()) <= {"install-config.yaml", *BESIDES}
    assert {"bootstrap.ign", "auth/kubeconfig", "metadata.json"} <= set((folder.parent / "end").read_text().split())


READ_ONLY = """
mount --bind "$FOLDER" "$FOLDER" && mount -o remount,bind,ro "$FOLDER" || exit 99
"$SLIPWAY" create ignition-configs --release "$RELEASE" --dir "$FOLDER" 2>said; echo $?
"$SLIPWAY" plan cluster --release "$RELEASE" --dir "$FOLDER" >/dev/null; echo $?
"$SLIPWAY" diff cluster --release "$RELEASE" --dir "$FOLDER" >/dev/null; echo $?
"""


def test_a_read_only_directory_is_told_and_can_be_looked_at(folder, release, slipway):
    slipway("create", "manifests")
    before = tree(folder)
    assert in_own_mounts(READ_ONLY, folder, release) == ["1", "0", "0"]
    assert "Read-only file system" in (folder.parent / "said").read_text()
    assert tree(folder) == before


def test_of_many_at_once_each_has_its_turn_or_is_told_who_has_it(folder, release):
    command = [SLIPWAY, "create", "ignition-configs", "--dir", folder, "--release", release.folder]
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    said = [program.communicate(timeout=60)[1] for program in programs]
    statuses = [program.returncode for program in programs]
    assert 0 in statuses
    for status, text in zip(statuses, said):
        assert status == 0 or re.search(r"asset directory .*: in use by (process \d+|another)", text), (status, text)
    before = tree(folder)
    assert json.loads(before[".openshift_install_state.json"][1])["complete"]
    subprocess.run(command, check=True, capture_output=True)
    assert tree(folder) == before


def test_called_by_the_name_of_the_original_it_consumes_the_install_config(folder, slipway):
    original = folder.parent / "openshift-install"
    original.symlink_to(SLIPWAY)
    slipway("create", "manifests", program=original)
    assert not (folder / "install-config.yaml").exists()
    assert (folder / ".slipway/consumed/install-config.yaml").read_text() == CONFIG
    infra_id = json.loads((folder / ".openshift_install_state.json").read_text())["infraID"]
    slipway("create", "ignition-configs", program=original)
    assert json.loads((folder / "metadata.json").read_text())["infraID"] == infra_id
    assert not (folder / "manifests").exists() and (folder / ".slipway/consumed/manifests/cluster-config.yaml").exists()


def test_it_says_where_the_files_are_and_until_when_they_can_be_used(folder, slipway):
    assert f"manifests written to {folder}/manifests and {folder}/openshift" in slipway("create", "manifests").stderr
    said = slipway("create", "ignition-configs").stderr
    assert f"ignition-configs written to {folder} and {folder}/auth" in said
    assert re.search(r"create the machines before 20\d\d-\d\d-\d\dT\S+Z: certificate \S+ expires then", said), said


def test_the_install_config_is_written_with_its_defaults(folder, slipway):
    slipway("create", "install-config")
    assert "172.30.0.0/16" in (folder / "install-config.yaml").read_text()
    assert (folder / ".slipway/consumed/install-config.yaml").read_text() == CONFIG
    (folder / "install-config.yaml").unlink()
    before = tree(folder)
    assert "install-config.yaml" in slipway("create", "install-config", status=3).stderr
    assert tree(folder) == before


def test_a_plan_says_what_is_then_done(folder, slipway):
    slipway("create", "manifests")
    (folder / "manifests/mine.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n")
    before = tree(folder)
    plan = json.loads(slipway("plan", "ignition-configs", "--output", "json").stdout)
    text = slipway("plan").stdout
    difference = slipway("diff", "ignition-configs").stdout
    assert tree(folder) == before
    actions = {change["path"]: change["action"] for change in plan["changes"]}
    assert actions["manifests/mine.yaml"] == "consume" and actions["bootstrap.ign"] == "add"
    assert "  consume  manifests/mine.yaml  " in text
    assert "+++ bootstrap.ign" in difference and "/opt/openshift/manifests/mine.yaml" in difference
    assert "PRIVATE KEY" not in difference and "cHVsbDpzZWNyZXQ=" not in difference
    slipway("create", "ignition-configs")
    after = tree(folder)
    added = {path for path in after if path not in before and after[path][1] is not None and not path.startswith(".slipway/")}
    gone = {path for path in before if path not in after and before[path][1] is not None}
    assert added == {path for path, action in actions.items() if action == "add"}
    assert gone == {path for path, action in actions.items() if action == "consume"}
    assert slipway("plan", "ignition-configs").stdout == "create ignition-configs would change nothing.\n"
    assert slipway("diff", "ignition-configs").stdout == ""


def test_assets_of_a_folder_and_a_layout_need_no_curl(folder, slipway, tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "none/libcurl.so.4").write_text("no library")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path / "none")}
    slipway("create", "manifests", env=environment)
    asked = subprocess.run([SLIPWAY, "release", "info", "localhost:1/release:none"], env=environment, capture_output=True, text=True)
    assert asked.returncode == 1 and "libcurl cannot be loaded: " in asked.stderr, asked.stderr
    assert "(install libcurl)" in asked.stderr, asked.stderr


def test_the_graph_is_one_to_graphviz(tmp_path):
    dot = subprocess.run([SLIPWAY, "graph"], capture_output=True, text=True, check=True).stdout
    plain = subprocess.run(["dot", "-Tplain"], input=dot, capture_output=True, text=True, check=True).stdout
    kinds = [line.split(" ")[0] for line in plain.splitlines()]
    assert kinds.count("node") > 20 and kinds.count("edge") == dot.count(" -> ")
    picture = tmp_path / "graph.svg"
    subprocess.run([SLIPWAY, "graph", "--format", "svg", "--output-file", picture], check=True)
    assert xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg")
    bare = subprocess.run([SLIPWAY, "graph", "--format", "svg"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert bare.returncode == 1 and "install graphviz, or use --format dot" in bare.stderr
