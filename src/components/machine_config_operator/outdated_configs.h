// Which rendered MachineConfigs are not needed any more. Pure.
#pragma once

#include "components/controller/view.h"

#include <string>
#include <vector>

namespace slipway::components::machine_config_operator {

// For each pool the newest ones are kept: a user who takes a change back gets the config that machines had before.
inline constexpr std::size_t rendered_configs_kept = 10;

// Names of rendered MachineConfigs that no pool (spec, status) and no Node (current, desired) names and that are not among the
// newest of their pool, in order of their names. A Node that is off for long still names its config and can finish its update.
std::vector<std::string> outdated_configs(const Snapshot& seen);

}  // namespace slipway::components::machine_config_operator
