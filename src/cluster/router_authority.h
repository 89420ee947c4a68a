// The CA of the routers in a kubeconfig.
#pragma once

#include "kube/client.h"
#include "sys/files.h"

#include <string>

namespace slipway::cluster {

// Adds the CA certificates of the routers of the cluster (ConfigMap openshift-config-managed/default-ingress-cert) to the
// certificate authorities of a kubeconfig. Does nothing when they are present. The file is replaced atomically, with mode 0600.
//
//   errors  not_found: the ConfigMap does not exist; invalid: the ConfigMap or the kubeconfig is invalid; those of the API and of
//           Files
//   time    one request; it is sent at most five times
Result<> trust_routers(const sys::Context& context, sys::Files& files, kube::Api& api, const std::string& kubeconfig);

}  // namespace slipway::cluster
