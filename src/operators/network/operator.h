// cluster-network-operator start: the network of the pods and the addresses of Services (operators 8.3, design 12.4).
#pragma once

#include "operators/lib/workload_operator.h"

namespace slipway::operators::network {

// Of the operator's environment: FLANNEL_IMAGE, KUBE_PROXY_IMAGE.
struct Images {
  std::string flannel;
  std::string kube_proxy;
};

WorkloadOperator make_operator(const Images& images);

// The command `start`.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::network
