#include "components/program/kube_access.h"

#include "kube/pod_access.h"

namespace slipway::components {

Result<kube::Access> kube_access(sys::Files& files, const std::string& kubeconfig) {
  return kubeconfig.empty() ? kube::pod_access(files) : kube::read_kubeconfig(files, kubeconfig);
}

}  // namespace slipway::components
