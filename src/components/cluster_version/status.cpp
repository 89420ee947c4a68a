#include "components/cluster_version/status.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace slipway::components::cluster_version {

namespace {

constexpr std::size_t history_limit = 100;

struct Condition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string message;
};

std::string_view text_of_bool(bool holds) { return holds ? "True" : "False"; }

void set_condition(JsonArray& conditions, const Condition& wanted, const std::string& now) {
  Json* known = std::ranges::find_if(conditions, [&](const Json& each) { return find_string(each, {"type"}) == wanted.type; });
  if (known == conditions.end()) {
    conditions.push_back(JsonObject{{"type", wanted.type}});
    known = conditions.end() - 1;
  }
  JsonObject& condition = known->get_object();
  if (find_string(*known, {"status"}) != wanted.status) condition["lastTransitionTime"] = now;
  condition["status"] = wanted.status;
  condition["message"] = wanted.message;
  condition.erase("reason");
  if (!wanted.reason.empty()) condition["reason"] = wanted.reason;
}

JsonArray next_history(const Json& cluster_version, const ReleaseProgress& progress, const std::string& now) {
  JsonArray history = find_array(cluster_version, {"status", "history"});
  const bool is_begun = !history.empty() && find_string(history.front(), {"version"}) == progress.version &&
                        find_string(history.front(), {"image"}) == progress.image;
  if (!is_begun) {
    if (!history.empty() && find_string(history.front(), {"state"}) == "Partial")
      history.front().get_object()["completionTime"] = now;
    history.insert(history.begin(), JsonObject{{"state", "Partial"},
                                               {"startedTime", now},
                                               {"completionTime", nullptr},
                                               {"version", progress.version},
                                               {"image", progress.image},
                                               {"verified", false}});
  }
  JsonObject& entry = history.front().get_object();
  // The operator may report before it knows how its release was accepted.
  if (progress.hand_over.is_verified) entry["verified"] = true;
  if (!progress.hand_over.accepted_risks.empty()) entry["acceptedRisks"] = progress.hand_over.accepted_risks;
  if (progress.is_complete && entry["state"] != Json("Completed")) {
    entry["state"] = "Completed";
    entry["completionTime"] = now;
  }
  if (history.size() > history_limit) history.erase(history.begin() + history_limit, history.end());
  return history;
}

// The conditional updates with the times of their conditions: a time changes only with the status of the condition.
JsonArray with_times(const JsonArray& updates, const JsonArray& known, const std::string& now) {
  JsonArray timed;
  for (Json update : updates) {
    const auto same = std::ranges::find_if(known, [&](const Json& each) {
      return find_string(each, {"release", "version"}) == find_string(update, {"release", "version"});
    });
    for (Json& condition : update.at("conditions").get_array()) {
      std::string time = now;
      for (const Json& before : same == known.end() ? JsonArray() : find_array(*same, {"conditions"})) {
        const bool is_same = find_string(before, {"type"}) == find_string(condition, {"type"}) &&
                             find_string(before, {"status"}) == find_string(condition, {"status"});
        if (is_same) time = text_of(before, {"lastTransitionTime"});
      }
      condition.get_object()["lastTransitionTime"] = time;
    }
    timed.push_back(std::move(update));
  }
  return timed;
}

}  // namespace

Json next_status(const Json& cluster_version, const ReleaseProgress& progress, WallTime time) {
  // metav1.Time has no fractions.
  const std::string now = to_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  JsonObject status = find_object(cluster_version, {"status"});
  status["desired"] = {{"version", progress.version}, {"image", progress.image}};
  status["versionHash"] = progress.hash;
  const Json* generation = find(cluster_version, {"metadata", "generation"});
  status["observedGeneration"] = generation ? *generation : Json(0);
  const KnownUpdates& updates = progress.updates;
  status["availableUpdates"] = updates.available.empty() ? Json() : Json(updates.available);
  JsonArray conditional = with_times(updates.conditional, find_array(cluster_version, {"status", "conditionalUpdates"}), now);
  status.erase("conditionalUpdates");
  if (!conditional.empty()) status["conditionalUpdates"] = std::move(conditional);
  JsonArray history = next_history(cluster_version, progress, now);

  const auto completed =
      std::ranges::find_if(history, [](const Json& each) { return find_string(each, {"state"}) == "Completed"; });
  const bool is_available = completed != history.end();
  const bool is_reached = find_string(history.front(), {"state"}) == "Completed";
  const std::size_t percent = progress.total == 0 ? 0 : 100 * progress.done / progress.total;
  std::string counted = fmt::format("{} of {} done ({}% complete)", progress.done, progress.total, percent);
  if (!progress.waiting.empty()) counted += fmt::format(", waiting on {}", progress.waiting);
  const std::string_view awaited = progress.waiting.empty() ? "" : "ClusterOperatorsNotReady";
  JsonArray conditions = find_array(cluster_version, {"status", "conditions"});
  set_condition(conditions,
                {"Available", text_of_bool(is_available), "",
                 is_available ? fmt::format("Version {} is applied", find_string(*completed, {"version"}).value_or(""))
                              : "No version has been applied completely yet"},
                now);
  set_condition(conditions,
                {"Progressing", text_of_bool(!is_reached), is_reached ? "" : awaited,
                 is_reached ? fmt::format("Cluster version is {}", progress.version)
                            : fmt::format("Working towards {}: {}", progress.version, counted)},
                now);
  const ReleaseFailure failure = progress.failure.value_or(ReleaseFailure());
  set_condition(conditions, {"Failing", text_of_bool(progress.failure.has_value()), failure.reason, failure.message}, now);
  const Acceptance& accepted = progress.acceptance;
  if (!accepted.status.empty())
    set_condition(conditions, {"ReleaseAccepted", accepted.status, accepted.reason, accepted.message}, now);
  if (updates.is_retrieved || !updates.reason.empty()) {
    set_condition(conditions, {"RetrievedUpdates", text_of_bool(updates.is_retrieved), updates.reason, updates.message}, now);
  }
  if (progress.not_upgradeable) {
    set_condition(conditions, {"Upgradeable", "False", progress.not_upgradeable->reason, progress.not_upgradeable->message}, now);
  } else {
    const auto gone =
        std::ranges::remove_if(conditions, [](const Json& each) { return find_string(each, {"type"}) == "Upgradeable"; });
    conditions.erase(gone.begin(), gone.end());
  }
  status["history"] = std::move(history);
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace slipway::components::cluster_version
