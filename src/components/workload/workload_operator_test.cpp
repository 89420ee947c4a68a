#include "components/workload/workload_operator.h"

#include "components/workload/workload.h"
#include "support/fake_kube.h"
#include "support/operator_environment.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace slipway::components {
namespace {

using namespace std::chrono_literals;
using testing_support::FakeKube;

const WallTime noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 12h;
const ReleaseVersion release{"4.1.0"};
const Workload server{kube::types::deployments, "n", "server"};

Json cluster_operator() {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterOperator"},
          {"metadata", {{"name", "dns"}}},
          {"status", {{"versions", {{{"name", "operator"}, {"version", "4.0.0"}}}}}}};
}
Json source(std::string_view image) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "source"}, {"namespace", "n"}}},
          {"data", {{"image", image}}}};
}
Json deployment(std::string_view image) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "server"}, {"namespace", "n"}}},
          {"spec", {{"image", image}}}};
}
// The object as its controller leaves it when it runs completely.
Json running(Json object) {
  object.as_object()["status"] = {
      {"observedGeneration", find(object, {"metadata", "generation"}) ? object.at("metadata").at("generation") : Json(1)},
      {"replicas", 1},
      {"updatedReplicas", 1},
      {"availableReplicas", 1}};
  return object;
}
Json settings(std::string_view state) {
  return {{"apiVersion", "operator.openshift.io/v1"},
          {"kind", "DNS"},
          {"metadata", {{"name", "cluster"}}},
          {"spec", {{"managementState", state}}}};
}

// Creates the Deployment from the ConfigMap `source`.
WorkloadOperator make_operator() {
  return {.name = "dns",
          .space = "dns-operator",
          .watched = {{kube::types::config_maps, "n"}, {kube::types::deployments, "n"}},
          .operands = {"coredns"},
          .desired_state = [](const Snapshot& seen, WallTime) -> Result<DesiredState> {
            const Json* from = seen.find(kube::types::config_maps, "n", "source");
            if (!from) return error(Code::not_found, "there is no ConfigMap n/source");
            DesiredState desired_state;
            desired_state.plan.desired_objects.push_back(
                TRY(to_desired_object(deployment(require_string(*from, {"data", "image"}).value()))));
            desired_state.conditions = workload_conditions("DNS", {server}, seen);
            return desired_state;
          }};
}

// The ClusterOperator after a plan, which is also put into the view.
Json reported(const WorkloadOperator& work, View& view, WallTime now) {
  const Result<Plan> plan = plan_workloads(work, release, view.snapshot(), now);
  EXPECT_TRUE(plan.ok());
  for (const DesiredObject& desired : plan.value().desired_objects) {
    if (desired.type == kube::types::cluster_operators) view.put(desired.object);
  }
  return *view.snapshot().find(kube::types::cluster_operators, "", "dns");
}

std::string condition(const Json& object, std::string_view type) {
  for (const Json& each : find_array(object, {"status", "conditions"})) {
    if (find_string(each, {"type"}) == type) {
      return fmt::format("{} {}: {}", find_string(each, {"status"}).value_or(""), find_string(each, {"reason"}).value_or(""),
                         find_string(each, {"message"}).value_or(""));
    }
  }
  return "none";
}

std::string versions(const Json& object) {
  std::string text;
  for (const Json& each : find_array(object, {"status", "versions"})) {
    text += fmt::format("{} {} ", find_string(each, {"name"}).value_or(""), find_string(each, {"version"}).value_or(""));
  }
  return text;
}

TEST(WorkloadOperator, TellsVersionsWhenAllIsDone) {
  View view;
  view.put(cluster_operator());
  view.put(source("one"));
  Json object = reported(make_operator(), view, noon);
  EXPECT_EQ(condition(object, "Available"), "False DNS_NoPodAvailable: DNSAvailable: Deployment n/server: does not exist");
  EXPECT_EQ(condition(object, "Progressing"), "True DNS_RollingOut: DNSProgressing: Deployment n/server: does not exist");
  EXPECT_EQ(condition(object, "Degraded"), "False AsExpected: ");
  EXPECT_EQ(versions(object), "operator 4.0.0 ");

  view.put(deployment("one"));
  object = reported(make_operator(), view, noon);
  EXPECT_EQ(versions(object), "operator 4.0.0 ");

  view.put(running(deployment("one")));
  object = reported(make_operator(), view, noon);
  EXPECT_EQ(condition(object, "Available"), "True AsExpected: ");
  EXPECT_EQ(condition(object, "Progressing"), "False AsExpected: ");
  EXPECT_EQ(versions(object), "operator 4.1.0 coredns 4.1.0 ");
}

// The previous version still runs, although it is healthy.
TEST(WorkloadOperator, TellsNoVersionOfWhatIsNotAppliedYet) {
  View view;
  view.put(cluster_operator());
  view.put(source("two"));
  view.put(running(deployment("one")));
  const Json object = reported(make_operator(), view, noon);
  EXPECT_EQ(condition(object, "Available"), "True AsExpected: ");
  EXPECT_EQ(versions(object), "operator 4.0.0 ");
}

TEST(WorkloadOperator, IsDegradedWhenItCannotForTwoMinutes) {
  View view;
  view.put(cluster_operator());
  view.put(source("two"));
  view.put(running(deployment("one")));
  EXPECT_EQ(condition(reported(make_operator(), view, noon), "Degraded"), "False AsExpected: ");
  EXPECT_EQ(plan_workloads(make_operator(), release, view.snapshot(), noon + 30s).value().replan_at, noon + 2min);
  // The conditions are stored in the cluster, so another leader continues with them.
  View next;
  next.put(*view.snapshot().find(kube::types::cluster_operators, "", "dns"));
  next.put(source("two"));
  next.put(running(deployment("one")));
  EXPECT_EQ(condition(reported(make_operator(), next, noon + 119s), "Degraded"), "False AsExpected: ");
  EXPECT_EQ(condition(reported(make_operator(), next, noon + 2min), "Degraded"),
            "True Sync_ObjectsDiffer: SyncDegraded: not applied (see the log of the operator): Deployment n/server");
  next.put(running(deployment("two")));
  EXPECT_EQ(condition(reported(make_operator(), next, noon + 3min), "Degraded"), "False AsExpected: ");
}

TEST(WorkloadOperator, KeepsWhatItSaidWhenThereIsNoAim) {
  View view;
  view.put(cluster_operator());
  Json object = reported(make_operator(), view, noon);
  EXPECT_EQ(condition(object, "Available"), "Unknown NoData: ");
  EXPECT_EQ(condition(object, "Degraded"), "False AsExpected: ");

  view.put(source("one"));
  view.put(running(deployment("one")));
  EXPECT_EQ(condition(reported(make_operator(), view, noon), "Available"), "True AsExpected: ");
  view.remove(kube::types::config_maps, "n", "source");
  object = reported(make_operator(), view, noon + 1min);
  EXPECT_EQ(condition(object, "Available"), "True AsExpected: ");
  object = reported(make_operator(), view, noon + 3min);
  EXPECT_EQ(condition(object, "Available"), "True AsExpected: ");
  EXPECT_EQ(condition(object, "Degraded"), "True Sync_SynchronizationError: SyncDegraded: there is no ConfigMap n/source");
  EXPECT_EQ(versions(object), "operator 4.1.0 coredns 4.1.0 ");
}

TEST(WorkloadOperator, ForgetsConditionsThatAreNotToldAnyMore) {
  View view;
  view.put(cluster_operator());
  WorkloadOperator work = make_operator();
  work.desired_state = [](const Snapshot&, WallTime) {
    return DesiredState{.conditions = {{"OneAvailable", false, "Bad", "x"}, {"TwoAvailable", true}}};
  };
  EXPECT_EQ(condition(reported(work, view, noon), "Available"), "False One_Bad: OneAvailable: x");
  work.desired_state = [](const Snapshot&, WallTime) { return DesiredState{.conditions = {{"TwoAvailable", true}}}; };
  EXPECT_EQ(condition(reported(work, view, noon), "Available"), "True AsExpected: ");
}

TEST(WorkloadOperator, OnlyTellsWhenItIsNotToManage) {
  WorkloadOperator work = make_operator();
  work.settings = kube::types::dns_settings;
  View view;
  view.put(cluster_operator());
  view.put(source("one"));
  EXPECT_EQ(condition(reported(work, view, noon), "Available"), "Unknown NoData: ");
  EXPECT_EQ(plan_workloads(work, release, view.snapshot(), noon).value().desired_objects.size(), 0u);
  view.put(settings("Unmanaged"));
  EXPECT_EQ(condition(reported(work, view, noon), "Available"), "Unknown Unmanaged: spec.managementState is Unmanaged");
  EXPECT_EQ(plan_workloads(work, release, view.snapshot(), noon).value().desired_objects.size(), 0u);
  view.put(settings("Managed"));
  EXPECT_EQ(plan_workloads(work, release, view.snapshot(), noon).value().desired_objects.size(), 2u);
}

TEST(WorkloadOperator, LooksAtWhatItNeeds) {
  WorkloadOperator work = make_operator();
  work.settings = kube::types::dns_settings;
  std::string text;
  for (const Watched& each : watched_by(work)) text += fmt::format("{}.{} ", each.type.plural, each.type.group);
  EXPECT_EQ(text, "configmaps. deployments.apps dnses.operator.openshift.io clusteroperators.config.openshift.io ");
}

TEST(Wishes, AreOfKnownTypes) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"v1", "Service", "services"},
      {"v1", "ServiceAccount", "serviceaccounts"},
      {"apps/v1", "DaemonSet", "daemonsets"},
      {"config.openshift.io/v1", "DNS", "dnses"},
      {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"},
  };
  for (const auto& [version, kind, plural] : cases) {
    const Result<DesiredObject> desired =
        to_desired_object({{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", "a"}}}}, DesiredObject::How::create);
    ASSERT_TRUE(desired.ok()) << kind;
    EXPECT_EQ(desired.value().type.plural, plural);
    EXPECT_EQ(desired.value().how, DesiredObject::How::create);
  }
  const Result<DesiredObject> unknown =
      to_desired_object({{"apiVersion", "v2"}, {"kind", "Service"}, {"metadata", {{"name", "a"}, {"namespace", "n"}}}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message(), "Service n/a: unknown kind for apiVersion v2");
}

TEST(Wishes, AreMadeOfFolders) {
  const Result<std::vector<DesiredObject>> desired_objects = desired_objects_of_folder("cloud_credential", {{"MODE", "Manual"}});
  ASSERT_TRUE(desired_objects.ok()) << desired_objects.error().message();
  std::string text;
  for (const DesiredObject& desired : desired_objects.value()) text += fmt::format("{} ", desired.type.plural);
  EXPECT_EQ(text, "customresourcedefinitions namespaces cloudcredentials ");
  EXPECT_EQ(find_string(desired_objects.value().at(2).object, {"spec", "credentialsMode"}), "Manual");
  const Result<std::vector<DesiredObject>> hollow = desired_objects_of_folder("cloud_credential", {});
  ASSERT_FALSE(hollow.ok());
  EXPECT_NE(hollow.error().message().find("cloud_credential/cco-operator-config.yaml"), std::string::npos)
      << hollow.error().message();
}

TEST(WorkloadOperator, NeedsItsEnvironment) {
  unsetenv("RELEASE_VERSION");
  testing_support::OperatorEnvironment world;
  const Result<> run = run_workload_operator(world.environment(), {"-v", "2"}, "dns-operator",
                                             [](const Environment&, const ReleaseVersion&) { return make_operator(); });
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message(), "environment variable RELEASE_VERSION: not set (the operator's Deployment sets it)");
}

// With an API server; the test plays the controller of Deployments.
TEST(WorkloadOperator, LeadsAClusterThere) {
  testing_support::RealTimeContext test;
  FakeKube kube;
  kube.serve_openshift();
  kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "n"}}}});
  kube.put(source("one"));
  kube.put(cluster_operator());
  kube.after_write = [&](const Json& written) {
    if (find_string(written, {"kind"}) == "Deployment") kube.put(running(written));
  };
  const WorkloadOperator work = make_operator();
  View view;
  const Reconciliation reconciliation{
      .manager = "dns-operator",
      .watched = watched_by(work),
      .plan = [&](const Snapshot& seen, WallTime now) { return plan_workloads(work, release, seen, now); },
      .view = view};
  std::stop_source stop;
  std::jthread thread([&] { (void)reconcile(test.context().with_stop(stop.get_token()), kube, reconciliation); });
  const Result<> there = kube::wait_until(test.context(), kube, "the ClusterOperator", 20s, kube::types::cluster_operators, "",
                                          {}, [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                                            if (versions(found[0]) == "operator 4.1.0 coredns 4.1.0 ")
                                              return std::optional<std::string>();
                                            return std::optional("it has " + versions(found[0]));
                                          });
  EXPECT_TRUE(there.ok()) << there.error().message();
  const Json object = *kube.stored(kube::types::cluster_operators, "", "dns");
  EXPECT_EQ(condition(object, "Available"), "True AsExpected: ");
  EXPECT_EQ(condition(object, "Degraded"), "False AsExpected: ");
  EXPECT_EQ(require_string(*kube.stored(kube::types::deployments, "n", "server"), {"spec", "image"}).value(), "one");
  stop.request_stop();
}

}  // namespace
}  // namespace slipway::components
