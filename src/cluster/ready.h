// What has to be true before a cluster is what its user asked for, in the order in which it becomes true.
#pragma once

#include "base/log.h"
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
  std::string name;         // in events and messages: "kubernetes-api"
  std::string description;  // "the temporary control plane answers"
  Milliseconds limit;
  std::function<Result<>(const sys::Context&, kube::Api&, const WhyNot&, Milliseconds limit)> wait;
};

// Until the control plane runs on its own machines and the bootstrap machine may go (seed 001, steps 2 to 7): the API, the nodes,
// the hand-over, the end of the bootstrap's etcd member.
std::vector<Condition> bootstrap_conditions(const config::InstallConfig& config);

// From there to a cluster that people can use (seed 001, steps 8 to 10): its workers, its operators, ClusterVersion.
std::vector<Condition> install_conditions(const config::InstallConfig& config);

// Waits for each of them; each is an event of kind "step" that says how long it is waited for.
Result<> wait_for_all(const sys::Context& context, kube::Api& api, const std::vector<Condition>& conditions,
                      const WhyNot& why_not);

// Which of the expected nodes are missing, not Ready or without the label of their role ("master" or "worker"; the approver
// gives it a moment after they registered), as a sentence; nothing when all are there. Pure.
std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected,
                                         std::string_view role);

// Which ClusterOperators are not Available, are Degraded or Progressing, and their own words why; nothing when all have settled.
// Pure.
std::optional<std::string> unsettled_operators(const std::vector<Json>& operators);

// Whether all of them are Available and none is Degraded: what is left is work. Pure.
bool only_work_is_left(const std::vector<Json>& operators);

// What ClusterOperators say of themselves where it is not as it should be, a line each: an error that they are not Available or
// that they are Degraded, information everything else (installer 8.4). Pure.
struct OperatorLine {
  Level level;
  std::string text;

  bool operator==(const OperatorLine&) const = default;
};
std::vector<OperatorLine> operator_lines(const std::vector<Json>& operators);

// What keeps a ClusterVersion from being Available: its own words about what it waits for or what fails. Pure.
std::optional<std::string> not_available(const Json& cluster_version);

}  // namespace slipway::cluster
