// cluster-api/: what the installer's own machine controllers get on platforms that have such (installer 5.5); of these only
// vsphere is made yet. They never reach the cluster, and so are in no Ignition config.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// The objects of the cluster. Those of its machines (cluster-api/machines/) name what only vCenter knows.
ClusterApiManifests make_cluster_api_manifests(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
