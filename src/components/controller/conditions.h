// Conditions of an operator, and the ClusterOperator that summarizes them. Pure.
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

// Returns the object with these conditions in status.conditions; others stay. lastTransitionTime changes only with the status.
Json with_conditions(Json object, const std::vector<Condition>& conditions, WallTime now);

// Whether spec.managementState lets the operator manage its operand: empty, Managed or Force.
bool is_managed(const Json& settings);

struct ClusterOperatorFacts {
  std::string name;                                           // "etcd"
  std::vector<std::pair<std::string, std::string>> versions;  // "operator", "4.1.0"
  std::vector<Json> related;                                  // {group, resource, namespace, name}
  std::optional<Json> extension{};                            // status.extension; empty: it stays
  // Settings without effect, one line per object (unused_settings.h). They set condition SettingsIgnored, and a Warning is sent
  // when the condition becomes True or its message changes. Empty optional: the condition stays.
  std::optional<std::vector<std::string>> ignored{};
};

// Plans the status of the ClusterOperator. Degraded, Progressing, Available and Upgradeable each summarize the conditions of the
// operator's object whose type has that suffix. Each bad condition adds its reason as "TYPE_REASON" and its message. Without such
// a condition the status is Unknown; Upgradeable is left out. A Degraded condition counts after two minutes, because it may be
// temporary; `replan_at` is set to that time. The plan is empty if the ClusterOperator does not exist: the cluster-version
// operator creates it.
Plan plan_cluster_operator(const Snapshot& seen, const ClusterOperatorFacts& facts, const Json& operator_object, WallTime now);

}  // namespace slipway::components
