// The MachineConfigs for all machines of a role, from the templates of data/machine-config.
#pragma once

#include "base/secret.h"
#include "base/template.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// Roles with templates.
inline constexpr std::string_view template_roles[] = {"master", "worker"};

// 00-ROLE, 01-ROLE-container-runtime and 01-ROLE-kubelet. Pure.
//
//   pull_secret  registry credentials, text of a docker config
//   errors       invalid: a role without templates, or missing fields of `config` (all are listed)
Result<std::vector<MachineConfig>> template_configs(std::string_view role, const ControllerConfig& config,
                                                    const Secret& pull_secret);

}  // namespace slipway::machineconfig
