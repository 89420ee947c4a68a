"""Machines reach what the host reaches, and nothing that only the host may reach."""

import json
import os
import pathlib
import signal
import subprocess

import host_clock
import pytest
from conftest import ADDRESS, METADATA
from host_network import name_server
from web_server import web_server

SIZE = 256 << 20


@pytest.fixture(scope="module", autouse=True)
def machines(cluster):
    cluster.create("m0", "--images", "/nowhere", "--egress")


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A web server, and the name server of the host."""
    folder = tmp_path_factory.mktemp("web")
    (folder / "hello").write_text("hello\n")
    with (folder / "large").open("wb") as file:
        file.truncate(SIZE)
    with name_server("outside.example.com"), web_server(ADDRESS, 80, folder) as requests:
        yield requests


def fetch(cluster, url, check=True):
    return cluster.shell("m0", "curl", "--silent", "--show-error", "--max-time", "10", url, check=check)


def test_the_outside_by_name(cluster, outside):
    assert fetch(cluster, "http://outside.example.com/hello").stdout == "hello\n"
    assert {request.client for request in outside} == {ADDRESS}
    # Names of the cluster are still those of the cluster.
    assert cluster.shell("m0", "getent", "hosts", "m0").stdout.split()[0] == "10.97.77.10"


def test_what_belongs_to_the_host_is_closed(cluster, outside, tmp_path):
    (tmp_path / "hello").write_text("secret\n")
    with web_server("127.0.0.1", 8080, tmp_path) as loopback, web_server(METADATA, 80, tmp_path) as metadata:
        network = cluster.folder.joinpath("cluster.json").read_text().split('"egressNetwork": "')[1].split(".0/24")[0]
        for url in (f"http://{network}.2:8080/hello", f"http://{METADATA}/hello"):
            refused = fetch(cluster, url, check=False)
            assert refused.returncode != 0 and "secret" not in refused.stdout, url
        assert loopback == [] and metadata == []


def test_throughput(cluster, outside):
    begin = host_clock.now()
    size = cluster.shell("m0", "sh", "-c", f"curl --silent http://{ADDRESS}/large | wc -c").stdout
    seconds = host_clock.now() - begin
    assert int(size) == SIZE
    print(f"\nfrom the outside: {SIZE / 1e6 / seconds:.0f} MB/s")
    assert SIZE / 1e6 / seconds > 5


def test_the_host_is_as_before(cluster):
    interfaces = {path.name for path in pathlib.Path("/sys/class/net").iterdir()}
    assert "egress0" not in interfaces
    assert subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=True).stdout == ""


def test_it_comes_back(cluster, outside):
    """slirp4netns is started again when it ends."""
    owner = json.loads((cluster.folder / "owner.json").read_text())["pid"]
    processes = subprocess.run(["pgrep", "--full", f"slirp4netns .*/proc/{owner}/ns/net"], capture_output=True, text=True).stdout.split()
    assert processes
    for pid in processes:
        os.kill(int(pid), signal.SIGKILL)
    cluster.shell("m0", "sh", "-c", f"timeout 60 sh -c 'until curl --silent --max-time 2 http://{ADDRESS}/hello; do sleep 0.2; done'")
