#include "components/etcd/defragmentation.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

constexpr std::uint64_t mib = 1u << 20;

// Members master-0 to master-N; the leader has this number.
ObservedMembers members_of(int count, int leader) {
  ObservedMembers members;
  for (int i = 0; i < count; ++i) {
    members.push_back({.member = {.id = static_cast<MemberId>(i + 1), .name = fmt::format("master-{}", i)},
                       .is_healthy = true,
                       .is_leader = i == leader});
  }
  return members;
}

std::string text(const std::optional<Action>& action) { return action ? action->doing() : "nothing"; }

TEST(IsFragmented, NeedsASizeAndAFreePart) {
  struct Case {
    DatabaseSize size;
    bool is_fragmented;
  };
  for (const Case& c : std::vector<Case>{{{100 * mib, 55 * mib}, true},
                                         {{100 * mib, 56 * mib}, false},
                                         {{99 * mib, 1 * mib}, false},
                                         {{8000 * mib, 100 * mib}, true},
                                         {{0, 0}, false},
                                         {{200 * mib, 300 * mib}, false}}) {
    EXPECT_EQ(is_fragmented(c.size, {}), c.is_fragmented) << c.size.total << " " << c.size.used;
  }
}

TEST(PlanDefragmentation, TakesOneFollowerAndTheLeaderLast) {
  const DatabaseSize full{500 * mib, 400 * mib}, fragmented{500 * mib, 100 * mib};
  struct Case {
    const char* what;
    int leader;
    std::vector<DatabaseSize> sizes;
    const char* step;
  };
  const std::vector<Case> cases = {
      {"nothing to gain", 0, {full, full, full}, "nothing"},
      {"the followers first", 0, {fragmented, fragmented, fragmented}, "defragmenting the database of master-1"},
      {"then the other one", 0, {fragmented, full, fragmented}, "defragmenting the database of master-2"},
      {"then the leader", 0, {fragmented, full, full}, "defragmenting the database of master-0"},
      {"with unknown sizes", 0, {}, "nothing"},
  };
  for (const Case& c : cases) {
    DatabaseSizes sizes;
    for (std::size_t i = 0; i < c.sizes.size(); ++i) sizes[i + 1] = c.sizes[i];
    EXPECT_EQ(text(plan_defragmentation(members_of(3, c.leader), sizes)), c.step) << c.what;
  }
}

TEST(PlanDefragmentation, WaitsUntilAllMembersWork) {
  DatabaseSizes sizes;
  for (MemberId id = 1; id <= 3; ++id) sizes[id] = {500 * mib, 100 * mib};
  EXPECT_TRUE(plan_defragmentation(members_of(3, 0), sizes));
  EXPECT_FALSE(plan_defragmentation(members_of(1, 0), sizes)) << "the only member must answer";
  EXPECT_FALSE(plan_defragmentation(members_of(2, 0), sizes)) << "both members are needed for a quorum";
  EXPECT_FALSE(plan_defragmentation(members_of(3, 7), sizes)) << "no leader";
  const std::vector<std::function<void(ObservedMember&)>> faults = {
      [](ObservedMember& it) { it.is_healthy = false; }, [](ObservedMember& it) { it.problem = "alarm:NOSPACE"; },
      [](ObservedMember& it) { it.member.is_learner = true; }, [](ObservedMember& it) { it.member.name.clear(); }};
  for (const auto& fault : faults) {
    ObservedMembers members = members_of(3, 0);
    fault(members[2]);
    EXPECT_FALSE(plan_defragmentation(members, sizes));
  }
}

}  // namespace
}  // namespace slipway::components::etcd
