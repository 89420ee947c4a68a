#include "cluster/planned_nodes.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

std::vector<std::string> addresses_of(const std::string& address) {
  return address.empty() ? std::vector<std::string>() : std::vector{address};
}

kube::MachineTable planned_nodes(const std::vector<provider::Machine>& machines) {
  kube::MachineTable nodes;
  for (const provider::Machine& machine : machines) {
    if (machine.role != "bootstrap") nodes.push_back({machine.name, machine.role, addresses_of(machine.address)});
  }
  return nodes;
}

std::string machine_problems(const std::vector<provider::MachineStatus>& machines, const std::vector<std::string>& names) {
  std::vector<std::string> problems;
  for (const provider::MachineStatus& machine : machines) {
    const bool is_meant = names.empty() || std::ranges::find(names, machine.name) != names.end();
    if (!is_meant || machine.reason.empty()) continue;
    problems.push_back(fmt::format("{} is {}: {}", machine.name, machine.state, machine.reason));
  }
  return join(problems, "; ");
}

}  // namespace slipway::cluster
