// The owner: the one process that everything of a local cluster belongs to. It lives in mount, network and process namespaces of
// its own and is the init of the last, so that nothing of the cluster outlives it but cgroups and files (sweep.h).
//
// It is not a service of the host: a command starts it when there is none (client.h), and it survives that command.
#pragma once

#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// Descriptors that the owner is started with.
inline constexpr int ready_fd = 3;         // a stream socket: gets the line "ready", or "failed: why"
inline constexpr int host_proc_fd = 4;     // the host's /proc, where the owner finds its own number
inline constexpr int host_network_fd = 5;  // the host's network namespace, where forwards listen

// Runs a cluster until a stop or the order to end: bridge, names, machines, requests. Powers its machines off before it returns.
//
//   context  its events have no sink yet but those for files and people: clients get theirs here
//   errors   conflict: the cluster has an owner; what making the ground of the cluster ran into
Result<> run_owner(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterPaths& paths);

}  // namespace slipway::provider::local
