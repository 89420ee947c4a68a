// cluster-api/: the Cluster API objects with which OpenShift's installer creates machines. Only for platform vsphere. These
// objects are not created in the cluster, so no Ignition config contains them.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

// The objects of the cluster, not those of machines (cluster-api/machines/): these need data from vCenter.
ClusterApiManifests make_cluster_api_manifests(const config::InstallConfig& config, const ClusterId& id);

}  // namespace slipway::assets
