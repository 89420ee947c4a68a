#include "components/cluster_version/status.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace slipway::components::cluster_version {

namespace {

constexpr std::size_t history_limit = 100;

struct Condition {
  std::string_view type;
  bool holds;
  std::string_view reason;
  std::string message;
};

void set_condition(JsonArray& conditions, const Condition& wanted, const std::string& now) {
  Json* known = std::ranges::find_if(conditions, [&](const Json& each) { return find_string(each, {"type"}) == wanted.type; });
  if (known == conditions.end()) {
    conditions.push_back(JsonObject{{"type", wanted.type}});
    known = conditions.end() - 1;
  }
  JsonObject& condition = known->get_object();
  const std::string_view status = wanted.holds ? "True" : "False";
  if (find_string(*known, {"status"}) != status) condition["lastTransitionTime"] = now;
  condition["status"] = status;
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
  if (progress.is_complete && entry["state"] != Json("Completed")) {
    entry["state"] = "Completed";
    entry["completionTime"] = now;
  }
  if (history.size() > history_limit) history.erase(history.begin() + history_limit, history.end());
  return history;
}

// spec.desiredUpdate is accepted only if it names the release that is applied: this release does not update clusters.
Condition release_accepted(const Json& cluster_version, const ReleaseProgress& progress) {
  const std::string_view image = find_string(cluster_version, {"spec", "desiredUpdate", "image"}).value_or("");
  const std::string_view version = find_string(cluster_version, {"spec", "desiredUpdate", "version"}).value_or("");
  const bool is_same =
      (image.empty() || image == progress.image) && (!image.empty() || version.empty() || version == progress.version);
  if (is_same) return {"ReleaseAccepted", true, "PayloadLoaded", fmt::format("The manifests of {} are loaded", progress.version)};
  return {"ReleaseAccepted", false, "UpdatesNotSupported",
          fmt::format(
              "spec.desiredUpdate: {} is not applied, because this release does not update clusters (remove spec.desiredUpdate)",
              image.empty() ? version : image)};
}

Condition retrieved_updates(const Json& cluster_version) {
  std::string message = "this release does not look for updates";
  for (const std::string_view field : {"channel", "upstream"}) {
    const std::string_view value = find_string(cluster_version, {"spec", field}).value_or("");
    if (!value.empty()) message += fmt::format("; spec.{} has no effect", field);
  }
  return {"RetrievedUpdates", false, "UpdatesNotSupported", std::move(message)};
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
  if (!status.contains("availableUpdates")) status["availableUpdates"] = nullptr;
  JsonArray history = next_history(cluster_version, progress, now);

  const auto completed =
      std::ranges::find_if(history, [](const Json& each) { return find_string(each, {"state"}) == "Completed"; });
  const bool is_available = completed != history.end();
  const bool is_reached = find_string(history.front(), {"state"}) == "Completed";
  std::string counted = fmt::format("{} of {} manifests are applied", progress.done, progress.total);
  if (!progress.waiting.empty()) counted += fmt::format(", waiting for {}", progress.waiting);
  const std::string_view awaited = progress.waiting.empty() ? "" : "ClusterOperatorsNotReady";
  JsonArray conditions = find_array(cluster_version, {"status", "conditions"});
  set_condition(conditions,
                {"Available", is_available, "",
                 is_available ? fmt::format("Version {} is applied", find_string(*completed, {"version"}).value_or(""))
                              : "No version has been applied completely yet"},
                now);
  set_condition(conditions,
                {"Progressing", !is_reached, is_reached ? "" : awaited,
                 is_reached ? fmt::format("Cluster version is {}", progress.version)
                            : fmt::format("Working towards {}: {}", progress.version, counted)},
                now);
  const ReleaseFailure failure = progress.failure.value_or(ReleaseFailure());
  set_condition(conditions, {"Failing", progress.failure.has_value(), failure.reason, failure.message}, now);
  set_condition(conditions, release_accepted(cluster_version, progress), now);
  set_condition(conditions, retrieved_updates(cluster_version), now);
  status["history"] = std::move(history);
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace slipway::components::cluster_version
