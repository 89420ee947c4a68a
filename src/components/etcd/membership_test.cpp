#include "components/etcd/membership.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::components::etcd {
namespace {

using namespace std::chrono_literals;

const WallTime start{Milliseconds(1'795'253'400'000)};

// "boot voter healthy leader", "m0 learner healthy", "m1 learner new": name, role, health; the bootstrap machine is 10.0.0.10,
// master mN is 10.0.0.1N+1.
ObservedMember member(std::string_view name, std::string_view role, std::string_view health, bool leads = false) {
  const int number = name == "boot" ? -1 : name.back() - '0';
  ObservedMember it;
  it.member.id = static_cast<MemberId>(number + 2);
  if (health != "new") it.member.name = name == "boot" ? "etcd-bootstrap" : fmt::format("master-{}", number);
  it.member.peer_urls = {fmt::format("https://10.0.0.{}:2380", 11 + number)};
  it.member.is_learner = role == "learner";
  it.is_healthy = health == "healthy";
  it.is_gone = !it.is_healthy;
  it.is_leader = leads;
  if (health == "dead") it.problem = "no answer: refused";
  return it;
}

MembershipInput input(ObservedMembers members, int masters = 3) {
  MembershipInput in{.members = std::move(members), .replicas = 3, .now = start + 10s};
  for (int i = 0; i < masters; ++i) {
    in.masters.push_back({fmt::format("master-{}", i), fmt::format("10.0.0.{}", 11 + i), start});
  }
  return in;
}

std::vector<std::string> doings(const Membership& membership) {
  std::vector<std::string> all;
  for (const Action& action : membership.actions) all.push_back(action.doing());
  return all;
}

const Condition& condition(const Membership& membership, std::string_view type) {
  for (const Condition& it : membership.conditions) {
    if (it.type == type) return it;
  }
  static const Condition none{"none", false, "none", "none"};
  return none;
}

using Doings = std::vector<std::string>;
const ObservedMember lonely_boot = member("boot", "voter", "healthy", true);
const ObservedMember boot = member("boot", "voter", "healthy");
const ObservedMember m0 = member("m0", "voter", "healthy"), m1 = member("m1", "voter", "healthy"),
                     m2 = member("m2", "voter", "healthy"), m0_leads = member("m0", "voter", "healthy", true);

TEST(Membership, GoesFromTheBootstrapMachineToTheMasters) {
  struct Case {
    std::string_view what;
    ObservedMembers members;
    Doings doings;
  };
  const auto learner = [](std::string_view name, std::string_view health) { return member(name, "learner", health); };
  const std::vector<Case> cases = {
      {"all are added at once",
       {lonely_boot},
       {"adding master-0 as a learner", "adding master-1 as a learner", "adding master-2 as a learner"}},
      {"what is missing is added before anybody is promoted",
       {lonely_boot, learner("m0", "healthy"), learner("m1", "new")},
       {"adding master-2 as a learner"}},
      {"who has not started is not promoted",
       {lonely_boot, learner("m0", "new"), learner("m1", "new"), learner("m2", "new")},
       {}},
      {"learners are tried",
       {lonely_boot, learner("m0", "healthy"), learner("m1", "healthy"), learner("m2", "new")},
       {"promoting master-0", "promoting master-1"}},
      {"a learner that does not answer is not promoted",
       {lonely_boot, learner("m0", "dead"), learner("m1", "new"), learner("m2", "new")},
       {}},
      {"a third voter helps when the second does not answer",
       {lonely_boot, member("m0", "voter", "dead"), learner("m1", "healthy"), learner("m2", "healthy")},
       {"promoting master-1", "promoting master-2"}},
      {"the leader stays while one is a learner", {lonely_boot, m0, m1, learner("m2", "new")}, {}},
      {"the leader leaves", {lonely_boot, m0, m1, m2}, {"moving the leader to master-0"}},
      {"the leader stays while a voter is not well", {lonely_boot, m0, m1, member("m2", "voter", "dead")}, {}},
      {"nothing is removed before the bootstrap is complete", {boot, m0_leads, m1, m2}, {}},
      {"nothing is left to do", {m0_leads, m1, m2}, {}},
  };
  for (const Case& it : cases) EXPECT_EQ(doings(plan_membership(input(it.members))), it.doings) << it.what;
}

// One voter, then two, then one. Two voters cannot lose one, so the bootstrap machine's member stays until another member leads
// and the bootstrap is complete.
TEST(Membership, GoesFromTheBootstrapMachineToASingleMaster) {
  struct Case {
    std::string_view what;
    ObservedMembers members;
    bool is_complete;
    Doings doings;
    bool is_running_in_cluster;
  };
  const ObservedMember learner = member("m0", "learner", "healthy"), dead = member("m0", "voter", "dead");
  const std::vector<Case> cases = {
      {"it is added", {lonely_boot}, false, {"adding master-0 as a learner"}, false},
      {"it has not started", {lonely_boot, member("m0", "learner", "new")}, false, {}, false},
      {"it is promoted", {lonely_boot, learner}, false, {"promoting master-0"}, false},
      {"the leader leaves", {lonely_boot, m0}, false, {"moving the leader to master-0"}, false},
      {"the leader stays while the other is not well", {lonely_boot, dead}, false, {}, false},
      {"nothing is removed before the bootstrap is complete", {boot, m0_leads}, false, {}, true},
      {"the bootstrap's is removed", {boot, m0_leads}, true, {"removing etcd-bootstrap"}, true},
      {"a single one that is not well is not left alone", {lonely_boot, dead}, true, {}, false},
      {"a learner is not left alone", {lonely_boot, member("m0", "learner", "new")}, true, {}, false},
      {"nothing is left to do", {m0_leads}, true, {}, true},
  };
  for (const Case& it : cases) {
    MembershipInput in = input(it.members, 1);
    in.replicas = 1;
    in.is_bootstrap_complete = it.is_complete;
    EXPECT_EQ(why_wait_for_masters(in), std::nullopt) << it.what;
    const Membership membership = plan_membership(in);
    EXPECT_EQ(doings(membership), it.doings) << it.what;
    EXPECT_EQ(condition(membership, "EtcdRunningInCluster").is_true, it.is_running_in_cluster) << it.what;
    EXPECT_EQ(membership.is_settled, it.members.size() == 1 && it.is_complete) << it.what;
  }
}

TEST(Membership, GoesFromTheBootstrapMachineToFiveMasters) {
  MembershipInput in = input({lonely_boot}, 5);
  in.replicas = 5;
  EXPECT_EQ(plan_membership(in).actions.size(), 5u) << "all at once, as with three";
  for (std::string_view name : {"m0", "m1", "m2", "m3"}) in.members.push_back(member(name, "voter", "healthy"));
  in.members.push_back(member("m4", "learner", "healthy"));
  EXPECT_EQ(doings(plan_membership(in)), Doings{"promoting master-4"});
  EXPECT_FALSE(condition(plan_membership(in), "EtcdRunningInCluster").is_true) << "the fifth is only a learner";
  in.members.back() = member("m4", "voter", "healthy");
  EXPECT_EQ(doings(plan_membership(in)), Doings{"moving the leader to master-0"});
  in.members.front() = boot;
  in.members[1] = m0_leads;
  EXPECT_TRUE(condition(plan_membership(in), "EtcdRunningInCluster").is_true);
  in.is_bootstrap_complete = true;
  EXPECT_EQ(doings(plan_membership(in)), Doings{"removing etcd-bootstrap"});
}

TEST(Membership, RemovesTheBootstrapMemberWhenAllOthersAreHealthy) {
  const auto complete = [](ObservedMembers members) {
    MembershipInput in = input(std::move(members));
    in.is_bootstrap_complete = true;
    return doings(plan_membership(in));
  };
  EXPECT_EQ(complete({boot, m0_leads, m1, m2}), Doings{"removing etcd-bootstrap"});
  EXPECT_EQ(complete({member("boot", "voter", "dead"), m0_leads, m1, m2}), Doings{"removing etcd-bootstrap"});
  EXPECT_EQ(complete({lonely_boot, m0, m1, m2}), Doings{"moving the leader to master-0"});
  EXPECT_EQ(complete({boot, m0_leads, m1, member("m2", "voter", "dead")}), Doings{});
  EXPECT_EQ(complete({boot, m0, m1, m2}), Doings{}) << "etcd has no leader";
  EXPECT_EQ(complete({boot, m0_leads, m1, member("m2", "learner", "healthy")}), Doings{"promoting master-2"});
}

TEST(Membership, WaitsTwoMinutesForMissingMasters) {
  MembershipInput in = input({lonely_boot}, 2);
  Membership early = plan_membership(in);
  EXPECT_EQ(doings(early), Doings{});
  EXPECT_EQ(early.replan_at, start + 2min);
  EXPECT_EQ(why_wait_for_masters(in), "2 of 3 masters are registered with an address");
  in.now = start + 2min;
  EXPECT_EQ(doings(plan_membership(in)), (Doings{"adding master-0 as a learner", "adding master-1 as a learner"}));
  in.members = {boot, m0_leads, m1};
  EXPECT_FALSE(condition(plan_membership(in), "EtcdRunningInCluster").is_true);
  in.is_delayed = true;
  EXPECT_TRUE(condition(plan_membership(in), "EtcdRunningInCluster").is_true);
  in.replicas = 0;
  in.masters.clear();
  EXPECT_EQ(doings(plan_membership(in)), Doings{});
}

TEST(Membership, AddsMastersThatRegisterLater) {
  MembershipInput in = input({m0_leads, m1, m2}, 5);
  in.replicas = 5;
  EXPECT_EQ(doings(plan_membership(in)), Doings{"adding master-3 as a learner"});
  in.members.push_back(member("m3", "learner", "new"));
  EXPECT_EQ(doings(plan_membership(in)), Doings{"adding master-4 as a learner"});
  in.members[1] = member("m1", "voter", "dead");
  EXPECT_EQ(doings(plan_membership(in)), Doings{}) << "etcd would refuse it";
}

// etcd refuses more learners than its --max-learners. The promotion of existing learners must not wait for more.
TEST(Membership, AddsNoMoreLearnersThanEtcdAccepts) {
  MembershipInput in = input({lonely_boot}, 4);
  EXPECT_EQ(plan_membership(in).actions.size(), 3u);
  for (std::string_view name : {"m0", "m1", "m2"}) in.members.push_back(member(name, "learner", "healthy"));
  EXPECT_EQ(doings(plan_membership(in)).front(), "promoting master-0");
}

TEST(Membership, ReportsProgress) {
  struct Case {
    ObservedMembers members;
    bool is_complete;
    std::string_view type;
    bool is_true;
    std::string_view reason;
  };
  const ObservedMembers all = {boot, m0_leads, m1, m2};
  const std::vector<Case> cases = {
      {{lonely_boot}, false, "EtcdRunningInCluster", false, "NotEnoughEtcdMembers"},
      {{boot, m0_leads, m1, member("m2", "learner", "healthy")}, false, "EtcdRunningInCluster", false, "NotEnoughEtcdMembers"},
      {{lonely_boot, m0, m1, m2}, false, "EtcdRunningInCluster", false, "LeaderOnBootstrap"},
      {{boot, m0, m1, m2}, false, "EtcdRunningInCluster", false, "NoLeader"},
      {all, false, "EtcdRunningInCluster", true, "EnoughEtcdMembers"},
      {{m0_leads, m1, member("m2", "voter", "dead")}, true, "EtcdRunningInCluster", true, "BootstrapAlreadyRemoved"},
      {all, false, "EtcdBootstrapMemberRemoved", false, "BootstrapNotComplete"},
      {all, true, "EtcdBootstrapMemberRemoved", false, "BootstrapMemberPresent"},
      {{m0_leads, m1, m2}, true, "EtcdBootstrapMemberRemoved", true, "BootstrapMemberRemoved"},
      {{m0_leads, m1, member("m2", "voter", "dead")}, true, "EtcdMembersAvailable", true, "EtcdQuorate"},
      {{m0_leads, member("m1", "voter", "dead"), member("m2", "voter", "dead")}, true, "EtcdMembersAvailable", false, "NoQuorum"},
      {{m0_leads, m1, member("m2", "voter", "dead")}, true, "EtcdMembersDegraded", true, "UnhealthyMembers"},
      {{member("boot", "voter", "dead"), m0_leads, m1, m2}, true, "EtcdMembersDegraded", false, "AsExpected"},
      {{member("boot", "voter", "dead"), m0_leads, m1, m2}, false, "EtcdMembersDegraded", true, "UnhealthyMembers"},
      {all, false, "EtcdMembersProgressing", true, "MembersChanging"},
      {{m0_leads, m1, m2}, true, "EtcdMembersProgressing", false, "AsExpected"},
  };
  for (const Case& it : cases) {
    MembershipInput in = input(it.members);
    in.is_bootstrap_complete = it.is_complete;
    const Membership membership = plan_membership(in);
    const Condition& found = condition(membership, it.type);
    EXPECT_EQ(found.is_true, it.is_true) << describe(it.members) << ": " << it.type;
    EXPECT_EQ(found.reason, it.reason) << describe(it.members) << ": " << it.type;
  }
  EXPECT_TRUE(plan_membership(input({m0_leads, m1, m2})).is_settled);
  EXPECT_FALSE(plan_membership(input(all)).is_settled);
}

TEST(Membership, KeepsTheQuorum) {
  const ObservedMember dead1 = member("m1", "voter", "dead"), dead2 = member("m2", "voter", "dead");
  const Action remove_boot{Action::Kind::remove, boot.member.id};
  EXPECT_TRUE(keeps_quorum({boot, m0, m1, m2}, remove_boot));
  EXPECT_TRUE(keeps_quorum({boot, m0, m1, dead2}, remove_boot));
  EXPECT_FALSE(keeps_quorum({boot, m0, dead1, dead2}, remove_boot));
  const Action promote{Action::Kind::promote, m2.member.id};
  EXPECT_TRUE(keeps_quorum({boot, member("m2", "learner", "healthy")}, promote));
  EXPECT_FALSE(keeps_quorum({boot, member("m2", "learner", "dead")}, promote));
  EXPECT_FALSE(keeps_quorum({boot, dead1, member("m2", "learner", "dead")}, promote));
  EXPECT_TRUE(keeps_quorum({boot, m0, m1}, {Action::Kind::move_leader, m0.member.id}));
  EXPECT_FALSE(keeps_quorum({boot, m0, dead1}, {Action::Kind::move_leader, dead1.member.id}));
}

// The masters of `members` without those that left; the machines of the others are gone.
MembershipInput without(ObservedMembers members, const std::set<int>& left, int masters = 3) {
  MembershipInput in = input(std::move(members), masters);
  in.is_bootstrap_complete = true;
  for (const int number : left) {
    in.left.insert(static_cast<MemberId>(number + 2));
    std::erase_if(in.masters, [&](const Master& it) { return it.node == fmt::format("master-{}", number); });
  }
  return in;
}

TEST(Membership, RemovesMembersOfMastersThatLeft) {
  const ObservedMember dead1 = member("m1", "voter", "dead"), dead2 = member("m2", "voter", "dead");
  const ObservedMember m1_leads = member("m1", "voter", "healthy", true);
  ObservedMember silent1 = dead1;
  silent1.is_gone = false;
  struct Case {
    std::string_view what;
    ObservedMembers members;
    std::set<int> left;
    Doings doings;
  };
  const std::vector<Case> cases = {
      {"one that is gone is removed", {m0_leads, dead1, m2}, {1}, {"removing master-1"}},
      {"one that has just stopped to answer is not", {m0_leads, silent1, m2}, {1}, {}},
      {"one that answers stays until its machine is off", {m0_leads, m1, m2}, {1}, {}},
      {"one that leads hands over before", {m0, m1_leads, m2}, {1}, {"moving the leader to master-0"}},
      {"the others must be a quorum", {m0_leads, dead1, dead2}, {1}, {}},
      {"without a leader nothing changes", {m0, dead1, m2}, {1}, {}},
      {"a learner goes", {m0_leads, member("m1", "learner", "new"), m2}, {1}, {"removing the member at 10.0.0.12"}},
      {"a learner that left is not promoted", {m0_leads, member("m1", "learner", "healthy"), m2}, {1}, {}},
      {"of two, the dead one", {m0_leads, m1, dead2}, {1, 2}, {"removing master-2"}},
      {"the last one stays", {m0_leads}, {0}, {}},
      {"before others are added", {m0_leads, dead1}, {1}, {"removing master-1"}},
  };
  for (const Case& it : cases) EXPECT_EQ(doings(plan_membership(without(it.members, it.left))), it.doings) << it.what;

  EXPECT_EQ(condition(plan_membership(without({m0_leads, m1, m2}, {1})), "EtcdMembersProgressing").message,
            "2 of 3 masters are registered; master-1 leaves etcd when its machine is off");
  const Membership stuck = plan_membership(without({m0_leads, m1, dead2}, {1}));
  EXPECT_FALSE(stuck.is_settled);
  EXPECT_EQ(
      condition(stuck, "EtcdMembersProgressing").message,
      "master-2 is not healthy, 2 of 3 masters are registered; master-1 leaves etcd, but too few of the other voting members "
      "are healthy to remove it");
  MembershipInput early = without({boot, m0_leads, m1, m2}, {1});
  early.is_bootstrap_complete = false;
  EXPECT_EQ(doings(plan_membership(early)), Doings{}) << "not during the installation";
  EXPECT_EQ((Action{Action::Kind::remove, 3, "master-1"}.reason()), "MemberRemoved");
}

// 3 -> 5 -> 3 masters, of which the install-config has three.
TEST(Membership, GrowsAndShrinks) {
  MembershipInput in = input({m0_leads, m1, m2}, 5);
  in.is_bootstrap_complete = true;
  EXPECT_EQ(doings(plan_membership(in)), Doings{"adding master-3 as a learner"});
  const ObservedMember m3 = member("m3", "voter", "healthy"), m4 = member("m4", "voter", "healthy");
  in.members.push_back(m3);
  EXPECT_EQ(doings(plan_membership(in)), Doings{"adding master-4 as a learner"});
  in.members.push_back(m4);
  EXPECT_TRUE(plan_membership(in).is_settled);
  const ObservedMember dead3 = member("m3", "voter", "dead"), dead4 = member("m4", "voter", "dead");
  MembershipInput smaller = without({m0_leads, m1, m2, dead3, dead4}, {3, 4}, 5);
  EXPECT_EQ(doings(plan_membership(smaller)), Doings{"removing master-3"});
  smaller = without({m0_leads, m1, m2, dead4}, {4}, 5);
  std::erase_if(smaller.masters, [](const Master& it) { return it.node == "master-3"; });
  EXPECT_EQ(doings(plan_membership(smaller)), Doings{"removing master-4"});
}

// For every list: no planned step leaves fewer healthy voters than the quorum of the next list.
TEST(Membership, NoPlanOfAnyListBreaksTheQuorum) {
  const std::vector<std::pair<std::string_view, std::string_view>> forms = {
      {"voter", "healthy"}, {"voter", "dead"}, {"learner", "healthy"}, {"learner", "dead"}, {"learner", "new"}, {"", ""}};
  int planned = 0;
  for (std::size_t code = 0; code < forms.size() * forms.size() * forms.size() * forms.size() * 2; ++code) {
    ObservedMembers members;
    std::size_t rest = code / 2;
    bool has_leader = false;
    for (std::string_view name : {"boot", "m0", "m1", "m2"}) {
      const auto& [role, health] = forms[rest % forms.size()];
      rest /= forms.size();
      if (role.empty()) continue;
      const bool leads = !has_leader && role == "voter" && health == "healthy";
      has_leader |= leads;
      members.push_back(member(name, role, health, leads));
    }
    for (const int masters : {1, 2, 3}) {
      MembershipInput in = input(members, masters);
      in.replicas = masters;
      for (const ObservedMember& it : members) {
        if (masters == 2 && it.member.id == 4) in.left.insert(it.member.id);
      }
      in.is_bootstrap_complete = code % 2 == 1;
      for (const Action& action : plan_membership(in).actions) {
        if (action.kind == Action::Kind::add_learner) continue;
        ++planned;
        EXPECT_TRUE(keeps_quorum(members, action)) << describe(members) << ": " << action.doing();
      }
    }
  }
  EXPECT_GT(planned, 50);
}

TEST(Membership, NamesMembersThatMustNotBeStopped) {
  const ObservedMember dead1 = member("m1", "voter", "dead");
  EXPECT_EQ(why_keep_running({m0, m1, m2}, "10.0.0.11"), std::nullopt);
  EXPECT_EQ(why_keep_running({m0, dead1, m2}, "10.0.0.11"),
            "without it 1 of 3 voting members of etcd would be healthy, but 2 are required");
  EXPECT_EQ(why_keep_running({m0, dead1, m2}, "10.0.0.12"), std::nullopt) << "it is not well itself";
  EXPECT_EQ(why_keep_running({boot, m0, m1, m2}, "10.0.0.12"), std::nullopt);
  EXPECT_EQ(why_keep_running({m0}, "10.0.0.11"), std::nullopt);
  EXPECT_NE(why_keep_running({boot, m0}, "10.0.0.11"), std::nullopt) << "of one master, while the bootstrap's member is there";
  EXPECT_EQ(why_keep_running({boot, member("m0", "learner", "healthy")}, "10.0.0.11"), std::nullopt);
}

TEST(Membership, DescribesAList) {
  EXPECT_EQ(
      describe({lonely_boot, member("m0", "learner", "healthy"), member("m1", "learner", "new"), member("m2", "voter", "dead")}),
      "etcd-bootstrap voter healthy leader, master-0 learner healthy, the member at 10.0.0.12 learner not started, master-2 "
      "voter unhealthy");
}

}  // namespace
}  // namespace slipway::components::etcd
