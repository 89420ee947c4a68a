#include "components/cluster_version/gates.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::cluster_version {
namespace {

using namespace std::chrono_literals;
using Kind = UnmetGate::Kind;

Json yaml(std::string_view text) { return parse_yaml(text, "x").value().value; }

TEST(Modes, FollowTheHistory) {
  const std::pair<const char*, Mode> cases[] = {
      {"{}", Mode::initializing},
      {"{history: []}", Mode::initializing},
      {"{history: [{state: Partial, version: '2', image: r2}]}", Mode::initializing},
      {"{history: [{state: Completed, version: '2', image: r2}]}", Mode::reconciling},
      {"{history: [{state: Completed, version: '1', image: r1}]}", Mode::updating},
      {"{history: [{state: Completed, version: '2', image: other}]}", Mode::updating},
      {"{history: [{state: Partial, version: '2', image: r2}, {state: Completed, version: '1', image: r1}]}", Mode::updating},
      {"{history: [{state: Completed, version: '1', image: r1}, {state: Completed, version: '2', image: r2}]}", Mode::updating},
  };
  for (const auto& [status, mode] : cases) {
    EXPECT_EQ(mode_of(yaml(fmt::format("{{status: {}}}", status)), "2", "r2"), mode) << status;
  }
}

TEST(Gates, HaveThreeKinds) {
  EXPECT_EQ(gate_of(yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: n}}")),
            (Gate{kube::types::deployments, "n", "a"}));
  EXPECT_EQ(gate_of(yaml("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, namespace: n}}")),
            (Gate{kube::types::daemon_sets, "n", "a"}));
  EXPECT_EQ(gate_of(yaml("{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: etcd}, "
                         "status: {versions: [{name: operator, version: 1.0.0}]}}")),
            (Gate{kube::types::cluster_operators, "", "etcd", {{"operator", "1.0.0"}}}));
  EXPECT_EQ(gate_of(yaml("{apiVersion: example.com/v1, kind: ClusterOperator, metadata: {name: a}}")), std::nullopt);
  EXPECT_EQ(gate_of(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")), std::nullopt);
}

// The unmet gates of ClusterOperator etcd with this status.
std::vector<UnmetGate> unmet_with(Mode mode, const char* status) {
  View view;
  if (*status) {
    view.put(yaml(fmt::format(
        "{{apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {{name: etcd}}, status: {}}}", status)));
  }
  return unmet_gates({{kube::types::cluster_operators, "", "etcd", {{"operator", "2"}, {"etcd", "2"}}}}, mode, view.snapshot());
}

TEST(UnmetGates, OfClusterOperatorsDependOnTheMode) {
  struct Case {
    const char* status;
    const char* initializing;
    const char* reconciling;
    const char* updating;
  };
  const char* available = "{type: Available, status: 'True'}";
  const std::string degraded =
      fmt::format("{{conditions: [{}, {{type: Degraded, status: 'True', message: one is down}}]}}", available);
  const std::string old =
      fmt::format("{{conditions: [{}], versions: [{{name: operator, version: '2'}}, {{name: etcd, version: '1'}}]}}", available);
  const std::string none = fmt::format("{{conditions: [{}], versions: []}}", available);
  const std::string reached =
      fmt::format("{{conditions: [{}], versions: [{{name: operator, version: '2'}}, {{name: etcd, version: '2'}}]}}", available);
  const Case cases[] = {
      {"", "does not exist", "does not exist", "does not exist"},
      {"{}", "not Available", "not Available", "not Available"},
      {"{conditions: [{type: Available, status: 'False', message: 1 of 3}]}", "not Available: 1 of 3", "not Available: 1 of 3",
       "not Available: 1 of 3"},
      {"{conditions: [{type: Available, status: Unknown}]}", "not Available", "not Available", "not Available"},
      {degraded.c_str(), "", "Degraded: one is down", "Degraded: one is down"},
      {old.c_str(), "", "", "version 2 of etcd is not reached, has 1"},
      {none.c_str(), "", "", "version 2 of operator is not reached"},
      {reached.c_str(), "", "", ""},
  };
  for (const Case& each : cases) {
    const auto text = [&](Mode mode) {
      const std::vector<UnmetGate> found = unmet_with(mode, each.status);
      return found.empty() ? "" : found.front().text;
    };
    EXPECT_EQ(text(Mode::initializing), each.initializing) << each.status;
    EXPECT_EQ(text(Mode::reconciling), each.reconciling) << each.status;
    EXPECT_EQ(text(Mode::updating), each.updating) << each.status;
  }
}

TEST(UnmetGates, OfWorkloadsCountWhileUpdating) {
  const std::pair<const char*, const char*> cases[] = {
      {"{metadata: {name: a, namespace: n, generation: 2}, status: {observedGeneration: 1}}",
       "the controller has not observed the change yet"},
      {"{metadata: {name: a, namespace: n, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: "
       "1}}",
       "1 of 2 pods are updated"},
      {"{metadata: {name: a, namespace: n, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, updatedReplicas: "
       "2, "
       "availableReplicas: 1}}",
       "1 of 2 pods are available"},
      {"{metadata: {name: a, namespace: n, generation: 2}, status: {observedGeneration: 2, updatedReplicas: 1, "
       "availableReplicas: "
       "1}}",
       ""},
  };
  const std::vector<Gate> gates = {{kube::types::deployments, "n", "a"}};
  for (const auto& [text, gate] : cases) {
    Json object = yaml(text);
    object.as_object()["apiVersion"] = "apps/v1";
    object.as_object()["kind"] = "Deployment";
    View view;
    view.put(object);
    const std::vector<UnmetGate> found = unmet_gates(gates, Mode::updating, view.snapshot());
    EXPECT_EQ(found.empty() ? "" : found.front().text, gate) << text;
    EXPECT_TRUE(unmet_gates(gates, Mode::initializing, view.snapshot()).empty());
    EXPECT_TRUE(unmet_gates(gates, Mode::reconciling, view.snapshot()).empty());
  }
  View view;
  view.put(
      yaml("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, namespace: n, generation: 1}, "
           "status: {observedGeneration: 1, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2}}"));
  const std::vector<UnmetGate> found = unmet_gates({{kube::types::daemon_sets, "n", "a"}}, Mode::updating, view.snapshot());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(to_text(found), "DaemonSet n/a: 2 of 3 pods are available");
}

TEST(UnmetGates, AreReportedInOneLine) {
  const auto gate = [](const char* name) {
    return UnmetGate{fmt::format("ClusterOperator {}", name), name, Kind::missing, "does not exist"};
  };
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(to_text({gate("a")}), "ClusterOperator a: does not exist");
  EXPECT_EQ(
      to_text({gate("a"), gate("b"), gate("c"), gate("d"), gate("e")}),
      "ClusterOperator a: does not exist; ClusterOperator b: does not exist; ClusterOperator c: does not exist; and 2 more");
}

TEST(TimeLimit, DependsOnTheOperator) {
  const auto at = [](Milliseconds time) { return SteadyTime(time); };
  struct Case {
    const char* name;
    Kind kind;
    Milliseconds end;
    const char* reason;
  };
  const Case cases[] = {{"etcd", Kind::not_available, 30min, "ClusterOperatorNotAvailable"},
                        {"etcd", Kind::missing, 30min, "ClusterOperatorMissing"},
                        {"etcd", Kind::degraded, 40min, "ClusterOperatorDegraded"},
                        {"etcd", Kind::other_version, 30min, "ClusterOperatorUpdating"},
                        {"machine-config", Kind::not_available, 90min, "ClusterOperatorNotAvailable"},
                        {"machine-config", Kind::degraded, 90min, "ClusterOperatorDegraded"}};
  for (const Case& each : cases) {
    const std::vector<UnmetGate> unmet = {{fmt::format("ClusterOperator {}", each.name), each.name, each.kind, "bad"}};
    const std::map<std::string, SteadyTime> since = {{unmet[0].object, at(1min)}};
    const OverdueGate before = find_overdue(unmet, since, at(1min + each.end - 1ms));
    EXPECT_FALSE(before.reason) << each.name;
    EXPECT_EQ(before.again, at(1min + each.end)) << each.name;
    const OverdueGate after = find_overdue(unmet, since, at(1min + each.end));
    EXPECT_EQ(after.reason, each.reason);
    EXPECT_EQ(after.message, fmt::format("ClusterOperator {}: bad for more than {}", each.name, human_duration(each.end)));
  }
}

TEST(TimeLimit, NamesTheOverdueGate) {
  const std::vector<UnmetGate> unmet = {{"ClusterOperator young", "young", Kind::missing, "bad"},
                                        {"ClusterOperator old", "old", Kind::missing, "bad"}};
  const OverdueGate found = find_overdue(
      unmet, {{"ClusterOperator young", SteadyTime(25min)}, {"ClusterOperator old", SteadyTime(0min)}}, SteadyTime(31min));
  EXPECT_TRUE(found.message.starts_with("ClusterOperator old")) << found.message;
  EXPECT_EQ(found.again, SteadyTime(55min));
}

}  // namespace
}  // namespace slipway::components::cluster_version
