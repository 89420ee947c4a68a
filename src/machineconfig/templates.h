// The MachineConfigs that every machine of a role has, from the templates of data/machine-config.
#pragma once

#include "base/secret.h"
#include "base/template.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Roles that there are templates for.
inline constexpr std::string_view template_roles[] = {"master", "worker"};

// 00-ROLE, 01-ROLE-container-runtime and 01-ROLE-kubelet. Pure.
//
//   pull_secret  text of a docker config: credentials of registries
//   errors       invalid: what the templates need is missing in `config`, all of it named; no such role
Result<std::vector<MachineConfig>> template_configs(std::string_view role, const ControllerConfig& config,
                                                    const Secret& pull_secret);

}  // namespace slipway::machineconfig
