// What has to be true before a cluster is what its user asked for, in the order in which it becomes true.
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

// Adds what else is known about a delay, a failed stage of the bootstrap for instance; may be empty.
using WhyNot = std::function<std::string()>;

// One thing to wait for.
struct Condition {
  Step step;
  std::function<Result<>(const sys::Context&, kube::Api&, const WhyNot&, Milliseconds limit)> wait;
};

// Conditions for the end of the bootstrap: the API answers, the nodes are there, the control plane runs on its own machines, and
// the etcd member of the bootstrap machine is removed.
std::vector<Condition> bootstrap_conditions(const config::InstallConfig& config);

// Conditions for a complete cluster, after those: its workers, its operators, ClusterVersion.
std::vector<Condition> install_conditions(const config::InstallConfig& config);

// Waits for each of them, as its step.
Result<> wait_for_all(const sys::Context& context, kube::Api& api, const std::vector<Condition>& conditions,
                      const WhyNot& why_not, Steps& steps);

// Which of the expected nodes are missing, not Ready or without the label of their role ("master" or "worker"; the approver
// gives it a moment after they registered), as a sentence; nothing when all are there. Pure.
std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected,
                                         std::string_view role);

// Why fewer than the expected number of nodes with the role master are Ready, as a sentence; nothing when enough are. For
// platforms whose machines have names that slipway does not choose. Pure.
std::optional<std::string> too_few_control_plane_nodes(const std::vector<Json>& nodes, int expected);

// Which ClusterOperators are not Available, are Degraded or Progressing, and their own words why; nothing when all have settled.
// Pure.
std::optional<std::string> unsettled_operators(const std::vector<Json>& operators);

// Whether all of them are Available and none is Degraded: what is left is work. Pure.
bool only_work_is_left(const std::vector<Json>& operators);

// Conditions of ClusterOperators that are not as they should be, a line each. Not Available and Degraded are errors, all others
// information, as in openshift-install. Pure.
struct OperatorLine {
  Level level;
  std::string text;

  bool operator==(const OperatorLine&) const = default;
};
std::vector<OperatorLine> operator_lines(const std::vector<Json>& operators);

// What ClusterOperators say of settings that have no effect, a line each. Pure.
std::vector<std::string> ignored_settings(const std::vector<Json>& operators);

// What keeps a ClusterVersion from being Available: its own words about what it waits for or what fails. Pure.
std::optional<std::string> not_available(const Json& cluster_version);

}  // namespace slipway::cluster
