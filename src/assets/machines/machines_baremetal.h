// Machines of platform baremetal: hosts with their logins, the Machines and MachineSets that take them, and the network from
// which they are provisioned.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// None without the capability MachineAPI.
AssetFiles baremetal_machines(const config::InstallConfig& config, const ClusterId& id);

Json baremetal_provisioning(const config::InstallConfig& config);

}  // namespace slipway::assets
