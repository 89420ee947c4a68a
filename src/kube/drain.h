// Draining: a node gives its pods away before it stops, as `kubectl drain` does it.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <string>
#include <vector>

namespace slipway::kube {

// Of the pods of a node those that have to leave it: all but those of DaemonSets, of the machine itself (static pods), and those
// that have ended. Pure.
std::vector<Json> pods_to_evict(const Objects& pods);

// Whether the scheduler may give new pods to a node. errors: not_found
Result<> set_schedulable(const sys::Context& context, Api& api, const std::string& node, bool schedulable);

// Evicts the pods of a node and waits until they have left. An eviction that is refused, because a PodDisruptionBudget allows
// none now, is asked for again until it is allowed.
//
//   errors  timeout, naming the pods that are still there and why; those of Api
Result<> drain(const sys::Context& context, Api& api, const std::string& node, Milliseconds limit);

}  // namespace slipway::kube
