// Machines of platform baremetal: BareMetalHosts with their credentials, Machines, MachineSets, and the configuration of the
// provisioning network.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// Empty without capability MachineAPI.
AssetFiles baremetal_machines(const config::InstallConfig& config, const ClusterId& id);

Json baremetal_provisioning(const config::InstallConfig& config);

}  // namespace slipway::assets
