"""A cluster keeps the machine OS that it was created with, whatever happens to the repository."""
import pathlib
import shutil
import subprocess

import pytest
from local_machines import OS_REPO

REF = "slipway/machine-os"


def ostree(repo, *words):
    return subprocess.run(["ostree", f"--repo={repo}", *words], text=True, capture_output=True, check=True).stdout.strip()


@pytest.fixture
def repo(cluster):
    """A copy of the repository with hard links: OSTree replaces files of objects and never writes to them."""
    copy = pathlib.Path(cluster.state).parent / "repo"
    copy.mkdir()
    for name in ("objects", "refs", "config"):
        subprocess.run(["cp", "--archive", "--link", f"{OS_REPO}/{name}", copy], check=True)
    (copy / "extensions").mkdir()
    (copy / "tmp").mkdir()
    (copy / "state").mkdir()
    yield copy
    subprocess.run(["chattr", "-R", "-f", "-i", str(copy)], check=False)


def build_another(repo, tmp_path):
    """Like os/commit: adds another commit of the branch and deletes the previous one."""
    (tmp_path / "usr/share").mkdir(parents=True)
    (tmp_path / "usr/share/which-one").write_text("the next\n")
    commit = ostree(repo, "commit", f"--branch={REF}", f"--tree=ref={REF}", f"--tree=dir={tmp_path}", "--parent=none",
                    "--owner-uid=0", "--owner-gid=0", "--bootable", "--subject=next")
    ostree(repo, "prune", "--refs-only", "--depth=0")
    return commit


def commits(cluster):
    return {name: row["deployment"].partition(".")[0] for name, row in cluster.list().items()}


def test_machines_of_a_cluster_are_of_one_commit(cluster, repo, tmp_path):
    first = ostree(repo, "rev-parse", REF)
    cluster.run("create", "m0", "--os-repo", str(repo), "--wait")
    second = build_another(repo, tmp_path)
    assert second != first
    cluster.run("create", "m1", "--os-repo", str(repo), "--wait")
    assert commits(cluster) == {"m0": first, "m1": first}
    cluster.shell("m1", "test ! -e /usr/share/which-one")

    # Another owner process, without a repository.
    cluster.run("stop")
    subprocess.run(["chattr", "-R", "-f", "-i", str(repo)], check=False)
    shutil.rmtree(repo)
    cluster.run("create", "m0", "m1", "m2", "--os-repo", str(repo), "--wait")
    assert commits(cluster) == {"m0": first, "m1": first, "m2": first}
    cluster.run("destroy", "--all")
    repo.mkdir()


def test_the_next_cluster_gets_the_next_commit(cluster, repo, tmp_path):
    second = build_another(repo, tmp_path)
    cluster.run("create", "m0", "--os-repo", str(repo), "--wait")
    assert commits(cluster) == {"m0": second}
    assert cluster.shell("m0", "cat /usr/share/which-one").stdout == "the next\n"
