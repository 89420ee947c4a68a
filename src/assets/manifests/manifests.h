// manifests/: the objects that describe the cluster to its operators.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid: the platform is not supported, the trust bundle is broken
Result<CommonManifests> make_common_manifests(const config::InstallConfig& config, const Environment& environment,
                                              const ClusterId& id, const RootTls& root, const ServerToken& token);

}  // namespace slipway::assets
