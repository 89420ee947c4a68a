#include "components/etcd/membership.h"

#include "base/text.h"

#include <algorithm>
#include <chrono>

namespace slipway::components::etcd {

namespace {

using namespace std::chrono_literals;

constexpr Seconds masters_limit = 2min;

std::size_t quorum(std::size_t voters) { return voters / 2 + 1; }

const ObservedMember* find_at(const ObservedMembers& members, std::string_view address) {
  const auto found = std::ranges::find_if(members, [&](const ObservedMember& it) { return host_of(it.member) == address; });
  return found == members.end() ? nullptr : &*found;
}

const ObservedMember* find_bootstrap(const ObservedMembers& members) {
  const auto found = std::ranges::find_if(members, [](const ObservedMember& it) { return it.member.name == bootstrap_name; });
  return found == members.end() ? nullptr : &*found;
}

std::size_t count_voters(const ObservedMembers& members) {
  return static_cast<std::size_t>(std::ranges::count_if(members, &ObservedMember::is_voter));
}

bool is_healthy_voter(const ObservedMember* member) { return member && member->is_voter() && member->is_healthy; }

int expected_masters(const MembershipInput& input) { return std::max(1, input.replicas - (input.is_delayed ? 1 : 0)); }

WallTime waiting_ends(const MembershipInput& input) {
  return std::ranges::min(input.masters, {}, &Master::since).since + masters_limit;
}

// The plan for one list of members.
class Planner {
 public:
  explicit Planner(const MembershipInput& input) : in_(input), bootstrap_(find_bootstrap(input.members)) {}

  Membership plan() {
    Membership result;
    result.actions = actions();
    result.conditions = {running_in_cluster(), bootstrap_removed(), available(), degraded(), progressing()};
    result.is_settled = !bootstrap_ && result.actions.empty() && unfinished_masters().empty() && in_.left.empty();
    if (why_wait_for_masters(in_) && !in_.masters.empty()) result.replan_at = waiting_ends(in_);
    return result;
  }

 private:
  // Number of masters that have to vote before the bootstrap machine's member may be removed.
  std::size_t needed() const { return static_cast<std::size_t>(std::clamp(expected_masters(in_), 1, 3)); }

  bool all_voters_healthy() const {
    return std::ranges::all_of(in_.members, [](const ObservedMember& it) { return !it.is_voter() || it.is_healthy; });
  }

  // Whether every registered master is a healthy voter and there are enough of them.
  bool masters_vote() const {
    return in_.masters.size() >= needed() && std::ranges::all_of(in_.masters, [&](const Master& master) {
             return is_healthy_voter(find_at(in_.members, master.address));
           });
  }

  bool others_healthy() const {
    return std::ranges::all_of(in_.members,
                               [&](const ObservedMember& it) { return &it == bootstrap_ || !it.is_voter() || it.is_healthy; });
  }

  const ObservedMember* leader() const {
    const auto found = std::ranges::find_if(in_.members, &ObservedMember::is_leader);
    return found == in_.members.end() ? nullptr : &*found;
  }

  std::vector<Action> actions() const {
    if (!in_.is_managed) return {};
    if (std::vector<Action> removed = removals(); !removed.empty()) return removed;
    if (why_wait_for_masters(in_)) return {};
    std::vector<Action> added = additions(), promoted = promotions();
    if (!added.empty() && (count_voters(in_.members) == 1 || promoted.empty())) return added;
    return promoted.empty() ? bootstrap_removal() : promoted;
  }

  // With more than one voter, etcd requires all voters to be healthy before it accepts a member. It accepts at most
  // --max-learners learners, which is the number of masters.
  std::vector<Action> additions() const {
    std::vector<Action> added;
    if (!all_voters_healthy()) return added;
    const bool is_first_time = count_voters(in_.members) == 1;
    const auto learners = static_cast<std::size_t>(
        std::ranges::count_if(in_.members, [](const ObservedMember& it) { return it.member.is_learner; }));
    for (const Master& master : in_.masters) {
      if (find_at(in_.members, master.address)) continue;
      if (learners + added.size() >= static_cast<std::size_t>(in_.replicas)) break;
      added.push_back({Action::Kind::add_learner, 0, master.node, peer_url(master.address)});
      if (!is_first_time) break;
    }
    return added;
  }

  bool has_left(const ObservedMember& it) const { return in_.left.contains(it.member.id); }

  // The member that takes the lead from one that goes.
  const ObservedMember* successor() const {
    const auto found =
        std::ranges::find_if(in_.members, [&](const ObservedMember& it) { return is_healthy_voter(&it) && !has_left(it); });
    return found == in_.members.end() ? nullptr : &*found;
  }

  // Only members that are gone, one at a time. Without its member, the API server of a machine that runs on would hang,
  // and with it the clients that are connected to it. One that answers gives up the lead.
  std::vector<Action> removals() const {
    if (bootstrap_ || !in_.is_bootstrap_complete || !leader() || !successor()) return {};
    for (const ObservedMember& it : in_.members) {
      if (!has_left(it)) continue;
      if (it.is_leader) return {{Action::Kind::move_leader, successor()->member.id, successor()->member.name}};
      const Action removal{Action::Kind::remove, it.member.id, name_of(it.member)};
      if (it.is_gone && keeps_quorum(in_.members, removal)) return {removal};
    }
    return {};
  }

  // Members that left, and why they stay; empty when there are none.
  std::string leaving() const {
    std::vector<std::string> waiting;
    for (const ObservedMember& it : in_.members) {
      if (!has_left(it)) continue;
      const bool keeps = successor() && keeps_quorum(in_.members, {Action::Kind::remove, it.member.id, {}});
      waiting.push_back(fmt::format("{} leaves etcd{}", name_of(it.member),
                                    !keeps          ? ", but too few of the other voting members are healthy to remove it"
                                    : it.is_healthy ? " when its machine is off"
                                                    : ""));
    }
    return join(waiting, ", ");
  }

  // Only members with a published name: a member without a name may discard its data when it restarts.
  std::vector<Action> promotions() const {
    std::vector<Action> promoted;
    for (const ObservedMember& it : in_.members) {
      if (!it.member.is_learner || !it.member.is_started() || !it.is_healthy || has_left(it)) continue;
      const Action action{Action::Kind::promote, it.member.id, it.member.name};
      if (keeps_quorum(in_.members, action)) promoted.push_back(action);
    }
    return promoted;
  }

  std::vector<Action> bootstrap_removal() const {
    if (!bootstrap_ || !masters_vote()) return {};
    if (bootstrap_->is_leader) {
      const ObservedMember* next = find_at(in_.members, in_.masters.front().address);
      const Action move{Action::Kind::move_leader, next->member.id, next->member.name};
      return keeps_quorum(in_.members, move) ? std::vector{move} : std::vector<Action>();
    }
    const Action removal{Action::Kind::remove, bootstrap_->member.id, std::string(bootstrap_name)};
    if (!in_.is_bootstrap_complete || !leader() || !others_healthy() || !keeps_quorum(in_.members, removal)) return {};
    return {removal};
  }

  // Describes the masters that are not healthy voters yet; empty when all are.
  std::string unfinished_masters() const {
    std::vector<std::string> unfinished;
    for (const Master& master : in_.masters) {
      const ObservedMember* member = find_at(in_.members, master.address);
      if (!member)
        unfinished.push_back(master.node + " is not a member");
      else if (!member->member.is_started())
        unfinished.push_back(master.node + " has not started");
      else if (member->member.is_learner)
        unfinished.push_back(master.node + " is a learner");
      else if (!member->is_healthy)
        unfinished.push_back(fmt::format("{} is not healthy", master.node));
    }
    if (in_.masters.size() < needed()) {
      unfinished.push_back(fmt::format("{} of {} masters are registered", in_.masters.size(), needed()));
    }
    return join(unfinished, ", ");
  }

  Condition running_in_cluster() const {
    const std::string type = "EtcdRunningInCluster";
    if (!bootstrap_) return {type, true, "BootstrapAlreadyRemoved", "the bootstrap machine has no member"};
    if (!masters_vote()) return {type, false, "NotEnoughEtcdMembers", unfinished_masters()};
    const ObservedMember* leads = leader();
    if (!leads) return {type, false, "NoLeader", "etcd has no leader"};
    if (leads == bootstrap_) return {type, false, "LeaderOnBootstrap", "etcd-bootstrap is still the leader"};
    return {type, true, "EnoughEtcdMembers", "all masters are voters and one of them is the leader"};
  }

  Condition bootstrap_removed() const {
    const std::string type = "EtcdBootstrapMemberRemoved";
    if (!bootstrap_) return {type, true, "BootstrapMemberRemoved", "etcd-bootstrap is not a member"};
    if (!in_.is_bootstrap_complete) return {type, false, "BootstrapNotComplete", "the bootstrap is not complete"};
    return {type, false, "BootstrapMemberPresent", "etcd-bootstrap is still a member"};
  }

  std::string unhealthy_voters() const {
    std::vector<std::string> problems;
    for (const ObservedMember& it : in_.members) {
      // After the bootstrap is complete the bootstrap machine is removed, even if its member still exists.
      if (!it.is_voter() || (it.problem.empty() && it.is_healthy) || (&it == bootstrap_ && in_.is_bootstrap_complete)) continue;
      problems.push_back(fmt::format("{}: {}", name_of(it.member), it.problem.empty() ? "not healthy" : it.problem));
    }
    return join(problems, "; ");
  }

  Condition available() const {
    const std::size_t voters = count_voters(in_.members);
    const auto healthy = static_cast<std::size_t>(
        std::ranges::count_if(in_.members, [](const ObservedMember& it) { return is_healthy_voter(&it); }));
    const bool is_quorate = healthy >= quorum(voters);
    return {"EtcdMembersAvailable", is_quorate, is_quorate ? "EtcdQuorate" : "NoQuorum",
            fmt::format("{} of {} voting members are healthy", healthy, voters)};
  }

  Condition degraded() const {
    const std::string problems = unhealthy_voters();
    if (problems.empty()) return {"EtcdMembersDegraded", false};
    return {"EtcdMembersDegraded", true, "UnhealthyMembers", problems};
  }

  Condition progressing() const {
    std::vector<std::string> pending;
    if (const std::string unfinished = unfinished_masters(); !unfinished.empty()) pending.push_back(unfinished);
    if (std::string left = leaving(); !left.empty()) pending.push_back(std::move(left));
    if (bootstrap_) pending.emplace_back("etcd-bootstrap is still a member");
    if (pending.empty()) return {"EtcdMembersProgressing", false};
    return {"EtcdMembersProgressing", true, "MembersChanging", join(pending, "; ")};
  }

  const MembershipInput& in_;
  const ObservedMember* bootstrap_;
};

}  // namespace

std::string describe(const ObservedMembers& members) {
  std::vector<std::string> parts;
  for (const ObservedMember& it : members) {
    std::string text = fmt::format("{} {}", name_of(it.member), it.is_voter() ? "voter" : "learner");
    text += !it.member.is_started() ? " not started" : it.is_healthy ? " healthy" : " unhealthy";
    if (it.is_leader) text += " leader";
    parts.push_back(std::move(text));
  }
  return join(parts, ", ");
}

std::string Action::doing() const {
  switch (kind) {
    case Kind::add_learner: return fmt::format("adding {} as a learner", name);
    case Kind::promote: return fmt::format("promoting {}", name);
    case Kind::move_leader: return fmt::format("moving the leader to {}", name);
    case Kind::remove: return fmt::format("removing {}", name);
    case Kind::defragment: return fmt::format("defragmenting the database of {}", name);
  }
  return {};
}

std::string_view Action::reason() const {
  switch (kind) {
    case Kind::add_learner: return "MemberAdded";
    case Kind::promote: return "MemberPromoted";
    case Kind::move_leader: return "LeaderMoved";
    case Kind::remove: return name == bootstrap_name ? "BootstrapMemberRemoved" : "MemberRemoved";
    case Kind::defragment: return "MemberDefragmented";
  }
  return {};
}

std::string Action::done() const {
  switch (kind) {
    case Kind::add_learner: return fmt::format("{} is added to etcd as a learner", name);
    case Kind::promote: return fmt::format("{} is a voting member of etcd", name);
    case Kind::move_leader: return fmt::format("{} is the leader of etcd", name);
    case Kind::remove: return fmt::format("{} is removed from etcd", name);
    case Kind::defragment: return fmt::format("the database of {} is defragmented", name);
  }
  return {};
}

std::optional<std::string> why_wait_for_masters(const MembershipInput& input) {
  if (static_cast<int>(input.masters.size()) >= expected_masters(input)) return std::nullopt;
  if (!input.masters.empty() && input.now >= waiting_ends(input)) return std::nullopt;
  return fmt::format("{} of {} masters are registered with an address", input.masters.size(), expected_masters(input));
}

Membership plan_membership(const MembershipInput& input) { return Planner(input).plan(); }

bool keeps_quorum(const ObservedMembers& members, const Action& action) {
  std::size_t voters = 0, healthy = 0;
  bool is_target_healthy = false;
  for (const ObservedMember& it : members) {
    const bool is_target = action.member != 0 && it.member.id == action.member;
    const bool votes = is_target && action.kind == Action::Kind::promote  ? true
                       : is_target && action.kind == Action::Kind::remove ? false
                                                                          : it.is_voter();
    voters += votes;
    healthy += votes && it.is_healthy;
    if (is_target) is_target_healthy = votes && it.is_healthy;
  }
  if (action.kind == Action::Kind::move_leader && !is_target_healthy) return false;
  return healthy >= quorum(voters);
}

std::optional<std::string> why_keep_running(const ObservedMembers& members, const std::string& address) {
  const ObservedMember* member = find_at(members, address);
  const std::size_t voters = count_voters(members);
  if (!is_healthy_voter(member) || voters == 1) return std::nullopt;
  const auto others = static_cast<std::size_t>(
      std::ranges::count_if(members, [&](const ObservedMember& it) { return &it != member && is_healthy_voter(&it); }));
  if (others >= quorum(voters)) return std::nullopt;
  return fmt::format("without it {} of {} voting members of etcd would be healthy, but {} are required", others, voters,
                     quorum(voters));
}

}  // namespace slipway::components::etcd
