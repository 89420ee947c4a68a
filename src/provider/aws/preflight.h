// Checks before anything is created: zones, subnets, images, quotas, permissions, names.
#pragma once

#include "base/findings.h"
#include "provider/aws/work.h"

#include <string>
#include <vector>

namespace slipway::provider::aws {

// Reads the zones of the region and the user's subnets.
// errors: invalid: subnets in different networks, a subnet does not exist
Result<Region> read_region(const Work& work, const config::InstallConfig& config);

// What a plan takes from quotas of the account.
struct Needs {
  int vpcs = 0;
  int elastic_ips = 0;
};
Needs needs_of(const plan::Plan& plan);

// A quota of the account that a plan uses.
struct Quota {
  std::string what;  // "VPCs"
  int needed = 0;
  int used = 0;
  int limit = 0;

  bool is_enough() const { return needed + used <= limit; }
};

// Checks the account for a plan whose resources do not exist yet, with calls that change nothing.
//
//   errors  denied: the credentials are missing or wrong; unavailable
Result<Findings> check_account(const Work& work, const config::InstallConfig& config, const plan::Plan& plan);

}  // namespace slipway::provider::aws
