#include "operators/version/status.h"

#include "base/yaml.h"
#include "kube/client.h"
#include "operators/version/apply_plan.h"

#include <gtest/gtest.h>

namespace slipway::operators {
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

TEST(ClusterVersionStatus, KeepsWhatWasAppliedWhenSomethingFailsLater) {
  const Json done = next_status(version_with(JsonObject()), progress(true), noon);
  ReleaseProgress failing = progress(false);
  failing.failure = "CRD x is refused";
  const Json status = next_status(version_with(done), failing, later);
  EXPECT_EQ(kube::condition_status(version_with(status), "Available"), "True");
  EXPECT_EQ(kube::condition_status(version_with(status), "Failing"), "True");
  EXPECT_EQ(find_string(find_array(status, {"history"}).at(0), {"state"}), "Completed");
}

TEST(ClusterVersionStatus, RemembersTheVersionBefore) {
  const Json first = next_status(version_with(JsonObject()), progress(false), noon);
  const Json second = next_status(version_with(first), progress(false, "2.0.0"), later);
  const JsonArray& history = find_array(second, {"history"});
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(find_string(history.at(0), {"version"}), "2.0.0");
  EXPECT_EQ(find_string(history.at(1), {"completionTime"}), "2026-11-21T12:01:00Z");
}

TEST(ApplyPlan, SortsManifestsByWhatHappensToThem) {
  const auto object = [](std::string_view name, std::string_view more) {
    return Manifest{
        "f", parse_yaml(fmt::format("{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {}, namespace: n, annotations: "
                                    "{{include.release.openshift.io/self-managed-high-availability: 'true'{}}}}}}}",
                                    name, more),
                        "x")
                 .value()
                 .value};
  };
  const std::vector<Manifest> manifests = {object("kept", ""), object("once", ", release.openshift.io/create-only: 'true'"),
                                           object("gone", ", release.openshift.io/delete: 'true'"), object("mine", ""),
                                           object("preview", ", release.openshift.io/feature-set: TechPreviewNoUpgrade")};
  const Json version = parse_yaml(
                           "spec: {overrides: [{kind: Deployment, group: apps, namespace: n, name: mine, unmanaged: true}, "
                           "{kind: Deployment, group: apps, namespace: n, name: kept, unmanaged: false}]}",
                           "x")
                           .value()
                           .value;
  const ApplyPlan plan = plan_apply(manifests, {}, version);
  ASSERT_EQ(plan.apply.size(), 1u);
  EXPECT_EQ(kube::name_of(plan.apply[0].object), "kept");
  ASSERT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(kube::name_of(plan.create[0].object), "once");
  ASSERT_EQ(plan.remove.size(), 1u);
  EXPECT_EQ(kube::name_of(plan.remove[0]), "gone");
  EXPECT_EQ(plan.overridden, 1);
}

}  // namespace
}  // namespace slipway::operators
