// Checks before an installation that cloud credentials exist, in the places where the tools of the cloud look for them. The
// credentials are not read, and the user is not asked for them.
#pragma once

#include "cli/command.h"
#include "config/install_config.h"

#include <functional>
#include <string>

namespace slipway::cli {

// Environment variables: the value, or empty.
using Variables = std::function<std::string(const std::string& name)>;

// Checks platforms aws, gcp and openstack; other platforms have their credentials in the install-config.
//
//   errors  denied: no credentials; the message names every variable and file that was tried. The program then exits with status
//           1 on aws and 3 on gcp and openstack, as openshift-install does
Result<> check_cloud_credentials(const Environment& environment, const config::InstallConfig& config, const Variables& variables);

}  // namespace slipway::cli
