"""No program of the release was denied a request during all earlier tests: an installation, roll-outs, added and removed workers, machines
that were off, renewed certificates."""

import json

from installation import MASTERS

# The user agent of every program of this repository; users and tests have others.
OURS = "slipway"
# Not a matter of permissions: somebody deletes a namespace while a controller writes to it. The API server answers 403, too.
TERMINATING = "because it is being terminated"


def refusals(installed):
    """Requests of accounts and machines that API servers denied, from the audit logs: one line for each kind of request, with the time of
    the first one."""
    found, lines = {}, 0
    for master in MASTERS:
        logs = sorted((installed.disk(master)[1] / "log/kube-apiserver").glob("audit*.log"))
        assert logs, f"{master} has no audit log"
        for log in logs:
            with open(log, errors="replace") as text:
                for line in text:
                    lines += 1
                    if '"code":403' not in line:
                        continue
                    entry = json.loads(line)
                    status = entry.get("responseStatus", {})
                    if status.get("code") != 403 or entry.get("userAgent") != OURS or TERMINATING in status.get("message", ""):
                        continue
                    where = entry.get("objectRef", {})
                    key = (entry["user"]["username"], entry["verb"], where.get("apiGroup", ""), where.get("resource", ""),
                           where.get("subresource", ""), where.get("namespace", ""), where.get("name", ""))
                    found.setdefault(key, []).append(entry["requestReceivedTimestamp"])
    assert lines > 1000, f"the audit logs have {lines} lines"
    return [f"{' '.join(filter(None, key))}: {len(times)} times, first at {min(times)}" for key, times in sorted(found.items())]


def test_api_servers_refused_nothing_to_programs_of_the_release(installed):
    assert refusals(installed) == []


LOST_EVENT = "it is only in this log"  # components/controller/reconcile.cpp, of an Event that it may not create


def test_no_log_and_no_condition_tells_of_permissions(installed):
    """Events are not in the audit log."""
    lines = []
    for master in MASTERS:
        for log in sorted((installed.disk(master)[1] / "log/pods").glob("openshift-*/*/*.log")):
            # The API server logs requests of outsiders.
            if log.parent.name.startswith("kube-"):
                continue
            told = [line for line in log.read_text(errors="replace").splitlines()
                    if (" is forbidden: " in line or LOST_EVENT in line) and TERMINATING not in line]
            lines += [f"{master} {log.parent.parent.name} {log.parent.name}: {line[:400]}" for line in told[:3]]
    assert lines == []
    operators = installed.objects("clusteroperators")
    assert len(operators) > 8
    assert [each["metadata"]["name"] for each in operators if "forbidden" in json.dumps(each.get("status", {}))] == []
