// Descriptors with which the process of the owner starts (spawn_owner.h).
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

namespace slipway::provider::local {

inline constexpr int ready_fd = 3;         // a stream socket: the owner sends "ready", or "failed: REASON"
inline constexpr int host_proc_fd = 4;     // the host's /proc, in which the owner finds its process ID
inline constexpr int host_network_fd = 5;  // the host's network namespace, in which forwards listen
inline constexpr int host_mounts_fd = 6;   // the host's mount namespace, in which the registry finds names and authorities
inline constexpr int host_root_fd = 7;     // its root directory, which may be that of a chroot

// The options with which nsenter runs a program of the owner in the network and the file systems of the host. The owner is
// process 1 of its namespace.
inline std::vector<std::string> options_for_host() {
  return {fmt::format("--net=/proc/1/fd/{}", host_network_fd), fmt::format("--mount=/proc/1/fd/{}", host_mounts_fd),
          fmt::format("--root=/proc/1/fd/{}", host_root_fd)};
}

}  // namespace slipway::provider::local
