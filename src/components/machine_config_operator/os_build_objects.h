// The objects of a build of an operating system image: MachineOSBuild, the ConfigMaps with its inputs, and its Job. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_build.h"
#include "machineconfig/os_config.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

using machineconfig::os_build_space;

// The MachineOSBuild, without status.
Json os_build_object(const machineconfig::OsBuild& build, const machineconfig::OsConfig& config);

// Whether a MachineOSBuild was made with the Secrets that the config names. Its name does not depend on them.
bool has_same_logins(const Json& build, const machineconfig::OsConfig& config);

// ConfigMaps with the inputs. owner: the MachineOSBuild in the cluster; if it is deleted, they are deleted
//
//   errors  those of build_files
Result<std::vector<Json>> os_build_inputs(const machineconfig::OsBuild& build, const machineconfig::MachineConfig& rendered,
                                          const machineconfig::ControllerConfig& controller, const Json& owner);

// The Job.
//
//   inputs     number of ConfigMaps with inputs
//   has_cache  the build may use what earlier builds left on its machine
//   errors  invalid: the ControllerConfig has no internal address of the API
Result<Json> os_build_job(const machineconfig::OsBuild& build, const machineconfig::OsConfig& config,
                          const machineconfig::ControllerConfig& controller, const Json& owner, std::size_t inputs,
                          bool has_cache);

}  // namespace slipway::components::machine_config_operator
