"""The command line for users: help, errors, exit statuses, signals; under its own name and as openshift-install."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

import pytest
from program import CONFIG, SLIPWAY, Terminal, all_commands, clean_environment, run

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "registry"))
from sample import Layout  # noqa: E402

SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])


@pytest.fixture(scope="session")
def installer(tmp_path_factory):
    link = tmp_path_factory.mktemp("bin") / "openshift-install"
    link.symlink_to(SLIPWAY)
    return link


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "demo"
    made.mkdir()
    (made / "install-config.yaml").write_text(CONFIG)
    return made


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    return Layout(tmp_path_factory.mktemp("release") / "layout", has_login=True).folder


def test_without_a_command_it_prints_help():
    result = run(status=0)
    assert "release" in result.stdout and "version" in result.stdout
    assert result.stderr == ""


def test_every_command_has_help_and_groups_show_it():
    commands = all_commands()
    assert ["create", "cluster"] in commands and ["completion", "zsh"] in commands and len(commands) > 30
    for words in commands:
        text = run(*words, "--help", status=0).stdout
        assert " ".join(["Usage: slipway", *words]) in text and "--dir" in text and "--log-level" in text, text
        if "\nCommands:\n" in text:
            assert run(*words, status=0).stdout == text


def test_the_page_has_every_command_and_option():
    """Each command has a row with each of its options."""
    page = (SOURCE / "docs/command-line.md").read_text()
    for words in all_commands():
        text = run(*words, "--help", status=0).stdout
        own = text if not words else text.partition("Global Options:")[0]
        options = re.findall(r"^  (--[\w-]+)", own, re.MULTILINE)
        if not options and "\nCommands:\n" in text:
            continue
        row = re.search(rf"^\| `{' '.join(words)}` \|.*$", page, re.MULTILINE) if words else re.search(r"(?s)^.*", page)
        assert row, f"docs/command-line.md has no row for {' '.join(words)}"
        missing = [option for option in options if not re.search(rf"`{option}[` ]", row[0])]
        assert not missing, f"docs/command-line.md: {' '.join(words)}: {missing}"
        unknown = [option for option in re.findall(r"`(--[\w-]+)", row[0]) if words and option not in options]
        assert not unknown, f"docs/command-line.md: {' '.join(words)} has no {unknown}"


def test_called_as_openshift_install_it_answers_as_that(installer):
    for words in all_commands():
        text = run(*words, "--help", program=installer, status=0).stdout
        assert " ".join(["Usage: openshift-install", *words]) in text and not re.search(r"\bslipway [a-z]", text), text


def test_version_has_the_lines_that_scripts_read(installer, tmp_path, release):
    version = (SOURCE / "VERSION").read_text().strip()
    installed = tmp_path / "bin/slipway"  # not in the folder of a build
    installed.parent.mkdir()
    shutil.copy(SLIPWAY, installed)
    nothing = clean_environment(SLIPWAY_RELEASES=str(tmp_path / "store"))
    alone = run("version", program=installed, env=nothing, cwd=tmp_path, status=0).stdout.splitlines()
    assert alone[0] == f"slipway {version}"
    assert all(re.fullmatch(r"built from commit [0-9a-f]{40}", line) for line in alone[1:])
    image = "quay.io/openshift-release-dev/ocp-release@sha256:" + 64 * "0"
    named = run("version", program=installer, cwd=tmp_path, status=0, env=clean_environment(OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=image)).stdout
    assert named.splitlines()[0] == f"openshift-install {version}"
    assert named.splitlines()[-2:] == [f"release image {image}", "release architecture unknown"]
    stored = tmp_path / "store/0.1.0-aaaaaaaaaaaa"
    stored.mkdir(parents=True)
    (stored / "release").symlink_to(release)
    (tmp_path / "store/default").write_text(stored.name + "\n")
    found = json.loads(run("version", "--output", "json", program=installed, env=nothing, cwd=tmp_path, status=0).stdout)
    assert found["version"] == version and found["releaseArchitecture"] == "amd64"
    assert re.fullmatch(r"registry\.slipway\.invalid/slipway/release@sha256:[0-9a-f]{64}", found["releaseImage"])


def test_general_options_stand_anywhere(folder):
    for words in (["--dir", folder, "create", "install-config"], ["create", "--dir", folder, "install-config"], ["create", "install-config", f"--dir={folder}"]):
        run(*words, "--log-level", "warning", status=0)


# (words, standard error when called as slipway)
MISTAKES = [
    (["release", "inof"], "error: The following argument was not expected: inof; see `slipway release --help`\n"),
    (["version", "extra"], "error: The following argument was not expected: extra; see `slipway version --help`\n"),
    (["create", "cluster", "version"], "error: The following argument was not expected: cluster; see `slipway create --help`\n"),
    (["version", "--log-level", "loud"],
     "error: --log-level: 'loud' is not one of trace, debug, info, warn, error, fatal, panic; see `slipway version --help`\n"),
]


@pytest.mark.parametrize("words, said", MISTAKES)
def test_mistakes_go_to_standard_error_with_status_1(words, said, installer):
    result = run(*words, status=1)
    assert result.stdout == ""
    if "create" not in words:  # either command may be reported as unexpected
        assert result.stderr == said
    assert re.fullmatch(r'level=fatal msg=".*openshift-install.*"\n', run(*words, program=installer, status=1).stderr)


def test_an_error_is_one_line_that_says_what_and_where(tmp_path):
    result = run("release", "info", tmp_path, status=1)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ") and str(tmp_path) in result.stderr and result.stderr.count("\n") == 1


def broken_config(folder):
    (folder / "install-config.yaml").write_text(CONFIG.replace("demo", "De mo"))


def no_config(folder):
    (folder / "install-config.yaml").unlink()


def broken_state(folder):
    (folder / ".openshift_install_state.json").write_text('{"format": 1,')


def no_change(folder):
    pass


# (words, change of the directory before the command, status, words of the message)
STATUSES = [
    (["create", "manifests"], broken_config, 3, "metadata.name"),
    (["create", "ignition-configs"], no_config, 3, "install-config.yaml"),
    (["create", "install-config"], broken_config, 3, "metadata.name"),
    (["create", "install-config"], no_config, 3, "not a terminal"),
    (["create", "manifests"], broken_state, 1, ".openshift_install_state.json"),
    (["create", "install-config"], broken_state, 1, ".openshift_install_state.json"),
    (["wait-for", "bootstrap-complete"], broken_state, 1, ".openshift_install_state.json"),
    (["create", "cluster"], no_change, 1, "platform none"),
    (["wait-for", "bootstrap-complete"], broken_config, 3, "metadata.name"),
    (["wait-for", "install-complete"], no_change, 1, "no cluster was created"),
    (["destroy", "cluster"], no_change, 1, "metadata.json"),
    (["gather", "bootstrap"], no_change, 1, "metadata.json"),
    (["gather", "bootstrap", "--master", "a"], no_change, 1, "--bootstrap HOST"),
    (["analyze"], no_change, 1, "log-bundle"),
]


@pytest.mark.parametrize("words, prepare, status, said", STATUSES)
def test_exit_statuses_are_those_of_openshift_install(words, prepare, status, said, folder, installer, release):
    prepare(folder)
    more = ["--release", release] if words[0] == "create" and words[1] != "install-config" else []
    for program, level in ((SLIPWAY, "error: "), (installer, "level=error " if status != 1 else "level=fatal ")):
        result = run(*words, "--dir", folder, *more, program=program, status=status)
        assert said in result.stderr and any(line.startswith(level) for line in result.stderr.splitlines()), result.stderr


KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{{name: demo, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority-data: {ca}}}}}]
users: [{{name: admin, user: {{token: secret}}}}]
contexts: [{{name: admin, context: {{cluster: demo, user: admin}}}}]
current-context: admin
"""


@pytest.fixture
def waiting(folder):
    """A directory of a cluster whose API accepts connections and does not answer."""
    (folder / "auth").mkdir()
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-keyout", "/dev/null"],
                          capture_output=True, check=True).stdout
    import base64
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = threading.Event()

        def accept():
            held = []
            try:
                while True:
                    held.append(server.accept()[0])
                    asked.set()
            except OSError:
                for each in held:
                    each.close()

        thread = threading.Thread(target=accept)
        thread.start()
        (folder / "auth/kubeconfig").write_text(KUBECONFIG.format(port=server.getsockname()[1], ca=base64.b64encode(made).decode()))
        folder_and_event = folder, asked
        yield folder_and_event
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_with_status_8_and_says_what_goes_on(name, waiting, installer):
    folder, asked = waiting
    program = subprocess.Popen([installer, "wait-for", "bootstrap-complete", "--dir", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=clean_environment(), start_new_session=True)
    assert asked.wait(120)
    program.send_signal(name)
    said = program.communicate(timeout=120)[1]
    assert program.returncode == 8, said
    assert re.search(r'level=info msg="waiting up to 15 min 0 s \(until \d\d:\d\d UTC\): the temporary control plane serves the API"', said), said
    assert re.search(r'level=warning msg="interrupted: .*run the same command to wait again"', said), said


def test_events_are_json_lines(tmp_path):
    journal = tmp_path / "events.jsonl"
    run("release", "info", tmp_path, "--events", journal)
    for line in journal.read_text().splitlines() if journal.exists() else []:
        assert {"time", "source", "kind", "name", "phase"} <= json.loads(line).keys()


def test_output_that_nobody_reads_is_no_crash():
    program = subprocess.Popen([SLIPWAY, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    assert program.wait(120) in (0, 1)


LINE = re.compile(r'time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" level=(debug|info|warning|error|fatal) msg=(\S+|".*")')


def test_the_log_of_a_directory_has_everything_but_secrets(folder, release):
    log = folder / ".openshift_install.log"
    for command in ("manifests", "ignition-configs"):
        run("create", command, "--dir", folder, "--release", release, "--key-type", "ecdsa", "--log-level", "error", status=0)
    first = log.read_text()
    lines = first.splitlines()
    assert all(LINE.fullmatch(line) for line in lines), lines
    version = (SOURCE / "VERSION").read_text().strip()
    starts = [number for number, line in enumerate(lines) if line.endswith(f'level=debug msg="slipway {version}"')]
    assert len(starts) == 2 and starts[0] == 0
    assert any("level=info" in line for line in lines), "it has what the console was not asked for"
    password = (folder / "auth/kubeadmin-password").read_text()
    for secret in (password, "cHVsbDpzZWNyZXQ=", "PRIVATE KEY"):
        assert secret not in first
    assert log.stat().st_mode & 0o777 == 0o600
    run("version", "--dir", folder, status=0)
    run("analyze", "--dir", folder)
    assert log.read_text() == first
    broken_config(folder)
    run("create", "manifests", "--dir", folder, "--release", release, status=3)
    assert log.read_text().startswith(first) and "metadata.name" in log.read_text()[len(first):]


def test_a_directory_that_cannot_keep_a_log_is_no_reason_to_stop(folder):
    (folder / ".openshift_install.log").mkdir()
    said = run("create", "install-config", "--dir", folder, status=0).stderr
    assert said.count("cannot keep a log") == 1


def test_colours_are_for_terminals_only(folder, installer):
    assert "\x1b[" not in run("create", "install-config", "--dir", folder, program=installer, status=0).stderr
    with Terminal("create", "install-config", "--dir", folder, program=installer) as terminal:
        assert terminal.wait() == 0
        assert "\x1b[36mINFO\x1b[0m " in terminal.text, terminal.text
    with Terminal("create", "install-config", "--dir", folder) as terminal:
        assert terminal.wait() == 0
        assert "info: " in terminal.text and "\x1b[3" not in terminal.text
