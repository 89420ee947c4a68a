// The credentials that operators of the cluster get from the install-config, and the Role that may read them. Of these platforms
// only vsphere has any; the credentials of clouds come with their providers.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles cloud_credentials(const config::InstallConfig& config);

}  // namespace slipway::assets
