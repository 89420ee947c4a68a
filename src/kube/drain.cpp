#include "kube/drain.h"

#include "base/guarded.h"
#include "base/text.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <optional>

namespace slipway::kube {

namespace {

// Evictions are retried at this pace, because a budget can change without a change of a pod of the node.
constexpr sys::Pace pace{Milliseconds(500), Milliseconds(5000)};

bool stays(const Json& pod) {
  const std::string_view phase = find_string(pod, {"status", "phase"}).value_or("");
  if (phase == "Succeeded" || phase == "Failed") return true;
  if (slipway::find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"})) return true;
  return std::ranges::any_of(find_array(pod, {"metadata", "ownerReferences"}), [](const Json& owner) {
    const Json* controls = slipway::find(owner, {"controller"});
    return controls && *controls == Json(true) && find_string(owner, {"kind"}) == "DaemonSet";
  });
}

// nullopt if the eviction was accepted, otherwise the reason of a refusal that may pass.
Result<std::optional<std::string>> evict(const sys::Context& context, Api& api, const Json& pod) {
  const std::string space(namespace_of(pod)), name(name_of(pod));
  const Result<Json> asked = api.send(
      context,
      {.method = "POST",
       .path = path_of(types::pods, space, name, "eviction"),
       .body = Json{{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}, {"namespace", space}}}}});
  if (asked.ok() || asked.error().code() == Code::not_found) return std::optional<std::string>(std::nullopt);
  const Code code = asked.error().code();
  if (code == Code::unavailable || code == Code::conflict) return std::optional(asked.error().message());
  return asked.error();
}

struct WatchState {
  std::optional<Objects> pods{};
  std::optional<Error> failure{};
};

}  // namespace

std::vector<Json> pods_to_evict(const Objects& pods) {
  std::vector<Json> leaving;
  std::ranges::copy_if(pods, std::back_inserter(leaving), [](const Json& pod) { return !stays(pod); });
  return leaving;
}

Result<> set_schedulable(const sys::Context& context, Api& api, const std::string& node, bool schedulable) {
  const Json wanted = schedulable ? Json(nullptr) : Json(true);
  TRY(merge_patch(context, api, types::nodes, "", node, {{"spec", {{"unschedulable", wanted}}}}));
  return Ok{};
}

Result<> drain(const sys::Context& context, Api& api, const std::string& node, Milliseconds limit) {
  Guarded<WatchState> state;
  sys::Wakeup changed;
  sys::TaskGroup tasks(context);
  tasks.run("watching pods", [&](const sys::Context& task) {
    Result<> followed =
        follow(task, api, types::pods, "", {.fields = "spec.nodeName=" + node}, [&](const Objects& pods) -> Result<> {
          state.with_lock([&](WatchState& now) { now.pods = pods; });
          changed.notify();
          return Ok{};
        });
    if (!followed.ok()) state.with_lock([&](WatchState& now) { now.failure = followed.error(); });
    changed.notify();
    return followed;
  });
  const auto observe = [&]() -> Result<sys::Observation> {
    const WatchState now = state.with_lock([](const WatchState& all) { return all; });
    if (now.failure) return *now.failure;
    if (!now.pods) return sys::Observation::not_yet("pods are not listed yet");
    std::vector<std::string> remaining;
    for (const Json& pod : pods_to_evict(*now.pods)) {
      const std::string name = describe(pod);
      if (slipway::find(pod, {"metadata", "deletionTimestamp"})) {
        remaining.push_back(name + " is terminating");
        continue;
      }
      const std::optional<std::string> refused = TRY(evict(context, api, pod));
      remaining.push_back(refused ? fmt::format("{} cannot be evicted: {}", name, *refused) : name + " is evicted");
    }
    if (remaining.empty()) return sys::Observation::done();
    return sys::Observation::not_yet("{}", join(remaining, "; "));
  };
  Result<> drained = sys::wait_for(context, fmt::format("the pods of {} to be evicted", node), limit, observe, &changed, pace);
  tasks.request_stop();
  (void)tasks.wait();  // its error was handled above or does not matter any more
  return drained;
}

}  // namespace slipway::kube
