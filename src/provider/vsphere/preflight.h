// Checks before anything is created: objects of the failure domains, privileges, free space.
#pragma once

#include "base/findings.h"
#include "provider/vsphere/work.h"

#include <string_view>
#include <vector>

namespace slipway::provider::vsphere {

// A privilege that the user needs. docs/vsphere.md lists them.
struct Privilege {
  std::string_view where;  // "vcenter", "cluster", "pool", "datastore", "network", "folder"
  std::string_view name;   // "VirtualMachine.Provisioning.DeployTemplate"
};
const std::vector<Privilege>& privileges();

// Checks the vCenter for a plan whose resources do not exist yet, with calls that change nothing.
//
//   errors  denied: the login is refused; unavailable
Result<Findings> check_vcenter(const Work& work, const config::InstallConfig& config, const plan::Plan& missing);

}  // namespace slipway::provider::vsphere
