"""The drill of docs/restore.md, and backups that the cluster takes by itself."""

import base64
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import host_clock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import pages  # noqa: E402
from installation import KUBECTL, SLIPWAY, Creation, run  # noqa: E402

# A key of age that was made for this test.
KEY = "AGE-SECRET-KEY-15V77XJC4VQUKHND3RYF6RQL7ALK7QEP5K66LKPH846LN20ZUR3SQMLGNKT\n"
RECIPIENT = "age1s9marweutrjcagu829q9htzn5ml5fltqz0e065wyrr0tcu85tuuqe5t6r9"
SOURCE = pathlib.Path(os.environ["SLIPWAY_SOURCE"])
STAGES = ["stop-control-plane", "set-data-aside", "copy-backup", "restore-static-pods", "restore-data", "start-recovery-master",
          "start-other-masters", "wait-for-members", "wait-for-pods", "wait-for-nodes", "clean-up"]


def read(cluster, name):
    """None while the API does not answer or the ConfigMap does not exist."""
    done = cluster.kubectl("get", "configmap", name, "--output", "jsonpath={.data.state}", check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def write(cluster, name, state):
    cluster.kubectl("delete", "configmap", name, "--ignore-not-found")
    cluster.kubectl("create", "configmap", name, f"--from-literal=state={state}")


def members(cluster):
    [master, *_] = cluster.masters
    script = (SOURCE / "data/provider/backup-master").read_text()
    answer = json.loads(cluster.machine(master, "bash", "-c", script, "bash", "members").stdout)
    return answer["header"]["cluster_id"], {member["name"] for member in answer["members"] if not member.get("isLearner")}


def backup(cluster, *words):
    """When no operator changes the control plane any more."""
    deadline = host_clock.now() + 600
    while (done := cluster.run("backup", *words, check=False)).returncode != 0:
        assert "is being changed" in done.stderr and host_clock.now() < deadline, done.stderr
        time.sleep(5)
    return done


def restore(cluster, *words):
    begin = host_clock.now()
    done = cluster.run("restore", "--yes", *words, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return host_clock.now() - begin


def check(cluster, old_id):
    new_id, voters = members(cluster)
    assert new_id != old_id and voters == set(cluster.masters)

    def settled():
        operators = cluster.objects("clusteroperators")
        status = {(item["metadata"]["name"], condition["type"]): condition["status"] for item in operators
                  for condition in item["status"].get("conditions", [])}
        return all(status.get((item["metadata"]["name"], kind)) == wanted for item in operators
                   for kind, wanted in (("Available", "True"), ("Degraded", "False"), ("Progressing", "False")))

    cluster.wait_until("all ClusterOperators are settled", settled, limit=900,
                       missing=lambda: cluster.kubectl("get", "clusteroperators", check=False).stdout)
    nodes = cluster.objects("nodes")
    assert all(condition["status"] == "True" for node in nodes for condition in node["status"]["conditions"] if condition["type"] == "Ready")


def run_block(cluster, text):
    """A block of docs/restore.md, for this cluster and without its question."""
    text = text.replace("build/demo", str(cluster.dir)).replace("slipway restore", "slipway restore --yes")
    programs = cluster.folder / "bin"
    if not programs.exists():
        programs.mkdir()
        (programs / "kubectl").symlink_to(KUBECTL[0])
    return run("bash", "-euc", text, env={**os.environ, "KUBECONFIG": str(cluster.dir / "auth/kubeconfig"), "SLIPWAY_STATE": str(cluster.state),
                                          "PATH": f"{SLIPWAY.parent}:{programs}:{os.environ['PATH']}"}).stdout


def test_the_drill(cluster, capsys):
    """The blocks of the section Drill, in order."""
    blocks, _ = pages.parse("docs/restore.md", pages.read("docs/restore.md"))
    take, change, restore_it, look = [block.text for block in blocks if "system.restore" in block.info]
    backup(cluster)  # waits until the installation has settled
    run_block(cluster, take)
    old_id, _ = members(cluster)
    run_block(cluster, change)
    write(cluster, "newer", "after")
    begin = host_clock.now()
    assert "is back at backup" in run_block(cluster, restore_it)
    took = host_clock.now() - begin
    assert run_block(cluster, look).startswith("before")
    assert read(cluster, "newer") is None
    check(cluster, old_id)
    write(cluster, "newer", "written to the restored cluster")
    with capsys.disabled():
        print(f"\nFIGURE restore: {len(cluster.masters)} masters restored in {took:.0f} s")


def test_all_masters_lost_their_data_and_the_command_is_killed(cluster, capsys):
    write(cluster, "drill", "kept")
    backup(cluster)
    old_id, _ = members(cluster)
    for master in cluster.masters:
        cluster.machine(master, "bash", "-c", "rm -rf /var/lib/etcd/member && pkill -9 -x etcd", check=False)
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    stages = sorted(random.Random(seed).sample(range(1, len(STAGES)), 3))
    killed = []
    for number in stages:
        process = subprocess.Popen(cluster.command("restore", "--yes"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        marker = cluster.dir / f".slipway/restore/{STAGES[number - 1]}.done"
        cluster.wait_until(f"the stage before {STAGES[number]} is done", lambda: marker.exists() or process.poll() is not None, limit=900)  # noqa: B023
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            killed.append(STAGES[number])
    assert killed, stages
    if (cluster.dir / ".slipway/restore").exists():
        restore(cluster)
    assert read(cluster, "drill") == "kept"
    check(cluster, old_id)
    with capsys.disabled():
        print(f"\nFIGURE restore: killed in {', '.join(killed)}")


def test_the_cluster_takes_backups_by_a_schedule(cluster, capsys):
    order = {"apiVersion": "config.openshift.io/v1alpha1", "kind": "Backup",
             "metadata": {"name": "default", "annotations": {"slipway.internal/encrypt-to": RECIPIENT}},
             "spec": {"etcd": {"schedule": "* * * * *", "pvcName": "", "timeZone": "UTC",
                               "retentionPolicy": {"retentionType": "RetentionNumber", "retentionNumber": {"maxNumberOfBackups": 1}}}}}
    cluster.kubectl("apply", "-f", "-", input=json.dumps(order))

    def backups(master):
        listed = cluster.machine(master, "bash", "-c", "cd /var/lib/etcd-auto-backup/default 2>/dev/null && ls */snapshot_*", check=False)
        return listed.stdout.split()

    begin = host_clock.now()
    cluster.wait_until("each master has a backup", lambda: all(backups(master) for master in cluster.masters), limit=200,
                       missing=lambda: cluster.kubectl("get", "cronjobs,jobs,pods", "-n", "openshift-etcd", check=False).stdout)
    took = host_clock.now() - begin
    first = backups(cluster.masters[0])
    cluster.wait_until("the old one is pruned", lambda: len(backups(cluster.masters[0])) == 1 and backups(cluster.masters[0]) != first, limit=200)
    cluster.wait_until("the record is there", lambda: cluster.kubectl("get", "configmap", "recent-backup", "-n", "openshift-etcd",
                                                                     "--output", "jsonpath={.data.completed}", check=False).stdout, limit=100)
    # Encrypted, and what it was when it was read back: a snapshot ends with its hash.
    [name] = backups(cluster.masters[0])
    assert name.endswith(".db.age")
    sealed = base64.b64decode(cluster.machine(cluster.masters[0], "base64", f"/var/lib/etcd-auto-backup/default/{name}").stdout)
    (cluster.folder / "key").write_text(KEY)
    content = subprocess.run(["age", "--decrypt", "--identity", cluster.folder / "key"], input=sealed, check=True, capture_output=True, timeout=60).stdout
    assert hashlib.sha256(content[:-32]).digest() == content[-32:]
    cluster.kubectl("delete", "backups.config.openshift.io", "default")
    cluster.wait_until("the CronJobs are gone", lambda: not cluster.objects("cronjobs", "-n", "openshift-etcd"), limit=100)
    with capsys.disabled():
        print(f"\nFIGURE backup: each of {len(cluster.masters)} masters has one {took:.0f} s after the order")


def test_the_backup_is_restored_on_fresh_machines(cluster, capsys):
    """All machines and their disks are gone. The asset directory makes machines of the same names, with the authorities of before."""
    outside = cluster.folder / "outside"
    write(cluster, "drill", "on the machines of before")
    backup(cluster, "--to", outside)
    run(SLIPWAY, "machine", "destroy", "--all", "--cluster", cluster.name, "--state", cluster.state)
    begin = host_clock.now()
    Creation(cluster).complete()
    created = host_clock.now() - begin
    cluster.wait_until("the new cluster has settled", lambda: "is being changed" not in
                       cluster.run("backup", "--to", cluster.folder / "new", check=False).stderr, limit=900)
    assert read(cluster, "drill") is None
    new_id, _ = members(cluster)
    took = restore(cluster, "--from", outside)
    assert read(cluster, "drill") == "on the machines of before"
    check(cluster, new_id)
    with capsys.disabled():
        print(f"\nFIGURE restore: fresh machines in {created:.0f} s, the backup on them in {took:.0f} s")
