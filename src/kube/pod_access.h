// Access to the API server for a program in a pod, as the pod's service account.
#pragma once

#include "kube/kubeconfig.h"
#include "sys/files.h"

namespace slipway::kube {

// Reads token and CA from /var/run/secrets, and the server from KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
//
//   errors  invalid: the variables are not set, so this is not a pod; those of sys::Files
Result<Access> pod_access(sys::Files& files);

}  // namespace slipway::kube
