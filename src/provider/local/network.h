// The network of a cluster, inside the owner's network namespace: a bridge, and for each machine that is on a network namespace
// with one cable to it. Needs a private /run, where `ip` keeps the names of namespaces.
#pragma once

#include "provider/local/cluster_config.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// errors of all: unavailable: what ip says
Result<> make_bridge(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan);

// A new network for a machine that is off, in place of the one of its last run: eth0 up, with its address, the bridge as its
// way out. The machine finds it so when it starts, whatever manages networks there.
//
//   returns  the path of the namespace
Result<std::string> make_machine_network(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan,
                                         const MachineRecord& machine);

// Fine when there is none.
Result<> remove_machine_network(const sys::Context& context, sys::Runner& runner, const MachineRecord& machine);

}  // namespace slipway::provider::local
