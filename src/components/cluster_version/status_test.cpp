#include "components/cluster_version/status.h"

#include "kube/client.h"
#include "kube/conditions.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

constexpr WallTime noon{Milliseconds(1'795'262'400'500)};
constexpr WallTime later = noon + Seconds(60);

Json version_with(Json status) {
  return {{"metadata", {{"name", "version"}, {"generation", 3}}}, {"spec", JsonObject()}, {"status", std::move(status)}};
}

ReleaseProgress progress(bool complete, std::string version = "1.0.0") {
  return {.version = std::move(version),
          .image = "r@sha256:1",
          .hash = "h",
          .total = 9,
          .done = complete ? 9u : 4u,
          .is_complete = complete};
}

TEST(ClusterVersionStatus, BeginsWithAPartialEntry) {
  const Json status = next_status(version_with(JsonObject()), progress(false), noon);
  const JsonObject& entry = find_array(status, {"history"}).at(0).get_object();
  EXPECT_EQ(emit_json(entry, JsonStyle::compact),
            R"({"state":"Partial","startedTime":"2026-11-21T12:00:00Z","completionTime":null,"version":"1.0.0",)"
            R"("image":"r@sha256:1","verified":false})");
  const Json object = version_with(status);
  EXPECT_EQ(kube::condition_status(object, "Available"), "False");
  EXPECT_EQ(kube::condition_status(object, "Progressing"), "True");
  EXPECT_EQ(kube::condition_status(object, "Failing"), "False");
  EXPECT_EQ(*find(status, {"observedGeneration"}), Json(3));
  ASSERT_NE(find(status, {"availableUpdates"}), nullptr) << "the schema wants it, null or not";
}

TEST(ClusterVersionStatus, CompletesOnceAndThenStaysTheSame) {
  const Json begun = next_status(version_with(JsonObject()), progress(false), noon);
  const Json done = next_status(version_with(begun), progress(true), later);
  const Json& entry = find_array(done, {"history"}).at(0);
  EXPECT_EQ(find_string(entry, {"state"}), "Completed");
  EXPECT_EQ(find_string(entry, {"startedTime"}), "2026-11-21T12:00:00Z");
  EXPECT_EQ(find_string(entry, {"completionTime"}), "2026-11-21T12:01:00Z");
  EXPECT_EQ(kube::condition_status(version_with(done), "Available"), "True");
  EXPECT_EQ(kube::condition_status(version_with(done), "Progressing"), "False");
  EXPECT_EQ(next_status(version_with(done), progress(true), later + Seconds(60)), done);
}

TEST(ClusterVersionStatus, StaysAvailableWhenSomethingFailsLater) {
  const Json done = next_status(version_with(JsonObject()), progress(true), noon);
  ReleaseProgress failing = progress(false);
  failing.failure = {"ManifestsNotApplied", "CRD x is refused"};
  const Json status = next_status(version_with(done), failing, later);
  EXPECT_EQ(kube::condition_status(version_with(status), "Available"), "True");
  EXPECT_EQ(kube::condition_status(version_with(status), "Failing"), "True");
  EXPECT_EQ(find_string(find_array(status, {"history"}).at(0), {"state"}), "Completed");
}

TEST(ClusterVersionStatus, KeepsThePreviousVersionInTheHistory) {
  const Json first = next_status(version_with(JsonObject()), progress(false), noon);
  const Json second = next_status(version_with(first), progress(false, "2.0.0"), later);
  const JsonArray& history = find_array(second, {"history"});
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(find_string(history.at(0), {"version"}), "2.0.0");
  EXPECT_EQ(find_string(history.at(1), {"completionTime"}), "2026-11-21T12:01:00Z");
}

TEST(ClusterVersionStatus, ReportsUpdates) {
  ReleaseProgress facts = progress(true);
  Json object = version_with(next_status(version_with(JsonObject()), facts, noon));
  EXPECT_EQ(kube::find_condition(object, "RetrievedUpdates"), nullptr) << "nobody has asked yet";
  EXPECT_EQ(*find(object, {"status", "availableUpdates"}), Json());
  facts.updates = {.is_retrieved = true,
                   .available = {{{"version", "1.0.1"}, {"image", "r@sha256:1"}}},
                   .conditional = {{{"release", {{"version", "1.1.0"}}},
                                    {"conditions", JsonArray{{{"type", "Recommended"}, {"status", "False"}}}}}}};
  object = version_with(next_status(object, facts, noon));
  EXPECT_EQ(kube::condition_status(object, "RetrievedUpdates"), "True");
  EXPECT_EQ(find_array(object, {"status", "availableUpdates"}), facts.updates.available);
  const auto time_of_condition = [&] {
    const Json& update = find_array(object, {"status", "conditionalUpdates"}).at(0);
    return text_of(find_array(update, {"conditions"}).at(0), {"lastTransitionTime"});
  };
  EXPECT_EQ(time_of_condition(), "2026-11-21T12:00:00Z");
  object = version_with(next_status(object, facts, later));
  EXPECT_EQ(time_of_condition(), "2026-11-21T12:00:00Z");
  facts.updates = {.reason = "NoChannel", .message = "spec.channel is empty"};
  object = version_with(next_status(object, facts, later));
  EXPECT_EQ(kube::condition_text(object, "RetrievedUpdates", "reason"), "NoChannel");
  EXPECT_EQ(find(object, {"status", "conditionalUpdates"}), nullptr);
}

TEST(ClusterVersionStatus, ReportsWhatBecomesOfAnUpdate) {
  ReleaseProgress facts = progress(true);
  Json object = version_with(next_status(version_with(JsonObject()), facts, noon));
  EXPECT_EQ(kube::find_condition(object, "ReleaseAccepted"), nullptr);
  EXPECT_EQ(kube::find_condition(object, "Upgradeable"), nullptr);
  facts.acceptance = {"Unknown", "RetrievePayload", "Retrieving and verifying payload x"};
  facts.not_upgradeable = NotUpgradeable{"PoolUpdating", "Cluster operator machine-config should not be upgraded"};
  object = version_with(next_status(object, facts, later));
  EXPECT_EQ(kube::condition_status(object, "ReleaseAccepted"), "Unknown");
  EXPECT_EQ(kube::condition_text(object, "ReleaseAccepted", "reason"), "RetrievePayload");
  EXPECT_EQ(kube::condition_status(object, "Upgradeable"), "False");
  facts.not_upgradeable.reset();
  object = version_with(next_status(object, facts, later));
  EXPECT_EQ(kube::find_condition(object, "Upgradeable"), nullptr);
}

TEST(ClusterVersionStatus, ReportsUnmetGates) {
  ReleaseProgress waiting = progress(false);
  waiting.done = 9;
  waiting.waiting = "ClusterOperator etcd: not Available";
  const Json object = version_with(next_status(version_with(JsonObject()), waiting, noon));
  const auto found = [&](std::string_view type, std::string_view key) -> std::string_view {
    for (const Json& each : find_array(object, {"status", "conditions"})) {
      if (find_string(each, {"type"}) == type) return find_string(each, {key}).value_or("");
    }
    return "";
  };
  EXPECT_EQ(found("Progressing", "message"),
            "Working towards 1.0.0: 9 of 9 done (100% complete), waiting on ClusterOperator etcd: not Available");
  EXPECT_EQ(found("Progressing", "reason"), "ClusterOperatorsNotReady");
  EXPECT_EQ(found("Available", "status"), "False") << "applied is not available";
  EXPECT_EQ(find_string(find_array(object, {"status", "history"}).at(0), {"state"}), "Partial");
}

}  // namespace
}  // namespace slipway::components::cluster_version
