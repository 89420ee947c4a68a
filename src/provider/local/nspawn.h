// The command that is a machine: systemd-nspawn on a machine's disk. Pure.
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
  std::string sysroot;               // the disk, on the host
  Deployment deployment;             // what is booted from it
  std::string mount_point;           // an empty folder in the owner's private /run
  std::string network_namespace;     // "/run/netns/master-0"
  std::string booted_marker;         // an empty file, becomes /run/ostree-booted
  std::vector<std::string> cgroups;  // folders of the machine's cgroups, one a hierarchy
  std::vector<std::string> devices;  // of the host, "/dev/fuse"
};

// systemd-nspawn's exit status when the machine restarts.
inline constexpr int restart_status = 133;

// Runs until the machine is off. The disk is mounted read-only in a mount namespace of the command's own; /etc and /var are
// writable, as OSTree has them. Told through NOTIFY_SOCKET: the machine's init (X_NSPAWN_LEADER_PID=) and that its start is
// complete (READY=1). TERM powers the machine off.
std::vector<std::string> nspawn_command(const NspawnInput& input);

// What came through NOTIFY_SOCKET, one message. Pure.
struct Notification {
  std::optional<int> leader;  // the machine's init was started
  bool ready = false;         // it says that its start is complete

  bool operator==(const Notification&) const = default;
};
Notification parse_notification(std::string_view message);

}  // namespace slipway::provider::local
