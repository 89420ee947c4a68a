"""Which conformance tests run, and whether their images can be served. Needs no cluster."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import conformance  # noqa: E402
from images import REGISTRY, add_images  # noqa: E402


@pytest.fixture(scope="module")
def all_tests(tmp_path_factory):
    return conformance.names(tmp_path_factory.mktemp("all"))


def test_every_line_of_what_is_left_out_is_a_test_and_has_a_reason(all_tests):
    out = conformance.left_out()
    assert not [begin for begin in out if not any(name.startswith(begin) for name in all_tests)]
    assert all(out.values())


def test_the_rest_is_run(all_tests, tmp_path):
    out = tuple(conformance.left_out())
    run = conformance.names(tmp_path, *conformance.selection(out))
    print(f"\n{len(run)} of {len(all_tests)}")
    assert sorted(run) == sorted(name for name in all_tests if not name.startswith(out))


def test_the_quick_ones_are_some_of_them(all_tests, tmp_path):
    lines, expression = conformance.quick()
    run = conformance.names(tmp_path, f"--focus={expression}", *conformance.selection(conformance.left_out()))
    print(f"\n{len(run)} of {len(all_tests)}")
    assert sorted(run) == lines


def test_a_report_tells_what_failed_and_where(tmp_path):
    place = {"FileName": "k8s.io/kubernetes@v1/test/e2e/node/pods.go", "LineNumber": 7}
    one = {"LeafNodeType": "It", "ContainerHierarchyTexts": ["Pods"], "RunTime": 2e9}
    specs = [{**one, "LeafNodeText": "run", "State": "passed"},
             {**one, "LeafNodeText": "end", "State": "failed", "Failure": {"Message": "it did not end", "Location": place},
              "CapturedGinkgoWriterOutput": "waiting for its end\n"},
             {**one, "LeafNodeText": "fly", "State": "skipped", "Failure": {"Message": "needs wings"}},
             {**one, "LeafNodeText": "other", "State": "skipped"},
             {"LeafNodeType": "SynchronizedBeforeSuite", "LeafNodeText": "", "ContainerHierarchyTexts": None, "State": "passed", "RunTime": 1}]
    (tmp_path / "report.json").write_text(json.dumps([{"SpecReports": specs, "RunTime": 3e9}]))
    report = conformance.read(tmp_path / "report.json", total=9)
    assert report.passed == [(2, "Pods run")]
    assert report.skipped == ["Pods fly: needs wings"]
    assert report.failures == ["Pods end (failed, 2 s)\n    e2e/node/pods.go:7: it did not end\n    waiting for its end"]
    assert str(report) == "1 of 9 conformance tests passed, 1 failed, 1 skipped themselves, 3 s"


def test_a_registry_serves_the_images(tmp_path):
    storage = tmp_path / "storage"
    shutil.copytree(conformance.BUILD / "payload/registry", storage, copy_function=os.symlink)
    add_images(storage, conformance.PROGRAMS / "layer.tar", conformance.images_wanted(conformance.registries(tmp_path)))
    (tmp_path / "registry.yaml").write_text(f"{{version: 0.1, storage: {{filesystem: {{rootdirectory: {storage}}}}}, http: {{addr: '127.0.0.1:0'}}}}")
    with subprocess.Popen([conformance.BUILD / "payload/bin/registry", "serve", tmp_path / "registry.yaml"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as registry:
        try:
            address = next(found[1] for line in registry.stderr if (found := re.search(r"listening on ([\d.:]+)", line)))
            repository = f"docker://{address}/{REGISTRY.partition('/')[2]}"
            for image, words in {"agnhost:2.63.0": ["/agnhost", "pause"], "pause:3.10.2": ["/usr/bin/pod"]}.items():
                config = inspect("inspect", "--config", f"{repository}/{image}")["config"]
                assert config.get("Entrypoint", []) + config.get("Cmd", []) == words
            # skopeo reads every blob.
            subprocess.run(["skopeo", "copy", "--src-tls-verify=false", f"{repository}/etcd:3.6.8-0", f"dir:{tmp_path}/etcd"],
                           check=True, capture_output=True)
        finally:
            registry.terminate()


def inspect(*words):
    done = subprocess.run(["skopeo", words[0], "--tls-verify=false", *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
