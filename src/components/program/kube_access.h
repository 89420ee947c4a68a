// How a program of the release accesses the API server: with a kubeconfig, or with the service account of its pod.
#pragma once

#include "kube/kubeconfig.h"
#include "sys/files.h"

#include <string>

namespace slipway::components {

// kubeconfig  path; empty in a pod, which has its token and the CA below /var/run/secrets and the server's address in
//             KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT
// errors      as kube::parse_kubeconfig, sys::Files; invalid: neither exists
Result<kube::Access> kube_access(sys::Files& files, const std::string& kubeconfig);

}  // namespace slipway::components
