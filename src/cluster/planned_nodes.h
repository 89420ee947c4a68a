// The machines of a provider as the cluster sees them. Pure.
#pragma once

#include "kube/machine_table.h"
#include "provider/provider.h"

#include <string>
#include <vector>

namespace slipway::cluster {

// Machines that will be nodes: all but the bootstrap machine.
kube::MachineTable planned_nodes(const std::vector<provider::Machine>& machines);

// Why machines are not up, as far as their provider says: "worker-0 is igniting: waits for its configuration: Internal Server
// Error"; empty when it says nothing.
//
//   names  of the machines in question; empty: all
std::string machine_troubles(const std::vector<provider::MachineStatus>& machines, const std::vector<std::string>& names);

}  // namespace slipway::cluster
