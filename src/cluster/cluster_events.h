// What the operators of a cluster tell while it comes up: Kubernetes Events about their objects, as events of ours.
#pragma once

#include "base/guarded.h"
#include "kube/client.h"
#include "sys/events.h"

#include <map>
#include <optional>
#include <string>

namespace slipway::cluster {

// An Event (core/v1) as one of ours: kind "operator", its name "KIND REASON" with the kind of the object that it is
// about, its message the description. Pure.
sys::Event operator_event(const Json& event, WallTime now);

// Threads: any.
class ClusterEvents {
 public:
  // Hands on what operators say about their objects (operator.openshift.io/v1) until a stop; what was said before the first look
  // is old. The API may not be there yet, and may move meanwhile. errors: cancelled; denied
  Result<> follow(const sys::Context& context, kube::Api& api);

 private:
  void see(const sys::Context& context, WallTime since, const kube::Objects& events);

  Guarded<std::map<std::string, std::string>> told_;  // version of each Event that was handed on
};

}  // namespace slipway::cluster
