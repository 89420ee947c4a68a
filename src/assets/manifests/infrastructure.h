// Infrastructure `cluster`: platform, API URLs and topology of the cluster, as openshift/installer
// pkg/asset/manifests/infrastructure.go writes them.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid: the platform is not supported
Result<Json> infrastructure(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
