#include "kube/drain.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <atomic>

namespace slipway::kube {
namespace {

Json pod(const std::string& name, Json more = JsonObject()) {
  Json object = {{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata", {{"name", name}, {"namespace", "default"}}},
                 {"spec", {{"nodeName", "worker-0"}}}};
  for (const auto& [key, value] : find_object(more, {"metadata"})) object.as_object()["metadata"].as_object()[key] = value;
  if (const Json* status = slipway::find(more, {"status"})) object.as_object()["status"] = *status;
  return object;
}

Json owned(const std::string& kind) {
  return {{"metadata", {{"ownerReferences", JsonArray{{{"kind", kind}, {"name", "x"}, {"controller", true}}}}}}};
}

TEST(PodsToEvict, AreThoseThatCanRunElsewhere) {
  const Objects pods = {pod("bare"),
                        pod("of-a-deployment", owned("ReplicaSet")),
                        pod("of-a-daemon-set", owned("DaemonSet")),
                        pod("static", {{"metadata", {{"annotations", {{"kubernetes.io/config.mirror", "h"}}}}}}),
                        pod("done", {{"status", {{"phase", "Succeeded"}}}}),
                        pod("failed", {{"status", {{"phase", "Failed"}}}}),
                        pod("running", {{"status", {{"phase", "Running"}}}})};
  std::vector<std::string> names;
  for (const Json& each : pods_to_evict(pods)) names.emplace_back(name_of(each));
  EXPECT_EQ(names, (std::vector<std::string>{"bare", "of-a-deployment", "running"}));
}

TEST(Drain, AsksAgainForAnEvictionThatIsRefused) {
  testing_support::FakeKube kube;
  testing_support::RealTimeContext test;
  kube.put(pod("daemon", owned("DaemonSet")));
  kube.put(pod("app", owned("ReplicaSet")));
  Json elsewhere = pod("elsewhere");
  elsewhere.as_object()["spec"].as_object()["nodeName"] = "worker-1";
  kube.put(elsewhere);
  std::atomic<int> evictions = 0;
  kube.fail_request = [&](const ApiRequest& request) -> std::optional<Error> {
    if (!request.path.ends_with("/eviction") || ++evictions > 1) return std::nullopt;
    return error(Code::unavailable, "the budget allows none");
  };
  const Result<> drained = drain(test.context(), kube, "worker-0", Seconds(30));
  ASSERT_TRUE(drained.ok()) << drained.error().message();
  EXPECT_EQ(evictions, 2);
  std::vector<std::string> left;
  for (const Json& each : kube.stored_all(types::pods)) left.emplace_back(name_of(each));
  EXPECT_EQ(left, (std::vector<std::string>{"daemon", "elsewhere"}));
}

TEST(Drain, NamesThePodsThatStayAndWhy) {
  testing_support::FakeKube kube;
  testing_support::RealTimeContext test;
  kube.put(pod("app"));
  kube.fail_request = [&](const ApiRequest& request) -> std::optional<Error> {
    if (!request.path.ends_with("/eviction")) return std::nullopt;
    return error(Code::unavailable, "the budget allows none");
  };
  const Result<> drained = drain(test.context(), kube, "worker-0", Milliseconds(200));
  ASSERT_FALSE(drained.ok());
  EXPECT_EQ(drained.error().code(), Code::timeout);
  EXPECT_NE(drained.error().message().find("Pod default/app cannot be evicted: the budget allows none"), std::string::npos)
      << drained.error().message();
}

TEST(Drain, EndsAtOnceWhenItMayNotLook) {
  testing_support::FakeKube kube;
  testing_support::RealTimeContext test;
  kube.fail_request = [](const ApiRequest&) { return std::optional(error(Code::denied, "no")); };
  EXPECT_EQ(drain(test.context(), kube, "worker-0", Seconds(30)).error().code(), Code::denied);
}

TEST(SetSchedulable, IsOneFieldOfTheNode) {
  testing_support::FakeKube kube;
  testing_support::TestContext test;
  kube.put(
      {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "worker-0"}}}, {"spec", {{"podCIDR", "10.128.0.0/24"}}}});
  ASSERT_TRUE(set_schedulable(test.context(), kube, "worker-0", false).ok());
  EXPECT_EQ(*slipway::find(*kube.stored(types::nodes, "", "worker-0"), {"spec", "unschedulable"}), Json(true));
  ASSERT_TRUE(set_schedulable(test.context(), kube, "worker-0", true).ok());
  EXPECT_EQ(find_object(*kube.stored(types::nodes, "", "worker-0"), {"spec"}), (JsonObject{{"podCIDR", "10.128.0.0/24"}}));
  EXPECT_EQ(set_schedulable(test.context(), kube, "gone", false).error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::kube
