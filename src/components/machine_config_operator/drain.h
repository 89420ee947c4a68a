// Drains nodes before their configs change. The daemons on the nodes request it with annotations.
#pragma once

#include "components/controller/reconcile.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

enum class DrainStep {
  nothing,
  drain,        // cordon the node and evict its pods
  uncordon,     // uncordon the node
  acknowledge,  // report the drain as done without evicting pods: a single master has no other node for them
};
DrainStep drain_step(const Json& node, bool is_single_master);

// Pods of a node that a drain removes. Pods of DaemonSets, static pods and pods that have ended stay.
struct PodsToMove {
  std::vector<const Json*> evict{};
  std::vector<const Json*> ending{};  // already terminating
};

// own_pod: name of the pod that this program runs in; it is evicted last
PodsToMove pods_to_move(const std::vector<Json>& pods, std::string_view own_pod);

// Names of the PodDisruptionBudgets that do not allow an eviction of the pod now.
std::vector<std::string> blocking_budgets(const Json& pod, const std::vector<Json>& budgets);

struct DrainOptions {
  std::string own_pod{};
  bool is_single_master = false;
};

// Tasks for all nodes whose daemons request a step. While pods of a node remain, the view has an object node_drains, which names
// the pods and the budgets that hold them. The drain is retried every second, after a minute every ten seconds. An eviction that
// a
// budget refuses is not an error.
//
//   api, view  must outlive the plan
Plan plan_drains(kube::Api& api, View& view, const DrainOptions& options, const Snapshot& seen, WallTime now);

// One step of a drain: cordons the node, evicts the pods that may be evicted, and reports the drain in the node's annotation once
// no pods remain.
//
//   errors  conflict: the node has changed; denied; unavailable; errors of evictions other than a budget's refusal
Result<> drain_node(const sys::Context& context, kube::Api& api, View& view, const Json& node, std::string_view own_pod);

}  // namespace slipway::components::machine_config_operator
