// Machines of platform aws: Machines of the control plane, their ControlPlaneMachineSet, and a MachineSet for each zone of the
// workers. They name the objects that slipway creates on AWS (provider/aws/cluster_plan.h).
#pragma once

#include "assets/assets.h"

#include <string>
#include <string_view>

namespace slipway::assets {

// The instance type of a pool. Machines of a cluster of one machine are larger.
//
//   role  "master" or "worker"
std::string aws_instance_type(const config::InstallConfig& config, std::string_view role);

// Empty without capability MachineAPI. Zones that the install-config does not name are a, b and c of the region.
AssetFiles aws_machines(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
