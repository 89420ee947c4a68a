#include "components/etcd/defragmentation.h"

#include <algorithm>

namespace slipway::components::etcd {

namespace {

constexpr std::size_t least_voters = 3;

bool works(const ObservedMember& it) { return it.is_voter() && it.member.is_started() && it.is_healthy && it.problem.empty(); }

}  // namespace

bool is_fragmented(const DatabaseSize& size, const DefragmentationLimits& limits) {
  if (size.total < limits.least_size || size.used > size.total) return false;
  return (size.total - size.used) * 100 >= size.total * static_cast<std::uint64_t>(limits.least_free_percent);
}

std::optional<Action> plan_defragmentation(const ObservedMembers& members, const DatabaseSizes& sizes,
                                           const DefragmentationLimits& limits) {
  if (members.size() < least_voters || !std::ranges::all_of(members, works)) return {};
  const auto leader = std::ranges::find_if(members, &ObservedMember::is_leader);
  if (leader == members.end()) return {};
  const auto needs_it = [&](const ObservedMember& it) {
    const auto size = sizes.find(it.member.id);
    return size != sizes.end() && is_fragmented(size->second, limits);
  };
  for (const ObservedMember& it : members) {
    if (!it.is_leader && needs_it(it)) return Action{Action::Kind::defragment, it.member.id, it.member.name};
  }
  if (!needs_it(*leader)) return {};
  return Action{Action::Kind::defragment, leader->member.id, leader->member.name};
}

}  // namespace slipway::components::etcd
