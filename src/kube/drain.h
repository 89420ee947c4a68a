// Drains nodes: evicts the pods of a node before it stops, as `kubectl drain` does.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <string>
#include <vector>

namespace slipway::kube {

// The pods of a node that must be evicted: all except those of DaemonSets, static pods, and pods that have ended. Pure.
std::vector<Json> pods_to_evict(const Objects& pods);

// Cordons or uncordons a node. errors: not_found
Result<> set_schedulable(const sys::Context& context, Api& api, const std::string& node, bool schedulable);

// Evicts the pods of a node and waits until they are deleted. Retries an eviction that is refused because of a
// PodDisruptionBudget.
//
//   errors  timeout, naming the remaining pods and the reasons; those of Api
Result<> drain(const sys::Context& context, Api& api, const std::string& node, Milliseconds limit);

}  // namespace slipway::kube
