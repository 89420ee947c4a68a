// Kubeconfigs of the user and of the bootstrap machine, as in openshift/installer pkg/asset/kubeconfig.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

// The user's kubeconfig has server https://api.CLUSTER_DOMAIN:6443. On platform local the host cannot resolve that name, so the
// server is port 6443 of the cluster's loopback address, and tls-server-name is the API's name.
//
// errors: none today
Result<Kubeconfigs> make_kubeconfigs(const config::InstallConfig& config, const ClusterId& id, const Tls& tls);

}  // namespace slipway::assets
