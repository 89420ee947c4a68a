// cluster-network-operator start: manages flannel (pod network), kube-proxy (Services) and the agent that enforces
// NetworkPolicies.
#pragma once

#include "components/workload/workload_operator.h"

namespace slipway::components::network {

// From the operator's environment: FLANNEL_IMAGE, KUBE_PROXY_IMAGE, OPERATOR_IMAGE.
struct Images {
  std::string flannel;
  std::string kube_proxy;
  std::string policy_agent;
};

WorkloadOperator make_operator(const Images& images);

// The command `start`.
Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::network
