// The configs of an update, from the files of the machine.
#pragma once

#include "machineconfig/types.h"
#include "node/os_update/updater.h"
#include "node/program.h"

namespace slipway::node {

struct UpdateConfigs {
  machineconfig::MachineConfig running;  // empty for Wanted::first_config
  machineconfig::MachineConfig wanted;
};

// errors: not_found: the machine does not have them; invalid: their content
Result<UpdateConfigs> read_update_configs(const Environment& environment, Wanted wanted);

}  // namespace slipway::node
