// How a program in a pod reaches the API server: as its pod's service account.
#pragma once

#include "kube/kubeconfig.h"
#include "sys/files.h"

namespace slipway::kube {

// The token and the CA below /var/run/secrets, the server in KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
//
//   errors  invalid: these variables are not set: this is no pod; as sys::Files
Result<Access> pod_access(sys::Files& files);

}  // namespace slipway::kube
