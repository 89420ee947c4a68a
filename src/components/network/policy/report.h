// What the cluster learns about NetworkPolicies that cannot be enforced as they are written. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/reconcile.h"
#include "components/controller/view.h"

#include <vector>

namespace slipway::components::network {

struct PolicyReport {
  Condition condition;          // NetworkPoliciesEnforced, with the first policies of which a part is not enforced
  std::vector<Notice> notices;  // about each such policy
};

// Reads NetworkPolicies and the pods in the network of their host.
PolicyReport report_policies(const Snapshot& seen);

}  // namespace slipway::components::network
