// Workloads: the Deployments and DaemonSets of an operator, and what their status reports. Pure.
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

// "DaemonSet openshift-dns/dns-default": the name in messages.
std::string to_text(const Workload& workload);

// Why the newest spec of the workload does not run everywhere, as a part of a sentence: "2 of 3 pods are updated". Empty if it
// does.
std::optional<std::string> not_rolled_out(const Json& workload);

// Why the workload cannot do its work: none of its pods is available. A DaemonSet without any node to run on is available.
std::optional<std::string> not_available(const Json& workload);

// Three conditions that summarize the workloads: PREFIXAvailable, PREFIXProgressing and PREFIXDegraded. PREFIXDegraded is true if
// a Deployment reports that its progress deadline has passed. A workload that is not in the snapshot is neither available nor
// rolled out.
std::vector<Condition> workload_conditions(std::string_view prefix, const std::vector<Workload>& workloads, const Snapshot& seen);

}  // namespace slipway::components
