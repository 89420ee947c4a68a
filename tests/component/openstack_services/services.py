"""OpenStack itself: the services of Debian in a root of their own, on the loopback interface of a network namespace of their own.

    with services(folder) as bed:
        bed.connection("admin")  # a client; this process is in the namespace meanwhile

The root with the packages is made once, below the build folder. Databases and objects are new each time."""

import contextlib
import ctypes
import os
import pathlib
import select
import shutil
import subprocess

import openstack
from debian_mirrors import proxies, sources

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["SLIPWAY_BUILD"])
SUITE = "bookworm"
MAKE_LIMIT, START_LIMIT, LIMIT = 2400, 1200, 300  # seconds; on an idle host 180, 60 and 10
CLONE_NEWNET = 0x40000000
REGION = "RegionOne"
PACKAGES = """keystone nova-api nova-conductor nova-scheduler nova-compute placement-api neutron-server glance-api cinder-api cinder-scheduler cinder-volume
    swift-proxy swift-account swift-container swift-object memcached rabbitmq-server mariadb-server python3-pymysql python3-fixtures python3-keystonemiddleware
    python3-memcache uwsgi-core uwsgi-plugin-python3 curl iproute2 procps""".split()
CATALOG = (("glance", "image", "http://127.0.0.1:9292"), ("placement", "placement", "http://127.0.0.1:8778"),
           ("nova", "compute", "http://127.0.0.1:8774/v2.1"), ("neutron", "network", "http://127.0.0.1:9696"),
           ("cinder", "block-storage", "http://127.0.0.1:8776/v3/%(project_id)s"), ("swift", "object-store", "http://127.0.0.1:8080/v1/AUTH_%(project_id)s"))
ENTRY_POINT = "[neutron.ml2.mechanism_drivers]\nbind_all = bind_all:BindAll\n"
# The changes of a run are in memory of their own, above the root.
ENTER = r"""
set -eu
mount -t tmpfs tmpfs "$FOLDER"
mkdir -p "$FOLDER/upper" "$FOLDER/work" "$FOLDER/root"
mount -t overlay -o "lowerdir=$ROOT,upperdir=$FOLDER/upper,workdir=$FOLDER/work" overlay "$FOLDER/root"
root=$FOLDER/root
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/bed/python/bind_all-1.0.dist-info"
cp "$HERE/services.sh" "$root/bed/"
cp "$HERE/bind_all.py" "$root/bed/python/"
printf 'Metadata-Version: 2.1\nName: bind_all\nVersion: 1.0\n' >"$root/bed/python/bind_all-1.0.dist-info/METADATA"
printf '%s' "$ENTRY_POINT" >"$root/bed/python/bind_all-1.0.dist-info/entry_points.txt"
exec env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$root" /bin/bash /bed/services.sh
"""


def debian_root():
    """A Debian root with the packages."""
    root = BUILD / "openstack-services" / SUITE
    done = root.with_suffix(".complete")
    if done.exists() and done.read_text().split() == PACKAGES:
        return root
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    # Packages start nothing.
    policy = "--essential-hook=printf '#!/bin/sh\\nexit 101\\n' > \"$1/usr/sbin/policy-rc.d\" && chmod +x \"$1/usr/sbin/policy-rc.d\""
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", f"--include={','.join(PACKAGES)}", policy, *proxies(), SUITE, root, *sources(SUITE)],
                   check=True, timeout=MAKE_LIMIT)
    done.write_text("\n".join(PACKAGES))
    return root


class Services:
    def __init__(self, process):
        self.process = process

    def connection(self, user="demo", project="team"):
        password = "admin-password" if user == "admin" else "hunter2secret"
        return openstack.connect(auth_url="http://127.0.0.1:5000/v3", username=user, password=password, project_name=project if user != "admin" else "admin",
                                 user_domain_name="Default", project_domain_name="Default", region_name=REGION, load_yaml_config=False, load_envvars=False)

    def prepare(self):
        """A catalog, a project with a user, an external network, a flavor."""
        admin = self.connection("admin")
        for name, kind, url in CATALOG:
            service = admin.identity.create_service(name=name, type=kind)
            for interface in ("public", "internal"):
                admin.identity.create_endpoint(service_id=service.id, interface=interface, url=url, region_id=REGION)
        admin = self.connection("admin")
        project = admin.identity.create_project(name="team", domain_id="default")
        user = admin.identity.create_user(name="demo", password="hunter2secret", domain_id="default", default_project_id=project.id)
        admin.identity.assign_project_role_to_user(project, user, admin.identity.find_role("member"))
        network = admin.network.create_network(name="public", is_router_external=True, provider_network_type="flat", provider_physical_network="outside")
        admin.network.create_subnet(name="public", network_id=network.id, cidr="203.0.113.0/24", ip_version=4, is_dhcp_enabled=False)
        admin.compute.create_flavor(name="m1.large", ram=16384, vcpus=4, disk=100)


@contextlib.contextmanager
def in_network_of(pid):
    """This thread, and what it starts, is in the network namespace of a process meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    own, other = os.open("/proc/self/ns/net", os.O_RDONLY), os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        assert libc.setns(other, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        yield
    finally:
        assert libc.setns(own, CLONE_NEWNET) == 0
        os.close(own)
        os.close(other)


@contextlib.contextmanager
def services(folder):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "ROOT": str(debian_root()), "FOLDER": str(folder), "HERE": str(HERE), "ENTRY_POINT": ENTRY_POINT}
    process = subprocess.Popen(["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--propagation", "private", "bash", "-c", ENTER],
                               env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert select.select([process.stdout], [], [], START_LIMIT)[0] and process.stdout.readline() == "ready\n", "the services did not start"
        with in_network_of(process.pid):
            bed = Services(process)
            bed.prepare()
            yield bed
    finally:
        process.stdin.close()
        try:
            process.wait(LIMIT)
        finally:
            process.kill()
            process.stdout.close()
