#include "components/workload/workload.h"

#include "base/text.h"
#include "components/controller/operand.h"

namespace slipway::components {

namespace {

// Numbers of pods, from the status of a Deployment or DaemonSet.
struct Pods {
  int wanted = 0;
  int updated = 0;    // of the newest spec
  int available = 0;  // of any spec
  int old = 0;        // of previous specs; these may be the available ones
};

Pods pods_of(const Json& workload) {
  if (find_string(workload, {"kind"}) == kube::types::daemon_sets.kind) {
    return {.wanted = integer_of(workload, {"status", "desiredNumberScheduled"}),
            .updated = integer_of(workload, {"status", "updatedNumberScheduled"}),
            .available = integer_of(workload, {"status", "numberAvailable"})};
  }
  const int updated = integer_of(workload, {"status", "updatedReplicas"});
  return {.wanted = find(workload, {"spec", "replicas"}) ? integer_of(workload, {"spec", "replicas"}) : 1,
          .updated = updated,
          .available = integer_of(workload, {"status", "availableReplicas"}),
          .old = integer_of(workload, {"status", "replicas"}) - updated};
}

// The message of a Deployment whose pods did not become available in time. Empty if there is none.
std::optional<std::string> deadline_passed(const Json& workload) {
  for (const Json& condition : find_array(workload, {"status", "conditions"})) {
    if (find_string(condition, {"reason"}) != "ProgressDeadlineExceeded") continue;
    return std::string(find_string(condition, {"message"}).value_or("progress deadline exceeded"));
  }
  return std::nullopt;
}

// A condition that is bad if there is any line in `bad`.
Condition condition_of(std::string_view prefix, std::string_view word, bool good, std::string_view reason,
                       const std::vector<std::string>& bad) {
  Condition condition{.type = fmt::format("{}{}", prefix, word), .is_true = bad.empty() == good};
  if (!bad.empty()) condition.reason = reason;
  condition.message = join(bad, "; ");
  return condition;
}

}  // namespace

std::string to_text(const Workload& workload) {
  return fmt::format("{} {}/{}", workload.type.kind, workload.space, workload.name);
}

std::optional<std::string> not_rolled_out(const Json& workload) {
  if (integer_of(workload, {"status", "observedGeneration"}) < integer_of(workload, {"metadata", "generation"})) {
    return "the controller has not observed the change yet";
  }
  const Pods pods = pods_of(workload);
  if (pods.updated < pods.wanted) return fmt::format("{} of {} pods are updated", pods.updated, pods.wanted);
  if (pods.old > 0) return fmt::format("pods of the previous version: {}", pods.old);
  if (pods.available < pods.wanted) return fmt::format("{} of {} pods are available", pods.available, pods.wanted);
  return std::nullopt;
}

std::optional<std::string> not_available(const Json& workload) {
  if (integer_of(workload, {"status", "observedGeneration"}) == 0) return "the controller has not observed it yet";
  const Pods pods = pods_of(workload);
  if (pods.available > 0 || pods.wanted == 0) return std::nullopt;
  return fmt::format("0 of {} pods are available", pods.wanted);
}

std::vector<Condition> workload_conditions(std::string_view prefix, const std::vector<Workload>& workloads,
                                           const Snapshot& seen) {
  std::vector<std::string> missing, moving, late;
  const auto note = [](std::vector<std::string>& lines, const Workload& workload, const std::optional<std::string>& what) {
    if (what) lines.push_back(fmt::format("{}: {}", to_text(workload), *what));
  };
  for (const Workload& workload : workloads) {
    const Json* object = seen.find(workload.type, workload.space, workload.name);
    const std::optional<std::string> nothing = object ? std::nullopt : std::optional<std::string>("does not exist");
    note(missing, workload, object ? not_available(*object) : nothing);
    note(moving, workload, object ? not_rolled_out(*object) : nothing);
    if (object) note(late, workload, deadline_passed(*object));
  }
  return {condition_of(prefix, "Available", true, "NoPodAvailable", missing),
          condition_of(prefix, "Progressing", false, "RollingOut", moving),
          condition_of(prefix, "Degraded", false, "ProgressDeadlineExceeded", late)};
}

}  // namespace slipway::components
