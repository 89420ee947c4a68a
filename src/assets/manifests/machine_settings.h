// KubeletConfigs, ContainerRuntimeConfigs and the node disruption policy of users among the manifests.
#pragma once

#include "assets/assets.h"
#include "base/result.h"

namespace slipway::assets {

// Checks them before a machine exists, with the rules of the machine-config-operator of slipway's release
// (machineconfig/pool_settings.h, machineconfig/disruption_policy.h). A pool may have one KubeletConfig and one
// ContainerRuntimeConfig. errors: invalid, with all findings and their places
Result<> check_machine_settings(const ManifestSet& manifests);

}  // namespace slipway::assets
