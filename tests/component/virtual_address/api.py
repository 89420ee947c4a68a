"""api.py FOLDER: the API's virtual address with a bootstrap machine, three masters and a client; run by test_virtual_address.py."""

import signal
import time

import host_clock
from machines import (API, DATA, asked, end, holders, is_ready, make_certificate, make_kubelet_folder, make_network, make_programs,
                      only_holder, report, run, start_api, start_client, start_container, start_pod, start_pod_of, stays, tell,
                      track_file, wait)

MASTERS = {"m0": "10.97.77.11", "m1": "10.97.77.12", "m2": "10.97.77.13"}
MACHINES = {"bootstrap": "10.97.77.10", **MASTERS, "client": "10.97.77.20"}
PROXIES = [(machine, "proxy") for machine in MASTERS]


def start_bootstrap():
    """The bootstrap machine has the address; the proxies of the masters have no server yet."""
    make_network(MACHINES)
    make_programs()
    make_certificate()
    make_kubelet_folder(MASTERS)

    start_api("bootstrap")
    start_pod("bootstrap", DATA / "bootstrap/keepalived.yaml", [DATA / "bootstrap/keepalived.conf.tmpl"])
    _, took = wait("the bootstrap machine has the address", lambda: holders(API) == {"bootstrap"})
    print(f"the bootstrap machine has the address after {took:.2f} s")

    for machine in MASTERS:
        start_pod_of("master", machine)
    wait("proxies say that they have nobody", lambda: all(track_file(machine, "proxy") == "-254" for machine in MASTERS))
    start_client(f"https://{API}:6443/name")
    stays(1.5, API, "bootstrap", PROXIES)


def move_to_masters():
    """The address moves with the second API server, and stays when the bootstrap machine leaves. Returns the master with the address."""
    start_api("m0")
    _, took = wait("the proxy of m0 has its own server", lambda: track_file("m0", "proxy") == "0")
    print(f"a proxy finds its own API server after {took:.2f} s")
    stays(1.5, API, "bootstrap", PROXIES)

    begin = host_clock.now()
    start_api("m1")
    holder, took = only_holder(API, ["m0", "m1"], "a master has the address")
    assert not [one for one in report(f"from the bootstrap machine to {holder}, with the second API server", begin, took) if "refused" in one]
    stays(1, API, holder, PROXIES)
    assert {what for _, _, what in asked(host_clock.now() - 2)} <= {"m0", "m1"}
    assert len({what for _, _, what in asked(host_clock.now() - 2)}) == 2, "haproxy has the address's port, not the API server of the machine"

    begin = host_clock.now()
    end("bootstrap", "keepalived")
    end("bootstrap", "api")
    start_api("m2")
    wait("all proxies work", lambda: all(is_ready(machine, "proxy") for machine in MASTERS))
    stays(1.5, API, holder, PROXIES)
    assert not report("the bootstrap machine leaves", begin, 0)
    return holder


def restart_api_servers(holder):
    # Independent of the server that a monitor is connected to.
    begin = host_clock.now()
    for machine in MASTERS:
        tell(machine, "api", signal.SIGUSR1)
        # Two seconds until no proxy uses it any more, then long enough for both others to be asked.
        stays(3.5, API, holder, PROXIES)
        assert {what for _, _, what in asked(host_clock.now() - 1.5)} == set(MASTERS) - {machine}
        end(machine, "api")
        start_api(machine)
        wait(f"the API server of {machine} is asked again", lambda: machine in {what for _, _, what in asked(host_clock.now() - 1)})
    assert not report("API servers end one after the other", begin, 0)


def kill_programs(holder):
    """Kills haproxy, then the API server of a master. Returns the master with the address."""
    begin, before = host_clock.now(), holder
    end(holder, "haproxy", signal.SIGKILL)
    holder, took = only_holder(API, set(MASTERS) - {before}, "another has the address")
    report(f"the proxy of {before} is killed, {holder} takes over", begin, took)
    start_container(before, "haproxy")
    _, took = wait("the proxy has its servers again", lambda: is_ready(before, "proxy"))
    print(f"a new haproxy has its servers after {took:.2f} s")
    stays(1.5, API, holder, PROXIES)

    begin = host_clock.now()
    end(holder, "api", signal.SIGKILL)
    stays(3, API, holder, PROXIES)
    # Requests during the kill are lost; later connections are not.
    assert not [one for one in report(f"the API server of {holder} is killed", begin, 0) if "refused" in one]
    assert {what for _, _, what in asked(host_clock.now() - 1)} == set(MASTERS) - {holder}
    start_api(holder)
    time.sleep(1)
    return holder


def lose_machines(holder):
    begin, before = host_clock.now(), holder
    run("ip", "link", "set", f"to-{holder}", "down")
    run("ip", "-n", holder, "address", "flush", "dev", "host0")  # for the others, the machine is gone
    holder, took = only_holder(API, set(MASTERS) - {before}, "another has the address")
    report(f"the machine {before} is lost, {holder} takes over", begin, took)

    begin, last = host_clock.now(), (set(MASTERS) - {before, holder}).pop()
    end(holder, "keepalived")
    holder, took = only_holder(API, {last}, "the last has the address")
    report(f"keepalived ends, {last} takes over", begin, took)


def main():
    start_bootstrap()
    holder = move_to_masters()
    restart_api_servers(holder)
    lose_machines(kill_programs(holder))


main()
