// What the operators of a cluster tell while it comes up: Kubernetes Events about their objects, as events of ours.
#pragma once

#include "base/guarded.h"
#include "kube/client.h"
#include "sys/events.h"

#include <set>
#include <string>
#include <vector>

namespace slipway::cluster {

// An Event (core/v1) as one of ours: kind "operator", its name "KIND REASON" with the kind of the object that it is
// about, its message the description, its id that of this version of the Event. Pure.
sys::Event operator_event(const Json& event, WallTime time);

// Threads: any.
class ClusterEvents {
 public:
  // earlier: what other runs have told about this cluster
  explicit ClusterEvents(const std::vector<sys::Event>& earlier);

  // Hands on what operators say about their objects (operator.openshift.io/v1) until a stop, and what they said while nobody
  // listened, with the time of that. Nothing is told twice. The API may not be there yet, and may move meanwhile.
  // errors: cancelled; denied
  Result<> follow(const sys::Context& context, kube::Api& api);

 private:
  void see(const sys::Context& context, WallTime start, const kube::Objects& events);

  Guarded<std::set<std::string>> told_;  // ids
};

}  // namespace slipway::cluster
