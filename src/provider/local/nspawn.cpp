#include "provider/local/nspawn.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

namespace slipway::provider::local {

namespace {

constexpr std::string_view arguments_in_machine = "/run/kernel-arguments";

// Mounts the disk in its own mount namespace, joins the cgroups, then executes the command after "--".
// --pivot-root moves its folder, so the folder must be a mount with a private parent mount ("Invalid argument" otherwise).
// The sources of writable binds are on the original mount of the disk: a bind of a read-only mount would be read-only, too.
// systemd-nspawn shows the host's os-release in /run/host. A machine could remount the file and write to it, so it gets a copy.
constexpr std::string_view become_machine = R"sh(set -e
disk=$1 root=$2
shift 2
mount --rbind "$disk" "$root"
mount -o remount,bind,ro "$root"
if [ -e /etc/os-release ]; then
  cp /etc/os-release "$root.os-release"
  mount --bind "$root.os-release" "$(readlink -f /etc/os-release)"
fi
while [ "$1" != -- ]; do
  echo $$ > "$1/cgroup.procs"
  shift
done
shift
exec "$@")sh";

}  // namespace

std::vector<std::string> nspawn_command(const NspawnInput& input) {
  std::vector<std::string> command = {
      "unshare", "--mount",     "--propagation=private", "--", "/bin/sh", "-c", std::string(become_machine),
      "machine", input.sysroot, input.mount_point};
  command.insert(command.end(), input.cgroups.begin(), input.cgroups.end());
  const std::string deployment = input.sysroot + input.deployment.path;
  // The deployment is /ostree/deploy/OS/deploy/ID.N. /var, which all deployments of the OS share, is in /ostree/deploy/OS.
  const std::string os = input.sysroot + input.deployment.path.substr(0, input.deployment.path.rfind("/deploy/"));
  const std::vector<std::string> nspawn = {
      "--",
      "systemd-nspawn",
      // Do not register with the host's systemd, so that it also works on hosts without systemd.
      "--register=no",
      "--keep-unit",
      "--quiet",
      "--directory=" + input.mount_point,
      fmt::format("--pivot-root={}:/sysroot", input.deployment.path),
      "--machine=" + input.name,
      "--uuid=" + input.uuid,
      "--network-namespace-path=" + input.network_namespace,
      "--capability=all",
      "--system-call-filter=@mount @keyring bpf",
      fmt::format("--bind={}/etc:/etc", deployment),
      fmt::format("--bind={}/var:/var", os),
      fmt::format("--bind-ro={}/boot:/boot", input.sysroot),
      // The marker tells ostree that "/" is a deployment. ostree then remounts /sysroot and /boot for its own writes.
      fmt::format("--bind-ro={}:/run/ostree-booted", input.booted_marker),
      // Two steps, because systemd-nspawn mounts below /proc after it has left the host's files: there the source is a file of
      // the machine.
      fmt::format("--bind-ro={}:{}", input.kernel_arguments, arguments_in_machine),
      fmt::format("--bind-ro={}:/proc/cmdline", arguments_in_machine),
      "--resolv-conf=off",
      "--timezone=off",
      "--link-journal=no",
      "--console=read-only",
      "--notify-ready=yes",
  };
  command.insert(command.end(), nspawn.begin(), nspawn.end());
  for (const std::string& device : input.devices) command.push_back("--bind=" + device);
  command.insert(command.end(), input.more.begin(), input.more.end());
  command.push_back("--boot");
  return command;
}

Notification parse_notification(std::string_view message) {
  constexpr std::string_view leader = "X_NSPAWN_LEADER_PID=";
  Notification notification;
  for (std::string_view line : split(message, '\n')) {
    if (line == "READY=1") notification.ready = true;
    if (!line.starts_with(leader)) continue;
    const int pid = parse_number<int>(line.substr(leader.size())).value_or(0);
    if (pid > 0) notification.leader = pid;
  }
  return notification;
}

}  // namespace slipway::provider::local
