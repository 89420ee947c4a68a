// Removes processes and cgroups of a cluster that remain after its owner died.
#pragma once

#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

namespace slipway::provider::local {

// Kills a cluster's owner, if one runs, and every process in the cluster's cgroups, and removes the cgroups. Files stay. The
// caller holds the command lock. Succeeds if there is nothing to do.
//
//   how     the owner is found by process ID and start time, other processes by the paths of their cgroups, none by name
//   time    below a second; up to 20 s if the kernel does not end a process
//   errors  invalid: cluster.json or owner.json is broken; timeout, with the processes or cgroups that remain
Result<> sweep_cluster(const sys::Context& context, sys::Files& files, const ClusterPaths& paths);

}  // namespace slipway::provider::local
