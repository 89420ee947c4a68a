#include "components/etcd/observer.h"

#include "base/text.h"
#include "sys/task_group.h"

#include <algorithm>
#include <chrono>

namespace slipway::components::etcd {

namespace {

using namespace std::chrono_literals;

// Polling interval while members change: etcd does not report when a learner has caught up or a member has started.
constexpr Milliseconds busy_pause = 200ms;
// Polling interval when members have not changed for busy_time.
constexpr Milliseconds patient_pause = 2s;
constexpr Milliseconds busy_time = 1min;
constexpr Milliseconds idle_pause = 30s;
// etcd elects a new leader within about two seconds. A shorter failure is not reported.
constexpr Milliseconds unreadable_limit = 5s;

// A member that a busy machine keeps from answering must not be removed: its API server would hang.
constexpr Milliseconds gone_limit = 10s;

constexpr Milliseconds failed_defragmentation_pause = 11min;
constexpr int most_failed_defragmentations = 3;

constexpr std::string_view no_answer = "no answer: ";

// Reads the status of all started members at once, and returns the sizes of their databases.
DatabaseSizes ask_all(const sys::Context& context, const Gateway& etcd, ObservedMembers& members) {
  std::vector<MemberStatus> statuses(members.size());
  const Result<> asked =
      sys::for_each_at_once(context, members.size(), 8, [&](const sys::Context& own, std::size_t i) -> Result<> {
        ObservedMember& it = members[i];
        if (!it.member.is_started()) return Ok{};
        Result<MemberStatus> status = etcd.status(own, gateway_url(host_of(it.member)));
        if (!status.ok()) {
          it.problem = fmt::format("{}{}", no_answer, status.error().message());
          return Ok{};
        }
        statuses[i] = std::move(status).value();
        it.is_healthy = statuses[i].leader != 0;
        for (const std::string& problem : statuses[i].errors) it.problem += (it.problem.empty() ? "" : "; ") + problem;
        if (!it.is_healthy && it.problem.empty()) it.problem = "it reports no leader";
        return Ok{};
      });
  if (!asked.ok()) return {};
  // A member that was disconnected may report an earlier leader, so the newest term decides.
  MemberStatus newest;
  for (const MemberStatus& status : statuses) {
    if (status.leader != 0 && status.term > newest.term) newest = status;
  }
  DatabaseSizes sizes;
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].is_leader = newest.leader != 0 && members[i].member.id == newest.leader;
    if (statuses[i].size > 0) sizes[members[i].member.id] = {.total = statuses[i].size, .used = statuses[i].used};
  }
  return sizes;
}

// Messages of failed connections contain durations, so each attempt has another message. Keeps the first message while the
// connection fails.
void keep_first_problems(const ObservedMembers& before, ObservedMembers& now) {
  for (ObservedMember& it : now) {
    const auto same = std::ranges::find(before, it.member, &ObservedMember::member);
    if (same == before.end() || !it.problem.starts_with(no_answer) || !same->problem.starts_with(no_answer)) continue;
    it.problem = same->problem;
  }
}

}  // namespace

Result<ObservedMembers> MembershipObserver::read(const sys::Context& context, const Gateway& etcd,
                                                 const std::vector<std::string>& addresses) {
  std::vector<std::string> order = addresses;
  std::stable_partition(order.begin(), order.end(), [&](const std::string& address) { return address == answered_; });
  Error last = error(Code::unavailable, "no member address is known");
  for (const std::string& address : order) {
    Result<std::vector<Member>> listed = etcd.list(context, gateway_url(address), Consistency::linearizable);
    if (!listed.ok()) {
      last = std::move(listed).error();
      if (context.stop.stop_requested()) break;
      continue;
    }
    answered_ = address;
    ObservedMembers members;
    for (Member& member : listed.value()) members.push_back({.member = std::move(member)});
    std::ranges::sort(members, {}, [](const ObservedMember& it) { return std::pair(it.member.peer_urls, it.member.id); });
    sizes_ = ask_all(context, etcd, members);
    return members;
  }
  return last;
}

void MembershipObserver::note_silence(SteadyTime now, ObservedMembers& members) {
  std::map<MemberId, SteadyTime> silent;
  for (ObservedMember& it : members) {
    if (it.is_healthy) continue;
    const auto before = silent_since_.find(it.member.id);
    const SteadyTime since = before == silent_since_.end() ? now : before->second;
    silent[it.member.id] = since;
    it.is_gone = now - since >= gone_limit;
  }
  silent_since_ = std::move(silent);
}

bool MembershipObserver::act(const sys::Context& context, const Gateway& etcd, const ObservedMembers& members,
                             const std::vector<Action>& actions) {
  const auto leader = std::ranges::find_if(members, &ObservedMember::is_leader);
  if (leader == members.end()) return false;
  const std::string endpoint = gateway_url(host_of(leader->member));
  bool is_changed = false;
  facts_.refused.clear();
  for (const Action& action : actions) {
    if (!keeps_quorum(members, action)) continue;
    const Result<> done = action.kind == Action::Kind::add_learner   ? etcd.add_learner(context, endpoint, action.peer_url)
                          : action.kind == Action::Kind::promote     ? etcd.promote(context, endpoint, action.member)
                          : action.kind == Action::Kind::move_leader ? etcd.move_leader(context, endpoint, action.member)
                                                                     : etcd.remove(context, endpoint, action.member);
    if (done.ok()) {
      is_changed = true;
      changed_ = context.clock.steady();
      facts_.changes.push_back(
          {std::string(action.reason()), fmt::format("{}; previous members: {}", action.done(), describe(members))});
      if (action.kind != Action::Kind::add_learner) break;
      continue;
    }
    if (context.stop.stop_requested()) break;
    facts_.refused = fmt::format("{}: {}", action.doing(), done.error().message());
    if (done.error().code() != Code::unavailable && logged_refusals_.insert(facts_.refused).second)
      context.log.warn("{}", facts_.refused);
  }
  return is_changed;
}

bool MembershipObserver::defragment(const sys::Context& context, const Gateway& etcd) {
  if (context.clock.steady() < next_defragmentation_) return false;
  const std::optional<Action> action = plan_defragmentation(facts_.members, sizes_, limits_);
  if (!action) return false;
  const auto target =
      std::ranges::find_if(facts_.members, [&](const ObservedMember& it) { return it.member.id == action->member; });
  const SteadyTime begin = context.clock.steady();
  const Result<> done = etcd.defragment(context, gateway_url(host_of(target->member)));
  const SteadyTime end = context.clock.steady();
  if (done.ok()) {
    failed_defragmentations_ = 0;
    facts_.not_defragmented.clear();
    next_defragmentation_ = end + limits_.pause;
    const DatabaseSize& size = sizes_[action->member];
    facts_.changes.push_back(
        {std::string(action->reason()), fmt::format("{} in {}; it had {}, of which {} were used", action->done(),
                                                    human_duration(end - begin), human_size(size.total), human_size(size.used))});
    return true;
  }
  next_defragmentation_ = end + failed_defragmentation_pause;
  const std::string problem = fmt::format("{}: {}", action->doing(), done.error().message());
  context.log.warn("{}", problem);
  if (++failed_defragmentations_ >= most_failed_defragmentations) facts_.not_defragmented = problem;
  return false;
}

Milliseconds MembershipObserver::observe(const sys::Context& context, const net::TlsOptions& tls,
                                         const std::vector<std::string>& addresses,
                                         const std::function<MembershipInput(ObservedMembers)>& input) {
  const Gateway etcd(http_, tls);
  Result<ObservedMembers> members = read(context, etcd, addresses);
  const SteadyTime now = context.clock.steady();
  if (read_ == SteadyTime{}) read_ = changed_ = now;
  const Milliseconds unsettled_pause = now - changed_ < busy_time ? busy_pause : patient_pause;
  if (!members.ok()) {
    if (now - read_ >= unreadable_limit && facts_.unreadable.empty()) facts_.unreadable = members.error().message();
    return unsettled_pause;
  }
  read_ = now;
  facts_.unreadable.clear();
  keep_first_problems(facts_.members, members.value());
  note_silence(now, members.value());
  const MembershipInput plan_input = input(members.value());
  for (ObservedMember& it : members.value()) it.leaves = plan_input.left.contains(it.member.id);
  if (facts_.members != members.value()) changed_ = now;
  facts_.members = std::move(members).value();
  const Membership membership = plan_membership(plan_input);
  if (act(context, etcd, facts_.members, membership.actions)) return 0ms;
  if (membership.is_settled && plan_input.is_managed && plan_input.may_defragment && defragment(context, etcd)) return 0ms;
  Milliseconds pause = membership.is_settled ? idle_pause : unsettled_pause;
  if (membership.replan_at) pause = std::clamp(*membership.replan_at - plan_input.now, busy_pause, pause);
  return pause;
}

Result<> observe(const sys::Context& context, net::Http& http, View& view) {
  MembershipObserver observer(http);
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = view.changed().count();
    const Snapshot snapshot = view.snapshot();
    Milliseconds pause = idle_pause;
    const std::optional<net::TlsOptions> tls = find_client_tls(snapshot);
    if (view.is_complete() && tls) {
      const Cluster cluster = read_cluster(snapshot);
      std::vector<std::string> addresses;
      if (!cluster.bootstrap_address.empty()) addresses.push_back(cluster.bootstrap_address);
      for (const Master& master : cluster.masters) addresses.push_back(master.address);
      pause = observer.observe(context, *tls, addresses, [&](ObservedMembers members) {
        return cluster.membership(std::move(members), context.clock.now());
      });
      view.put(facts_object(observer.facts()));
    }
    if (pause == 0ms) continue;
    const SteadyTime now = context.clock.steady();
    context.clock.wait(now + pause, context.stop, &view.changed(), seen);
    // Frequent changes of the view do not shorten the pause below this.
    context.clock.wait(now + std::min(pause, busy_pause), context.stop, nullptr, 0);
  }
  return error(Code::cancelled, "stopped");
}

}  // namespace slipway::components::etcd
