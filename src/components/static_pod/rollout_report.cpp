#include "components/static_pod/rollout_report.h"

#include "base/text.h"
#include "kube/roles.h"

#include <algorithm>

namespace slipway::components {

namespace {

std::vector<std::string> names_of(const std::vector<const NodeState*>& nodes) {
  std::vector<std::string> names;
  for (const NodeState* node : nodes) names.push_back(node->status.node);
  return names;
}

// What a node is doing or waiting for. Empty if it runs the latest revision.
std::string activity_of(const RolloutProgress& progress, const NodeState& node) {
  const NodeStatus& status = node.status;
  if (node.is_at(progress.latest)) return "";
  if (node.is_unreachable) return "kubelet does not report its status";
  if (status.current > 0 && node.has_failed(progress.latest)) {
    if (status.target == status.current) return fmt::format("rolling back to revision {}", status.current);
    if (status.target == 0) {
      return fmt::format("revision {} failed, next attempt at {}", progress.latest, to_rfc3339(retry_time(status)));
    }
  }
  if (status.current > 0 && status.target == 0) return fmt::format("still at revision {}", status.current);
  return node.pod.revision == progress.latest ? "pod not Ready" : "no pod of this revision yet";
}

Condition progressing(const RolloutProgress& progress) {
  Condition condition{.type = "NodeInstallerProgressing", .is_true = true};
  if (progress.nodes.empty()) {
    condition.reason = "NoNodes";
    condition.message = fmt::format("no node has label {} yet", kube::master_label);
  } else if (progress.latest == 0) {
    condition.reason = "NoRevision";
    condition.message =
        progress.missing.empty() ? "creating the first revision" : "no revision yet; missing: " + join(progress.missing, ", ");
  } else if (count_at_latest(progress) == progress.nodes.size()) {
    condition = {
        .type = condition.type,
        .reason = "AllNodesAtLatestRevision",
        .message = fmt::format("{} of {} nodes at revision {}", progress.nodes.size(), progress.nodes.size(), progress.latest)};
  } else {
    condition.reason = "RollingOut";
    condition.message =
        fmt::format("{} of {} nodes at revision {}", count_at_latest(progress), progress.nodes.size(), progress.latest);
    for (const NodeState& node : progress.nodes) {
      if (const std::string text = activity_of(progress, node); !text.empty()) {
        condition.message += fmt::format("; {}: {}", node.status.node, text);
      }
    }
    if (!progress.hold_reason.empty()) condition.message += "; held: " + progress.hold_reason;
  }
  return condition;
}

Condition bad_condition(std::string_view type, std::string_view reason, const std::vector<std::string>& problems) {
  Condition condition{.type = std::string(type), .is_true = !problems.empty()};
  if (condition.is_true) {
    condition.reason = reason;
    condition.message = join(problems, "; ");
  }
  return condition;
}

// Empty if the pod is as it should be. While the node changes its revision, the pod may be missing for a moment.
std::string pod_problem(const Operand& operand, const NodeState& node, bool is_idle) {
  const PodState& pod = node.pod;
  const std::string name = fmt::format("pod {}-{}", operand.pod, node.status.node);
  if (pod.is_ready || (!is_idle && !pod.is_crash_looping)) return "";
  if (pod.revision == 0) return name + " does not exist";
  return fmt::format("{} is not Ready{}", name, pod.problem.empty() ? "" : ": " + pod.problem);
}

}  // namespace

std::size_t count_at_latest(const RolloutProgress& progress) {
  return std::ranges::count_if(progress.nodes, [&](const NodeState& node) { return node.is_at(progress.latest); });
}

std::vector<Notice> rollout_notices(const RolloutProgress& progress) {
  std::vector<Notice> notices;
  const auto add = [&](std::string reason, std::string message, bool is_warning = false) {
    notices.push_back({progress.settings, std::move(reason), std::move(message), is_warning});
  };
  std::vector<const NodeState*> targeted;
  for (const NodeState& node : progress.nodes) {
    const NodeStatus& status = node.status;
    const bool is_first = status.current == 0 && progress.latest > 0 && progress.published == progress.latest &&
                          (progress.published_before < progress.latest || node.is_new);
    const bool is_next = status.target == progress.latest && node.before.target != progress.latest && status.target > 0;
    if (is_first || is_next) targeted.push_back(&node);
    if (status.current != node.before.current) {
      add("NodeRevisionReady", fmt::format("{} revision {} is Ready on {}", progress.operand.name, status.current, status.node));
    }
    if (progress.latest > 0 && node.has_failed(progress.latest)) {
      const std::string text =
          status.last_failed_errors.empty() ? status.last_failed_reason : join(status.last_failed_errors, "; ");
      const std::string next = status.current > 0
                                   ? fmt::format("; rolling back to revision {}, retrying after {}", status.current,
                                                 human_duration(retry_pause(status.last_failed_count)))
                                   : "";
      add("NodeRevisionFailed",
          fmt::format("{} revision {} failed on {} at attempt {}: {}{}", progress.operand.name, progress.latest, status.node,
                      status.last_failed_count, text, next),
          true);
    }
  }
  if (!targeted.empty()) {
    add("NodeTargeted", fmt::format("{} revision {} is rolled out to {}", progress.operand.name, progress.latest,
                                    join(names_of(targeted), ", ")));
  }
  return notices;
}

std::vector<Condition> rollout_conditions(const RolloutProgress& progress) {
  std::vector<Condition> conditions;
  std::vector<std::string> failed, nodes, pods, waited_for;
  std::size_t ready = 0;
  for (const NodeState& node : progress.nodes) {
    const NodeStatus& status = node.status;
    if (status.last_failed > status.current) {
      failed.push_back(
          fmt::format("{}: revision {}: {}", status.node, status.last_failed,
                      status.last_failed_errors.empty() ? status.last_failed_reason : join(status.last_failed_errors, ", ")));
    }
    if (!node.problem.empty()) nodes.push_back(node.problem);
    if (node.pod.is_ready) ++ready;
    const bool is_idle = status.current > 0 && status.target == 0;
    if (const std::string problem = pod_problem(progress.operand, node, is_idle); !problem.empty()) pods.push_back(problem);
    const int wanted = status.target > 0                                              ? status.target
                       : status.current == 0 && progress.published == progress.latest ? progress.latest
                                                                                      : 0;
    if (wanted > 0 && !node.is_unreachable && node.pod.revision != wanted) {
      waited_for.push_back(fmt::format("node {} has no pod of revision {} yet", status.node, wanted));
    }
  }
  conditions.push_back(progressing(progress));
  conditions.push_back(bad_condition("NodeInstallerDegraded", "RevisionFailed", failed));
  conditions.push_back({.type = "StaticPodsAvailable",
                        .is_true = ready > 0,
                        .reason = ready > 0 ? "AsExpected" : "NoPodReady",
                        .message = fmt::format("{} of {} pods are Ready", ready, progress.nodes.size())});
  conditions.push_back(bad_condition("StaticPodsDegraded", "PodsNotReady", pods));
  conditions.push_back(bad_condition("NodeControllerDegraded", "NodesNotReady", nodes));
  conditions.push_back(bad_condition("InstallerControllerDegraded", "MissingInputs", progress.missing));
  if (!waited_for.empty()) waited_for.push_back("DaemonSet openshift-static-pod-installer/installer installs it");
  conditions.push_back(bad_condition(missing_pod, "PodsMissing", waited_for));
  return conditions;
}

}  // namespace slipway::components
