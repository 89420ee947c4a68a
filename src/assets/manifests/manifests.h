// manifests/: the objects that describe the cluster to its operators.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// errors: invalid: a platform whose manifests nobody makes yet, a trust bundle that cannot be read
Result<CommonManifests> make_common_manifests(const config::InstallConfig& config, const Environment& environment,
                                              const ClusterId& id, const RootTls& root, const ServerToken& token);

}  // namespace slipway::assets
