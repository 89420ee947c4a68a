// When the database of a member is defragmented. Deleted and compacted entries leave free pages in it, which only defragmentation
// gives back. A member answers late meanwhile, so it happens to one member at a time, and only when it pays. The leader is the
// last and keeps the lead: it goes on with heartbeats and with the log while its database is rewritten, so requests wait. When
// the lead moves, etcd refuses the writes of that moment. Pure.
#pragma once

#include "components/etcd/membership.h"

#include <map>
#include <optional>

namespace slipway::components::etcd {

// Of a member's database, in bytes.
struct DatabaseSize {
  std::uint64_t total = 0;  // of the file
  std::uint64_t used = 0;

  bool operator==(const DatabaseSize&) const = default;
};
using DatabaseSizes = std::map<MemberId, DatabaseSize>;

// The limits of OpenShift's etcd operator.
struct DefragmentationLimits {
  std::uint64_t least_size = std::uint64_t{100} << 20;
  int least_free_percent = 45;
  Milliseconds pause = Seconds(36);  // after a defragmentation, before the next one
};

// Whether the free part is large enough.
bool is_fragmented(const DatabaseSize& size, const DefragmentationLimits& limits);

// The next step: to defragment a follower, or, if only the leader is left, the leader. Nothing while a member is unhealthy, a
// learner or not started, and with fewer than three voters: then every request would wait for the one that is defragmented.
std::optional<Action> plan_defragmentation(const ObservedMembers& members, const DatabaseSizes& sizes,
                                           const DefragmentationLimits& limits = {});

}  // namespace slipway::components::etcd
