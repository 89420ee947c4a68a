// An Ignition config for a system that runs already: as a MachineConfig, which node/config_disk.h can apply at any time. Pure.
#pragma once

#include "base/result.h"
#include "ignition/types.h"
#include "machineconfig/types.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::agent {

// The paths of files that the config appends to.
std::vector<std::string> appended_paths(const ignition::Config& config);

// Files that are appended to get their whole content. Files belong to root unless the config says otherwise. Folders are not part
// of a MachineConfig.
//
//   existing  contents of the files at appended_paths() before the config was applied; absent: the file does not exist
//   errors    invalid, with all fields that only the first boot of a machine can apply: disks, file systems, links, groups, other
//             users than core, kernel arguments, references to other configs, contents that are not in the config
Result<machineconfig::MachineConfig> live_config(const ignition::Config& config,
                                                 const std::map<std::string, std::string>& existing);

}  // namespace slipway::agent
