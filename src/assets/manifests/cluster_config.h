// ConfigMap kube-system/cluster-config-v1: the install-config of the cluster, for programs in the cluster.
#pragma once

#include "assets/assets.h"

namespace slipway::assets {

Json cluster_config(const config::InstallConfig& config, const Environment& environment);

// The install-config without its secrets: pull secret, credentials of machines and vCenters, passwords of proxies. Missing fields
// have the same zero values as in the ConfigMap that openshift-install writes.
Json public_config(const config::InstallConfig& config);

}  // namespace slipway::assets
