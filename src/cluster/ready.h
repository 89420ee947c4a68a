// What has to be true before a cluster is what its user asked for, in the order in which it becomes true.
#pragma once

#include "config/install_config.h"
#include "kube/client.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::cluster {

// One thing to wait for.
struct Condition {
  std::string name;         // in events and messages: "kubernetes-api"
  std::string description;  // "the Kubernetes API answers"
  Milliseconds limit;
  // Waits until it is true. `why_not` adds what else is known about a delay, a failed stage of the bootstrap for instance.
  std::function<Result<>(const sys::Context&, kube::Api&, const std::function<std::string()>& why_not, Milliseconds limit)> wait;
};

// Of the time until the control plane's machines have joined the temporary control plane.
std::vector<Condition> join_conditions(const config::InstallConfig& config);

// Which of the expected nodes are missing or not Ready, as a sentence; nothing when all are there. Pure.
std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected);

}  // namespace slipway::cluster
