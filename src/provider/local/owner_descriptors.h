// Descriptors with which the process of the owner starts (spawn_owner.h).
#pragma once

namespace slipway::provider::local {

inline constexpr int ready_fd = 3;         // a stream socket: the owner sends "ready", or "failed: REASON"
inline constexpr int host_proc_fd = 4;     // the host's /proc, in which the owner finds its process ID
inline constexpr int host_network_fd = 5;  // the host's network namespace, in which forwards listen
inline constexpr int host_mounts_fd = 6;   // the host's mount namespace, in which the registry finds names and authorities

}  // namespace slipway::provider::local
