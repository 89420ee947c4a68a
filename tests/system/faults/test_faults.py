"""Faults are reported by the command that hits them, and found in a gathered bundle alone. Nothing is left afterwards."""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import time

import host_clock
import pytest
from figures import cgroup
from installation import SLIPWAY, Creation, run
from scenarios import SEED, all_scenarios

SCENARIOS = all_scenarios()
KEEP = os.environ.get("SLIPWAY_KEEP")
# Findings that may be reported as well.
CONSEQUENCES = {"operator-crashes"}
BUNDLE = "log-bundle-*.tar.gz"
Told = collections.namedtuple("Told", "seconds words")


def chosen():
    """The names of the scenarios of this run."""
    if os.environ.get("SLIPWAY_FAULTS") == "all":
        return list(SCENARIOS)
    short = [name for name, each in SCENARIOS.items() if each.at_once]
    long = [name for name, each in SCENARIOS.items() if not each.at_once and each.is_final and each.is_quick]
    return short + [random.Random(SEED).choice(long)]


@pytest.mark.parametrize("name", chosen())
def test_it_is_named(cluster, name):
    scenario = SCENARIOS[name]
    print(f"\n{name}, seed {SEED}")
    bundle = None
    with contextlib.ExitStack() as held:
        hold(held, scenario.arrange(cluster))
        before = machines_of(cluster)
        creation = Creation(cluster)
        try:
            hold(held, scenario.meanwhile(cluster))
            told = wait_until_emitted(scenario, creation)
        except AssertionError:
            keep(cluster, name, *(gathered(cluster) if KEEP else []))
            raise
        finally:
            if creation.process.poll() is None:
                creation.kill()
            keep(cluster, name)
        if not scenario.at_once:
            # A final fault leaves a bundle.
            assert len(list(cluster.dir.glob(BUNDLE))) == scenario.is_final
            bundle = gathered(cluster)[0]
            keep(cluster, name, bundle)
    print(f"  told after {told.seconds:.1f} s:\n{told.words}")
    if scenario.at_once:
        assert machines_of(cluster) == before, "something was made"
    else:
        assert_it_goes_without_a_trace(cluster)
        assert_it_is_in(bundle, scenario)
    missing = [word for word in scenario.words if word not in told.words]
    assert not missing, f"not in what people read: {missing}"


def hold(held, thing):
    if thing:
        held.enter_context(thing)


def machines_of(cluster):
    folder = cluster.state / cluster.name / "machines"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def wait_until_emitted(scenario, creation):
    """The report for users, and the seconds until it appeared. Fails if another fault is reported first, or if the report is too late."""
    deadline = creation.begun + scenario.limit
    while host_clock.now() < deadline:
        is_over = creation.process.poll() is not None
        if is_over:
            creation.reader.join()
        words = creation.installation.said.read_text()
        told = [event["name"] for event in creation.events if event["kind"] == "finding"]
        assert told[:1] in ([], [scenario.finding]) and set(told[1:]) <= CONSEQUENCES, f"it tells of {told}\n{creation.words()}"
        if is_over if scenario.is_final else told and scenario.finding in words:
            break
        assert not is_over, f"it ended by itself with status {creation.process.returncode}\n{creation.words()}"
        time.sleep(0.1)
    else:
        raise AssertionError(f"not within {scenario.limit} s\n{creation.words()}")
    assert creation.process.returncode != 0, "it went well"
    assert told or scenario.at_once, f"it ended without a finding\n{creation.words()}"
    return Told(host_clock.now() - creation.begun, words)


def assert_it_goes_without_a_trace(cluster):
    group = cgroup(cluster.state / cluster.name)
    cluster.run("destroy", "cluster")
    assert not (cluster.state / cluster.name).exists() and not (group and group.exists())
    assert cluster.name not in run("mount").stdout


def assert_it_is_in(bundle, scenario):
    """Checks the bundle alone: the cluster has been deleted."""
    elsewhere = bundle.parent.parent / bundle.name
    shutil.move(bundle, elsewhere)
    analyzed = run(SLIPWAY, "analyze", elsewhere, "--output", "json", check=False)
    assert analyzed.returncode == 1, analyzed.stdout + analyzed.stderr
    findings = json.loads(analyzed.stdout)["findings"]
    assert findings[0]["name"] == scenario.finding, analyzed.stdout
    for part in ("stage", "cause", "evidence", "next_step"):
        assert findings[0][part], part


def gathered(cluster):
    """The existing bundles, or a new one."""
    if not list(cluster.dir.glob(BUNDLE)):
        cluster.run("gather", "bootstrap", check=False)
    return list(cluster.dir.glob(BUNDLE))


def keep(cluster, name, *files):
    if not KEEP:
        return
    folder = pathlib.Path(KEEP) / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in files or (cluster.said, cluster.dir / ".slipway/events.jsonl"):
        if file.exists():
            shutil.copy(file, folder)
