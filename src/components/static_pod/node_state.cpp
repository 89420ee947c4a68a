#include "components/static_pod/node_state.h"

#include "base/number.h"
#include "components/controller/object_parts.h"
#include "kube/conditions.h"

#include <algorithm>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds first_pause = 10s;
constexpr Milliseconds longest_pause = 10min;
constexpr int crash_loop_restarts = 2;

// Empty if a container has no problem. The message of a back-off is left out, because it changes with every attempt.
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

PodState read_pod(const Operand& operand, const std::string& node, const Snapshot& seen, WallTime now) {
  const Json* object = seen.find(kube::types::pods, operand.space, fmt::format("{}-{}", operand.pod, node));
  if (object == nullptr) return {};
  PodState pod;
  pod.revision = parse_number<int>(text_of(*object, {"metadata", "labels", "revision"})).value_or(0);
  pod.is_ready = kube::condition_status(*object, "Ready") == "True" && !find(*object, {"metadata", "deletionTimestamp"});
  const Json* ready = kube::find_condition(*object, "Ready");
  std::optional<WallTime> since = ready ? time_of(*ready, {"lastTransitionTime"}) : std::nullopt;
  if (!since) since = time_of(*object, {"status", "startTime"});
  if (!since) since = time_of(*object, {"metadata", "creationTimestamp"});
  pod.not_ready_since = since.value_or(now);
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : find_array(*object, {"status", list})) {
      if (pod.problem.empty()) pod.problem = problem_of_container(container);
      if (find_string(container, {"state", "waiting", "reason"}) == "CrashLoopBackOff" ||
          integer_of(container, {"restartCount"}) >= crash_loop_restarts) {
        pod.is_crash_looping = true;
      }
    }
  }
  return pod;
}

}  // namespace

std::vector<NodeState> read_nodes(const Operand& operand, const Json& settings, const std::vector<const Json*>& masters,
                                  const Snapshot& seen, WallTime now) {
  const std::vector<NodeStatus> known = parse_node_statuses(settings);
  std::vector<NodeState> nodes;
  for (const Json* master : masters) {
    NodeState node;
    node.before.node = kube::name_of(*master);
    const auto entry =
        std::find_if(known.begin(), known.end(), [&](const NodeStatus& status) { return status.node == node.before.node; });
    node.is_new = entry == known.end();
    if (!node.is_new) node.before = *entry;
    node.status = node.before;
    if (kube::condition_status(*master, "Ready") != "True") {
      const Json* ready = kube::find_condition(*master, "Ready");
      const std::string reason = ready ? text_of(*ready, {"reason"}) : "";
      node.problem = fmt::format("node {} is not Ready ({})", node.status.node, reason.empty() ? "no status yet" : reason);
      // A kubelet itself reports False, for example while the pod network is missing.
      node.is_unreachable = ready && find_string(*ready, {"status"}) == "Unknown";
    }
    node.pod = read_pod(operand, node.status.node, seen, now);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Milliseconds retry_pause(int failures) {
  Milliseconds pause = first_pause;
  for (int i = 1; i < failures && pause < longest_pause; ++i) pause = pause * 3 / 2;
  return std::min(pause, longest_pause);
}

WallTime retry_time(const NodeStatus& status) {
  const Result<WallTime> failed = parse_rfc3339(status.last_failed_time);
  return (failed.ok() ? failed.value() : WallTime{}) + retry_pause(status.last_failed_count);
}

}  // namespace slipway::components
