// bootstrap-in-place-for-live-iso.ign: a live system that bootstraps a cluster of one node and installs itself as that node.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// The config of a bootstrap machine, with what ends in an installation of the machine laid over it.
//
//   errors  invalid, with every problem by its field: a control plane of other than one machine, workers, no disk to install to
Result<SingleNodeConfig> make_single_node_config(const config::InstallConfig& config, const Environment& environment,
                                                 const BootstrapConfig& bootstrap);

}  // namespace slipway::assets
