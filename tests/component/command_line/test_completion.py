"""Completion in the real shells: what is offered at which place."""
import os
import shutil
import subprocess

import pytest
from program import SLIPWAY, clean_environment, run

# Words before the cursor, with an incomplete last one; expected offers, or some of them.
LINES = [
    (["cr"], {"create"}),
    (["create", "cl"], {"cluster"}),
    (["--log-level", "debug", "create", "ma"], {"manifests", "master"}),
    (["create", "--dir", "create", "man"], {"manifests"}),
    (["completion", ""], {"bash", "fish", "zsh"}),
    (["create", "cluster", "--skip"], {"--skip-password-print"}),
    (["create", "cluster", "--out"], {"--output"}),
    (["create", "cluster", "--output", ""], {"text", "json"}),
    (["create", "cluster", "--l"], {"--log-level"}),
    (["timeline", "--output", "h"], {"html"}),
    (["analyze", "some-fi"], {"some-file"}),
    (["create", "cluster", "--images", "some-"], {"some-folder"}),
    (["machine-o"], set()),  # the owner process is hidden
]


def needs(shell):
    """In CI, a missing shell is a failure."""
    return pytest.mark.skipif(not shutil.which(shell) and os.environ.get("CI") != "true", reason=f"needs {shell}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "some-file").touch()
    (tmp_path / "some-folder").mkdir()
    return tmp_path


def offered_by_bash(words, folder):
    quoted = " ".join(f"'{word}'" for word in ["slipway", *words])
    script = f"""
        source <({SLIPWAY} completion bash)
        COMP_WORDS=({quoted}) COMP_CWORD={len(words)}
        _slipway
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("words, expected", LINES)
def test_bash_offers(words, expected, folder):
    assert offered_by_bash(words, folder) == expected


def test_bash_offers_values_behind_an_equals_sign(folder):
    """bash splits the option into three words."""
    assert offered_by_bash(["create", "cluster", "--output", "=", "j"], folder) == {"json"}
    assert offered_by_bash(["create", "cluster", "--output", "="], folder) == {"text", "json"}
    assert offered_by_bash(["create", "--dir", "=", "x", "cl"], folder) == {"cluster"}


@needs("fish")
@pytest.mark.parametrize("words, expected", LINES)
def test_fish_offers(words, expected, folder, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")  # without the user's configuration
    script = f"{SLIPWAY} completion fish | source; complete -C 'slipway {' '.join(words)}'"
    done = subprocess.run(["fish", "-c", script], cwd=folder, capture_output=True, text=True, timeout=30,
                          env=clean_environment(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home))
    assert done.returncode == 0 and not done.stderr, done.stderr
    offered = {line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines()}
    assert offered == expected


@needs("zsh")
def test_zsh_takes_the_script():
    script = run("completion", "zsh", status=0).stdout
    done = subprocess.run(["zsh", "-f", "-c", f"{script}\nprint -r -- $_comps[slipway]"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "_slipway" in done.stdout


def test_the_script_is_for_the_name_that_it_was_asked_by(tmp_path):
    link = tmp_path / "openshift-install"
    link.symlink_to(SLIPWAY)
    script = run("completion", "bash", program=link, status=0).stdout
    assert script.rstrip().endswith("complete -o filenames -F _openshift_install openshift-install")
