// The credentials that the cluster's own operators get from the install-config, and who may read them (installer 5.2). Of the
// platforms here only vsphere has any; those of clouds come with their providers.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

AssetFiles cloud_credentials(const config::InstallConfig& config);

}  // namespace slipway::assets
