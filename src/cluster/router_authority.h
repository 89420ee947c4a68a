// What people need to trust the applications of a complete cluster.
#pragma once

#include "kube/client.h"
#include "sys/files.h"

#include <string>

namespace slipway::cluster {

// Adds the authorities of the cluster's routers (ConfigMap openshift-config-managed/default-ingress-cert) to those that a
// kubeconfig trusts. Does nothing when they are there; the file is replaced as one step, and 0600.
//
//   errors  not_found: the cluster has no such ConfigMap; invalid: what it has, or the kubeconfig, is not what it should be;
//           those of the API and of Files
//   time    one answer; one that does not come is tried for five times
Result<> trust_routers(const sys::Context& context, sys::Files& files, kube::Api& api, const std::string& kubeconfig);

}  // namespace slipway::cluster
