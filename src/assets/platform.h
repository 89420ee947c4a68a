// Properties of platforms and install-configs that several manifests need.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

// The platform type in cluster objects. "None" for platforms `none` and `local`: OpenShift's API has no type for `local`.
// errors: invalid: the platform is not supported
Result<std::string_view> platform_type(const config::InstallConfig& config);

// "HighlyAvailable" or "SingleReplica". The control plane is SingleReplica with fewer than three masters. The infrastructure is
// SingleReplica with one worker, or with no worker and a SingleReplica control plane.
std::string_view control_plane_topology(const config::InstallConfig& config);
std::string_view infrastructure_topology(const config::InstallConfig& config);

// Destinations that the cluster reaches without its proxy: sorted, separated by commas. The network operator computes the same
// list.
std::string no_proxy(const config::InstallConfig& config);

// Whether capability MachineAPI is enabled. Every baseline capability set except None contains it.
bool has_machine_api(const config::InstallConfig& config);

// Whether a preview feature gate is enabled: by feature set TechPreviewNoUpgrade or DevPreviewNoUpgrade, or by its name.
bool has_preview_gate(const config::InstallConfig& config, std::string_view gate);

// The pull secret as a JSON document. Without a pull secret it is an empty list of logins, which registry clients accept.
std::string pull_secret_text(const config::InstallConfig& config);

}  // namespace slipway::assets
