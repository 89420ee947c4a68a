// Kubeconfigs of the user and of the bootstrap machine, as in openshift/installer pkg/asset/kubeconfig.
#pragma once

#include "assets/assets.h"

#include <string_view>

namespace slipway::assets {

// The user's is for https://api.CD:6443. On platform local that name means nothing to the host: there it is for port 6443 of the
// cluster's loopback address, with the name that the server has to prove.
//
// errors: none today
Result<Kubeconfigs> make_kubeconfigs(const config::InstallConfig& config, const ClusterId& id, const Tls& tls);

}  // namespace slipway::assets
