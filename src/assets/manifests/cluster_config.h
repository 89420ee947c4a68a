// ConfigMap cluster-config-v1: what the cluster was installed from, for everybody in it to read (installer 5.1).
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

Json cluster_config(const config::InstallConfig& config);

// The install-config as everybody in the cluster may read it: without pull secret, logins of machines and of vCenters, proxies'
// passwords; in the shape that readers of other installers' clusters know (installer 12.2).
Json public_config(const config::InstallConfig& config);

}  // namespace slipway::assets
