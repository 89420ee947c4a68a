// Finds rendered MachineConfigs that can be deleted. Pure.
#pragma once

#include "components/controller/view.h"

#include <string>
#include <vector>

namespace slipway::components::machine_config_operator {

// The newest configs of each pool are kept: when a user reverts a change, the pool gets its previous config again.
inline constexpr std::size_t rendered_configs_kept = 10;

// Names of rendered MachineConfigs that no pool (spec, status) and no Node (current, desired) refers to and that are not among
// the
// newest of their pool, sorted. A Node that is off for a long time still refers to its config, so it can finish its update.
std::vector<std::string> outdated_configs(const Snapshot& seen);

}  // namespace slipway::components::machine_config_operator
