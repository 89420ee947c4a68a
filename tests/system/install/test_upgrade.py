"""The cluster moves to the next release. tests/system/upgrade does that while the cluster is used and disturbed."""

import time

import host_clock
from next_release import check_every_part, next_release

LIMIT = 600


def test_the_next_release(installed):
    # An operator that the release does not manage would never have its version.
    installed.kubectl("patch", "clusterversion", "version", "--type=merge", "--patch", '{"spec": {"overrides": null}}')
    version, folder = next_release(1)
    begun, start = time.time(), host_clock.now()
    done = installed.run("upgrade", "--release", folder, "--wait", check=False, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    print(f"\n{version} after {host_clock.now() - start:.0f} s; {len(installed.recorder.refused_since(begun))} calls refused; {installed.recorder.summary()}")
    check_every_part(installed, version, folder)
    assert installed.run("upgrade").stdout.startswith(f"Cluster version is {version}\n")
