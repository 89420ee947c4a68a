// Compiles NetworkPolicies to the rules of one node. Pure.
#pragma once

#include "components/network/policy/facts.h"
#include "components/network/policy/policy.h"
#include "components/network/policy/ruleset.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace slipway::components::network {

struct ClusterFacts {
  std::vector<std::shared_ptr<const Policy>> policies;
  std::vector<std::shared_ptr<const Pod>> pods;  // of all nodes
  std::map<std::string, Labels> namespaces;
};

// The rules that isolate the pods of `node`. They depend on the facts only, not on their order.
//
//   A pod that is being deleted keeps its rules until its object is gone or its containers have ended. If two pods claim an
//   address, the newer one that is not being deleted owns it. Pods in the network of the host are neither isolated nor peers.
//   A pod of the node without an address is "starting": until its address is known, addresses that no known pod has must pass
//   the chains of all starting pods.
//
//   time  0.2 s for 1,000 policies, 10,000 pods with different labels and 250 pods on the node
Ruleset compile(const ClusterFacts& facts, const std::string& node);

}  // namespace slipway::components::network
