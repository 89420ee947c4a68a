#include "components/machine_config_operator/drain.h"

#include "components/machine_config_operator/pools.h"
#include "machineconfig/node_annotations.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_operator {
namespace {

namespace mc = machineconfig;
namespace types = kube::types;
using testing_support::FakeKube;
using testing_support::TestContext;

Json pod(std::string_view name, JsonObject metadata = {}, std::string_view phase = "Running") {
  metadata["name"] = name;
  metadata["namespace"] = "apps";
  if (!metadata.contains("labels")) metadata["labels"] = JsonObject{{"app", name}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", std::move(metadata)},
          {"spec", {{"nodeName", "worker-0"}}},
          {"status", {{"phase", phase}}}};
}

Json budget(std::string_view name, std::string_view app, int allowed) {
  return {{"apiVersion", "policy/v1"},
          {"kind", "PodDisruptionBudget"},
          {"metadata", {{"name", name}, {"namespace", "apps"}}},
          {"spec", {{"selector", {{"matchLabels", {{"app", app}}}}}}},
          {"status", {{"disruptionsAllowed", allowed}}}};
}

Json node(std::string_view desired, std::string_view applied, JsonObject labels = {}) {
  JsonObject notes;
  if (!desired.empty()) notes[mc::desired_drain] = desired;
  if (!applied.empty()) notes[mc::last_applied_drain] = applied;
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", "worker-0"}, {"labels", std::move(labels)}, {"annotations", std::move(notes)}}},
          {"spec", JsonObject()}};
}

TEST(DrainStep, IsWhatTheDaemonRequests) {
  const JsonObject master = {{"node-role.kubernetes.io/master", ""}};
  EXPECT_EQ(drain_step(node("", ""), false), DrainStep::nothing);
  EXPECT_EQ(drain_step(node("drain-a", ""), false), DrainStep::drain);
  EXPECT_EQ(drain_step(node("drain-a", "drain-a"), false), DrainStep::nothing);
  EXPECT_EQ(drain_step(node("drain-b", "uncordon-a"), false), DrainStep::drain);
  EXPECT_EQ(drain_step(node("uncordon-a", "drain-a"), false), DrainStep::uncordon);
  EXPECT_EQ(drain_step(node("drain-a", "", master), false), DrainStep::drain);
  EXPECT_EQ(drain_step(node("drain-a", "", master), true), DrainStep::acknowledge);
  EXPECT_EQ(drain_step(node("drain-a", ""), true), DrainStep::drain) << "a worker beside the only master";
}

TEST(PodsToMove, AreThePodsThatWouldKeepRunning) {
  const JsonArray daemon_set = {JsonObject{{"kind", "DaemonSet"}, {"name", "d"}}};
  const JsonArray replica_set = {JsonObject{{"kind", "ReplicaSet"}, {"name", "r"}}};
  const std::vector<Json> pods = {pod("daemon", {{"ownerReferences", daemon_set}}),
                                  pod("static", {{"annotations", {{"kubernetes.io/config.mirror", "x"}}}}),
                                  pod("done", {}, "Succeeded"),
                                  pod("broken", {}, "Failed"),
                                  pod("alone"),
                                  pod("replica", {{"ownerReferences", replica_set}}),
                                  pod("going", {{"deletionTimestamp", "2026-11-21T00:00:00Z"}}),
                                  pod("own")};
  const auto names = [](const std::vector<const Json*>& list) {
    std::vector<std::string> found;
    for (const Json* each : list) found.emplace_back(kube::name_of(*each));
    return found;
  };
  using Names = std::vector<std::string>;
  const PodsToMove leaving = pods_to_move(pods, "own");
  EXPECT_EQ(names(leaving.evict), (Names{"alone", "replica"}));
  EXPECT_EQ(names(leaving.ending), Names{"going"});
  // This program's own pod is evicted last.
  const std::vector<Json> last = {pod("own")};
  EXPECT_EQ(names(pods_to_move(last, "own").evict), Names{"own"});
  EXPECT_EQ(names(pods_to_move(last, "").evict), Names{"own"});
}

TEST(BlockingBudgets, AreThoseThatAllowNoDisruption) {
  Json elsewhere = budget("elsewhere", "web", 0);
  elsewhere.as_object()["metadata"].as_object()["namespace"] = "other";
  const std::vector<Json> all = {budget("web-a", "web", 0), budget("web-b", "web", 1), budget("db", "db", 0), elsewhere};
  EXPECT_EQ(blocking_budgets(pod("web"), all), std::vector<std::string>{"web-a"});
  EXPECT_EQ(blocking_budgets(pod("other"), all), std::vector<std::string>{});
}

struct Drain : testing::Test {
  Drain() {
    kube.serve(kube::types::pod_disruption_budgets);
    kube.put(node("drain-rendered-2", ""));
    // Evictions: refuses pods in `held` as API servers do, and removes all others.
    kube.fail_request = [this](const kube::ApiRequest& request) -> std::optional<Error> {
      if (!request.path.ends_with("/eviction")) return std::nullopt;
      const std::string name(find_string(*request.body, {"metadata", "name"}).value_or(""));
      evicted.push_back(name);
      if (name == held) return Error(Code::unavailable, "429: it would violate the pod's disruption budget");
      kube.drop(types::pods, "apps", name);
      return Error(Code::not_found, "gone");
    };
    refresh_view();
  }

  void refresh_view() { view.put(*kube.stored(types::nodes, "", "worker-0")); }

  // Plans and runs the tasks, as reconcile does. returns: when the plan has to be made again
  std::optional<WallTime> step(const DrainOptions& options = {}) {
    const Plan plan = plan_drains(kube, view, options, view.snapshot(), test.clock.now());
    for (const Task& task : plan.tasks) {
      const Result<> done = task.run(test.context());
      EXPECT_TRUE(done.ok()) << task.name << ": " << done.error().message();
    }
    notices = plan.notices;
    return plan.replan_at;
  }

  Json live() const { return *kube.stored(types::nodes, "", "worker-0"); }
  std::string applied() const { return text_of(live(), {"metadata", "annotations", mc::last_applied_drain}); }
  bool is_cordoned() const {
    const Json* value = find(live(), {"spec", "unschedulable"});
    return value && *value == Json(true);
  }
  std::string message() const {
    const Snapshot seen = view.snapshot();
    const Json* fact = seen.find(node_drains, "", "worker-0");
    return fact ? text_of(*fact, {"message"}) : "";
  }

  TestContext test;
  FakeKube kube;
  View view;
  std::string held;
  std::vector<std::string> evicted;
  std::vector<Notice> notices;
};

TEST_F(Drain, CordonsEvictsAndReports) {
  kube.put(pod("web"));
  EXPECT_TRUE(step().has_value());
  EXPECT_TRUE(is_cordoned());
  EXPECT_EQ(evicted, std::vector<std::string>{"web"});
  EXPECT_EQ(applied(), "") << "not before it has gone";
  EXPECT_EQ(message(), "draining, waiting for pods: Pod apps/web is terminating");
  step();
  EXPECT_EQ(applied(), "drain-rendered-2");
  EXPECT_EQ(message(), "");
  EXPECT_FALSE(step().has_value()) << "it is over";
}

TEST_F(Drain, NamesTheBudgetAndContinuesWhenItAllowsEviction) {
  kube.put(pod("web"));
  kube.put(pod("job"));
  kube.put(budget("web-budget", "web", 0));
  held = "web";
  const std::optional<WallTime> again = step();
  ASSERT_TRUE(again);
  EXPECT_LE(*again - test.clock.now(), Milliseconds(1000));
  EXPECT_EQ(message(), "draining, waiting for pods: Pod apps/web is held by PodDisruptionBudget web-budget");
  EXPECT_FALSE(kube.stored(types::pods, "apps", "job")) << "others go";
  step();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_TRUE(notices[0].is_warning);
  // A long drain is retried less often.
  test.clock.wait(test.clock.steady() + Milliseconds(120'000), {}, nullptr, 0);
  EXPECT_GT(*step() - test.clock.now(), Milliseconds(5'000));
  held = "";
  step();
  step();
  EXPECT_EQ(applied(), "drain-rendered-2");
}

TEST_F(Drain, UncordonsTheNode) {
  Json object = node("uncordon-rendered-2", "drain-rendered-2");
  object.as_object()["spec"].as_object()["unschedulable"] = true;
  kube.put(object);
  refresh_view();
  step();
  EXPECT_FALSE(is_cordoned());
  EXPECT_EQ(applied(), "uncordon-rendered-2");
  const int writes = kube.writes();
  EXPECT_FALSE(step().has_value());
  EXPECT_EQ(kube.writes(), writes);
}

TEST_F(Drain, TheOnlyMasterKeepsItsPods) {
  kube.put(node("drain-rendered-2", "", {{"node-role.kubernetes.io/master", ""}}));
  kube.put(pod("web"));
  refresh_view();
  step({.is_single_master = true});
  EXPECT_EQ(applied(), "drain-rendered-2");
  EXPECT_FALSE(is_cordoned());
  EXPECT_TRUE(evicted.empty());
}

TEST_F(Drain, RefusesToPatchANodeThatHasChanged) {
  const Json old = *view.snapshot().find(types::nodes, "", "worker-0");
  kube.put(node("drain-rendered-3", ""));
  const Result<> done = drain_node(test.context(), kube, view, old, "");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::conflict);
  EXPECT_FALSE(is_cordoned());
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
