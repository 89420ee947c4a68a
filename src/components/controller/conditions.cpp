#include "components/controller/conditions.h"

#include "base/text.h"
#include "kube/conditions.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds degraded_after = 2min;

// The summary of all conditions whose type has the same suffix.
struct Summary {
  std::string_view type;
  std::string_view status;
  std::string reason = "AsExpected";
  std::string message{};
};

struct ConditionGroup {
  std::string_view type;
  std::string_view good;
  std::string_view if_none;  // status if no condition has this suffix; empty: the condition is removed
};

constexpr std::array<ConditionGroup, 4> condition_groups = {{{"Degraded", "False", "Unknown"},
                                                             {"Progressing", "False", "Unknown"},
                                                             {"Available", "True", "Unknown"},
                                                             {"Upgradeable", "True", ""}}};

// metav1.Time has no fractions.
std::string time_text(WallTime time) { return to_rfc3339(std::chrono::floor<Seconds>(time)); }

void set_condition(JsonArray& conditions, const Summary& wanted, WallTime now) {
  Json* known = std::ranges::find_if(conditions, [&](const Json& each) { return find_string(each, {"type"}) == wanted.type; });
  if (known == conditions.end()) {
    conditions.push_back(JsonObject{{"type", wanted.type}});
    known = conditions.end() - 1;
  }
  if (!known->is_object()) return;
  JsonObject& condition = known->get_object();
  if (find_string(*known, {"status"}) != wanted.status) condition["lastTransitionTime"] = time_text(now);
  condition["status"] = wanted.status;
  condition["reason"] = wanted.reason;
  condition["message"] = wanted.message;
}

std::string_view type_of(const Json& condition) { return find_string(condition, {"type"}).value_or(""); }

// "StaticPodsDegraded: 1 of 3 nodes ...", one line per condition with a message.
std::string messages_of(const std::vector<const Json*>& conditions) {
  std::vector<std::string> lines;
  for (const Json* condition : conditions) {
    const std::string_view message = find_string(*condition, {"message"}).value_or("");
    if (!message.empty()) lines.push_back(fmt::format("{}: {}", type_of(*condition), message));
  }
  return join(lines, "\n");
}

std::string reasons_of(const std::vector<const Json*>& conditions, std::string_view group) {
  std::vector<std::string> reasons;
  for (const Json* condition : conditions) {
    std::string_view type = type_of(*condition);
    type.remove_suffix(group.size());
    const std::string_view reason = find_string(*condition, {"reason"}).value_or("");
    reasons.push_back(type.empty() ? std::string(reason) : fmt::format("{}_{}", type, reason));
  }
  return join(reasons, "::");
}

// When a Degraded condition starts to count. Empty if its age is unknown; it then counts immediately.
std::optional<WallTime> counts_from(const Json& condition) {
  const Result<WallTime> since = parse_rfc3339(find_string(condition, {"lastTransitionTime"}).value_or(""));
  if (!since.ok()) return std::nullopt;
  return since.value() + degraded_after;
}

Summary summarize(const ConditionGroup& group, const Json& object, WallTime now, std::optional<WallTime>& again) {
  bool has_any = false;
  std::vector<const Json*> good, bad;
  for (const Json& condition : find_array(object, {"status", "conditions"})) {
    if (!type_of(condition).ends_with(group.type)) continue;
    has_any = true;
    if (find_string(condition, {"status"}) == group.good) {
      good.push_back(&condition);
      continue;
    }
    const std::optional<WallTime> effective_time = group.type == "Degraded" ? counts_from(condition) : std::nullopt;
    if (effective_time && *effective_time > now) {
      again = again ? std::min(*again, *effective_time) : *effective_time;
    } else {
      bad.push_back(&condition);
    }
  }
  if (!has_any) return {group.type, group.if_none, "NoData"};
  if (bad.empty()) return {group.type, group.good, "AsExpected", messages_of(good)};
  return {group.type, group.good == "True" ? "False" : "True", reasons_of(bad, group.type), messages_of(bad)};
}

void drop_condition(JsonArray& conditions, std::string_view type) {
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(), [&](const Json& each) { return type_of(each) == type; }),
                   conditions.end());
}

// An operator that never ignored a setting does not get the condition.
void add_ignored(const std::vector<std::string>& ignored, const Json& cluster_operator, WallTime now, JsonArray& conditions,
                 Plan& plan) {
  const bool has_condition = kube::find_condition(cluster_operator, kube::settings_ignored) != nullptr;
  if (ignored.empty()) {
    if (has_condition) set_condition(conditions, {kube::settings_ignored, "False"}, now);
    return;
  }
  std::string message = fmt::format("settings without effect in this release: {}", join(ignored, "; "));
  const bool is_new = kube::condition_status(cluster_operator, kube::settings_ignored) != "True" ||
                      kube::condition_text(cluster_operator, kube::settings_ignored, "message") != message;
  if (is_new) plan.notices.push_back({cluster_operator, std::string(kube::settings_ignored), message, true});
  set_condition(conditions, {kube::settings_ignored, "True", "NotSupported", std::move(message)}, now);
}

// Entries that are not in `versions` stay: an operand's version changes only when every node runs the new one.
JsonArray with_versions(JsonArray known, const std::vector<std::pair<std::string, std::string>>& versions) {
  for (const auto& operand : versions) {
    Json* entry = std::ranges::find_if(known, [&](const Json& each) { return find_string(each, {"name"}) == operand.first; });
    if (entry == known.end()) {
      known.push_back(JsonObject{{"name", operand.first}, {"version", operand.second}});
    } else {
      entry->as_object()["version"] = operand.second;
    }
  }
  return known;
}

}  // namespace

bool is_managed(const Json& settings) {
  const std::string_view state = find_string(settings, {"spec", "managementState"}).value_or("");
  return state.empty() || state == "Managed" || state == "Force";
}

Json with_conditions(Json object, const std::vector<Condition>& conditions, WallTime now) {
  JsonObject status = find_object(object, {"status"});
  JsonArray known = find_array(object, {"status", "conditions"});
  for (const Condition& each : conditions) {
    set_condition(known, {each.type, each.is_true ? "True" : "False", each.reason, each.message}, now);
  }
  status["conditions"] = std::move(known);
  object.as_object()["status"] = std::move(status);
  return object;
}

Plan plan_cluster_operator(const Snapshot& seen, const ClusterOperatorFacts& facts, const Json& operator_object, WallTime now) {
  Plan plan;
  const Json* known = seen.find(kube::types::cluster_operators, "", facts.name);
  if (!known) return plan;
  const std::string state(find_string(operator_object, {"spec", "managementState"}).value_or(""));
  JsonObject status = find_object(*known, {"status"});
  JsonArray conditions = find_array(*known, {"status", "conditions"});
  for (const ConditionGroup& group : condition_groups) {
    const Summary summary = is_managed(operator_object)
                                ? summarize(group, operator_object, now, plan.replan_at)
                                : Summary{group.type, "Unknown", state, fmt::format("spec.managementState is {}", state)};
    if (summary.status.empty()) {
      drop_condition(conditions, summary.type);
    } else {
      set_condition(conditions, summary, now);
    }
  }
  if (facts.ignored) add_ignored(*facts.ignored, *known, now, conditions, plan);
  status["conditions"] = std::move(conditions);
  status["versions"] = with_versions(find_array(*known, {"status", "versions"}), facts.versions);
  if (facts.extension) status["extension"] = *facts.extension;
  if (!facts.related.empty()) status["relatedObjects"] = JsonArray(facts.related.begin(), facts.related.end());
  if (status == find_object(*known, {"status"})) return plan;
  Json object = *known;
  object.as_object()["status"] = std::move(status);
  plan.desired_objects.push_back({kube::types::cluster_operators, std::move(object), DesiredObject::How::status});
  return plan;
}

}  // namespace slipway::components
