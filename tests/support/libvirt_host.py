"""A host with libvirt for a test: libvirtd and virtlogd in namespaces of their own, with the programs and files of this machine.

    with libvirt_host(folder) as host:
        print(host.virsh("list", "--all"))
        subprocess.run(host.command(["slipway", "create", "cluster"], cwd=folder), check=True)

Everything that the daemons and the commands start ends with the context, and also when the test is killed. Changes of the network, of
/etc, /run and of libvirt's folders are seen inside only. A libvirt of this machine is neither used nor changed.
"""

import contextlib
import pathlib
import select
import subprocess

import host_clock

URI = "qemu:///system"
LIMIT = 60  # seconds; the host takes two on an idle machine
# Settings of qemu.conf. QEMU runs as root because the folders of tests belong to root; the host's cgroups are not there.
QEMU_SETTINGS = """\
user = "root"
group = "root"
security_driver = "none"
cgroup_controllers = []
namespaces = []
"""
# The first process of the PID namespace. Bash reaps orphans: without that, libvirt waits 40 s for the end of each machine.
START = r"""
set -e
read -r pid rest </proc/self/stat
cd "$FOLDER"
mkdir -p etc lib log cache
mount -t proc proc /proc
umount --recursive --lazy /sys
mount -t sysfs sysfs /sys
# The mount points may not exist on this machine.
mount -t tmpfs tmpfs /mnt
for place in /etc /var/lib /var/log /var/cache; do
  mkdir -p "/mnt$place/upper" "/mnt$place/work"
  mount -t overlay -o "lowerdir=$place,upperdir=/mnt$place/upper,workdir=/mnt$place/work" overlay "$place"
done
# libvirt asks QEMU again at each call what it can do, for seconds, if /dev/kvm exists and does not work.
if [ -n "$HIDE_KVM" ] && [ -e /dev/kvm ]; then
  mkdir -p /mnt/dev/upper /mnt/dev/work /mnt/dev/all
  mount -t overlay -o "lowerdir=/dev,upperdir=/mnt/dev/upper,workdir=/mnt/dev/work" overlay /mnt/dev/all
  rm /mnt/dev/all/kvm
  for place in pts shm; do mount --rbind "/dev/$place" "/mnt/dev/all/$place"; done
  mount --rbind /mnt/dev/all /dev
fi
umount --lazy --recursive /mnt
mkdir -p /etc/libvirt /var/lib/libvirt /var/log/libvirt /var/cache/libvirt
mount --bind etc /etc/libvirt
mount --bind lib /var/lib/libvirt
mount --bind log /var/log/libvirt
mount --bind cache /var/cache/libvirt
# Also without the system's D-Bus, so that libvirtd does not register machines there.
mount -t tmpfs -o mode=755 tmpfs /run
# libvirtd does not start without this user, which its service's package creates.
getent group libvirt-qemu >/dev/null || echo 'libvirt-qemu:x:64055:' >>/etc/group
getent passwd libvirt-qemu >/dev/null || echo 'libvirt-qemu:x:64055:64055::/nonexistent:/usr/sbin/nologin' >>/etc/passwd
ip link set lo up
virtlogd </dev/null >virtlogd.log 2>&1 &
logger=$!
libvirtd </dev/null >libvirtd.log 2>&1 &
daemon=$!
until [ -S /run/libvirt/libvirt-sock ] && [ -S /run/libvirt/virtlogd-sock ]; do
  kill -0 $daemon
  kill -0 $logger
  sleep 0.02
done
echo "$pid"
# Until the test closes this pipe, or ends.
while read -r line; do :; done
kill $daemon $logger
wait $daemon $logger || :
"""


class LibvirtHost:
    uri = URI

    def __init__(self, folder, process):
        self.folder, self.process, self.pid = folder, process, None

    def wait_for_start(self):
        deadline = host_clock.now() + LIMIT
        while not select.select([self.process.stdout], [], [], 0.1)[0]:
            assert host_clock.now() < deadline, f"libvirtd did not start within {LIMIT} s\n{self.logs()}"
        line = self.process.stdout.readline()
        assert line, f"libvirtd did not start\n{self.logs()}"
        self.pid = int(line)
        # The first answer comes when libvirtd has found out what QEMU can do.
        self.virsh("version")

    def command(self, argv, cwd=None):
        """The command line that runs a command on the host."""
        return ["nsenter", f"--target={self.pid}", "--mount", "--net", "--pid", f"--wdns={cwd or self.folder}", "--", *map(str, argv)]

    def run(self, argv, check=True, timeout=LIMIT, **options):
        """Runs a command on the host. Returns its subprocess.CompletedProcess."""
        done = subprocess.run(self.command(argv), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, **options)
        assert not check or done.returncode == 0, f"{argv}: exit status {done.returncode}\n{done.stdout}{done.stderr}\n{self.logs()}"
        return done

    def virsh(self, *arguments):
        """The output of virsh, which must succeed."""
        return self.run(["virsh", "-c", URI, *arguments]).stdout.strip()

    def logs(self):
        """The ends of the logs of the host, for messages."""
        paths = [self.folder / "start.log", self.folder / "virtlogd.log", self.folder / "libvirtd.log", *self.folder.glob("log/qemu/*.log")]
        return "\n".join(f"== {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:]) for path in paths if path.exists())


@contextlib.contextmanager
def libvirt_host(folder, kvm=False, daemon_settings=""):
    """folder: an existing folder for the files of the host, which remain: libvirt's folders and logs. kvm: machines may use KVM of this
    machine; /dev/kvm may exist and not work. daemon_settings: lines of libvirtd.conf. Needs root."""
    folder = pathlib.Path(folder).resolve()
    (folder / "etc").mkdir(exist_ok=True)
    (folder / "etc/qemu.conf").write_text(QEMU_SETTINGS)
    (folder / "etc/libvirtd.conf").write_text(daemon_settings)
    with (folder / "start.log").open("w") as log:
        process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "env", f"FOLDER={folder}",
             f"HIDE_KVM={'' if kvm else 1}", "bash", "-c", START],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        host = LibvirtHost(folder, process)
        host.wait_for_start()
        yield host
    finally:
        process.stdin.close()
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
