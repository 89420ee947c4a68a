"""install-config.yaml for users: `slipway validate`, `slipway explain`, and the JSON Schema, checked with a third-party library."""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml

SLIPWAY = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "slipway"
SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/docs"))
import pages  # noqa: E402

GOOD = sorted((SOURCE / "tests/golden/configs/good").glob("*.yaml"))
ASSETS = sorted((SOURCE / "tests/golden/install-configs").glob("*.yaml"))
SHOWN = [block for page in pages.pages() for block in pages.blocks(page, "yaml install-config")]


class Yaml(yaml.SafeLoader):
    """YAML as the program and Go parse it: 52:54:00:12:34:56 is not a base-60 number."""


Yaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Yaml.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))


def read(text):
    return yaml.load(text, Yaml)


def run(*arguments, cwd=None):
    return subprocess.run([SLIPWAY, *arguments], capture_output=True, text=True, timeout=60, cwd=cwd)


@pytest.fixture(scope="module")
def schema():
    document = json.loads(run("explain", "--schema").stdout)
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


@pytest.fixture
def folder(tmp_path):
    """Writes an install-config and validates it."""
    def validate(text, *options):
        (tmp_path / "install-config.yaml").write_text(text)
        return run("validate", *options, cwd=tmp_path)
    validate.path = tmp_path
    return validate


def test_there_are_configs_to_judge():
    assert len(GOOD) >= 11 and len(ASSETS) >= 11 and SHOWN


@pytest.mark.parametrize("path", GOOD + ASSETS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_golden_config_has_the_form_of_the_schema(schema, path):
    schema.validate(read(path.read_text()))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_good_configs_are_valid_and_so_is_what_is_made_of_them(schema, folder, path):
    result = folder(path.read_text(), "--strict")
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert "install-config.yaml is valid" in result.stdout.splitlines()[-1]
    made = effective(folder.path)
    schema.validate(read(made))
    again = folder(made, "--strict")
    assert again.returncode == 0, again.stdout


def effective(folder):
    """The output of `create install-config` for the file. Credentials must exist but are not read."""
    (folder / "clouds.yaml").write_text("clouds: {demo: {}, openstack: {}, mycloud: {}}\n")
    environment = {**os.environ, "HOME": str(folder), "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "GOOGLE_CREDENTIALS": "{}"}
    made = subprocess.run([SLIPWAY, "create", "install-config"], capture_output=True, text=True, timeout=60, cwd=folder, env=environment)
    assert made.returncode == 0, made.stderr
    return (folder / "install-config.yaml").read_text()


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_configs_of_the_pages_are_valid(schema, folder, block):
    schema.validate(read(block.text))
    result = folder(block.text, "--strict")
    assert result.returncode == 0, result.stdout


def changed(config, path, value):
    """A copy with another value at a path of keys and indexes; ... removes the value."""
    config = copy.deepcopy(config)
    inner = config
    for step in path[:-1]:
        inner = inner.setdefault(step, {}) if isinstance(inner, dict) else inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return config


# Configs that schema and program reject: where, and whether the program does so with --strict only.
WRONG = [
    ("none", ["apiVersion"], ..., "apiVersion", False),
    ("none", ["metadata", "name"], ..., "metadata.name", False),
    ("none", ["baseDomain"], ["example.com"], "baseDomain", False),
    ("none", ["pullSecret"], ..., "pullSecret", False),
    ("none", ["platform"], {}, "platform", False),
    ("none", ["platform"], {"azure": {}}, "platform.azure", False),
    ("none", ["platform", "local"], {}, "platform", False),
    ("none", ["publish"], "Everybody", "publish", False),
    ("none", ["controlPlane"], {"replicas": "3"}, "controlPlane.replicas", False),
    ("none", ["controlPlane"], {"hyperthreading": "On"}, "controlPlane.hyperthreading", False),
    ("none", ["compute"], {"name": "worker"}, "compute", False),
    ("none", ["networking"], {"machineNetwork": ["10.0.0.0/16"]}, "networking.machineNetwork[0]", False),
    ("none", ["featureGates"], "A=true", "featureGates", False),
    ("none", ["basedomains"], "example.com", "basedomains", True),
    ("baremetal", ["platform", "baremetal", "hosts", 0, "bmc", "passwort"], "s3cret", "platform.baremetal.hosts[0].bmc.passwort", True),
    ("vsphere", ["platform", "vsphere", "vcenters", 0, "port"], "https", "platform.vsphere.vcenters[0].port", False),
    ("vsphere", ["platform", "vsphere", "diskType"], "fat", "platform.vsphere.diskType", False),
    ("aws", ["platform", "aws", "region"], ..., "platform.aws.region", False),
]


@pytest.mark.parametrize("base, path, value, field, is_strict", WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_what_the_schema_refuses_the_program_refuses(schema, folder, base, path, value, field, is_strict):
    config = read((SOURCE / f"tests/golden/configs/good/{base}.yaml").read_text())
    schema.validate(config)
    wrong = changed(config, path, value)
    assert not schema.is_valid(wrong)
    result = folder(json.dumps(wrong), "--output", "json", *(["--strict"] if is_strict else []))
    assert result.returncode == 3, result.stdout
    findings = json.loads(result.stdout)["findings"]
    assert field in [each.get("field") for each in findings if each["severity"] == "error"], findings
    assert "s3cret" not in result.stdout + result.stderr
    if is_strict:
        assert folder(json.dumps(wrong)).returncode == 0


def test_validate_tells_all_at_once_and_writes_nothing(folder):
    result = folder("apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: Example\nplatform: {local: {}}\npublishing: all\ncontrolPlane: {replicas: 2}\n")
    assert (result.returncode, result.stderr) == (3, "")
    lines = result.stdout.splitlines()
    assert [line.split(": ")[1:3] for line in lines[:-1]] == [
        ["error", "baseDomain"], ["warning", "publishing"], ["error", "controlPlane.replicas"]]
    assert lines[0].startswith("install-config.yaml:3:1: ")
    assert lines[-1] == "install-config.yaml has 2 errors and 1 warning"
    assert [path.name for path in folder.path.iterdir()] == ["install-config.yaml"]


def test_validate_in_json_has_places(folder):
    result = folder("apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\npublsh: all\n", "--output", "json")
    assert result.returncode == 0
    assert json.loads(result.stdout) == {"valid": True, "findings": [{
        "severity": "warning", "message": "unknown field, no effect", "file": "install-config.yaml", "line": 5, "column": 1,
        "field": "publsh", "hint": "did you mean 'publish'?"}]}


def test_validate_without_a_file_names_it(tmp_path):
    result = run("validate", "--dir", str(tmp_path))
    assert result.returncode == 3 and str(tmp_path / "install-config.yaml") in result.stderr


def test_broken_yaml_is_a_finding_with_its_place(folder):
    result = folder("apiVersion: v1\nplatform: {\n", "--output", "json")
    assert result.returncode == 3
    assert json.loads(result.stdout)["findings"][0]["line"] >= 2


def test_create_refuses_unknown_fields_with_strict_only(folder):
    (folder.path / "install-config.yaml").write_text(
        "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\npublishing: all\n")
    refused = run("create", "install-config", "--strict", cwd=folder.path)
    assert refused.returncode == 3 and "install-config.yaml:5:1: error: publishing: unknown field" in refused.stderr
    taken = run("create", "install-config", cwd=folder.path)
    assert taken.returncode == 0 and "publishing" in taken.stderr


def test_explain_walks_the_fields():
    result = run("explain", "installconfig.platform.vsphere.vcenters.")
    assert result.returncode == 0 and "FIELD: vcenters <[]object>" in result.stdout and "password <string> -required-" in result.stdout
    assert run("explain", "installconfig", "--recursive").stdout.count("\n") > 300
    for wrong in (["pods"], [], ["installconfig", "--schema"], ["installconfig.nothing"]):
        result = run("explain", *wrong)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, wrong


def test_the_reference_page_is_what_the_program_prints():
    assert run("explain", "--reference").stdout == (SOURCE / "docs/install-config-reference.md").read_text()
