// Workloads: the Deployments and DaemonSets that an operator keeps, and what their status says to people. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/view.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

struct Workload {
  kube::ResourceType type;  // kube::types::deployments or daemon_sets
  std::string space;
  std::string name;
};

// "DaemonSet openshift-dns/dns-default": as messages call it.
std::string to_text(const Workload& workload);

// Why the workload's newest spec does not run everywhere, as a part of a sentence: "2 of 3 pods are updated". Nothing when it
// does.
std::optional<std::string> not_rolled_out(const Json& workload);

// Why it cannot do its work: no pod of it is available. A DaemonSet without any node to run on can.
std::optional<std::string> not_available(const Json& workload);

// Three conditions over all of them: PREFIXAvailable, PREFIXProgressing, PREFIXDegraded; the last is true when a Deployment says
// that its progress deadline has passed. A workload that the snapshot does not have is neither available nor rolled out.
std::vector<Condition> workload_conditions(std::string_view prefix, const std::vector<Workload>& workloads, const Snapshot& seen);

}  // namespace slipway::components
