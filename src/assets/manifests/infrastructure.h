// Infrastructure `cluster`: what the cluster stands on (installer 5.1, 12.2).
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid: a platform whose manifests nobody makes yet
Result<Json> infrastructure(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
