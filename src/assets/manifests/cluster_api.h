// cluster-api/: the objects of Cluster API with which OpenShift's installer creates machines. Only those of vsphere are made yet.
// They never reach the cluster, so they are in no Ignition config.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// The objects of the cluster. Those of its machines (cluster-api/machines/) name what only vCenter knows.
ClusterApiManifests make_cluster_api_manifests(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
