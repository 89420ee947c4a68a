// What a cluster tells while it comes up, as events of ours: Kubernetes Events about objects of operators, and the moments in
// which nodes are Ready and operators Available.
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

// An Event (core/v1) as one of ours: kind "operator", its name "KIND REASON" with the kind of the object that it is
// about, its message the description, its id that of this version of the Event. Pure.
sys::Event operator_event(const Json& event, WallTime time);

// The moment at which a condition of an object became True, as one of ours: kind and name are the object's ("node", "worker-0"),
// `words` its description, its id that of this moment. Nothing when it is not True. Pure.
std::optional<sys::Event> condition_event(const Json& object, std::string_view condition, std::string_view kind,
                                          std::string words, WallTime time);

// The moment from which on a ClusterOperator is Available and has no work left, "cluster-operator" too. Nothing while it has.
// Pure.
std::optional<sys::Event> settled_event(const Json& cluster_operator, WallTime time);

// Threads: any.
class ClusterEvents {
 public:
  // earlier: what other runs have told about this cluster
  explicit ClusterEvents(const std::vector<sys::Event>& earlier);

  // Hands on what operators say about their objects (operator.openshift.io/v1) until a stop, and what they said while nobody
  // listened, with the time of that. Nothing is told twice. The API may not be there yet, and may move meanwhile.
  // errors: cancelled; denied
  Result<> follow(const sys::Context& context, kube::Api& api);

  // The same of nodes that become Ready, "node", and of ClusterOperators that become Available and that are done,
  // "cluster-operator".
  Result<> follow_nodes(const sys::Context& context, kube::Api& api);
  Result<> follow_operators(const sys::Context& context, kube::Api& api);

 private:
  bool is_news(const std::string& id);
  void see(const sys::Context& context, WallTime start, const kube::Objects& events);
  void see_condition(const sys::Context& context, WallTime start, const kube::Objects& objects, std::string_view condition,
                     std::string_view kind);
  void see_moment(const sys::Context& context, WallTime start, std::optional<sys::Event> event);

  Guarded<std::set<std::string>> told_;  // ids
};

}  // namespace slipway::cluster
