// The facts of the cluster that NetworkPolicies are compiled from, kept up to date by watches.
#pragma once

#include "base/guarded.h"
#include "components/network/policy/compile.h"
#include "kube/client.h"
#include "sys/clock.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace slipway::components::network {

// Threads: any.
class FactStore {
 public:
  // Watches the policies, pods and namespaces of the cluster until a stop; returns the error that ended it. Blocks; uses a thread
  // a watch. After an error it may be called again: what is known stays.
  Result<> follow(const sys::Context& context, kube::Api& api);

  // Whether each watch has delivered its first list. Before that, facts may be missing.
  bool is_complete() const;

  ClusterFacts facts() const;

  // Notified when a fact has changed. Changes of objects that change no fact, as most of a pod's status, do not count.
  sys::Wakeup& changed() { return changed_; }

 private:
  template <class Fact>
  struct Table {
    std::map<std::string, std::shared_ptr<const Fact>> facts;  // by "namespace/name"
    std::set<std::string> listed;                              // since the list began
    bool is_listing = false;
    bool is_complete = false;
  };
  struct State {
    Table<Policy> policies;
    Table<Pod> pods;
    Table<Namespace> namespaces;
  };

  template <class Fact>
  Result<> take(kube::Change change, Table<Fact> State::*table, Fact (*read)(const Json&));

  Guarded<State> state_;
  sys::Wakeup changed_;
};

}  // namespace slipway::components::network
