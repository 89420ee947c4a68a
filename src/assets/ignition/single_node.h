// bootstrap-in-place-for-live-iso.ign: a live system that bootstraps a cluster of one node and installs itself as that node.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// The bootstrap config, with additional files that install the machine to its disk.
//
//   errors  invalid, with all findings by field: control plane replicas other than 1, a missing or invalid installation disk
Result<SingleNodeConfig> make_single_node_config(const config::InstallConfig& config, const Environment& environment,
                                                 const BootstrapConfig& bootstrap);

}  // namespace slipway::assets
