// Machine objects of platform openstack, as openshift/installer pkg/asset/machines/openstack writes them. They name the subnet,
// security groups and server groups that `slipway create cluster` creates.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// Machines and a ControlPlaneMachineSet of masters, and a MachineSet of workers for each zone. Empty without the Machine API.
AssetFiles openstack_machines(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
