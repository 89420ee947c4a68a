// The command that runs a machine: systemd-nspawn on the machine's disk. Pure.
#pragma once

#include "provider/local/boot_entry.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct NspawnInput {
  std::string name;
  std::string uuid;
  std::string sysroot;               // mount point of the disk on the host
  Deployment deployment;             // the deployment to boot
  std::string mount_point;           // an empty folder in the owner's private /run
  std::string network_namespace;     // "/run/netns/master-0"
  std::string booted_marker;         // an empty file, becomes /run/ostree-booted
  std::string kernel_arguments;      // a file with one line, becomes /proc/cmdline
  std::vector<std::string> cgroups;  // the machine's cgroup in each hierarchy
  std::vector<std::string> devices;  // of the host, "/dev/fuse"
  std::vector<std::string> more{};   // further arguments of systemd-nspawn
};

// Exit status of systemd-nspawn if the machine restarts.
inline constexpr int restart_status = 133;

// A command that runs until the machine is off. The disk is mounted read-only in the command's own mount namespace; /etc and /var
// are writable, as in OSTree systems. NOTIFY_SOCKET gets the process ID of init (X_NSPAWN_LEADER_PID=) and the end of the start
// (READY=1). SIGTERM powers the machine off.
std::vector<std::string> nspawn_command(const NspawnInput& input);

// One message on NOTIFY_SOCKET. Pure.
struct Notification {
  std::optional<int> leader;  // process ID of the machine's init
  bool ready = false;         // init has reported that its start is complete

  bool operator==(const Notification&) const = default;
};
Notification parse_notification(std::string_view message);

}  // namespace slipway::provider::local
