#include "components/static_pod/rollout.h"

#include "base/number.h"
#include "base/text.h"
#include "components/controller/masters.h"
#include "kube/conditions.h"
#include "kube/roles.h"

#include <algorithm>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds ready_limit = 5min;
constexpr Milliseconds ending_limit = 2min;
constexpr Milliseconds first_pause = 10s;
constexpr Milliseconds longest_pause = 10min;
constexpr int restarts_of_one_that_keeps_ending = 2;
// True while a pod is waited for; since when, its lastTransitionTime remembers.
constexpr std::string_view missing_pod = "MissingStaticPodControllerDegraded";

struct Pod {
  int revision = 0;  // 0: there is no pod
  bool is_ready = false;
  bool keeps_ending = false;
  WallTime since{};       // not ready since
  std::string problem{};  // "container etcd: CrashLoopBackOff"
};

struct Member {
  NodeStatus status;
  NodeStatus before;
  bool is_new = false;     // has no entry yet
  bool is_silent = false;  // its kubelet
  std::string problem{};   // of the node
  Pod pod{};

  bool is_at(int revision) const { return status.current == revision && status.target == 0; }
  bool has_failed(int revision) const { return status.last_failed == revision && status.current != revision; }
};

std::optional<WallTime> time_of(const Json& value, std::initializer_list<std::string_view> keys) {
  const Result<WallTime> time = parse_rfc3339(find_string(value, keys).value_or(""));
  return time.ok() ? std::optional(time.value()) : std::nullopt;
}

// Empty when a container has nothing to complain about. Back-off messages change with every try and say nothing more.
std::string problem_of_container(const Json& container) {
  const std::string name = text_of(container, {"name"});
  const std::string reason = text_of(container, {"state", "waiting", "reason"});
  const std::string message = text_of(container, {"state", "waiting", "message"});
  if (reason == "CrashLoopBackOff") {
    const Json* code = find(container, {"lastState", "terminated", "exitCode"});
    return fmt::format("container {} keeps crashing{}", name,
                       code ? fmt::format(" with exit code {}", emit_json(*code, JsonStyle::compact)) : "");
  }
  if (!reason.empty() && reason != "PodInitializing" && reason != "ContainerCreating") {
    return fmt::format("container {}: {}{}", name, reason, message.empty() ? "" : ": " + message);
  }
  if (find(container, {"state", "terminated"}) && integer_of(container, {"state", "terminated", "exitCode"}) != 0) {
    return fmt::format("container {} ended with exit code {}", name, integer_of(container, {"state", "terminated", "exitCode"}));
  }
  return "";
}

Pod look_at_pod(const Operand& operand, const std::string& node, const Snapshot& seen, WallTime now) {
  const Json* object = seen.find(kube::types::pods, operand.space, fmt::format("{}-{}", operand.pod, node));
  if (object == nullptr) return {};
  Pod pod;
  pod.revision = parse_number<int>(text_of(*object, {"metadata", "labels", "revision"})).value_or(0);
  pod.is_ready = kube::condition_status(*object, "Ready") == "True" && !find(*object, {"metadata", "deletionTimestamp"});
  const Json* ready = kube::find_condition(*object, "Ready");
  std::optional<WallTime> since = ready ? time_of(*ready, {"lastTransitionTime"}) : std::nullopt;
  if (!since) since = time_of(*object, {"status", "startTime"});
  if (!since) since = time_of(*object, {"metadata", "creationTimestamp"});
  pod.since = since.value_or(now);
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : find_array(*object, {"status", list})) {
      if (pod.problem.empty()) pod.problem = problem_of_container(container);
      if (find_string(container, {"state", "waiting", "reason"}) == "CrashLoopBackOff" ||
          integer_of(container, {"restartCount"}) >= restarts_of_one_that_keeps_ending) {
        pod.keeps_ending = true;
      }
    }
  }
  return pod;
}

std::vector<Member> members_of(const Operand& operand, const Json& settings, const std::vector<const Json*>& masters,
                               const Snapshot& seen, WallTime now) {
  const std::vector<NodeStatus> known = parse_node_statuses(settings);
  std::vector<Member> members;
  for (const Json* node : masters) {
    Member member;
    member.before.node = kube::name_of(*node);
    const auto entry =
        std::find_if(known.begin(), known.end(), [&](const NodeStatus& status) { return status.node == member.before.node; });
    member.is_new = entry == known.end();
    if (!member.is_new) member.before = *entry;
    member.status = member.before;
    if (kube::condition_status(*node, "Ready") != "True") {
      const Json* ready = kube::find_condition(*node, "Ready");
      const std::string reason = ready ? text_of(*ready, {"reason"}) : "";
      member.problem = fmt::format("node {} is not Ready ({})", member.status.node, reason.empty() ? "no status yet" : reason);
      // False is what a kubelet says itself, when the pod network is not there yet for example.
      member.is_silent = ready && find_string(*ready, {"status"}) == "Unknown";
    }
    member.pod = look_at_pod(operand, member.status.node, seen, now);
    members.push_back(std::move(member));
  }
  return members;
}

Milliseconds pause_after(int failures) {
  Milliseconds pause = first_pause;
  for (int i = 1; i < failures && pause < longest_pause; ++i) pause = pause * 3 / 2;
  return std::min(pause, longest_pause);
}

std::vector<std::string> names_of(const std::vector<const Member*>& members) {
  std::vector<std::string> names;
  for (const Member* member : members) names.push_back(member->status.node);
  return names;
}

class Rollout {
 public:
  Rollout(const Operand& operand, const Json& settings, int latest, const Snapshot& seen, WallTime now)
      : operand_(operand), settings_(settings), seen_(seen), now_(now), latest_(latest) {
    Masters masters = find_masters(seen, settings);
    members_ = members_of(operand, settings, masters.nodes, seen, now);
    state_.conditions = std::move(masters.conditions);
    published_before_ = integer_of(settings, {"status", "latestAvailableRevision"});
    // Not before every node has its entry: one that lost it, with its pod running, would be taken for a node without a revision.
    const bool all_known = std::none_of(members_.begin(), members_.end(), [](const Member& member) { return member.is_new; });
    state_.published = all_known ? std::max(latest, published_before_) : published_before_;
    const Json* missing = kube::find_condition(settings, missing_pod);
    if (missing && find_string(*missing, {"status"}) == "True") missing_since_ = time_of(*missing, {"lastTransitionTime"});
  }

  RolloutState run(const std::vector<std::string>& missing, const HoldBack& hold_back) {
    for (Member& member : members_) settle(member);
    if (latest_ > 0) {
      for (Member& member : members_) judge(member);
      start_next(hold_back);
    }
    tell_notices();
    tell_conditions(missing);
    for (const Member& member : members_) {
      state_.nodes.push_back(member.status);
      if (member.pod.is_ready && member.pod.revision > 0) ++state_.ready_replicas;
    }
    state_.is_complete = latest_ > 0 && !members_.empty() && count_at_latest() == members_.size();
    return std::move(state_);
  }

 private:
  // A pod that is ready is what its node has now. In the moment in which a revision is published, nodes that were without one
  // keep what they run: their installers do not know better yet.
  void settle(Member& member) {
    NodeStatus& status = member.status;
    if (member.is_new || !member.pod.is_ready) return;
    const int running = member.pod.revision;
    if (status.current == 0) {
      const bool is_adopted = running == latest_ || (published_before_ < latest_ && running < latest_);
      if (running > 0 && is_adopted) status.current = running;
    } else if (status.target > 0 && running == status.target) {
      status.current = std::max(status.current, status.target);
      status.target = 0;
    }
    if (status.current == member.before.current && status.target == member.before.target) return;
    has_settled_ = true;
    if (status.current >= status.last_failed) {
      status = {.node = status.node, .current = status.current, .target = status.target};
    }
  }

  // What is under way on a node: did it fail, is its time over, is there a newer revision.
  void judge(Member& member) {
    NodeStatus& status = member.status;
    if (status.current == 0) {
      const bool is_told = member.has_failed(latest_);
      if (!member.is_new && !member.is_silent && !is_told && state_.published == latest_) judge_time(member, latest_);
      return;
    }
    if (status.target == 0) return;
    if (status.current >= latest_) {
      status.target = 0;
      return;
    }
    if (member.has_failed(latest_) && now_ < retry_time(status)) {
      go_back(member);
    } else if (member.has_failed(latest_) && status.target == status.current) {
      // Back to what does not become ready either: then the newer one has another chance.
      if (is_time_over(member, status.current)) status.target = latest_;
    } else {
      const bool is_newer = status.target != latest_;
      status.target = latest_;
      if (!is_newer && judge_time(member, latest_)) go_back(member);
    }
  }

  void go_back(Member& member) {
    NodeStatus& status = member.status;
    const bool is_back = member.pod.is_ready && member.pod.revision == status.current;
    status.target = is_back ? 0 : status.current;
    ask_again(retry_time(status));
  }

  // Since when a pod of a revision is waited for, and for how long.
  WallTime deadline(const Member& member, int revision) const {
    const bool is_there = member.pod.revision == revision;
    WallTime since = is_there ? member.pod.since : missing_since_.value_or(now_);
    const Result<WallTime> failed = parse_rfc3339(member.status.last_failed_time);
    if (failed.ok()) since = std::max(since, failed.value());
    return since + (is_there && member.pod.keeps_ending ? ending_limit : ready_limit);
  }

  bool is_time_over(const Member& member, int revision) {
    if (member.pod.is_ready && member.pod.revision == revision) return false;
    const WallTime end = deadline(member, revision);
    if (now_ < end) ask_again(end);
    return now_ >= end;
  }

  // Whether a node failed just now.
  bool judge_time(Member& member, int revision) {
    if (!is_time_over(member, revision)) return false;
    NodeStatus& status = member.status;
    const bool is_there = member.pod.revision == revision;
    const bool is_ending = is_there && member.pod.keeps_ending;
    const std::string problem = is_there && !member.pod.problem.empty() ? ": " + member.pod.problem : "";
    status.last_failed_count = status.last_failed == revision ? status.last_failed_count + 1 : 1;
    status.last_failed = revision;
    status.last_failed_reason = is_there ? "PodNotReady" : "PodMissing";
    status.last_failed_errors = {is_there ? fmt::format("pod {}-{} was not Ready for {}{}", operand_.pod, status.node,
                                                        human_duration(is_ending ? ending_limit : ready_limit), problem)
                                          : fmt::format("pod {}-{} of revision {} did not exist for {}", operand_.pod,
                                                        status.node, revision, human_duration(ready_limit))};
    status.last_failed_time = to_rfc3339(std::chrono::floor<Seconds>(now_));
    return true;
  }

  WallTime retry_time(const NodeStatus& status) const {
    const Result<WallTime> failed = parse_rfc3339(status.last_failed_time);
    return (failed.ok() ? failed.value() : WallTime{}) + pause_after(status.last_failed_count);
  }

  void start_next(const HoldBack& hold_back) {
    // One step at a time: what has ended is written down before something else begins.
    if (has_settled_ || state_.published != latest_) return;
    std::vector<Member*> candidates;
    bool has_failed = false;
    for (Member& member : members_) {
      if (member.status.target > 0) return;
      if (member.status.current == 0) {
        if (!member.is_silent) return;
      } else if (member.status.current < latest_) {
        candidates.push_back(&member);
        has_failed = has_failed || member.has_failed(latest_);
      }
    }
    if (has_failed) std::erase_if(candidates, [&](const Member* member) { return !member->has_failed(latest_); });
    std::stable_sort(candidates.begin(), candidates.end(), [](const Member* a, const Member* b) {
      return std::pair(a->pod.is_ready, a->status.current) < std::pair(b->pod.is_ready, b->status.current);
    });
    for (Member* member : candidates) {
      const std::optional<std::string> reason = why_not(*member, hold_back);
      if (!reason) {
        member->status.target = latest_;
        held_.clear();
        return;
      }
      if (held_.empty()) held_ = *reason;
    }
  }

  std::optional<std::string> why_not(const Member& member, const HoldBack& hold_back) {
    const NodeStatus& status = member.status;
    if (member.has_failed(latest_) && now_ < retry_time(status)) {
      ask_again(retry_time(status));
      return fmt::format("revision {} failed on {}", latest_, status.node);
    }
    if (member.is_silent) return fmt::format("the kubelet of {} does not report its status", status.node);
    if (member.pod.is_ready) {
      for (const Member& other : members_) {
        if (&other == &member || other.is_silent || other.status.current == 0 || other.pod.is_ready) continue;
        return fmt::format("pod {}-{} is not Ready", operand_.pod, other.status.node);
      }
    }
    return hold_back ? hold_back(seen_, status.node) : std::nullopt;
  }

  void tell(std::string reason, std::string message, bool is_warning = false) {
    state_.notices.push_back({settings_, std::move(reason), std::move(message), is_warning});
  }

  void tell_notices() {
    std::vector<const Member*> targeted;
    for (const Member& member : members_) {
      const NodeStatus& status = member.status;
      const bool is_first =
          status.current == 0 && latest_ > 0 && state_.published == latest_ && (published_before_ < latest_ || member.is_new);
      const bool is_next = status.target == latest_ && member.before.target != latest_ && status.target > 0;
      if (is_first || is_next) targeted.push_back(&member);
      if (status.current != member.before.current) {
        tell("NodeRevisionReady", fmt::format("{} revision {} is Ready on {}", operand_.name, status.current, status.node));
      }
      if (latest_ > 0 && member.has_failed(latest_)) {
        const std::string what =
            status.last_failed_errors.empty() ? status.last_failed_reason : join(status.last_failed_errors, "; ");
        const std::string next = status.current > 0
                                     ? fmt::format("; rolling back to revision {}, retrying after {}", status.current,
                                                   human_duration(pause_after(status.last_failed_count)))
                                     : "";
        tell("NodeRevisionFailed",
             fmt::format("{} revision {} failed on {} at attempt {}: {}{}", operand_.name, latest_, status.node,
                         status.last_failed_count, what, next),
             true);
      }
    }
    if (!targeted.empty()) {
      tell("NodeTargeted",
           fmt::format("{} revision {} is rolled out to {}", operand_.name, latest_, join(names_of(targeted), ", ")));
    }
  }

  // What is going on at a node; empty when it has the latest.
  std::string doing(const Member& member) const {
    const NodeStatus& status = member.status;
    if (member.is_at(latest_)) return "";
    if (member.is_silent) return "kubelet does not report its status";
    if (status.current > 0 && member.has_failed(latest_)) {
      if (status.target == status.current) return fmt::format("rolling back to revision {}", status.current);
      if (status.target == 0) {
        return fmt::format("revision {} failed, next attempt at {}", latest_, to_rfc3339(retry_time(status)));
      }
    }
    if (status.current > 0 && status.target == 0) return fmt::format("still at revision {}", status.current);
    return member.pod.revision == latest_ ? "pod not Ready" : "no pod of this revision yet";
  }

  std::size_t count_at_latest() const {
    return std::count_if(members_.begin(), members_.end(), [this](const Member& member) { return member.is_at(latest_); });
  }

  Condition progressing(const std::vector<std::string>& missing) const {
    Condition condition{.type = "NodeInstallerProgressing", .is_true = true};
    if (members_.empty()) {
      condition.reason = "NoNodes";
      condition.message = fmt::format("no node has label {} yet", kube::master_label);
    } else if (latest_ == 0) {
      condition.reason = "NoRevision";
      condition.message = missing.empty() ? "creating the first revision" : "no revision yet; missing: " + join(missing, ", ");
    } else if (count_at_latest() == members_.size()) {
      condition = {.type = condition.type,
                   .reason = "AllNodesAtLatestRevision",
                   .message = fmt::format("{} of {} nodes at revision {}", members_.size(), members_.size(), latest_)};
    } else {
      condition.reason = "RollingOut";
      condition.message = fmt::format("{} of {} nodes at revision {}", count_at_latest(), members_.size(), latest_);
      for (const Member& member : members_) {
        if (const std::string what = doing(member); !what.empty()) {
          condition.message += fmt::format("; {}: {}", member.status.node, what);
        }
      }
      if (!held_.empty()) condition.message += "; held: " + held_;
    }
    return condition;
  }

  void tell_bad(std::string_view type, std::string_view reason, const std::vector<std::string>& problems) {
    Condition condition{.type = std::string(type), .is_true = !problems.empty()};
    if (condition.is_true) {
      condition.reason = reason;
      condition.message = join(problems, "; ");
    }
    state_.conditions.push_back(std::move(condition));
  }

  void tell_conditions(const std::vector<std::string>& missing) {
    std::vector<std::string> failed, nodes, pods, waited_for;
    std::size_t ready = 0;
    for (const Member& member : members_) {
      const NodeStatus& status = member.status;
      if (status.last_failed > status.current) {
        failed.push_back(
            fmt::format("{}: revision {}: {}", status.node, status.last_failed,
                        status.last_failed_errors.empty() ? status.last_failed_reason : join(status.last_failed_errors, ", ")));
      }
      if (!member.problem.empty()) nodes.push_back(member.problem);
      if (member.pod.is_ready) ++ready;
      const bool is_idle = status.current > 0 && status.target == 0;
      if (const std::string problem = pod_problem(member, is_idle); !problem.empty()) pods.push_back(problem);
      const int wanted = status.target > 0 ? status.target : status.current == 0 && state_.published == latest_ ? latest_ : 0;
      if (wanted > 0 && !member.is_silent && member.pod.revision != wanted) {
        waited_for.push_back(fmt::format("node {} has no pod of revision {} yet", status.node, wanted));
      }
    }
    state_.conditions.push_back(progressing(missing));
    tell_bad("NodeInstallerDegraded", "RevisionFailed", failed);
    state_.conditions.push_back({.type = "StaticPodsAvailable",
                                 .is_true = ready > 0,
                                 .reason = ready > 0 ? "AsExpected" : "NoPodReady",
                                 .message = fmt::format("{} of {} pods are Ready", ready, members_.size())});
    tell_bad("StaticPodsDegraded", "PodsNotReady", pods);
    tell_bad("NodeControllerDegraded", "NodesNotReady", nodes);
    tell_bad("InstallerControllerDegraded", "MissingInputs", missing);
    if (!waited_for.empty()) waited_for.push_back("DaemonSet openshift-static-pod-installer/installer installs it");
    tell_bad(missing_pod, "PodsMissing", waited_for);
  }

  // Empty when it is as it should be. While a revision is on its way to the node its pod may be gone for a moment.
  std::string pod_problem(const Member& member, bool is_idle) const {
    const Pod& pod = member.pod;
    const std::string name = fmt::format("pod {}-{}", operand_.pod, member.status.node);
    if (pod.is_ready || (!is_idle && !pod.keeps_ending)) return "";
    if (pod.revision == 0) return name + " does not exist";
    return fmt::format("{} is not Ready{}", name, pod.problem.empty() ? "" : ": " + pod.problem);
  }

  void ask_again(WallTime when) {
    if (when > now_ && (!state_.again || when < *state_.again)) state_.again = when;
  }

  const Operand& operand_;
  const Json& settings_;
  const Snapshot& seen_;
  const WallTime now_;
  const int latest_;
  int published_before_ = 0;
  std::vector<Member> members_;
  std::optional<WallTime> missing_since_;
  bool has_settled_ = false;
  std::string held_;
  RolloutState state_;
};

}  // namespace

RolloutState plan_rollout(const Operand& operand, const Json& settings, int latest, const std::vector<std::string>& missing,
                          const Snapshot& seen, const HoldBack& hold_back, WallTime now) {
  return Rollout(operand, settings, latest, seen, now).run(missing, hold_back);
}

}  // namespace slipway::components
