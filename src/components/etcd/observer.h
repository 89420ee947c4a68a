// Observer: polls the members of etcd, which cannot be watched, makes the changes that are due, and puts the facts into the view.
// Each decision is based on a list that it has just read; after each change it reads a new list.
//
//   MembershipObserver observer(http);
//   const Milliseconds pause = observer.observe(context, trust, addresses, [](const ObservedMembers& seen) { return input; });
#pragma once

#include "components/etcd/defragmentation.h"
#include "components/etcd/facts.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace slipway::components::etcd {

// Threads: one.
class MembershipObserver {
 public:
  // `http` must outlive the observer.
  explicit MembershipObserver(net::Http& http, DefragmentationLimits limits = {}) : http_(http), limits_(limits) {}

  // Reads the members from the first address that returns a list, reads the status of each, and makes the changes that are due.
  // When the plan is settled, it defragments one database.
  //
  //   input    turns a list of members into the input of the plan; with 0 replicas no member is added
  //   returns  the time until the next call: 0 after a change, 200 ms while members change, 2 s when they have not changed for a
  //            minute but the plan is not settled, 30 s when it is settled
  //   time     some milliseconds; seconds when members do not answer; that of a defragmentation
  Milliseconds observe(const sys::Context& context, const net::TlsOptions& tls, const std::vector<std::string>& addresses,
                       const std::function<MembershipInput(ObservedMembers)>& input);

  const Facts& facts() const { return facts_; }

 private:
  Result<ObservedMembers> read(const sys::Context& context, const Gateway& etcd, const std::vector<std::string>& addresses);
  // Fills in which members are gone.
  void note_silence(SteadyTime now, ObservedMembers& members);
  // Makes the next step of a defragmentation. Returns whether it made one.
  bool defragment(const sys::Context& context, const Gateway& etcd);
  // Returns whether voters, learners or the leader may have changed.
  bool act(const sys::Context& context, const Gateway& etcd, const ObservedMembers& members, const std::vector<Action>& actions);

  net::Http& http_;
  const DefragmentationLimits limits_;
  Facts facts_;
  DatabaseSizes sizes_;
  SteadyTime next_defragmentation_{};      // not before this time
  int failed_defragmentations_ = 0;        // in a row
  std::string answered_{};                 // the address that last returned a list
  std::map<MemberId, SteadyTime> silent_since_;  // of the members that are not healthy
  SteadyTime read_{};                      // when it did
  SteadyTime changed_{};                   // when the members last changed
  std::set<std::string> logged_refusals_;  // each refusal is logged once
};

// Observes until a stop is requested: when the view changes and after the pause.
//
//   errors  cancelled
Result<> observe(const sys::Context& context, net::Http& http, View& view);

}  // namespace slipway::components::etcd
