// ConfigMap cloud-provider-config: the configuration of a platform's cloud controller manager. Only for platforms aws and
// vsphere: that of openstack needs the region and the authority in the user's clouds.yaml, which is no input of the assets.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

inline constexpr std::string_view cloud_provider_config_name = "cloud-provider-config";
inline constexpr std::string_view cloud_provider_config_key = "config";

bool has_cloud_provider_config(const config::InstallConfig& config);

// Call only if has_cloud_provider_config().
Json cloud_provider_config(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
