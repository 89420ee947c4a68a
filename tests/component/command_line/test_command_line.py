"""The program as a person meets it: help, mistakes, exit statuses, a terminal, signals."""
import json
import os
import pathlib
import subprocess

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"


def run(*arguments, **options):
    return subprocess.run([SLIPWAY, *arguments], capture_output=True, text=True, timeout=30, **options)


def test_without_a_command_it_prints_help():
    result = run()
    assert result.returncode == 0
    assert "release" in result.stdout and "version" in result.stdout
    assert result.stderr == ""


def test_version_is_the_one_of_the_repository():
    version = (pathlib.Path(os.environ["SLIPWAY_SOURCE"]) / "VERSION").read_text().strip()
    assert run("version").stdout == f"slipway {version}\n"
    assert json.loads(run("version", "--output", "json").stdout) == {"version": version}


def test_mistakes_go_to_standard_error_with_status_1():
    result = run("release", "inof")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "error: The following argument was not expected: inof; see `slipway release --help`\n"


def test_an_error_is_one_line_that_says_what_and_where(tmp_path):
    result = run("release", "info", str(tmp_path))
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("error: ") and str(tmp_path) in result.stderr and result.stderr.count("\n") == 1


def test_events_are_json_lines(tmp_path):
    journal = tmp_path / "events.jsonl"
    run("release", "info", str(tmp_path), "--events", str(journal))
    for line in journal.read_text().splitlines() if journal.exists() else []:
        assert {"time", "source", "kind", "name", "phase"} <= json.loads(line).keys()


def test_output_that_nobody_reads_is_no_crash():
    program = subprocess.Popen([SLIPWAY, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    assert program.wait(30) in (0, 1)
