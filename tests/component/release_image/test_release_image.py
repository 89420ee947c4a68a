"""The release that payload/images creates: reproducible, readable by skopeo, incremental, and safe to kill.

    SLIPWAY_BUILD=build /usr/bin/python3 -m pytest tests/component/release_image

Most tests give the image tool small stand-ins for the programs, because they test how it handles files, not the files. Tests with "real" in
their names use the build directory. SLIPWAY_SLOW=1 adds two builds of the debian layer.
"""

import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

import host_clock
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/component/support"))
from release_signature import Key, signature_tag  # noqa: E402

BUILD = pathlib.Path(os.environ.get("SLIPWAY_BUILD", ROOT / "build")).resolve()
TOOL = BUILD / "payload/bin/slipway-images"
TABLE = ROOT / "images/components.yaml"
CRDS = ROOT / "images/crds.txt"
REPOSITORY = "registry.slipway.invalid/slipway/release"
VERSION = "1.2.3"


def need(what, there):
    """A missing program fails in CI; elsewhere the test is skipped."""
    if not there:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{what} is missing")


@pytest.fixture(scope="module", autouse=True)
def image_tool():
    need(f"{TOOL} (make -C payload slipway-images)", TOOL.exists())


# ---- inputs -----------------------------------------------------------------------------------------------------------

def crd_paths():
    lines = (line.split("#")[0].split() for line in CRDS.read_text().splitlines())
    return [words[0] for words in lines if words]


def program_names():
    return sorted(set(re.findall(r": ((?:bin|lib)/[\w./-]+)", TABLE.read_text())))


EXTENSIONS = sorted(path.parent.name for path in (ROOT / "os/extensions").glob("*/packages.txt"))


def noise(name, size):
    return random.Random(name).randbytes(size)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def make_root(directory, *programs, archive="root.tar"):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name in programs:
            member = tarfile.TarInfo(name)
            member.size, member.mode = 1000, 0o755
            tar.addfile(member, io.BytesIO(noise(name, 1000)))
    write(directory / archive, data.getvalue())
    write(directory / "packages.txt", b"bash=1\nhaproxy=2\n")


def make_inputs(directory, size=20_000):
    """Stand-ins for everything in the table and in the list of CRDs."""
    for name in program_names():
        write(directory / name, noise(name, size))
    for name in crd_paths():
        write(directory / name, f"# stand-in for {name}\n".encode())
    write(directory / "payload-manifests/featuregates/gates.yaml", b"# stand-in for feature gates\n")
    shutil.copytree(ROOT / "images/manifests", directory / "manifests")
    make_root(directory / "debian", "./usr/bin/bash", "./usr/sbin/keepalived", "./usr/sbin/haproxy")
    make_root(directory / "os", "usr/sbin/init")
    for kernel in ("kernel", "kernel-rt"):
        make_root(directory / "os/boot", f"usr/lib/modules/{kernel}/vmlinuz", archive=f"{kernel}.tar")
    for extension in EXTENSIONS:
        make_root(directory / "os/extensions", f"usr/bin/{extension}", archive=f"{extension}.tar")
    return directory


def start(inputs, output, *more, table=TABLE, crds=CRDS, **options):
    arguments = [TOOL, "build", "--components", table, "--crds", crds, "--output", output,
                 "--version", VERSION, "--version-of", "kubernetes=1.36.3", "--version-of", f"machine-os={VERSION}"]
    for directory in inputs if isinstance(inputs, list) else [inputs]:
        arguments += ["--inputs", directory]
    arguments += more
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def build(inputs, output, *more, **options):
    tool = start(inputs, output, *more, **options)
    out, errors = tool.communicate(timeout=120)
    assert tool.returncode == 0, errors
    return out


# ---- reading a layout, without the library that wrote it --------------------------------------------------------------

def blob(layout, digest):
    return layout / "blobs" / digest.replace(":", "/")


def read_checked(layout, descriptor):
    data = blob(layout, descriptor["digest"]).read_bytes()
    assert len(data) == descriptor["size"]
    assert "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
    return data


def read_release(layout):
    """Checks every byte that index.json refers to. Returns {component: (descriptor, manifest, config)}."""
    images, contents = {}, {}
    assert json.loads((layout / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    for descriptor in json.loads((layout / "index.json").read_text())["manifests"]:
        manifest = json.loads(read_checked(layout, descriptor))
        config = json.loads(read_checked(layout, manifest["config"]))
        for layer in manifest["layers"]:
            if layer["digest"] not in contents:
                content = gzip.decompress(read_checked(layout, layer))
                contents[layer["digest"]] = "sha256:" + hashlib.sha256(content).hexdigest()
        assert [contents[layer["digest"]] for layer in manifest["layers"]] == config["rootfs"]["diff_ids"]
        images[descriptor["annotations"]["org.opencontainers.image.ref.name"]] = descriptor, manifest, config
    return images


def files_of_layer(data):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def snapshot(layout):
    return {str(path.relative_to(layout)): path.read_bytes() for path in layout.rglob("*") if path.is_file()}


def compressed_layers(out):
    return re.findall(r"^layer (\S+): .* -> ", out, re.M)


def unchanged_layers(out):
    return re.findall(r"^layer (\S+): unchanged", out, re.M)


# ---- signatures -------------------------------------------------------------------------------------------------------

def test_a_key_signs_the_release_and_the_release_brings_the_next_key(tmp_path):
    inputs, key, following = make_inputs(tmp_path / "in"), Key(tmp_path), Key(tmp_path, "next")
    plain, output = tmp_path / "plain", tmp_path / "out"
    assert "not signed, because there is no key (make release-key)" in build(inputs, plain)
    signing = ("--key", key.private, "--trust", following.public)
    assert f"signed with {key.private}" in build(inputs, output, *signing)
    index = json.loads((output / "index.json").read_text())["manifests"]
    named = {entry["annotations"]["org.opencontainers.image.ref.name"]: entry for entry in index}
    tag = signature_tag(named["release"]["digest"])
    assert set(named) - {tag} == {entry["annotations"]["org.opencontainers.image.ref.name"]
                                  for entry in json.loads((plain / "index.json").read_text())["manifests"]}
    [layer] = json.loads(read_checked(output, named[tag]))["layers"]
    signed = key.verify(read_checked(output, layer))
    assert signed == {"digest": named["release"]["digest"], "identity": "slipway/release", "version": VERSION}
    with pytest.raises(subprocess.CalledProcessError):
        following.verify(read_checked(output, layer))
    top = json.loads(read_checked(output, named["release"]))["layers"][-1]
    keys = json.loads(files_of_layer(read_checked(output, top))["release-manifests/0000_00_cluster-version-operator_04_release-keys.yaml"])
    assert keys["data"] == {"verifier-public-key-release": key.public.read_text(), "verifier-public-key-next": following.public.read_text()}
    # The same build again has the same bytes, and one without a key leaves no signature.
    before = snapshot(output)
    build(inputs, output, *signing)
    assert snapshot(output) == before
    build(inputs, output)
    assert snapshot(output) == snapshot(plain)


def test_a_key_that_others_can_read_does_not_sign(tmp_path):
    key = Key(tmp_path)
    key.private.chmod(0o644)
    tool = start(make_inputs(tmp_path / "in"), tmp_path / "out", "--key", key.private)
    _, errors = tool.communicate(timeout=120)
    assert tool.returncode == 1 and "must not be readable by others" in errors and not (tmp_path / "out/index.json").exists()


def test_make_release_key_makes_a_key_once(tmp_path):
    key = tmp_path / "config/slipway/release-key.pem"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def run(**more):
        return subprocess.run([ROOT / "tools/release-key"], env={**environment, **more}, check=True, capture_output=True, text=True, timeout=60).stdout

    assert f"made the key for releases: {key}" in run()
    made = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600 and key.parent.stat().st_mode & 0o777 == 0o700
    assert f"the key for releases exists: {key}" in run() and key.read_bytes() == made
    assert sorted(path.name for path in key.parent.iterdir()) == ["release-key.pem", "release-key.pub.pem"]
    assert "made the key" in run(SLIPWAY_RELEASE_KEY=str(tmp_path / "other.pem")) and (tmp_path / "other.pem").exists()


# ---- reproducible output ----------------------------------------------------------------------------------------------

def elsewhere(function, *arguments, **environment):
    """Runs in a child process with another umask and environment."""
    child = os.fork()
    if child == 0:
        try:
            os.umask(0o077)
            os.environ.update(environment)
            function(*arguments)
            os._exit(0)
        except BaseException as problem:
            print(problem, file=sys.stderr)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_same_inputs_same_bytes(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there/much/deeper"
    build(make_inputs(here / "in"), here / "out")

    def other():
        inputs = make_inputs(there / "in")
        for path in inputs.rglob("*"):
            os.utime(path, (1, 1))
        build(inputs, there / "out")
    elsewhere(other, TZ="Asia/Tokyo", LC_ALL="C", HOME="/nowhere", SOURCE_DATE_EPOCH="12345")
    assert (here / "out/index.json").read_bytes() == (there / "out/index.json").read_bytes()
    assert snapshot(here / "out") == snapshot(there / "out")


def real_inputs(tmp_path):
    """The files of the build directory; stand-ins for missing ones and for the machine OS with its kernels and extensions: tars like the debian
    layer, and larger than all other files together."""
    stand_ins = make_inputs(tmp_path / "stand-ins")
    (tmp_path / "first").mkdir()
    (stand_ins / "os").rename(tmp_path / "first/os")
    return [tmp_path / "first", BUILD / "payload"] + ([openshift_api()] if openshift_api() else []) + [stand_ins]


def openshift_api():
    if not shutil.which("go"):
        return None
    run = subprocess.run(["go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/api"],
                         cwd=ROOT / "payload/openshift-api", capture_output=True, text=True)
    return run.stdout.strip() or None


def test_same_inputs_same_bytes_real(tmp_path):
    inputs = real_inputs(tmp_path)
    build(inputs, tmp_path / "one")
    elsewhere(build, inputs, tmp_path / "two", TZ="Asia/Tokyo")
    assert (tmp_path / "one/index.json").read_bytes() == (tmp_path / "two/index.json").read_bytes()


@pytest.mark.parametrize("program", ["pause", "etcdctl"])
def test_go_program_is_the_same_from_another_folder(tmp_path, program):
    need("go", shutil.which("go"))
    digests = []
    for place in [tmp_path / "a", tmp_path / "another/place"]:
        shutil.copytree(ROOT / "payload", place / "payload")
        environment = {**os.environ, "TZ": f"UTC{len(digests)}"}
        if program == "pause" and digests:
            # Small enough to compile again completely; of etcdctl only the parts with paths of the build.
            environment["GOCACHE"] = str(place / "cache")
        run = subprocess.run(["make", "-C", place / "payload", f"BUILD={place}/build", program],
                             capture_output=True, text=True, env=environment)
        assert run.returncode == 0, run.stdout + run.stderr
        digests.append(hashlib.sha256((place / "build/payload/bin" / program).read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_debian_layer_is_the_same_twice(tmp_path):
    if os.environ.get("SLIPWAY_SLOW") != "1":
        pytest.skip("takes a minute and a mirror; SLIPWAY_SLOW=1 runs it")
    need("mmdebstrap", shutil.which("mmdebstrap"))
    make = [ROOT / "payload/debian-root", ROOT / "images/debian-packages.txt"]
    subprocess.run(make + [tmp_path / "one"], check=True)
    elsewhere(subprocess.run, make + [tmp_path / "two"], TZ="Asia/Tokyo", LC_ALL="C")
    for name in ["root.tar", "packages.txt"]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with tarfile.open(tmp_path / "one/root.tar") as tar:
        members = {member.name: member for member in tar}
    assert not [name for name, member in members.items() if member.isdev() or member.mtime > 0]
    assert not {"./etc/hostname", "./etc/resolv.conf", "./etc/machine-id"} & set(members)


# ---- other programs ---------------------------------------------------------------------------------------------------

@functools.cache
def read_real_release():
    need(f"{BUILD}/release (make -C payload release)", (BUILD / "release/index.json").exists())
    return read_release(BUILD / "release")


# No test changes it or what was read of it.
@pytest.fixture(scope="module", params=["stand-in", "real"])
def layout(request, tmp_path_factory):
    if request.param == "real":
        return BUILD / "release"
    folder = tmp_path_factory.mktemp("layout")
    build(make_inputs(folder / "in"), folder / "release")
    return folder / "release"


@pytest.fixture(scope="module")
def images(layout):
    return read_real_release() if layout == BUILD / "release" else read_release(layout)


def skopeo(*arguments):
    need("skopeo", shutil.which("skopeo"))
    run = subprocess.run(["skopeo", *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_skopeo_reads_every_image(layout, images):
    for name, (descriptor, manifest, config) in images.items():
        seen = json.loads(skopeo("inspect", f"oci:{layout}:{name}"))
        assert seen["Layers"] == [layer["digest"] for layer in manifest["layers"]]
        assert seen["Created"] == "1970-01-01T00:00:00Z"
        assert seen["Labels"]["io.k8s.description"]
        starts = config["config"].get("Entrypoint") or config["config"].get("Cmd")
        assert (starts is None) if name == "machine-os-extensions" else starts[0].startswith(("/usr/", "/cluster-bootstrap"))
    assert images["hyperkube"][2]["config"]["Labels"]["io.openshift.build.versions"] == "kubernetes=1.36.3"


def test_an_extension_is_a_layer(images):
    _, manifest, config = images["machine-os-extensions"]
    names = config["config"]["Labels"]["slipway.extensions"].split()
    assert names == sorted([*EXTENSIONS, "kernel-rt"]) and len(manifest["layers"]) == len(names)


def test_release_image_names_every_image(layout, images, tmp_path):
    skopeo("copy", "--quiet", f"oci:{layout}:release", f"dir:{tmp_path}/copy")
    manifest = json.loads((tmp_path / "copy/manifest.json").read_text())
    top = manifest["layers"][-1]["digest"].removeprefix("sha256:")
    files = files_of_layer((tmp_path / "copy" / top).read_bytes())

    references = json.loads(files["release-manifests/image-references"])
    metadata = json.loads(files["release-manifests/release-metadata"])
    config = images["release"][2]["config"]
    version = metadata["version"]
    assert (references["kind"], references["apiVersion"]) == ("ImageStream", "image.openshift.io/v1")
    assert (metadata["kind"], metadata["previous"]) == ("cincinnati-metadata-v0", [])
    assert references["metadata"]["name"] == version == config["Labels"]["io.openshift.release"]
    assert config["Entrypoint"] == ["/usr/bin/cluster-version-operator"]

    tags = {tag["name"]: tag for tag in references["spec"]["tags"]}
    assert list(tags) == sorted(tags) and set(tags) == set(images) - {"release"}
    for name, tag in tags.items():
        digest = images[name][0]["digest"]
        assert tag["from"] == {"kind": "DockerImage", "name": f"{REPOSITORY}@{digest}"}
        assert images[name][0]["annotations"]["io.containerd.image.name"] == f"{REPOSITORY}:{version}-{name}"
    assert images["release"][0]["annotations"]["io.containerd.image.name"] == f"{REPOSITORY}:{version}"
    assert tags["hyperkube"]["annotations"] == {"io.openshift.build.versions": "kubernetes=1.36.3"}
    assert "annotations" not in tags["pod"]

    assert files["usr/share/slipway/debian-packages.txt"]
    own = sorted(name for name in files if name.startswith("manifests/"))
    assert [re.sub(r".*_01_|\.crd.*", "", name) for name in own] == ["clusteroperators", "clusterversions-Default"]
    carried = [name for name in files if name.endswith(".crd.yaml")]
    assert len(carried) == len(crd_paths()) + len(list((ROOT / "images/manifests").glob("*.crd.yaml")))
    for path in (ROOT / "images/manifests").iterdir():
        # The cluster-version operator skips manifests that are not marked for this profile.
        assert b'include.release.openshift.io/self-managed-high-availability: "true"' in path.read_bytes(), path
        assert re.fullmatch(r"0000_\d\d_[a-z0-9-]+_[a-z0-9_.-]+\.yaml", path.name), path
        filled = re.sub(re.escape(REPOSITORY) + r":([a-z0-9-]+)", lambda match: tags[match[1]]["from"]["name"], path.read_text())
        assert files[f"release-manifests/{path.name}"].decode() == filled.replace("0.0.1-snapshot", version)


def test_renders_find_crds_and_gates_in_their_images(layout, images):
    for name in ("cluster-config-api", "cluster-ingress-operator", "cloud-credential-operator"):
        files = files_of_layer(read_checked(layout, images[name][1]["layers"][-1]))
        below = "usr/share/bootkube/manifests"
        assert sum(path.startswith(f"{below}/manifests/") for path in files) == len(crd_paths())
        assert any(path.startswith(f"{below}/featuregates/") for path in files)
        assert f"{below}/manifests/0000_50_ingress_00_ingresscontrollers-Default.crd.yaml" in files


def test_programs_of_the_release_image_run_in_it(tmp_path):
    """The C++ program was built on another distribution than that of the image."""
    need("root, for chroot", os.geteuid() == 0)
    images = read_real_release()
    for layer in images["release"][1]["layers"]:
        subprocess.run(["tar", "-xzf", blob(BUILD / "release", layer["digest"]), "-C", tmp_path], check=True)

    def inside(*command):
        return subprocess.run(["chroot", tmp_path, *command], capture_output=True, text=True)

    answer = inside("/usr/bin/cluster-version-operator", "image", "etcd")
    assert answer.stdout == f"{REPOSITORY}@{images['etcd'][0]['digest']}", answer.stderr
    unknown = inside("/usr/bin/cluster-version-operator", "image", "etdc")
    assert unknown.returncode == 1 and "etcd" in unknown.stderr
    for program, version in {"keepalived": "-v", "haproxy": "-v", "nft": "-v", "iptables": "-V", "conntrack": "-V"}.items():
        assert inside(program, version).returncode == 0, program


def test_layers_are_shared(layout, images):
    used = {}
    for name, (_, manifest, _) in images.items():
        for layer in manifest["layers"]:
            used.setdefault(layer["digest"], []).append(name)
    debian = images["keepalived-ipfailover"][1]["layers"][0]["digest"]
    assert len(used[debian]) >= 8 and {"release", "hyperkube", "etcd"} <= set(used[debian])
    assert not {"pod", "coredns"} & set(used[debian])
    stored = {path.name for path in (layout / "blobs/sha256").iterdir()}
    needed = {d.removeprefix("sha256:") for d in used}
    for descriptor, manifest, _ in images.values():
        needed |= {d["digest"].removeprefix("sha256:") for d in (descriptor, manifest["config"])}
    assert stored == needed


def test_crds_are_upstreams_or_listed_manifests_and_apply_to_this_profile_real(tmp_path):
    need("the module github.com/openshift/api (make -C payload release)", openshift_api())
    build([openshift_api(), make_inputs(tmp_path / "in")], tmp_path / "out")
    files = files_of_layer(read_checked(tmp_path / "out", read_release(tmp_path / "out")["release"][1]["layers"][-1]))
    upstream = {(pathlib.Path(openshift_api()) / path).read_bytes() for path in crd_paths()}
    own = {path.read_bytes() for path in (ROOT / "images/manifests").glob("*.crd.yaml")}
    for name, data in files.items():
        if name.endswith(".crd.yaml"):
            assert data in upstream | own, name
            # The cluster-version operator skips manifests that are not marked for its profile and feature set.
            assert b'include.release.openshift.io/self-managed-high-availability: "true"' in data, name
            sets = re.search(rb"release.openshift.io/feature-set: (.*)", data)
            assert sets is None or b"Default" in sets[1].split(b","), name


# ---- incremental builds -----------------------------------------------------------------------------------------------

def test_second_run_compresses_nothing(tmp_path):
    inputs, output = make_inputs(tmp_path / "in"), tmp_path / "out"
    first = build(inputs, output)
    before = {path: path.stat() for path in output.rglob("*") if path.is_file()}
    second = build(inputs, output)
    assert compressed_layers(second) == []
    assert sorted(unchanged_layers(second)) == sorted(compressed_layers(first))
    after = {path: path.stat() for path in output.rglob("*") if path.is_file()}
    assert {p: (s.st_ino, s.st_mtime_ns) for p, s in after.items()} == {p: (s.st_ino, s.st_mtime_ns) for p, s in before.items()}


def test_changed_input_changes_its_layer(tmp_path):
    inputs, output = make_inputs(tmp_path / "in"), tmp_path / "out"
    build(inputs, output)
    old = read_release(output)
    (inputs / "bin/etcdctl").write_bytes(b"another etcdctl")
    # "manifests" contains the digest of the image, so it changes as well.
    assert sorted(compressed_layers(build(inputs, output))) == ["etcd", "manifests"]
    new = read_release(output)
    assert {name for name in new if new[name][0]["digest"] != old[name][0]["digest"]} == {"etcd", "release"}
    assert not blob(output, old["etcd"][0]["digest"]).exists()
    build(inputs, tmp_path / "from-scratch")
    assert snapshot(output) == snapshot(tmp_path / "from-scratch")


def test_lost_or_cut_blob_is_made_again(tmp_path):
    inputs, output = make_inputs(tmp_path / "in"), tmp_path / "out"
    build(inputs, output)
    whole = snapshot(output)
    layers = read_release(output)["etcd"][1]["layers"]
    blob(output, layers[0]["digest"]).unlink()
    blob(output, layers[1]["digest"]).write_bytes(b"cut")
    (tmp_path / "out.layers.json").write_text("{")
    build(inputs, output)
    assert snapshot(output) == whole


def test_layers_of_another_compressor_are_made_again(tmp_path):
    inputs, output, cache = make_inputs(tmp_path / "in"), tmp_path / "out", tmp_path / "out.layers.json"
    first = build(inputs, output)
    document = json.loads(cache.read_text())
    cache.write_text(json.dumps({**document, "compressor": "an older one"}))
    assert sorted(compressed_layers(build(inputs, output))) == sorted(compressed_layers(first))
    assert json.loads(cache.read_text()) == document


def test_two_at_once_wait_for_each_other(tmp_path):
    inputs, output = make_inputs(tmp_path / "in", size=1_000_000), tmp_path / "out"
    tools = [start(inputs, output) for _ in range(3)]
    for tool in tools:
        _, errors = tool.communicate(timeout=120)
        assert tool.returncode == 0, errors
    read_release(output)


# ---- kills ------------------------------------------------------------------------------------------------------------

def test_kill_leaves_the_old_release_or_the_new(tmp_path):
    seed = int(os.environ.get("SLIPWAY_TEST_SEED", time.time_ns() % 1_000_000))
    print("SLIPWAY_TEST_SEED =", seed)
    moments = random.Random(seed)
    inputs = make_inputs(tmp_path / "in", size=1_000_000)
    build(inputs, tmp_path / "old")
    old = (tmp_path / "old/index.json").read_bytes()
    for name in program_names():
        write(inputs / name, noise("new " + name, 1_000_000))
    begin = host_clock.now()
    build(inputs, tmp_path / "new")
    full = host_clock.now() - begin
    new = snapshot(tmp_path / "new")

    killed = 0
    for attempt in range(12):
        layout = tmp_path / f"attempt-{attempt}/release"
        shutil.copytree(tmp_path / "old", layout)
        tool = start(inputs, layout)
        time.sleep(moments.uniform(0, 1.1 * full))
        tool.send_signal(signal.SIGKILL)
        killed += tool.wait() == -signal.SIGKILL
        tool.communicate()
        read_release(layout)
        assert (layout / "index.json").read_bytes() in (old, new["index.json"])
        build(inputs, layout)
        assert snapshot(layout) == new, "the next run did not finish the work of the killed one"
    assert killed >= 3, "hardly any run was killed before it ended"


# ---- errors for people ------------------------------------------------------------------------------------------------

def fails(inputs, output, **options):
    tool = start(inputs, output, **options)
    _, errors = tool.communicate(timeout=60)
    assert tool.returncode == 1
    return errors


def test_missing_inputs_are_all_named_with_the_way_to_make_them(tmp_path):
    inputs = make_inputs(tmp_path / "in")
    (inputs / "bin/etcd").unlink()
    (inputs / "debian/root.tar").unlink()
    errors = fails(inputs, tmp_path / "out")
    assert f"layer etcd: input bin/etcd is not in {inputs}; make it with: make -C payload etcd" in errors
    assert f"layer debian: input debian/root.tar is not in {inputs}; make it with: make -C payload debian" in errors
    assert not (tmp_path / "out").exists()


def test_missing_crd_is_named_with_its_line(tmp_path):
    inputs = make_inputs(tmp_path / "in")
    path = crd_paths()[3]
    (inputs / path).unlink()
    line = 1 + [line.split(" ")[0] for line in CRDS.read_text().splitlines()].index(path)
    assert f"crds.txt:{line}: input {path} is not in" in fails(inputs, tmp_path / "out")


def test_misspelt_program_is_found_before_a_cluster_finds_it(tmp_path):
    table = tmp_path / "components.yaml"
    table.write_text(TABLE.read_text().replace("/usr/sbin/keepalived,", "/usr/sbin/keepalivet,"))
    errors = fails(make_inputs(tmp_path / "in"), tmp_path / "out", table=table)
    assert "image keepalived-ipfailover: its program /usr/sbin/keepalivet is in none of its layers" in errors
    assert not (tmp_path / "out/index.json").exists()
