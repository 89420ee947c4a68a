// The conditions of a complete cluster, in the order in which they become true.
#pragma once

#include "base/log.h"
#include "cluster/steps.h"
#include "config/install_config.h"
#include "kube/client.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// Returns what else is known about a delay, for example a failed stage of the bootstrap. May return an empty text.
using DelayReason = std::function<std::string()>;

// A condition to wait for.
struct Condition {
  Step step;
  std::function<Result<>(const sys::Context&, kube::Api&, const DelayReason&, Milliseconds limit)> wait;
};

// Conditions for the end of the bootstrap: the API answers, the control plane nodes are Ready, the control plane runs on its own
// machines, and the etcd member of the bootstrap machine is removed.
std::vector<Condition> bootstrap_conditions(const config::InstallConfig& config);

// Conditions for a complete cluster, after those of the bootstrap: workers, operators, ClusterVersion.
std::vector<Condition> install_conditions(const config::InstallConfig& config);

// Waits for each condition in order. Each wait is a step.
Result<> wait_for_all(const sys::Context& context, kube::Api& api, const std::vector<Condition>& conditions,
                      const DelayReason& delay_reason, Steps& steps);

// Which expected nodes are missing, not Ready, or without the label of their role ("master" or "worker"). The approver sets the
// label shortly after the node registers. Nothing when all nodes are complete. Pure.
std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected,
                                         std::string_view role);

// Why fewer than the expected number of control plane nodes are Ready; nothing when enough are. For platforms on which slipway
// does not choose the names of the machines. Pure.
std::optional<std::string> too_few_control_plane_nodes(const std::vector<Json>& nodes, int expected);

// Which ClusterOperators are not Available, Degraded or Progressing, with their messages; nothing when all have settled. Pure.
std::optional<std::string> unsettled_operators(const std::vector<Json>& operators);

// Whether all ClusterOperators are Available and none is Degraded: some may still be Progressing. Pure.
bool all_are_healthy(const std::vector<Json>& operators);

// Conditions of ClusterOperators that differ from those of a healthy operator, one line each. Not Available and Degraded are
// errors; all others are information, as in openshift-install. Pure.
struct OperatorLine {
  Level level;
  std::string text;

  bool operator==(const OperatorLine&) const = default;
};
std::vector<OperatorLine> operator_lines(const std::vector<Json>& operators);

// The settings without effect that ClusterOperators report, one line each. Pure.
std::vector<std::string> ignored_settings(const std::vector<Json>& operators);

// Why a ClusterVersion is not Available: its message about what it waits for or what fails. Pure.
std::optional<std::string> not_available(const Json& cluster_version);

}  // namespace slipway::cluster
