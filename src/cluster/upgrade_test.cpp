#include "cluster/upgrade.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::cluster {
namespace {

using State = UpgradeView::State;

const std::string digest = "sha256:" + std::string(64, 'a');
const std::string image = "r.example.com/r@" + digest;
const std::string other_image = "r.example.com/r@sha256:" + std::string(64, 'b');

Json condition(const char* type, const char* status, const char* message = "", const char* reason = "") {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
}

Json release(const std::string& version, const std::string& of_image) { return {{"version", version}, {"image", of_image}}; }

// A ClusterVersion whose status is that of 0.1.0.
Json cluster_version(JsonObject spec, JsonArray conditions, JsonObject more = {}) {
  JsonObject status = {{"desired", release("0.1.0", other_image)}, {"observedGeneration", 1}};
  for (const auto& each : more) status[each.key()] = each.value();
  status["conditions"] = std::move(conditions);
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterVersion"},
          {"metadata", {{"name", "version"}, {"generation", 1}}},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

std::string refusal(const Json& version, const UpgradeRequest& request) {
  const Result<UpgradeTarget> target = choose_target(version, request);
  return target.ok() ? "" : target.error().message();
}

const Json not_recommended = {{"release", release("0.1.3", other_image)},
                              {"conditions", JsonArray{condition("Recommended", "False", "pods may hang", "PodsHang")}}};

TEST(Target, IsAnImageByDigestOrAnAvailableVersion) {
  const Json version = cluster_version({}, {},
                                       {{"availableUpdates", JsonArray{release("0.1.1", image), release("0.1.2", "x")}},
                                        {"conditionalUpdates", JsonArray{not_recommended}}});
  EXPECT_EQ(choose_target(version, {.to = "0.1.1"}).value(), (UpgradeTarget{image, "0.1.1"}));
  EXPECT_EQ(choose_target(version, {.to = image}).value(), (UpgradeTarget{image, "0.1.1"}));
  EXPECT_EQ(choose_target(version, {.to = "s.example.com/r@" + digest}).value(), (UpgradeTarget{"s.example.com/r@" + digest}));
  EXPECT_EQ(refusal(version, {.to = "0.1.9"}), "--to 0.1.9: not one of the available updates (0.1.1, 0.1.2)");
  EXPECT_EQ(refusal(cluster_version({}, {}, {{"availableUpdates", nullptr}}), {.to = "0.1.9"}),
            "--to 0.1.9: not one of the available updates (there are none; name a release image by digest)");
  EXPECT_EQ(refusal(version, {.to = "s.example.com/r:1"}),
            "--to s.example.com/r:1: must name the release by digest (`slipway release info s.example.com/r:1` prints it)");
  EXPECT_EQ(
      refusal(version, {.to = "0.1.3"}),
      "--to 0.1.3: this update is not recommended: PodsHang: pods may hang (add --allow-not-recommended to request it anyway)");
  EXPECT_EQ(choose_target(version, {.to = "0.1.3", .takes_not_recommended = true}).value(),
            (UpgradeTarget{other_image, "0.1.3"}));
}

TEST(Target, IsRefusedWhileTheClusterHasATask) {
  const Json version = cluster_version({}, {condition("Progressing", "True", "Working towards 0.1.1"),
                                            condition("Failing", "True", "dns", "NotAvailable"), condition("Invalid", "False")});
  EXPECT_EQ(refusal(version, {.to = image}),
            "the cluster reports an error: Failing=True: NotAvailable: dns; the cluster is already updating: Progressing=True: "
            "Working towards 0.1.1 (add --allow-upgrade-with-warnings to request the update anyway)");
  EXPECT_EQ(refusal(version, {.to = image, .ignores_warnings = true}), "");
}

class UpgradeTest : public testing::Test {
 protected:
  UpgradeTest() {
    kube.serve_openshift();
    kube.serve(kube::types::machine_config_pools);
  }

  Json stored() { return *kube.stored(kube::types::cluster_versions, "", "version"); }

  testing_support::RealTimeContext test;
  sys::Context context = test.context();
  testing_support::FakeKube kube;
};

TEST_F(UpgradeTest, RequestReplacesAnEarlierOne) {
  kube.put(cluster_version(
      {{"channel", "stable"}, {"desiredUpdate", {{"version", "9"}, {"image", "i"}, {"architecture", "Multi"}}}}, {}));
  ASSERT_TRUE(request_upgrade(context, kube, {image}, true).ok());
  EXPECT_EQ(stored().at("spec"), (Json{{"channel", "stable"}, {"desiredUpdate", {{"image", image}, {"force", true}}}}));
  ASSERT_TRUE(request_upgrade(context, kube, {other_image, "0.1.2"}, false).ok());
  EXPECT_EQ(stored().at("spec").at("desiredUpdate"), (Json{{"image", other_image}, {"version", "0.1.2"}}));
  EXPECT_EQ(kube.writes(), 2);
}

TEST_F(UpgradeTest, ClearRemovesTheRequest) {
  kube.put(cluster_version({{"desiredUpdate", {{"image", image}}}}, {}));
  EXPECT_EQ(clear_upgrade(context, kube).value(), fmt::format("Cancelled requested update to {}\n", image));
  EXPECT_EQ(find(stored(), {"spec", "desiredUpdate"}), nullptr);
  EXPECT_EQ(clear_upgrade(context, kube).value(), "info: No update in progress\n");
  kube.put(cluster_version({{"desiredUpdate", {{"image", other_image}}}}, {}));
  EXPECT_EQ(clear_upgrade(context, kube).value(), "Cleared the update field, still at 0.1.0\n");
}

const JsonObject asks = {{"desiredUpdate", {{"image", image}}}};

TEST(View, FollowsTheOperator) {
  const PendingUpgrade pending{.target = {image, "0.1.1"}, .generation = 2, .verdict = "False  VerifyPayloadVersion: old"};
  const Json refused_before = condition("ReleaseAccepted", "False", "old", "VerifyPayloadVersion");
  const auto view = [&](JsonObject spec, JsonArray conditions, JsonObject more = {}) {
    return view_upgrade(cluster_version(std::move(spec), std::move(conditions), std::move(more)), pending);
  };
  EXPECT_EQ(view(asks, {refused_before, condition("Progressing", "False", "Cluster version is 0.1.0")}),
            (UpgradeView{State::waits, "0.1.1 is requested, waiting for the cluster-version operator"}));
  EXPECT_EQ(view(asks, {condition("ReleaseAccepted", "Unknown", "attempt 1", "RetrievePayload")}),
            (UpgradeView{State::waits, "ReleaseAccepted=Unknown: RetrievePayload: attempt 1"}));
  EXPECT_EQ(view(asks, {refused_before}, {{"observedGeneration", 2}}),
            (UpgradeView{State::failed, "ReleaseAccepted=False: VerifyPayloadVersion: old"}));
  EXPECT_EQ(view(asks, {condition("ReleaseAccepted", "False", "not found", "RetrievePayload")}),
            (UpgradeView{State::is_in_trouble, "ReleaseAccepted=False: RetrievePayload: not found"}));
  // A signature does not come by itself, but the registry may answer later.
  EXPECT_EQ(
      view(asks, {condition("ReleaseAccepted", "False", "The update cannot be verified: no signature", "RetrievePayload")}).state,
      State::failed);
  EXPECT_EQ(
      view(asks, {condition("ReleaseAccepted", "False",
                            "The update cannot be verified: no signature; signatures beside the image cannot be read: timeout",
                            "RetrievePayload")})
          .state,
      State::is_in_trouble);
  EXPECT_EQ(view(asks, {condition("ReleaseAccepted", "False", "too old", "PreconditionChecks")}),
            (UpgradeView{State::failed, "ReleaseAccepted=False: PreconditionChecks: too old"}));
  const JsonObject works = {{"desired", release("0.1.1", image)}, {"observedGeneration", 2}};
  EXPECT_EQ(view(asks, {condition("ReleaseAccepted", "True"), condition("Progressing", "True", "Working towards 0.1.1")}, works),
            (UpgradeView{State::waits, "Working towards 0.1.1"}));
  EXPECT_EQ(view(asks, {condition("Failing", "True", "dns", "NotAvailable")}, works),
            (UpgradeView{State::is_in_trouble, "Failing=True: NotAvailable: dns"}));
  EXPECT_EQ(view({{"desiredUpdate", {{"image", other_image}}}}, {}),
            (UpgradeView{State::failed, fmt::format("{} was requested instead of {}", other_image, image)}));
  EXPECT_EQ(view({}, {}), (UpgradeView{State::failed, "the request of 0.1.1 was removed"}));
  const auto history = [](const char* state) {
    return JsonObject{{"history", JsonArray{{{"state", state}, {"version", "0.1.1"}, {"image", image}}}},
                      {"desired", release("0.1.1", image)}};
  };
  EXPECT_EQ(view(asks, {condition("Failing", "True")}, history("Completed")),
            (UpgradeView{State::done, "Cluster version is 0.1.1"}));
  EXPECT_EQ(view(asks, {}, history("Partial")).state, State::waits);
}

TEST(View, OfAnUpgradeThatWasRequestedEarlier) {
  EXPECT_EQ(pending_upgrade(cluster_version(asks, {})).target, UpgradeTarget{image});
  EXPECT_EQ(pending_upgrade(cluster_version({}, {})).target, (UpgradeTarget{other_image, "0.1.0"}));
  const Json refused = cluster_version(asks, {condition("ReleaseAccepted", "False", "no", "PreconditionChecks")});
  EXPECT_EQ(view_upgrade(refused, pending_upgrade(refused)).state, State::failed);
}

// A pool whose machines have the config `now` and shall have `wanted`.
Json pool(const char* name, const char* wanted, const char* now, JsonArray conditions, bool is_paused = false) {
  return {{"apiVersion", "machineconfiguration.openshift.io/v1"},
          {"kind", "MachineConfigPool"},
          {"metadata", {{"name", name}, {"generation", 1}}},
          {"spec", {{"configuration", {{"name", wanted}}}, {"paused", is_paused}}},
          {"status", {{"configuration", {{"name", now}}}, {"observedGeneration", 1}, {"conditions", std::move(conditions)}}}};
}

TEST(View, OfPools) {
  const Json updated = pool("master", "b", "b", {condition("Updated", "True")});
  EXPECT_EQ(view_pools({updated}), (UpgradeView{State::done, ""}));
  EXPECT_EQ(view_pools({updated, pool("worker", "b", "a", {condition("Updated", "True")})}),
            (UpgradeView{State::waits, "pool worker: is not updated yet"}))
      << "the status is that of the config before";
  EXPECT_EQ(view_pools({pool("infra", "b", "a", {condition("Updating", "True", "1 of 2 machines have b")}),
                        pool("worker", "b", "a", {condition("Degraded", "True", "Node w: no")})}),
            (UpgradeView{State::is_in_trouble, "pool infra: 1 of 2 machines have b; pool worker: Degraded: Node w: no"}));
  EXPECT_EQ(view_pools({updated, pool("worker", "b", "a", {}, true)}),
            (UpgradeView{State::done, "pool worker: paused, its machines keep their config"}));
}

TEST_F(UpgradeTest, WaitEndsWithTheMachines) {
  kube.put(cluster_version({}, {condition("Failing", "False")}));
  kube.put(pool("worker", "b", "a", {condition("Updating", "True", "0 of 1")}));
  const PendingUpgrade pending = request_upgrade(context, kube, {image, "0.1.1"}, false).value();
  std::jthread cluster([&] {
    const JsonObject works = {{"desired", release("0.1.1", image)}};
    kube.put(cluster_version(asks, {condition("ReleaseAccepted", "True"), condition("Failing", "True", "dns")}, works));
    const auto has_logged = [&](std::string_view text) {
      for (const std::string& line : test.logged()) {
        if (line.find(text) != std::string::npos) return true;
      }
      return false;
    };
    const auto wait_for_line = [&](std::string_view text) {
      for (int i = 0; i < 1000 && !has_logged(text); ++i) std::this_thread::sleep_for(Milliseconds(5));
    };
    wait_for_line("Failing=True: dns");
    kube.put(cluster_version(asks, {condition("ReleaseAccepted", "True"), condition("Progressing", "True", "Working")}, works));
    wait_for_line("Working");
    JsonObject done = works;
    done["history"] = JsonArray{{{"state", "Completed"}, {"version", "0.1.1"}, {"image", image}}};
    kube.put(cluster_version(asks, {}, done));
    wait_for_line("pool worker: 0 of 1");
    kube.put(pool("worker", "b", "b", {condition("Updated", "True")}));
  });
  const Result<> waited = wait_for_upgrade(context, kube, pending);
  cluster.join();
  ASSERT_TRUE(waited.ok()) << waited.error().message();
  EXPECT_EQ(test.logged().back(), "info: pool worker: 0 of 1");
}

TEST_F(UpgradeTest, WaitFailsWithTheReason) {
  kube.put(
      cluster_version(asks, {condition("ReleaseAccepted", "False", "image is for another version", "VerifyPayloadVersion")}));
  const Result<> waited = wait_for_upgrade(context, kube, pending_upgrade(stored()));
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().message(),
            fmt::format("waiting for the update to {}: ReleaseAccepted=False: VerifyPayloadVersion: image is "
                        "for another version",
                        image));
  EXPECT_EQ(waited.error().code(), Code::invalid);
}

TEST(Trouble, ThatLastsEndsTheWait) {
  testing_support::TestContext test;  // waits time out at once
  testing_support::FakeKube kube;
  kube.serve_openshift();
  kube.put(cluster_version(asks, {condition("Failing", "True", "dns is not available", "ClusterOperatorNotAvailable")}));
  const Json version = *kube.stored(kube::types::cluster_versions, "", "version");
  const Result<> waited = wait_for_upgrade(test.context(), kube, pending_upgrade(version));
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().message(), fmt::format("waiting for the update to {}: timed out after 10 min 0 s: Failing=True: "
                                                  "ClusterOperatorNotAvailable: dns is not available",
                                                  image));
}

}  // namespace
}  // namespace slipway::cluster
