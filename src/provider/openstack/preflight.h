// Checks before anything is created: networks, flavors, images, zones, addresses, quotas, roles.
#pragma once

#include "base/findings.h"
#include "provider/openstack/work.h"
#include "provider/plan/preview.h"

#include <string>
#include <vector>

namespace slipway::provider::openstack {

// Looks up what the install-config names: the external network, the subnets and the image of the user.
// errors: invalid: they do not exist or do not fit, with the field
Result<Site> read_site(const Work& work, const config::InstallConfig& config);

// What a plan takes from quotas of the project.
struct Needs {
  int servers = 0, vcpus = 0, ram_mib = 0, server_groups = 0;
  int networks = 0, subnets = 0, routers = 0, ports = 0, floating_ips = 0, security_groups = 0, security_rules = 0;
  int volumes = 0, volume_gib = 0;
};

// flavors: of the cloud; unknown ones count as nothing
Needs needs_of(const plan::Plan& plan, const std::vector<Flavor>& flavors);

struct ProjectCheck {
  std::vector<plan::Quota> quotas{};
  std::vector<std::string> missing_permissions{};
  Findings problems{};  // also those of quotas and permissions
};

// Checks the project for a plan whose resources do not exist yet, with calls that change nothing.
//
//   errors  denied: the login is wrong; unavailable
Result<ProjectCheck> check_project(const Work& work, const config::InstallConfig& config, const Site& site,
                                   const plan::Plan& plan);

}  // namespace slipway::provider::openstack
