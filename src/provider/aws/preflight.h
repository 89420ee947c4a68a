// Checks before anything is created: zones, subnets, images, quotas, permissions, names.
#pragma once

#include "base/findings.h"
#include "provider/aws/work.h"
#include "provider/plan/preview.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::aws {

// Reads the zones of the region and the user's subnets.
// errors: invalid: subnets in different networks, a subnet does not exist
Result<Region> read_region(const Work& work, const config::InstallConfig& config);

// What a plan takes from quotas of the account.
struct Needs {
  int vpcs = 0;
  int elastic_ips = 0;
  int vcpus = 0;  // of standard instance types
};
Needs needs_of(const plan::Plan& plan);

// Whether an instance type is of the families A, C, D, H, I, M, R, T or Z, which share a quota. Others have quotas of their own.
bool is_standard(std::string_view type);

// The virtual CPUs of an instance type, by its size: 4 for "m6i.xlarge".
int vcpus_of(std::string_view type);

struct AccountCheck {
  std::vector<plan::Quota> quotas{};
  std::vector<std::string> missing_permissions{};
  Findings problems{};  // also those of quotas and permissions
};

// Checks the account for a plan whose resources do not exist yet, with calls that change nothing.
//
//   errors  denied: the credentials are missing or wrong; unavailable
Result<AccountCheck> check_account(const Work& work, const config::InstallConfig& config, const plan::Plan& plan);

}  // namespace slipway::provider::aws
