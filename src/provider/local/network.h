// The network of a cluster in the owner's network namespace: a bridge, and for each machine that is on a network namespace with a
// veth pair to the bridge. Needs a private /run, where `ip` keeps the names of namespaces.
#pragma once

#include "provider/local/cluster_config.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// errors of all functions: unavailable: with the message of ip
Result<> make_bridge(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan);

// Creates a new network namespace for a machine that is off and removes that of its last run. eth0 is up and has its address, and
// the bridge's address is the default route. So the machine needs no network manager.
//
//   returns  the path of the namespace
Result<std::string> make_machine_network(const sys::Context& context, sys::Runner& runner, const AddressPlan& plan,
                                         const MachineRecord& machine);

// Succeeds if there is no network.
Result<> remove_machine_network(const sys::Context& context, sys::Runner& runner, const MachineRecord& machine);

}  // namespace slipway::provider::local
