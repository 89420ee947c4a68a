// Conditions of an operator, and the ClusterOperator that sums them up. Pure.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "components/controller/reconcile.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components {

struct Condition {
  std::string type;  // "StaticPodsDegraded"
  bool is_true = false;
  std::string reason = "AsExpected";
  std::string message{};

  bool operator==(const Condition&) const = default;
};

// The object with these in status.conditions; others stay. A lastTransitionTime changes with the status only.
Json with_conditions(Json object, const std::vector<Condition>& conditions, WallTime now);

// Whether an operator with this spec.managementState looks after its operand: empty, Managed and Force.
bool is_managed(const Json& settings);

struct ClusterOperatorFacts {
  std::string name;                                           // "etcd"
  std::vector<std::pair<std::string, std::string>> versions;  // "operator", "4.1.0"
  std::vector<Json> related;                                  // {group, resource, namespace, name}
  std::optional<Json> extension{};                            // status.extension, which stays without
  // Settings without effect, a line an object (unused_settings.h): condition SettingsIgnored, and a Warning when it becomes true
  // or its message changes. Nothing: that condition stays.
  std::optional<std::vector<std::string>> ignored{};
};

// The status of the ClusterOperator: Degraded, Progressing, Available and Upgradeable, each the union of the conditions of the
// operator's object whose type ends so: a bad one gives its reason "TYPE_REASON" and its message, several are joined; without any
// it is Unknown (Upgradeable: left out). What is Degraded for less than two minutes is not yet told, for these may pass; `again`
// says when it is. Nothing when there is no such ClusterOperator: the cluster-version operator makes it.
Plan plan_cluster_operator(const Snapshot& seen, const ClusterOperatorFacts& facts, const Json& operator_object, WallTime now);

}  // namespace slipway::components
