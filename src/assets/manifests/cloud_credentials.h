// The Secret with the credentials of the platform for the cluster's operators, and the Role that may read it. Only for platform
// vsphere; slipway has no providers for other clouds yet.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles cloud_credentials(const config::InstallConfig& config);

}  // namespace slipway::assets
