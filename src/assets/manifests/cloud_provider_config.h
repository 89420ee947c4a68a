// ConfigMap cloud-provider-config: the configuration of a platform's cloud controller manager. Of these platforms only vsphere
// has one; those of aws, gcp and openstack come with their providers.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

inline constexpr std::string_view cloud_provider_config_name = "cloud-provider-config";
inline constexpr std::string_view cloud_provider_config_key = "config";

bool has_cloud_provider_config(const config::InstallConfig& config);

// Only for platforms that have one.
Json cloud_provider_config(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
