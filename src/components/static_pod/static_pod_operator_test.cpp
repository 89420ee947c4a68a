#include "components/static_pod/static_pod_operator.h"

#include "kube/conditions.h"
#include "support/fake_kube.h"
#include "support/operator_environment.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <thread>

namespace slipway::components {
namespace {

using namespace std::chrono_literals;
using testing_support::FakeKube;

using Names = std::vector<std::string>;

const OperatorVariables variables{
    .image = "etcd:1", .operator_image = "operator:1", .version = "4.1.0", .operand_version = "4.1.1"};
const WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 9h;

Json object(std::string_view version, std::string_view kind, std::string_view space, std::string_view name,
            JsonObject more = {}) {
  JsonObject object{{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", space}}}};
  if (space.empty()) object["metadata"].as_object().erase("namespace");
  for (const auto& [key, value] : more) object[key] = value;
  return object;
}

Json etcd_settings(JsonObject spec = {}) {
  return object("operator.openshift.io/v1", "Etcd", "", "cluster", {{"spec", std::move(spec)}});
}
Json cluster_operator() { return object("config.openshift.io/v1", "ClusterOperator", "", "etcd"); }
Json pod_config(std::string_view text) {
  return object("v1", "ConfigMap", "openshift-etcd", "etcd-pod", {{"data", {{"pod.yaml", text}}}});
}
Json source(std::string_view text) {
  return object("v1", "ConfigMap", "openshift-etcd-operator", "source", {{"data", {{"text", text}}}});
}
Json master(const std::string& name) {
  Json node = object("v1", "Node", "", name, {{"status", {{"conditions", JsonArray{{{"type", "Ready"}, {"status", "True"}}}}}}});
  node.at("metadata").as_object()["labels"] = {{"node-role.kubernetes.io/master", ""}};
  return node;
}
Json ready_pod(const std::string& node, int revision) {
  Json pod = object("v1", "Pod", "openshift-etcd", "etcd-" + node,
                    {{"status", {{"conditions", JsonArray{{{"type", "Ready"}, {"status", "True"}}}}}}});
  pod.at("metadata").as_object()["labels"] = {{"revision", std::to_string(revision)}};
  return pod;
}

// Creates the pod's config from the ConfigMap `source`.
StaticPodOperator make_operator() {
  StaticPodOperator work;
  work.operand = {.name = "etcd",
                  .settings = kube::types::etcds,
                  .operator_space = "openshift-etcd-operator",
                  .space = "openshift-etcd",
                  .pod = "etcd",
                  .revisioned = {{Part::Kind::config_map, "etcd-pod"}, {Part::Kind::config_map, "second"}},
                  .unversioned = {}};
  work.target = [](const Snapshot& seen, const Json&, WallTime) -> Result<Target> {
    Target target;
    const Json* source = seen.find(kube::types::config_maps, "openshift-etcd-operator", "source");
    if (!source) {
      target.missing.push_back("ConfigMap openshift-etcd-operator/source");
      return target;
    }
    const std::string text(find_string(*source, {"data", "text"}).value_or(""));
    if (text == "bad") return error(Code::invalid, "source: bad");
    for (const char* name : {"etcd-pod", "second"}) {
      Json part = pod_config(text);
      part.at("metadata").as_object()["name"] = name;
      target.plan.desired_objects.push_back({kube::types::config_maps, std::move(part)});
    }
    target.conditions.push_back({.type = "EtcdMembersDegraded"});
    return target;
  };
  return work;
}

Names unfulfilled(const Plan& plan, const Snapshot& seen) {
  Names names;
  for (const DesiredObject& desired : plan.desired_objects) {
    if (!is_fulfilled(desired, seen)) names.push_back(kube::describe(desired.object));
  }
  return names;
}

std::string condition(const Json& object, std::string_view type) {
  for (const Json& condition : find_array(object, {"status", "conditions"})) {
    if (find_string(condition, {"type"}) == type) {
      return fmt::format("{} {}: {}", find_string(condition, {"status"}).value_or(""),
                         find_string(condition, {"reason"}).value_or(""), find_string(condition, {"message"}).value_or(""));
    }
  }
  return "none";
}

TEST(StaticPodOperator, LooksAtWhatItNeeds) {
  StaticPodOperator work = make_operator();
  work.watched = {{kube::types::networks}};
  std::set<std::string> seen;
  for (const Watched& watched : watched_by(work)) seen.insert(fmt::format("{} {}", watched.type.plural, watched.space));
  EXPECT_EQ(seen, (std::set<std::string>{"clusteroperators ", "configmaps openshift-config", "configmaps openshift-etcd",
                                         "configmaps openshift-etcd-operator", "etcds ", "networks ", "nodes ",
                                         "pods openshift-etcd", "secrets openshift-etcd", "secrets openshift-etcd-operator"}));
}

TEST(StaticPodOperator, DoesNothingWithoutSettings) {
  View view;
  view.put(source("one"));
  const Result<Plan> plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan.value().desired_objects.empty());
}

TEST(StaticPodOperator, OnlyTellsWhenItIsNotToManage) {
  for (const char* state : {"Unmanaged", "Removed"}) {
    View view;
    view.put(etcd_settings({{"managementState", state}}));
    view.put(source("one"));
    view.put(cluster_operator());
    const Result<Plan> plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(unfulfilled(plan.value(), view.snapshot()), (Names{"ClusterOperator etcd"})) << state;
    EXPECT_EQ(kube::condition_status(plan.value().desired_objects[0].object, "Available"), "Unknown") << state;
  }
}

TEST(StaticPodOperator, WritesOneStatusWithEverything) {
  View view;
  Json settings = etcd_settings({{"managementState", "Managed"}});
  settings.at("metadata").as_object()["generation"] = 4;
  view.put(settings);
  view.put(master("master-0"));
  view.put(cluster_operator());
  const Result<Plan> plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(unfulfilled(plan.value(), view.snapshot()), (Names{"Etcd cluster", "ClusterOperator etcd"}));
  const Json& status = plan.value().desired_objects[0].object.at("status");
  EXPECT_EQ(status.at("observedGeneration"), 4);
  EXPECT_EQ(status.at("readyReplicas"), 0);
  EXPECT_EQ(status.at("nodeStatuses"), (Json{JsonObject{{"nodeName", "master-0"}}}));
  EXPECT_EQ(find(status, {"latestAvailableRevision"}), nullptr);
  const std::string missing =
      "ConfigMap openshift-etcd-operator/source, ConfigMap openshift-etcd/etcd-pod, ConfigMap openshift-etcd/second";
  EXPECT_EQ(condition(plan.value().desired_objects[0].object, "NodeInstallerProgressing"),
            "True NoRevision: no revision yet; missing: " + missing);
  EXPECT_EQ(kube::condition_status(plan.value().desired_objects[1].object, "Progressing"), "True");
}

TEST(StaticPodOperator, KeepsWhatIsThereWhenTheTargetCannotBeMade) {
  View view;
  view.put(etcd_settings());
  view.put(source("bad"));
  for (const char* name : {"etcd-pod", "second"}) {
    Json part = pod_config("one");
    part.at("metadata").as_object()["name"] = name;
    view.put(std::move(part));
  }
  const Result<Plan> plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(unfulfilled(plan.value(), view.snapshot()), (Names{"Etcd cluster"}));
  EXPECT_EQ(condition(plan.value().desired_objects[0].object, "TargetConfigControllerDegraded"),
            "True SynchronizationError: source: bad");
}

// One part has already changed, the other will be written: they become one revision.
TEST(StaticPodOperator, BeginsNoRevisionWhileAPartIsOnItsWay) {
  View view;
  view.put(etcd_settings());
  view.put(source("two"));
  view.put(pod_config("two"));
  Json second = pod_config("one");
  second.at("metadata").as_object()["name"] = "second";
  view.put(second);
  Result<Plan> plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(unfulfilled(plan.value(), view.snapshot()), (Names{"ConfigMap openshift-etcd/second", "Etcd cluster"}));
  second = pod_config("two");
  second.at("metadata").as_object()["name"] = "second";
  view.put(second);
  plan = plan_static_pods(make_operator(), variables, view.snapshot(), start);
  EXPECT_EQ(unfulfilled(plan.value(), view.snapshot()),
            (Names{"ConfigMap openshift-etcd/etcd-pod-1", "ConfigMap openshift-etcd/second-1", "Etcd cluster"}));
}

TEST(OperatorVariables, AreAllNeeded) {
  for (const char* name : {"IMAGE", "OPERATOR_IMAGE", "OPERATOR_IMAGE_VERSION", "OPERAND_IMAGE_VERSION"}) setenv(name, name, 1);
  const Result<OperatorVariables> found = operator_variables();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found.value().operand_version, "OPERAND_IMAGE_VERSION");
  unsetenv("IMAGE");
  setenv("OPERATOR_IMAGE", "", 1);
  testing_support::OperatorEnvironment world;
  const Result<> run = run_static_pod_operator(world.environment(), {}, "cluster-etcd-operator",
                                               [](const Environment&, const OperatorVariables&) { return make_operator(); });
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message(), "environment variable IMAGE, OPERATOR_IMAGE: not set (the operator's Deployment sets it)");
  for (const char* name : {"OPERATOR_IMAGE", "OPERATOR_IMAGE_VERSION", "OPERAND_IMAGE_VERSION"}) unsetenv(name);
}

// The rules of OpenShift's CRD for status.nodeStatuses and status.latestAvailableRevision. Empty if they are not broken.
std::string broken_rule(const Json& before, const Json& after) {
  const auto number = [](const Json& value, std::initializer_list<std::string_view> keys) {
    const Json* found = find(value, keys);
    return found && found->is_int64() ? found->get_int64() : 0;
  };
  if (number(after, {"status", "latestAvailableRevision"}) < number(before, {"status", "latestAvailableRevision"})) {
    return "latestAvailableRevision must only increase";
  }
  int targets = 0;
  for (const Json& entry : find_array(after, {"status", "nodeStatuses"})) {
    if (number(entry, {"targetRevision"}) != 0) ++targets;
    const Json* old = nullptr;
    for (const Json& each : find_array(before, {"status", "nodeStatuses"})) {
      if (find_string(each, {"nodeName"}) == find_string(entry, {"nodeName"})) old = &each;
    }
    if (!old && (find(entry, {"currentRevision"}) || find(entry, {"targetRevision"}))) return "no revisions in a new entry";
    if (old && number(entry, {"currentRevision"}) < number(*old, {"currentRevision"}))
      return "currentRevision must only increase";
  }
  return targets > 1 ? "no more than one target" : "";
}

struct Cluster {
  explicit Cluster(int revisions_to_keep) {
    kube.serve_openshift();
    kube.serve(kube::types::etcds);
    for (const std::string& name : masters) kube.put(master(name));
    kube.put(etcd_settings({{"succeededRevisionLimit", revisions_to_keep}}));
    kube.put(cluster_operator());
    for (const char* space : {"openshift-etcd", "openshift-etcd-operator"}) kube.put(object("v1", "Namespace", "", space));
    kube.fail_request = [this](const kube::ApiRequest& request) -> std::optional<Error> {
      if (request.method != "PUT" || !request.path.ends_with("/etcds/cluster/status")) return std::nullopt;
      const std::string rule = broken_rule(*kube.stored(kube::types::etcds, "", "cluster"), *request.body);
      if (rule.empty()) return std::nullopt;
      journal.with_lock([&](Names& lines) { lines.push_back("broken rule: " + rule); });
      return error(Code::invalid, "{}", rule);
    };
    kube.after_write = [this](const Json& written) {
      if (find_string(written, {"kind"}) == "Etcd") play_nodes(written);
    };
  }

  // Does what the installers do: installs a revision immediately, or reports a failure.
  void play_nodes(const Json& settings) {
    for (const std::string& name : masters) {
      const int wanted = wanted_revision(settings, name);
      const bool is_news = installed.with_lock([&](auto& known) { return std::exchange(known[name], wanted) != wanted; });
      if (!is_news || wanted == 0) continue;
      if (name == "master-1" && wanted == failing) {
        fail(name, wanted);
        continue;
      }
      journal.with_lock([&](Names& lines) { lines.push_back(fmt::format("{} {}", name, wanted)); });
      kube.put(ready_pod(name, wanted));
    }
  }
  void fail(const std::string& name, int revision) {
    journal.with_lock([&](Names& lines) { lines.push_back(fmt::format("{} {} failed", name, revision)); });
    Json settings = *kube.stored(kube::types::etcds, "", "cluster");
    std::vector<NodeStatus> statuses = parse_node_statuses(settings);
    for (NodeStatus& status : statuses) {
      if (status.node != name) continue;
      status.last_failed = revision;
      status.last_failed_count = 1;
      status.last_failed_reason = "InstallerFailed";
      status.last_failed_errors = {"no space"};
      status.last_failed_time = to_rfc3339(test.clock.now());
    }
    kube.put(with_node_statuses(std::move(settings), statuses));
  }

  void run(const std::function<void()>& script) {
    const StaticPodOperator work = make_operator();
    View view;
    const Reconciliation reconciliation{
        .manager = "cluster-etcd-operator",
        .watched = watched_by(work),
        .plan = [&](const Snapshot& seen, WallTime now) { return plan_static_pods(work, variables, seen, now); },
        .view = view};
    Result<> ended = Ok{};
    std::jthread thread([&] { ended = reconcile(test.context().with_stop(stop.get_token()), kube, reconciliation); });
    script();
    // Nothing is left to do.
    Names to_do;
    const SteadyTime end = test.clock.steady() + 20s;
    do {
      const std::uint64_t changes = view.changed().count();
      const Snapshot seen = view.snapshot();
      to_do = unfulfilled(plan_static_pods(work, variables, seen, test.clock.now()).value(), seen);
      if (!to_do.empty()) test.clock.wait(end, {}, &view.changed(), changes);
    } while (!to_do.empty() && test.clock.steady() < end);
    EXPECT_EQ(to_do, Names{});
    stop.request_stop();
    thread.join();
    EXPECT_EQ(ended.error().code(), Code::cancelled) << ended.error().message();
  }

  // Waits until the settings have these revisions and the ClusterOperator reports the same.
  void wait_for(std::string_view revisions, const std::function<bool(const Json&)>& also) {
    const auto missing = [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
      if (found.empty()) return std::optional<std::string>("the settings");
      std::string now;
      for (const NodeStatus& status : parse_node_statuses(found[0]))
        now += fmt::format("{}{} ", status.current, status.target ? ">" : "");
      if (now == revisions && also(found[0])) return std::optional<std::string>();
      return std::optional(fmt::format("{}, not {}: {}", now, revisions, condition(found[0], "NodeInstallerProgressing")));
    };
    const Result<> there = kube::wait_until(test.context(), kube, "the settings", 20s, kube::types::etcds, "",
                                            {.fields = "metadata.name=cluster"}, missing);
    ASSERT_TRUE(there.ok()) << there.error().message();
    const std::string message = condition(*kube.stored(kube::types::etcds, "", "cluster"), "NodeInstallerProgressing");
    const std::string said = message.substr(message.find(": "));
    const Result<> reported = kube::wait_until(test.context(), kube, "the ClusterOperator", 20s, kube::types::cluster_operators,
                                               "", {}, [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                                                 const std::string now = condition(found[0], "Progressing");
                                                 return now.find(said) != std::string::npos ? std::optional<std::string>()
                                                                                            : std::optional("it says " + now);
                                               });
    EXPECT_TRUE(reported.ok()) << reported.error().message();
  }
  // Waits until a type has no object of this name in the operand's namespace.
  void wait_until_gone(const kube::ResourceType& type, const std::string& name) {
    const Result<> gone =
        kube::wait_until(test.context(), kube, name + " to go", 20s, type, "openshift-etcd", {.fields = "metadata.name=" + name},
                         [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                           return found.empty() ? std::nullopt : std::optional<std::string>("it is there");
                         });
    EXPECT_TRUE(gone.ok()) << gone.error().message();
  }

  Names take_journal() {
    return journal.with_lock([](Names& lines) { return std::exchange(lines, {}); });
  }

  const Names masters = {"master-0", "master-1", "master-2"};
  testing_support::RealTimeContext test;
  FakeKube kube;
  std::stop_source stop;
  Guarded<Names> journal;  // "master-0 1": what was installed where
  Guarded<std::map<std::string, int>> installed;
  std::atomic<int> failing = 0;  // revision that master-1 fails to install
};

bool any(const Json&) { return true; }

// An operator of a newer release begins with nodes that all run the latest revision: that of the release before.
TEST(StaticPodOperator, ReportsANewVersionWhenAllNodesRunIt) {
  Cluster cluster(1);
  cluster.run([&] {
    cluster.kube.put(source("one"));
    cluster.wait_for("1 1 1 ", any);
  });
  View view;
  for (const char* name : {"etcd-pod", "etcd-pod-1", "second", "second-1", "revision-status-1"}) {
    view.put(*cluster.kube.stored(kube::types::config_maps, "openshift-etcd", name));
  }
  view.put(*cluster.kube.stored(kube::types::etcds, "", "cluster"));
  view.put(*cluster.kube.stored(kube::types::cluster_operators, "", "etcd"));
  for (const std::string& name : cluster.masters) {
    view.put(master(name));
    view.put(ready_pod(name, 1));
  }
  view.put(source("two"));
  const OperatorVariables newer{
      .image = "etcd:2", .operator_image = "operator:2", .version = "4.2.0", .operand_version = "4.2.1"};
  const Json before = {{{"name", "raw-internal"}, {"version", "4.2.0"}},
                       {{"name", "operator"}, {"version", "4.1.0"}},
                       {{"name", "etcd"}, {"version", "4.1.1"}}};
  int pods_at_two = 0;
  for (int round = 0; round < 30; ++round) {
    const Snapshot seen = view.snapshot();
    const Result<Plan> plan = plan_static_pods(make_operator(), newer, seen, start);
    ASSERT_TRUE(plan.ok());
    if (unfulfilled(plan.value(), seen).empty()) break;
    for (const DesiredObject& desired : plan.value().desired_objects) {
      if (desired.how != DesiredObject::How::remove) view.put(desired.object);
    }
    const Snapshot now = view.snapshot();
    const Json& versions = now.find(kube::types::cluster_operators, "", "etcd")->at("status").at("versions");
    const Json& settings = *now.find(kube::types::etcds, "", "cluster");
    EXPECT_EQ(text_of(settings, {"status", "version"}),
              integer_of(settings, {"status", "latestAvailableRevision"}) == 2 ? "4.2.0" : "4.1.0");
    if (pods_at_two < 3) {
      EXPECT_EQ(versions, before) << "in round " << round;
    }
    pods_at_two = 0;
    for (const std::string& name : cluster.masters) {
      const int wanted = wanted_revision(*now.find(kube::types::etcds, "", "cluster"), name);
      view.put(ready_pod(name, wanted));
      pods_at_two += wanted == 2;
    }
  }
  EXPECT_EQ(pods_at_two, 3);
  EXPECT_EQ(view.snapshot().find(kube::types::cluster_operators, "", "etcd")->at("status").at("versions"),
            (Json{{{"name", "raw-internal"}, {"version", "4.2.0"}},
                  {{"name", "operator"}, {"version", "4.2.0"}},
                  {{"name", "etcd"}, {"version", "4.2.1"}}}));
}

TEST(StaticPodOperator, RollsOutRevisionsToNodes) {
  Cluster cluster(1);
  cluster.run([&] {
    // All inputs exist: one revision on all nodes.
    cluster.kube.put(source("one"));
    cluster.wait_for("1 1 1 ", any);
    EXPECT_EQ(cluster.take_journal(), (Names{"master-0 1", "master-1 1", "master-2 1"}));
    Json operator_object = *cluster.kube.stored(kube::types::cluster_operators, "", "etcd");
    EXPECT_EQ(kube::condition_status(operator_object, "Available"), "True");
    EXPECT_EQ(kube::condition_status(operator_object, "Progressing"), "False");
    EXPECT_EQ(kube::condition_status(operator_object, "Degraded"), "False");
    EXPECT_EQ(operator_object.at("status").at("versions"), (Json{{{"name", "raw-internal"}, {"version", "4.1.0"}},
                                                                 {{"name", "operator"}, {"version", "4.1.0"}},
                                                                 {{"name", "etcd"}, {"version", "4.1.1"}}}));

    // A change of both parts is one revision, rolled out one node after another.
    cluster.kube.put(source("two"));
    cluster.wait_for("2 2 2 ", any);
    EXPECT_EQ(cluster.take_journal(), (Names{"master-0 2", "master-1 2", "master-2 2"}));
    const Json settings = *cluster.kube.stored(kube::types::etcds, "", "cluster");
    EXPECT_EQ(find_string(settings, {"status", "latestAvailableRevisionReason"}),
              "ConfigMap etcd-pod changed; ConfigMap second changed");

    // A node that fails rolls back, and the others stay at their revision.
    cluster.failing = 3;
    cluster.kube.put(source("three"));
    cluster.wait_for("3 2 2 ", [](const Json& object) { return condition(object, "NodeInstallerDegraded").starts_with("True"); });
    const std::vector<NodeStatus> held = parse_node_statuses(*cluster.kube.stored(kube::types::etcds, "", "cluster"));
    EXPECT_EQ(held[1].last_failed, 3);
    EXPECT_EQ(held[1].last_failed_errors, (Names{"no space"}));

    // A newer revision repairs it, the failed node first.
    cluster.kube.put(source("four"));
    cluster.wait_for("4 4 4 ",
                     [](const Json& object) { return condition(object, "NodeInstallerDegraded").starts_with("False"); });
    EXPECT_EQ(cluster.take_journal(),
              (Names{"master-0 3", "master-1 3 failed", "master-1 2", "master-1 4", "master-2 4", "master-0 4"}));

    // No node uses the first two revisions.
    for (const char* name : {"revision-status-1", "etcd-pod-1", "second-1", "revision-status-2", "etcd-pod-2", "second-2"}) {
      cluster.wait_until_gone(kube::types::config_maps, name);
    }
    EXPECT_TRUE(cluster.kube.stored(kube::types::config_maps, "openshift-etcd", "etcd-pod-3"));
    EXPECT_TRUE(cluster.kube.stored(kube::types::config_maps, "openshift-etcd", "revision-status-4"));
  });
  std::set<std::string> reasons;
  for (const Json& event : cluster.kube.stored_all(kube::types::events))
    reasons.insert(require_string(event, {"reason"}).value());
  EXPECT_EQ(reasons, (std::set<std::string>{"NodeRevisionFailed", "NodeRevisionReady", "NodeTargeted", "RevisionCreated"}));
}

// In any order of watch events there is no unneeded revision, and no rule of the CRD is broken.
TEST(StaticPodOperator, MakesOneRevisionOfInputsThatComeLate) {
  Cluster cluster(5);
  for (const std::string& name : cluster.masters) cluster.kube.drop(kube::types::nodes, "", name);
  cluster.run([&] {
    cluster.kube.put(source("one"));
    for (const std::string& name : cluster.masters) cluster.kube.put(master(name));
    cluster.wait_for("1 1 1 ", any);
    Names journal = cluster.take_journal();
    std::sort(journal.begin(), journal.end());
    EXPECT_EQ(journal, (Names{"master-0 1", "master-1 1", "master-2 1"}));
  });
}

}  // namespace
}  // namespace slipway::components
