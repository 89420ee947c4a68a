// Machines of platform vsphere: Machines of the control plane, their ControlPlaneMachineSet, MachineSets, and the static
// addresses of machines.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// Empty without capability MachineAPI.
// errors: invalid: a pool's zone or a host's failure domain does not exist
Result<AssetFiles> vsphere_machines(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
