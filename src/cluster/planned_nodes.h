// Machines of a provider as nodes of the cluster. Pure.
#pragma once

#include "kube/machine_table.h"
#include "provider/provider.h"

#include <string>
#include <vector>

namespace slipway::cluster {

// The machines that become nodes: all except the bootstrap machine.
kube::MachineTable planned_nodes(const std::vector<provider::Machine>& machines);

// The addresses of a row of the machine table: none if the machine's address is not known.
std::vector<std::string> addresses_of(const std::string& address);

// Why machines are not running, as their provider reports it: "worker-0 is igniting: waits for its configuration: Internal Server
// Error". Empty when the provider reports no reason.
//
//   names  of the machines to report; empty: all
std::string machine_problems(const std::vector<provider::MachineStatus>& machines, const std::vector<std::string>& names);

}  // namespace slipway::cluster
