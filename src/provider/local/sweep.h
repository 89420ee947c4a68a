// Sweeping: what is left of a cluster whose owner died, for whatever reason.
#pragma once

#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

namespace slipway::provider::local {

// Ends a cluster's owner if there is one, and every process in the cluster's cgroups, and removes those. Files stay. The caller
// holds the command lock. Fine when there is nothing.
//
//   how     the owner by its number and start time, the rest by the path of its cgroups; nothing by name
//   time    below a second; up to 20 s for processes that the kernel does not let go
//   errors  invalid: cluster.json or owner.json; timeout, naming what stays
Result<> sweep_cluster(const sys::Context& context, sys::Files& files, const ClusterPaths& paths);

}  // namespace slipway::provider::local
