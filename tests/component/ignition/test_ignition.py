"""src/ignition compared with Ignition: its validator for configs, and the files that it writes for merging and translating."""
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from ignition_machine import Machine  # noqa: E402

HERE = pathlib.Path(__file__).parent
CASES = HERE / "cases"
TOOL = pathlib.Path(os.environ["SLIPWAY_BIN"]) / "ignition_tool"

# Configs that slipway rejects and Ignition accepts, and why.
STRICTER = {
    "base64-bits": "bits of base64 that no byte has are a sign of a cut text",
    "hash-digits": "a hash that is not hexadecimal can never fit",
    "host": "a URL without a host can never be fetched; Ignition would try for ever",
    "key-case": "the judge takes Path for path and warns that it does not know Path",
    "key-twice": "the judge takes the last of two members and says nothing",
    "link-target-3.2": "the judge lets a link without a target pass before spec 3.3, where it then fails on the machine",
    "merge-3.0": "the judge takes a reference to nothing in spec 3.0",
    "null-in-list": "the judge reads null in a list as an empty text",
    "raid-name": "an array without a name has no device",
    "unit-conflicts": "newer judges (2.20) refuse it too: whether the file or the unit survives depends on their order",
    "unit-slash": "the unit would be written outside of systemd's folder",
    "user-name": "useradd fails on the machine",
}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, **options)


def tool(*arguments, cwd=CASES):
    result = run(TOOL, *arguments, cwd=cwd)
    assert result.returncode in (0, 1), result.stderr
    return result


def judge(case):
    return run("ignition-validate", case, cwd=CASES)


def cases(kind):
    found = sorted(path.stem[len(kind) + 1:] for path in CASES.glob(f"{kind}-*.json"))
    assert found
    return found


def fields_of_judge(text):
    """ "error at $.storage.files.0.path, line 1 col 2: ..." as storage.files[0].path"""
    steps = re.findall(r"^(?:error|warning) at \$\.(.*?), line", text, re.MULTILINE)
    return [re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", step) for step in steps]


def fields_of_ours(text):
    return re.findall(r"(?:error|warning): (\S*?): ", text)


def entry(field):
    """"storage.files[0].mode" as storage.files[0]; the two validators may name different fields of an entry."""
    return field[: field.rfind("]") + 1] or field


def assert_says_as_much(ours, judged):
    """Every finding of Ignition has a finding of slipway in the same list entry, or at a field around or inside it."""
    mine = [entry(field) for field in fields_of_ours(ours.stderr)]
    for field in map(entry, fields_of_judge(judged.stdout + judged.stderr)):
        assert any(field.startswith(other) or other.startswith(field) for other in mine), (field, ours.stderr)


@pytest.mark.parametrize("name", cases("valid"))
def test_a_valid_config_is_valid_to_both(name):
    judged, ours = judge(f"valid-{name}.json"), tool("validate", f"valid-{name}.json")
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert ours.returncode == 0, ours.stderr
    if name != "null-is-absent":  # the warning of the validator has a wrong path
        assert_says_as_much(ours, judged)


@pytest.mark.parametrize("name", cases("invalid"))
def test_an_invalid_config_is_invalid_to_both(name):
    case = f"invalid-{name}.json"
    judged, ours = judge(case), tool("validate", case)
    assert judged.returncode == 1
    assert ours.returncode == 1
    assert_says_as_much(ours, judged)


@pytest.mark.parametrize("name", sorted(STRICTER.keys() | set(cases("stricter"))))
def test_where_we_are_stricter_it_is_for_a_reason(name):
    assert STRICTER[name]
    assert judge(f"stricter-{name}.json").returncode == 0
    assert tool("validate", f"stricter-{name}.json").returncode == 1


def test_findings_read_as_written_down():
    """Compares the errors of every rejected case with the file next to it; ACCEPT=1 writes it."""
    accepted = []
    for case in sorted([*CASES.glob("invalid-*.json"), *CASES.glob("stricter-*.json")]):
        expected, text = case.with_suffix(".txt"), tool("validate", case.name).stderr
        if os.environ.get("ACCEPT") == "1" and (not expected.exists() or expected.read_text() != text):
            expected.write_text(text)
            accepted.append(case.stem)
        assert text == expected.read_text(), case.name
    if accepted:
        pytest.skip(f"written: {', '.join(accepted)}")


@pytest.mark.parametrize("name", cases("valid"))
def test_what_we_write_is_valid_to_the_judge(name, tmp_path):
    written = tmp_path / "written.ign"
    written.write_text(tool("parse", f"valid-{name}.json").stdout)
    judged = judge(written)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "Unused key" not in judged.stdout + judged.stderr
    assert tool("parse", written).stdout == written.read_text()


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return Machine(tmp_path_factory.mktemp("machine"))


def data(text):
    return "data:;base64," + base64.b64encode(text.encode()).decode()


def fetched_and_merged(parent, *children):
    """The parent as a server would serve it, with references to its children."""
    config = json.loads(json.dumps(parent))
    config["ignition"]["config"] = {"merge": [{"source": data(json.dumps(child))} for child in children]}
    return config


def merged_by_us(tmp_path, *configs):
    names = []
    for number, config in enumerate(configs):
        names.append(f"{number}.ign")
        (tmp_path / names[-1]).write_text(json.dumps(config))
    result = tool("merge", *names, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return result.stdout


PARENT = {
    "ignition": {"version": "3.2.0"},
    "storage": {
        "files": [
            {"path": "/etc/both", "mode": 0o600, "contents": {"source": "data:,parent"}},
            {"path": "/etc/mode-only", "contents": {"source": "data:,kept"}},
            {"path": "/etc/becomes-a-link", "contents": {"source": "data:,gone"}},
            {"path": "/etc/appended", "contents": {"source": "data:,1"}, "append": [{"source": "data:,2"}]},
            {"path": "/etc/packed", "contents": {"source": data(""), "compression": ""}},
        ],
        "directories": [{"path": "/srv/a", "mode": 0o700}, {"path": "/srv/becomes-a-file"}],
        "links": [{"path": "/etc/link", "target": "both"}],
    },
    "systemd": {
        "units": [
            {"name": "a.service", "enabled": True, "contents": "[Service]\nType=simple\n[Install]\nWantedBy=x.target\n",
             "dropins": [{"name": "10-a.conf", "contents": "[Service]\nA=1\n"}]},
            {"name": "b.service", "enabled": True, "contents": "[Service]\n"},
        ]
    },
}
CHILD = {
    "ignition": {"version": "3.3.0"},
    "storage": {
        "files": [
            {"path": "/etc/both", "contents": {"source": "data:,child"}},
            {"path": "/etc/mode-only", "mode": 0o755},
            {"path": "/etc/appended", "append": [{"source": "data:,2"}, {"source": "data:,3"}]},
            {"path": "/srv/becomes-a-file", "mode": 0o400, "contents": {"source": "data:,x"}},
            {"path": "/etc/empty"},
        ],
        "links": [
            {"path": "/etc/becomes-a-link", "target": "/nowhere"},
            {"path": "/etc/link", "target": "/etc/both", "hard": True},
        ],
    },
    "systemd": {
        "units": [
            {"name": "b.service", "enabled": False, "contents": ""},
            {"name": "a.service", "dropins": [
                {"name": "20-b.conf", "contents": "[Service]\nB=1\n"}, {"name": "10-a.conf", "contents": ""}]},
            {"name": "c.service", "mask": True},
        ]
    },
}
GRANDCHILD = {
    "ignition": {"version": "3.0.0"},
    "storage": {"files": [{"path": "/etc/both", "mode": 0o640}], "directories": [{"path": "/etc/becomes-a-link", "mode": 0o711}]},
}


def test_merging_before_is_merging_on_the_machine(machine, tmp_path):
    tree = machine.apply(fetched_and_merged(PARENT, CHILD))
    assert tree["etc/both"][-1] == b"child" and tree["etc/appended"][-1] == b"1223"
    assert machine.apply(merged_by_us(tmp_path, PARENT, CHILD)) == tree


def test_two_children_merge_in_their_order(machine, tmp_path):
    tree = machine.apply(fetched_and_merged(PARENT, CHILD, GRANDCHILD))
    assert tree["etc/both"][0] == "-rw-r-----" and tree["etc/becomes-a-link"][0] == "drwx--x--x"
    assert machine.apply(merged_by_us(tmp_path, PARENT, CHILD, GRANDCHILD)) == tree


def random_config(chance):
    def some(most):
        return chance.sample(range(4), chance.randint(0, most))

    storage = {"files": [], "directories": [], "links": []}
    for number in some(4):
        node = {"path": f"/etc/x/{number}"}
        kind = chance.choice(list(storage))
        if kind != "links" and chance.random() < 0.5:
            node["mode"] = chance.choice([0o600, 0o755, 0])
        if kind == "files" and chance.random() < 0.7:
            node["contents"] = {"source": chance.choice(["data:,a", "data:,b"])}
        if kind == "files" and chance.random() < 0.3:
            node["append"] = [{"source": "data:,+"}] * chance.randint(1, 2)
        if kind == "links":
            node["target"] = chance.choice(["/a", "../b"])
        storage[kind].append(node)
    units = [{"name": f"{number}.service", **{key: value for key, value in [
        ("enabled", chance.random() < 0.5),
        ("contents", chance.choice(["", "[Service]\nA=1\n", "[Install]\nWantedBy=x\n"])),
        ("dropins", [{"name": f"{i}.conf", "contents": chance.choice(["", "[A]\nB=1\n"])} for i in some(2)]),
    ] if chance.random() < 0.6}} for number in some(3)]
    version = chance.choice(["3.0.0", "3.1.0", "3.2.0", "3.3.0"])
    return {"ignition": {"version": version}, "storage": storage, "systemd": {"units": units}}


def test_random_configs_merge_as_on_the_machine(machine, tmp_path):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED", random.randrange(10**6)))
    print(f"SLIPWAY_TEST_SEED={seed}")
    chance = random.Random(seed)
    for _ in range(8):
        configs = [random_config(chance) for _ in range(chance.randint(2, 3))]
        print(json.dumps(configs))
        assert machine.apply(merged_by_us(tmp_path, *configs)) == machine.apply(fetched_and_merged(*configs))


@pytest.mark.parametrize("target", ["3.0.0", "3.1.0", "3.2.0"])
@pytest.mark.parametrize("source", ["3.1.0", "3.2.0", "3.3.0", "3.4.0"])
def test_a_translated_config_makes_the_same_tree(machine, tmp_path, source, target):
    config = merged_by_us(tmp_path, PARENT, CHILD).replace('"3.3.0"', f'"{source}"')
    (tmp_path / "config.ign").write_text(config)
    translated = tool("translate", "config.ign", target, cwd=tmp_path)
    assert translated.returncode == 0, translated.stderr
    assert json.loads(translated.stdout)["ignition"]["version"] == target
    # Debian's Ignition has 3.4 as an experimental version.
    assert machine.apply(translated.stdout) == machine.apply(config.replace('"3.4.0"', '"3.4.0-experimental"'))


def test_special_mode_bits_do_not_come_alive_by_raising_the_version(machine, tmp_path):
    config = {"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "/etc/s", "mode": 0o4755}]}}
    raised = json.loads(merged_by_us(tmp_path, config, {"ignition": {"version": "3.4.0"}}))
    assert raised["storage"]["files"][0]["mode"] == 0o755
    assert machine.apply(config)["etc/s"][0] == "-rwxr-xr-x"


def test_what_cannot_be_translated_is_refused_with_its_fields(tmp_path):
    result = tool("translate", "valid-kernel-arguments.json", "3.2.0")
    assert result.returncode == 1
    assert "kernelArguments: this field requires spec 3.3.0" in result.stderr
