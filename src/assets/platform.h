// What the manifests have to know about platforms.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

// How cluster objects name a platform: "None" for `none` and for our own `local`, which OpenShift's API has no type for.
// errors: invalid: a platform whose manifests nobody makes yet
Result<std::string_view> platform_type(const config::InstallConfig& config);

// "HighlyAvailable" or "SingleReplica". The control plane has one replica when less than three masters are asked for; the
// infrastructure when there is one worker, or no worker and such a control plane.
std::string_view control_plane_topology(const config::InstallConfig& config);
std::string_view infrastructure_topology(const config::InstallConfig& config);

// Destinations that the cluster does not reach through its proxy, sorted. The network operator computes the same list.
std::string no_proxy(const config::InstallConfig& config);

// Whether the cluster will have Machines: it is a part of every set of capabilities but None.
bool has_machine_api(const config::InstallConfig& config);

// Whether a feature gate is on that only previews have: TechPreviewNoUpgrade, DevPreviewNoUpgrade, or by its name.
bool has_preview_gate(const config::InstallConfig& config, std::string_view gate);

// Logins for registries as a document that clients take also when there are none.
std::string pull_secret_text(const config::InstallConfig& config);

}  // namespace slipway::assets
