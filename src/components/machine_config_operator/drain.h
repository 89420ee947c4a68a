// Drains nodes before they change. The daemons on the nodes ask for it in annotations.
#pragma once

#include "components/controller/reconcile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

enum class DrainStep {
  nothing,
  empty,        // cordon it and evict its pods
  release,      // uncordon it
  acknowledge,  // say that it is done though nothing is: the only master there is has nowhere to send its pods
};
DrainStep drain_step(const Json& node, bool is_single_master);

// Pods of a node that have to leave it. Those of DaemonSets and static pods stay, and so do those that have ended.
struct PodsToMove {
  std::vector<const Json*> evict{};
  std::vector<const Json*> ending{};  // told to end already
};

// own_pod: name of the pod that this program runs in, which is evicted when it is the last one
PodsToMove pods_to_leave(const std::vector<Json>& pods, std::string_view own_pod);

// The PodDisruptionBudgets, by name, that do not let the pod go now.
std::vector<std::string> held_by(const Json& pod, const std::vector<Json>& budgets);

struct DrainOptions {
  std::string own_pod{};
  bool is_single_master = false;
};

// Tasks for all nodes that ask for something. A node whose pods do not leave at once is a fact in the view (node_drains), which
// says which pod and what holds it, and is looked at again every second, less often when it lasts. Evictions that a budget
// refuses are no failure.
//
//   api, view  outlive the plan
Plan plan_drains(kube::Api& api, View& view, const DrainOptions& options, const Snapshot& seen, WallTime now);

// One look at a node: evicts what may go, says in the annotation that it is empty once it is.
//   errors  conflict: the node has changed; denied; unavailable; those of evictions that no budget refused
Result<> drain_node(const sys::Context& context, kube::Api& api, View& view, const Json& node, std::string_view own_pod);

}  // namespace slipway::components::machine_config_operator
