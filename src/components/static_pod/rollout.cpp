#include "components/static_pod/rollout.h"

#include "components/controller/masters.h"
#include "components/controller/object_parts.h"
#include "components/static_pod/node_state.h"
#include "components/static_pod/rollout_report.h"
#include "kube/conditions.h"

#include <algorithm>
#include <iterator>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds ready_limit = 5min;
constexpr Milliseconds crash_limit = 2min;

class Rollout {
 public:
  Rollout(const Operand& operand, const Json& settings, int latest, const Snapshot& seen, WallTime now)
      : operand_(operand), settings_(settings), seen_(seen), now_(now), latest_(latest) {
    Masters masters = find_masters(seen, settings);
    nodes_ = read_nodes(operand, settings, masters.nodes, seen, now);
    state_.conditions = std::move(masters.conditions);
    published_before_ = integer_of(settings, {"status", "latestAvailableRevision"});
    // Publish only after every node has its entry. Otherwise a node that lost its entry while its pod runs would count as a node
    // without a revision.
    const bool all_known = std::none_of(nodes_.begin(), nodes_.end(), [](const NodeState& node) { return node.is_new; });
    state_.published = all_known ? std::max(latest, published_before_) : published_before_;
    const Json* missing = kube::find_condition(settings, missing_pod);
    if (missing && find_string(*missing, {"status"}) == "True") missing_since_ = time_of(*missing, {"lastTransitionTime"});
  }

  RolloutState run(const std::vector<std::string>& missing, const RolloutGuard& rollout_guard) {
    for (NodeState& node : nodes_) record_ready_revision(node);
    if (latest_ > 0) {
      for (NodeState& node : nodes_) advance(node);
      start_next(rollout_guard);
    }
    const RolloutProgress progress{.operand = operand_,
                                   .settings = settings_,
                                   .nodes = nodes_,
                                   .latest = latest_,
                                   .published_before = published_before_,
                                   .published = state_.published,
                                   .missing = missing,
                                   .hold_reason = hold_reason_};
    state_.notices = rollout_notices(progress);
    std::ranges::move(rollout_conditions(progress), std::back_inserter(state_.conditions));
    for (const NodeState& node : nodes_) {
      state_.nodes.push_back(node.status);
      if (node.pod.is_ready && node.pod.revision > 0) ++state_.ready_replicas;
    }
    state_.is_complete = latest_ > 0 && !nodes_.empty() && count_at_latest(progress) == nodes_.size();
    return std::move(state_);
  }

 private:
  // A ready pod shows the current revision of its node. When this plan publishes a revision, a node without a revision keeps the
  // one that it runs: its installer does not know the new one yet.
  void record_ready_revision(NodeState& node) {
    NodeStatus& status = node.status;
    if (node.is_new || !node.pod.is_ready) return;
    const int running = node.pod.revision;
    if (status.current == 0) {
      const bool is_adopted = running == latest_ || (published_before_ < latest_ && running < latest_);
      if (running > 0 && is_adopted) status.current = running;
    } else if (status.target > 0 && running == status.target) {
      status.current = std::max(status.current, status.target);
      status.target = 0;
    }
    if (status.current == node.before.current && status.target == node.before.target) return;
    has_recorded_ = true;
    if (status.current >= status.last_failed) {
      status = {.node = status.node, .current = status.current, .target = status.target};
    }
  }

  // Continues the rollout on a node: has it failed, is it overdue, is there a newer revision.
  void advance(NodeState& node) {
    NodeStatus& status = node.status;
    if (status.current == 0) {
      const bool is_reported = node.has_failed(latest_);
      if (!node.is_new && !node.is_unreachable && !is_reported && state_.published == latest_) fail_if_overdue(node, latest_);
      return;
    }
    if (status.target == 0) return;
    if (status.current >= latest_) {
      status.target = 0;
      return;
    }
    if (node.has_failed(latest_) && now_ < retry_time(status)) {
      roll_back(node);
    } else if (node.has_failed(latest_) && status.target == status.current) {
      // The previous revision does not become ready either, so the newer one is tried again.
      if (is_overdue(node, status.current)) status.target = latest_;
    } else {
      const bool is_newer = status.target != latest_;
      status.target = latest_;
      if (!is_newer && fail_if_overdue(node, latest_)) roll_back(node);
    }
  }

  void roll_back(NodeState& node) {
    NodeStatus& status = node.status;
    const bool is_back = node.pod.is_ready && node.pod.revision == status.current;
    status.target = is_back ? 0 : status.current;
    replan_by(retry_time(status));
  }

  // When the wait for the pod of a revision ends.
  WallTime deadline(const NodeState& node, int revision) const {
    const bool exists = node.pod.revision == revision;
    WallTime since = exists ? node.pod.not_ready_since : missing_since_.value_or(now_);
    const Result<WallTime> failed = parse_rfc3339(node.status.last_failed_time);
    if (failed.ok()) since = std::max(since, failed.value());
    return since + (exists && node.pod.is_crash_looping ? crash_limit : ready_limit);
  }

  bool is_overdue(const NodeState& node, int revision) {
    if (node.pod.is_ready && node.pod.revision == revision) return false;
    const WallTime end = deadline(node, revision);
    if (now_ < end) replan_by(end);
    return now_ >= end;
  }

  // Records a failure if the revision is overdue. returns: whether it is
  bool fail_if_overdue(NodeState& node, int revision) {
    if (!is_overdue(node, revision)) return false;
    NodeStatus& status = node.status;
    const bool exists = node.pod.revision == revision;
    const bool is_crashing = exists && node.pod.is_crash_looping;
    const std::string problem = exists && !node.pod.problem.empty() ? ": " + node.pod.problem : "";
    status.last_failed_count = status.last_failed == revision ? status.last_failed_count + 1 : 1;
    status.last_failed = revision;
    status.last_failed_reason = exists ? "PodNotReady" : "PodMissing";
    status.last_failed_errors = {exists ? fmt::format("pod {}-{} was not Ready for {}{}", operand_.pod, status.node,
                                                      human_duration(is_crashing ? crash_limit : ready_limit), problem)
                                        : fmt::format("pod {}-{} of revision {} did not exist for {}", operand_.pod, status.node,
                                                      revision, human_duration(ready_limit))};
    status.last_failed_time = to_rfc3339(std::chrono::floor<Seconds>(now_));
    return true;
  }

  void start_next(const RolloutGuard& rollout_guard) {
    // One step at a time: a finished rollout is written to the status before the next one starts.
    if (has_recorded_ || state_.published != latest_) return;
    std::vector<NodeState*> candidates;
    bool has_failed = false;
    for (NodeState& node : nodes_) {
      if (node.status.target > 0) return;
      if (node.status.current == 0) {
        if (!node.is_unreachable) return;
      } else if (node.status.current < latest_) {
        candidates.push_back(&node);
        has_failed = has_failed || node.has_failed(latest_);
      }
    }
    if (has_failed) std::erase_if(candidates, [&](const NodeState* node) { return !node->has_failed(latest_); });
    std::stable_sort(candidates.begin(), candidates.end(), [](const NodeState* a, const NodeState* b) {
      return std::pair(a->pod.is_ready, a->status.current) < std::pair(b->pod.is_ready, b->status.current);
    });
    for (NodeState* node : candidates) {
      const std::optional<std::string> reason = reason_to_wait(*node, rollout_guard);
      if (!reason) {
        node->status.target = latest_;
        hold_reason_.clear();
        return;
      }
      if (hold_reason_.empty()) hold_reason_ = *reason;
    }
  }

  std::optional<std::string> reason_to_wait(const NodeState& node, const RolloutGuard& rollout_guard) {
    const NodeStatus& status = node.status;
    if (node.has_failed(latest_) && now_ < retry_time(status)) {
      replan_by(retry_time(status));
      return fmt::format("revision {} failed on {}", latest_, status.node);
    }
    if (node.is_unreachable) return fmt::format("the kubelet of {} does not report its status", status.node);
    if (node.pod.is_ready) {
      for (const NodeState& other : nodes_) {
        if (&other == &node || other.is_unreachable || other.status.current == 0 || other.pod.is_ready) continue;
        return fmt::format("pod {}-{} is not Ready", operand_.pod, other.status.node);
      }
    }
    if (!rollout_guard) return {};
    std::optional<Objection> objection = rollout_guard(seen_, status.node, now_);
    if (!objection) return {};
    if (objection->until) replan_by(*objection->until);
    return std::move(objection->reason);
  }

  void replan_by(WallTime when) {
    if (when > now_ && (!state_.replan_at || when < *state_.replan_at)) state_.replan_at = when;
  }

  const Operand& operand_;
  const Json& settings_;
  const Snapshot& seen_;
  const WallTime now_;
  const int latest_;
  int published_before_ = 0;
  std::vector<NodeState> nodes_;
  std::optional<WallTime> missing_since_;
  bool has_recorded_ = false;
  std::string hold_reason_;
  RolloutState state_;
};

}  // namespace

RolloutState plan_rollout(const Operand& operand, const Json& settings, int latest, const std::vector<std::string>& missing,
                          const Snapshot& seen, const RolloutGuard& rollout_guard, WallTime now) {
  return Rollout(operand, settings, latest, seen, now).run(missing, rollout_guard);
}

}  // namespace slipway::components
