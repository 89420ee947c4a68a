"""moves.py FOLDER: planned moves of both addresses while calls are under way, with three masters, two workers and a client; run by
test_virtual_address.py. No call is cut."""

import signal
import time

import host_clock
from machines import (API, FOLDER, INGRESS, asked, end, is_ready, longest_silence, make_certificate, make_kubelet_folder, make_network,
                      make_programs, only_holder, report, run, start_api, start_client, start_container, start_pod_again, start_pod_of,
                      start_router, stop_pod, tail, wait)

MASTERS = {"m0": "10.97.77.11", "m1": "10.97.77.12", "m2": "10.97.77.13"}
WORKERS = {"w0": "10.97.77.14", "w1": "10.97.77.15"}
RATE, LIMIT = 40, 3  # a call takes 0.1 to 0.3 s, so eight are under way at a time
LONGEST_SILENCE = 1


def start_machines():
    make_network({**MASTERS, **WORKERS, "client": "10.97.77.20"})
    make_programs()
    make_certificate()
    make_kubelet_folder(MASTERS)
    for machine in MASTERS:
        start_api(machine)
        start_pod_of("master", machine)
    for machine in WORKERS:
        start_router(machine)
        start_pod_of("worker", machine)
    wait("all proxies and routers work", works)


def works():
    return all(is_ready(machine, name) for machines, name in ((MASTERS, "proxy"), (WORKERS, "ingress")) for machine in machines)


def tables(machine):
    return run("ip", "netns", "exec", machine, "nft", "list", "ruleset")


def start_asking(url):
    start_client(url, RATE, LIMIT)
    begin = host_clock.now()
    wait("the client gets answers", lambda: (FOLDER / "client/run/asked").exists() and len(asked(begin)) > RATE)


def move(what, address, others, act):
    """Makes the address move to one of the others. Returns the new holder."""
    span, begin = host_clock.Span(), host_clock.now()
    act()
    holder, _ = only_holder(address, others, what)
    took = host_clock.now() - begin
    failures = report(f"{what}, {holder} takes over", begin, took)
    rows = asked(begin - LIMIT)
    under_way = sum(when < begin < when + long for when, long, _ in rows)
    assert under_way >= 5, f"only {under_way} calls were under way"
    assert not failures, f"{what}: calls were cut\n{tail()}"
    silence = longest_silence(rows)
    assert silence < LONGEST_SILENCE or span.excuses(what), f"{what}: {silence:.2f} s without an answer\n{tail()}"
    assert "slipway-leaving" not in "".join(tables(machine) for machine in [*MASTERS, *WORKERS]), "connections are still dropped"
    return holder


def leave_control_plane(machine):
    """As data/machine-config/master/00/_base/files/usr/local/bin/leave-control-plane."""
    end(machine, "monitor")
    end(machine, "keepalived")
    time.sleep(0.5)
    end(machine, "haproxy")


def move_the_api():
    holder, _ = only_holder(API, MASTERS, "a master has the address of the API")
    start_asking(f"https://{API}:6443/slow")
    for what, act in (("the pod of {} ends", stop_pod), ("the machine {} stops", leave_control_plane), ("the pod of {} ends", stop_pod)):
        before = holder
        holder = move(what.format(before), API, set(MASTERS) - {before}, lambda: act(before))
        start_pod_again(before)
        wait("all proxies work again", works)
    end("client", "client")


def move_the_ingress():
    holder, _ = only_holder(INGRESS, WORKERS, "a worker has the address of the ingress")
    start_asking(f"http://{INGRESS}:80/slow")
    for _ in range(2):
        before = holder
        holder = move(f"the router of {before} is not ready", INGRESS, set(WORKERS) - {before}, (FOLDER / before / "not-ready").touch)
        (FOLDER / before / "not-ready").unlink()
        wait("both routers are ready again", works)
    before = holder
    holder = move(f"the pod of {before} ends", INGRESS, set(WORKERS) - {before}, lambda: stop_pod(before))
    return holder


def kill_the_monitor(holder):
    """The only machine that may have the address keeps it, and serves again even if nothing is left that accepts connections again."""
    begin = host_clock.now()
    (FOLDER / holder / "not-ready").touch()
    wait("new connections are dropped", lambda: "elements" in tables(holder))
    end(holder, "monitor", signal.SIGKILL)
    _, took = wait("the kernel accepts connections again", lambda: "elements" not in tables(holder))
    print(f"after a kill of the monitor, connections were dropped for {took:.2f} s")
    assert took < 2.5
    assert not report("the monitor is killed", begin, took)
    assert only_holder(INGRESS, {holder}, "the address stays")[1] < 1
    assert "slipway-leaving" in tables(holder)
    start_container(holder, "monitor")
    wait("a new monitor removes the table", lambda: "slipway-leaving" not in tables(holder))


def main():
    start_machines()
    move_the_api()
    kill_the_monitor(move_the_ingress())


main()
