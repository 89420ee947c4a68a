// The owner: the process that runs a local cluster. It has its own mount, network and process namespaces and is the init of the
// process namespace. So if the owner ends, only cgroups and files of the cluster remain (sweep.h).
//
// The owner is not a service of the host: a command starts it if none runs (client.h), and it continues after that command ends.
#pragma once

#include "provider/local/layout.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// Runs a cluster until a stop or Order::end: bridge, name server, registry, machines, requests. Powers off all machines before it
// returns.
//
//   context  the function adds an event sink that passes events to clients
//   errors   conflict: the cluster already has an owner; failures of setting up the cluster
Result<> run_owner(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterPaths& paths);

}  // namespace slipway::provider::local
