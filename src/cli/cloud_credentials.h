// Whether somebody may act on a cloud: looked for where the cloud's own tools look, before anything is made for it. Nobody is
// asked for them, and nothing is read out of them.
#pragma once

#include "cli/command.h"
#include "config/install_config.h"

#include <functional>
#include <string>

namespace slipway::cli {

// The variables of the environment: the value, empty when there is none.
using Variables = std::function<std::string(const std::string& name)>;

// Of platforms aws, gcp and openstack; the others are content with what their install-config says.
//
//   errors  denied: there are none; names every variable and file that was tried. The program then ends with status
//           1 on aws and 3 on gcp and openstack, as openshift-install does
Result<> check_cloud_credentials(const Environment& environment, const config::InstallConfig& config, const Variables& variables);

}  // namespace slipway::cli
