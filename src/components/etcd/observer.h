// Observer: looks at etcd's members, which cannot be watched, makes the changes that are due, and puts what it knows into the
// view. It decides upon the list that it has just read, and upon a new one after each change.
//
//   MembershipObserver keeper(http);
//   const Milliseconds pause = keeper.look(context, trust, endpoints, [](const ObservedMembers& seen) { return input; });
#pragma once

#include "components/etcd/facts.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace slipway::components::etcd {

// One at a time by one thread.
class MembershipObserver {
 public:
  // `http` outlives it.
  explicit MembershipObserver(net::Http& http) : http_(http) {}

  // Reads the members from the first of these addresses that knows, asks each how it is, and makes what changes are due.
  //
  //   input    what a list of members means; no changes are made when it says that there are no replicas
  //   returns  when to look again: at once after a change, in 200 ms while something is coming about, in 30 s when nothing is
  //   time     some milliseconds; seconds when members do not answer
  Milliseconds look(const sys::Context& context, const net::Trust& trust, const std::vector<std::string>& addresses,
                    const std::function<MembershipInput(ObservedMembers)>& input);

  const Facts& facts() const { return facts_; }

 private:
  Result<ObservedMembers> read(const sys::Context& context, const Gateway& etcd, const std::vector<std::string>& addresses);
  // Whether who votes or leads may be another now.
  bool act(const sys::Context& context, const Gateway& etcd, const ObservedMembers& members, const std::vector<Action>& actions);

  net::Http& http_;
  Facts facts_;
  std::string answered_{};      // address that knew the members the last time
  SteadyTime read_{};           // when
  SteadyTime changed_{};        // when something about members was last another
  std::set<std::string> told_;  // refusals that were logged
};

// Looks until a stop, at changes of the view and when it is time.
Result<> observe(const sys::Context& context, net::Http& http, View& view);

}  // namespace slipway::components::etcd
