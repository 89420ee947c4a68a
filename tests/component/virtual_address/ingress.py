"""ingress.py FOLDER: the ingress's virtual address with a master, two workers and a client; run by test_virtual_address.py."""

import signal

import host_clock
from machines import (API, FOLDER, INGRESS, asked, end, holders, is_ready, make_certificate, make_kubelet_folder, make_network,
                      make_programs, only_holder, report, run, start_api, start_client, start_pod_of, start_router, stays, tail,
                      track_file, wait)

MASTERS, WORKERS = {"m0": "10.97.77.11"}, {"w0": "10.97.77.14", "w1": "10.97.77.15"}
ROUTERS = [(machine, "ingress") for machine in [*MASTERS, *WORKERS]]


def api_stays():
    assert holders(API) == {"m0"}, f"the API's address is at {holders(API)}\n{tail()}"


def start_machines():
    make_network({**MASTERS, **WORKERS, "client": "10.97.77.20"})
    make_programs()
    make_certificate()
    make_kubelet_folder(MASTERS)

    start_api("m0")
    start_pod_of("master", "m0")
    for machine in WORKERS:
        start_pod_of("worker", machine)
    only_holder(API, MASTERS, "the master has the API's address")
    wait("monitors say that there is no router", lambda: all(track_file(*each) == "-254" for each in ROUTERS))
    stays(2, INGRESS, None, ROUTERS)


def start_routers():
    start_router("w0")
    holder, took = only_holder(INGRESS, ["w0"], "the router's machine has the address")
    print(f"the first router's machine has the address after {took:.2f} s")
    start_client(f"http://{INGRESS}:80/")
    start_router("w1")
    wait("both routers are ready", lambda: is_ready("w1", "ingress"))
    stays(2, INGRESS, "w0", ROUTERS)


def stop_routers():
    # Like a router that is stopping: it is not ready but serves for a while.
    begin = host_clock.now()
    (FOLDER / "w0/not-ready").touch()
    holder, took = only_holder(INGRESS, ["w1"], "the other router's machine has the address")
    assert not report("the router of w0 is not ready, w1 takes over", begin, took)
    assert took < 4
    (FOLDER / "w0/not-ready").unlink()
    wait("both routers are ready again", lambda: is_ready("w0", "ingress"))
    stays(2, INGRESS, "w1", ROUTERS)

    begin = host_clock.now()
    end("w1", "router", signal.SIGKILL)
    holder, took = only_holder(INGRESS, ["w0"], "the router that is left has the address")
    report("the router of w1 is killed, w0 takes over", begin, took)
    assert took < 4

    # The only router keeps the address while it serves.
    (FOLDER / "w0/not-ready").touch()
    begin = host_clock.now()
    wait("the router that is left is not ready", lambda: track_file("w0", "ingress") == "0")
    stays(1.5, INGRESS, "w0", ROUTERS)
    assert not report("the only router is not ready", begin, 1.5)
    (FOLDER / "w0/not-ready").unlink()
    wait("it is ready again", lambda: is_ready("w0", "ingress"))


def move_to_the_master():
    # Routers may be on masters.
    start_router("m0")
    wait("the router of the master is ready", lambda: is_ready("m0", "ingress"))
    stays(1.5, INGRESS, "w0", ROUTERS)
    api_stays()
    begin = host_clock.now()
    run("ip", "link", "set", "to-w0", "down")
    run("ip", "-n", "w0", "address", "flush", "dev", "host0")  # for the others, the machine is gone
    holder, took = only_holder(INGRESS, ["m0"], "the master has both addresses")
    report("the machine w0 is lost, m0 takes over", begin, took)
    assert {what for _, _, what in asked(host_clock.now() - 1)} == {"m0"}
    api_stays()

    end("m0", "router", signal.SIGKILL)
    wait("nobody has the address without a router", lambda: not holders(INGRESS))
    api_stays()


def main():
    start_machines()
    start_routers()
    stop_routers()
    move_to_the_master()


main()
