// Events of a cluster that comes up, converted to sys::Event: Kubernetes Events about objects of operators, and the times at
// which nodes become Ready and operators Available.
#pragma once

#include "base/guarded.h"
#include "kube/client.h"
#include "sys/events.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

// Converts an Event (core/v1): kind "operator", name "KIND REASON" with the kind of the involved object. The description is the
// Event's message; the id contains its resourceVersion. Pure.
sys::Event operator_event(const Json& event, WallTime time);

// The transition of a condition to True. Kind and name are those of the object ("node", "worker-0"), `words` is the description,
// and the id contains the time of the transition. No event while the condition is not True. Pure.
std::optional<sys::Event> condition_event(const Json& object, std::string_view condition, std::string_view kind,
                                          std::string words, WallTime time);

// The time at which a ClusterOperator became Available and stopped Progressing, as an event of kind "cluster-operator". No event
// while it is Progressing or Degraded. Pure.
std::optional<sys::Event> settled_event(const Json& cluster_operator, WallTime time);

// Threads: any.
class ClusterEvents {
 public:
  // earlier: events of earlier runs for this cluster
  explicit ClusterEvents(const std::vector<sys::Event>& earlier);

  // Relays Events about operator objects (operator.openshift.io/v1) until a stop. An Event from before the call is relayed with
  // its own time. No Event is relayed twice. The API may be unreachable at first and may move to other machines.
  //
  //   errors  cancelled; denied
  Result<> follow(const sys::Context& context, kube::Api& api);

  // The same for nodes that become Ready ("node"), and for ClusterOperators that become Available or settle ("cluster-operator").
  Result<> follow_nodes(const sys::Context& context, kube::Api& api);
  Result<> follow_operators(const sys::Context& context, kube::Api& api);

 private:
  bool is_new(const std::string& id);
  void relay_events(const sys::Context& context, WallTime start, const kube::Objects& events);
  void relay_conditions(const sys::Context& context, WallTime start, const kube::Objects& objects, std::string_view condition,
                        std::string_view kind);
  void relay_if_new(const sys::Context& context, WallTime start, std::optional<sys::Event> event);

  Guarded<std::set<std::string>> relayed_ids_;  // of relayed events
};

}  // namespace slipway::cluster
