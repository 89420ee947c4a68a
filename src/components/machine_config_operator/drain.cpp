#include "components/machine_config_operator/drain.h"

#include "base/text.h"
#include "components/controller/operand.h"
#include "components/machine_config_operator/pools.h"
#include "kube/roles.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/selector.h"

#include <algorithm>

namespace slipway::components::machine_config_operator {

namespace {

using namespace std::chrono_literals;

namespace types = kube::types;
namespace mc = machineconfig;

constexpr std::string_view drain_prefix = "drain-";
constexpr Milliseconds first_pause = 1s;
constexpr Milliseconds later_pause = 10s;
constexpr Milliseconds first_period = 1min;  // a drain uses first_pause for this time
constexpr std::size_t max_listed_pods = 3;

std::string annotation_of(const Json& object, std::string_view key) { return text_of(object, {"metadata", "annotations", key}); }

bool is_of_a_daemon_set(const Json& pod) {
  return std::ranges::any_of(find_array(pod, {"metadata", "ownerReferences"}),
                             [](const Json& owner) { return find_string(owner, {"kind"}) == "DaemonSet"; });
}

bool stays(const Json& pod) {
  const std::string_view phase = find_string(pod, {"status", "phase"}).value_or("");
  const bool is_static = find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
  return is_static || is_of_a_daemon_set(pod) || phase == "Succeeded" || phase == "Failed";
}

std::string pod_name(const Json& pod) { return fmt::format("Pod {}/{}", kube::namespace_of(pod), kube::name_of(pod)); }

// Patches the version of the node that was read, and puts the result into the view for the next plan. returns: the patched node
Result<Json> patch(const sys::Context& context, kube::Api& api, View& view, const Json& node, JsonObject annotations,
                   JsonObject spec) {
  JsonObject metadata = {{"annotations", std::move(annotations)}};
  if (const auto version = find_string(node, {"metadata", "resourceVersion"})) metadata["resourceVersion"] = *version;
  JsonObject change = {{"metadata", std::move(metadata)}};
  if (!spec.empty()) change["spec"] = std::move(spec);
  Json patched = TRY(kube::merge_patch(context, api, types::nodes, "", kube::name_of(node), std::move(change)));
  view.put(patched);
  return patched;
}

// Puts the state of a drain into the view. Keeps the time when the drain began, because the pause depends on it.
void put_drain(View& view, const Json& node, const std::string& message, WallTime now) {
  const std::string_view name = kube::name_of(node);
  const Snapshot seen = view.snapshot();
  const Json* known = seen.find(node_drains, "", name);
  const std::string since(known ? find_string(*known, {"since"}).value_or("") : "");
  view.put(JsonObject{{"apiVersion", node_drains.api_version()},
                      {"kind", node_drains.kind},
                      {"metadata", {{"name", name}}},
                      {"since", since.empty() ? to_rfc3339(now) : since},
                      {"message", message}});
}

Result<> report_drained(const sys::Context& context, kube::Api& api, View& view, const Json& node, JsonObject spec) {
  TRY(patch(context, api, view, node, {{mc::last_applied_drain, annotation_of(node, mc::desired_drain)}}, std::move(spec)));
  view.remove(node_drains, "", kube::name_of(node));
  return Ok{};
}

// Evicts a pod. returns: "Pod a/b is held by PodDisruptionBudget c"; empty: the pod is evicted
Result<std::string> evict(const sys::Context& context, kube::Api& api, const Json& pod) {
  const std::string_view space = kube::namespace_of(pod), name = kube::name_of(pod);
  const Json eviction = {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}, {"namespace", space}}}};
  const Result<Json> answer =
      api.send(context, {.method = "POST", .path = kube::path_of(types::pods, space, name, "eviction"), .body = eviction});
  if (answer.ok() || answer.error().code() == Code::not_found) return std::string();
  // The API server refuses an eviction because of a budget with the same status as when it is overloaded.
  if (answer.error().code() != Code::unavailable) return answer.error();
  const std::vector<Json> budgets = TRY(kube::list(context, api, kube::types::pod_disruption_budgets, space));
  const std::vector<std::string> holders = blocking_budgets(pod, budgets);
  if (holders.empty()) return fmt::format("{} cannot be evicted: {}", pod_name(pod), answer.error().message());
  return fmt::format("{} is held by PodDisruptionBudget {}", pod_name(pod), join(holders, ", "));
}

Milliseconds pause_of(const Snapshot& seen, std::string_view node, WallTime now) {
  const Json* known = seen.find(node_drains, "", node);
  if (!known) return first_pause;
  const Result<WallTime> since = parse_rfc3339(find_string(*known, {"since"}).value_or(""));
  return since.ok() && since.value() + first_period < now ? later_pause : first_pause;
}

}  // namespace

DrainStep drain_step(const Json& node, bool is_single_master) {
  const std::string wanted = annotation_of(node, mc::desired_drain);
  if (wanted.empty() || wanted == annotation_of(node, mc::last_applied_drain)) return DrainStep::nothing;
  if (!wanted.starts_with(drain_prefix)) return DrainStep::uncordon;
  const bool is_master = kube::has_role(node, kube::master_label);
  return is_single_master && is_master ? DrainStep::acknowledge : DrainStep::drain;
}

PodsToMove pods_to_move(const std::vector<Json>& pods, std::string_view own_pod) {
  PodsToMove found;
  const Json* own = nullptr;
  for (const Json& pod : pods) {
    if (stays(pod)) continue;
    if (find(pod, {"metadata", "deletionTimestamp"})) {
      found.ending.push_back(&pod);
    } else if (kube::name_of(pod) == own_pod && !own_pod.empty()) {
      own = &pod;
    } else {
      found.evict.push_back(&pod);
    }
  }
  if (own && found.evict.empty() && found.ending.empty()) found.evict.push_back(own);
  return found;
}

std::vector<std::string> blocking_budgets(const Json& pod, const std::vector<Json>& budgets) {
  std::vector<std::string> names;
  for (const Json& budget : budgets) {
    if (kube::namespace_of(budget) != kube::namespace_of(pod)) continue;
    if (!mc::selects(find(budget, {"spec", "selector"}), find_object(pod, {"metadata", "labels"}))) continue;
    if (integer_of(budget, {"status", "disruptionsAllowed"}) == 0) names.emplace_back(kube::name_of(budget));
  }
  return names;
}

Result<> drain_node(const sys::Context& context, kube::Api& api, View& view, const Json& node, std::string_view own_pod) {
  Json current = node;
  const Json* cordoned = find(node, {"spec", "unschedulable"});
  if (!cordoned || *cordoned != Json(true)) {
    current = TRY(patch(context, api, view, node, {}, {{"unschedulable", true}}));
    context.log.info("cordoned {}", kube::name_of(node));
  }
  const std::vector<Json> pods =
      TRY(kube::list(context, api, types::pods, "", {.fields = fmt::format("spec.nodeName={}", kube::name_of(node))}));
  const PodsToMove remaining = pods_to_move(pods, own_pod);
  std::vector<std::string> blocked;
  for (const Json* pod : remaining.evict) {
    std::string why = TRY(evict(context, api, *pod).context(pod_name(*pod)));
    if (!why.empty()) blocked.push_back(std::move(why));
  }
  if (remaining.evict.empty() && remaining.ending.empty()) {
    TRY(report_drained(context, api, view, current, {}));
    context.log.info("drained {}", kube::name_of(node));
    return Ok{};
  }
  std::vector<std::string> listed(blocked.begin(),
                                  blocked.begin() + static_cast<long>(std::min(blocked.size(), max_listed_pods)));
  if (blocked.size() > max_listed_pods) listed.push_back(fmt::format("and {} more", blocked.size() - max_listed_pods));
  if (blocked.empty()) {
    for (const auto* list : {&remaining.ending, &remaining.evict}) {
      for (const Json* pod : *list) {
        if (listed.size() < max_listed_pods) listed.push_back(fmt::format("{} is terminating", pod_name(*pod)));
      }
    }
  }
  put_drain(view, node, fmt::format("draining, waiting for pods: {}", join(listed, ", ")), context.clock.now());
  return Ok{};
}

Plan plan_drains(kube::Api& api, View& view, const DrainOptions& options, const Snapshot& seen, WallTime now) {
  Plan plan;
  const auto add = [&](const Json& node, std::string name, std::function<Result<>(const sys::Context&, const Json&)> run) {
    plan.tasks.push_back(
        {std::move(name), [node, run = std::move(run)](const sys::Context& context) { return run(context, node); }});
  };
  for (const Json* node : seen.list(types::nodes)) {
    const std::string name(kube::name_of(*node));
    switch (drain_step(*node, options.is_single_master)) {
      case DrainStep::nothing: break;
      case DrainStep::drain: {
        add(*node, fmt::format("draining {}", name), [&api, &view, own = options.own_pod](const auto& context, const Json& each) {
          return drain_node(context, api, view, each, own);
        });
        plan.add({.replan_at = now + pause_of(seen, name, now)});
        if (const Json* known = seen.find(node_drains, "", name)) {
          const std::string message(find_string(*known, {"message"}).value_or(""));
          const bool is_held = message.find("is held by") != std::string::npos;
          if (is_held) plan.notices.push_back({*node, "DrainIsHeld", fmt::format("node {} {}", name, message), true});
        }
        break;
      }
      case DrainStep::uncordon:
        add(*node, fmt::format("uncordoning {}", name), [&api, &view](const auto& context, const Json& each) {
          return report_drained(context, api, view, each, {{"unschedulable", nullptr}});
        });
        break;
      case DrainStep::acknowledge:
        add(*node, fmt::format("allowing {} to update", name),
            [&api, &view](const auto& context, const Json& each) { return report_drained(context, api, view, each, {}); });
        break;
    }
  }
  return plan;
}

}  // namespace slipway::components::machine_config_operator
