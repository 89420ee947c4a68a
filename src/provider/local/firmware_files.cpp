#include "provider/local/firmware_files.h"

#include "provider/local/registry.h"

#include <fmt/core.h>

#include <array>

namespace slipway::provider::local {

namespace {

// Units that machines of this platform do not need. Each uses a process and one of the host's few inotify instances. getty and
// logind: the console is read-only, so there are no logins. dbus: systemctl and the kubelet reach systemd without the bus.
// networkd: the interface has its address before init starts, and networkd would use inotify to wait for the missing bus.
constexpr std::array masked_units = {
    "console-getty.service",    "dbus.service",           "dbus.socket", "systemd-logind.service",
    "systemd-networkd.service", "systemd-networkd.socket"};

}  // namespace

std::vector<FirmwareFile> firmware_files(std::string_view machine, const ClusterConfig& config,
                                         const std::string& push_authority) {
  const std::string gateway = config.network.gateway();
  std::vector<FirmwareFile> files = {
      {"/etc/hostname", fmt::format("{}\n", machine)},
      {"/etc/machine-id", "uninitialized\n"},
      {"/etc/resolv.conf", fmt::format("nameserver {}\nsearch {}\noptions timeout:1 attempts:5\n", gateway, config.domain)},
      // The kernel's messages are the host's: thousands of lines in the log of each of its machines, at each start.
      {"/etc/systemd/journald.conf.d/20-local.conf", "[Journal]\nReadKMsg=no\n"},
      // A container shares all settings but those of its network with the host. Debian's defaults (kernel.pid_max, kernel.sysrq,
      // vm, fs) must not change the host, so /proc/sys stays read-only and only /proc/sys/net is written.
      {"/etc/systemd/system/systemd-sysctl.service.d/20-local.conf",
       "[Unit]\nAfter=slipway-container-mounts.service\nConditionPathIsReadWrite=\nConditionPathIsReadWrite=/proc/sys/net\n"
       "[Service]\nExecStart=\nExecStart=/usr/lib/systemd/systemd-sysctl --prefix=/net\n"},
      {fmt::format("/etc/containerd/certs.d/{}/hosts.toml", release_host), hosts_toml(gateway)},
  };
  // Images of all other registries. Machines reach no other network.
  if (config.has_own_images) files.push_back({"/etc/containerd/certs.d/_default/hosts.toml", hosts_toml(gateway)});
  if (!push_authority.empty()) {
    const std::string folder = "/etc/containerd/certs.d/" + config.os_registry;
    files.push_back({folder + "/hosts.toml", os_hosts_toml(gateway, config.os_registry)});
    files.push_back({folder + "/ca.crt", push_authority});
  }
  // An empty unit file is a masked unit (systemd.unit(5)).
  for (const char* unit : masked_units) files.push_back({fmt::format("/etc/systemd/system/{}", unit), ""});
  return files;
}

}  // namespace slipway::provider::local
