// How a program of the release reaches the API server: by a kubeconfig, or as its pod's service account.
#pragma once

#include "kube/kubeconfig.h"
#include "sys/files.h"

#include <string>

namespace slipway::components {

// kubeconfig: its path; empty in a pod, which has its token and the CA below /var/run/secrets and the server in
//             KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT
// errors      as kube::parse_kubeconfig, sys::Files; invalid: neither is there
Result<kube::Access> kube_access(sys::Files& files, const std::string& kubeconfig);

}  // namespace slipway::components
