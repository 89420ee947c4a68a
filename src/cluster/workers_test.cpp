#include "cluster/workers.h"

#include "base/digest.h"
#include "net/curl_http.h"
#include "provider/fake/fake_provider.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

Json node(const std::string& name, const std::string& ready = "True", JsonObject labels = {}, JsonObject spec = {}) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
          {"spec", std::move(spec)},
          {"status", {{"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}};
}

const JsonObject of_master = {{"node-role.kubernetes.io/master", ""}};

TEST(NextWorkerName, IsTheFirstThatNobodyHas) {
  EXPECT_EQ(next_worker_name({}), "worker-0");
  EXPECT_EQ(next_worker_name({"worker-0", "master-0", "worker-2"}), "worker-1");
}

TEST(NoWorker, IsAMachineOfAnotherKind) {
  const kube::MachineTable rows = {{"master-0", "master", {}}, {"worker-0", "worker", {}}};
  EXPECT_EQ(worker_name_problem("worker-0", rows, node("worker-0")), std::nullopt);
  EXPECT_EQ(worker_name_problem("worker-9", rows, std::nullopt), std::nullopt);
  EXPECT_EQ(worker_name_problem("master-0", rows, std::nullopt), "master-0 is a control plane node, not a worker");
  EXPECT_EQ(worker_name_problem("m", {}, node("m", "True", of_master)), "m is a control plane node, not a worker");
  EXPECT_EQ(worker_name_problem("bootstrap", {}, std::nullopt), "bootstrap is the name of the bootstrap machine");
}

TEST(Workers, AreProvedByRowOrNode) {
  const kube::MachineTable rows = {{"master-0", "master", {}}, {"special", "worker", {}}};
  EXPECT_TRUE(is_worker("special", rows, std::nullopt));
  EXPECT_TRUE(is_worker("other", rows, node("other")));
  EXPECT_TRUE(is_worker("worker-7", rows, std::nullopt)) << "its creation was interrupted";
  EXPECT_FALSE(is_worker("master-0", rows, std::nullopt));
  EXPECT_FALSE(is_worker("master-1", rows, std::nullopt)) << "its Node was deleted";
  EXPECT_FALSE(is_worker("m", rows, node("m", "True", of_master)));
  EXPECT_FALSE(is_worker("bootstrap", rows, std::nullopt));
}

TEST(OtherHome, IsANodeThatTakesOrdinaryPods) {
  const auto tainted = [](const char* effect) {
    return JsonObject{{"taints", JsonArray{{{"key", "node-role.kubernetes.io/master"}, {"effect", effect}}}}};
  };
  EXPECT_FALSE(
      has_other_schedulable_node({node("worker-0"), node("master-0", "True", of_master, tainted("NoSchedule"))}, "worker-0"));
  EXPECT_FALSE(has_other_schedulable_node({node("worker-0"), node("worker-1", "False")}, "worker-0"));
  EXPECT_FALSE(
      has_other_schedulable_node({node("worker-0"), node("worker-1", "True", {}, {{"unschedulable", true}})}, "worker-0"));
  EXPECT_TRUE(has_other_schedulable_node({node("worker-0"), node("worker-1")}, "worker-0"));
  EXPECT_TRUE(has_other_schedulable_node({node("worker-0"), node("master-0", "True", of_master, tainted("PreferNoSchedule"))},
                                         "worker-0"));
}

// A cluster without machines; tests add them.
class WorkersTest : public testing::Test {
 protected:
  WorkersTest() {
    machines.existing.of = provider::ExistingCluster::Of::this_cluster;
    kube.put(table({{"master-0", "master", {"10.97.77.11"}}, {"worker-0", "worker", {"10.97.77.14"}}}));
    kube.put(node("master-0", "True", of_master, {{"taints", JsonArray{{{"key", "master"}, {"effect", "NoSchedule"}}}}}));
    kube.put(node("worker-0"));
  }

  static Json table(const kube::MachineTable& rows) {
    return kube::with_machine_table({{"apiVersion", "v1"},
                                     {"kind", "ConfigMap"},
                                     {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}}},
                                    rows);
  }
  kube::MachineTable rows() {
    return kube::parse_machine_table(*kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses")).value();
  }
  void put_pod() {
    kube.put({{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "app"}, {"namespace", "default"}}},
              {"spec", {{"nodeName", "worker-0"}}}});
  }
  Result<> destroy(const std::string& name, bool force = false) { return destroy_worker(environment, where, name, force); }

  testing_support::MemoryFiles files;
  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  testing_support::SeededRandom random_{1};
  net::CurlHttp http_;

 protected:
  Environment environment{context_, files, runner_, random_, http_};
  provider::fake::FakeProvider machines;
  Workers where{machines, kube};
};

TEST_F(WorkersTest, DestroyDrainsAndForgets) {
  put_pod();
  std::vector<std::string> seen;
  kube.after_write = [&](const Json&) {
    const auto left = kube.stored(kube::types::nodes, "", "worker-0");
    seen.push_back(fmt::format("{}{} rows {}", kube.stored(kube::types::pods, "default", "app") ? "pod " : "",
                               !left                                    ? "gone"
                               : find(*left, {"spec", "unschedulable"}) ? "closed"
                                                                        : "open",
                               rows().size()));
  };
  const Result<> destroyed = destroy("worker-0");
  ASSERT_TRUE(destroyed.ok()) << destroyed.error().message();
  EXPECT_EQ(seen, (std::vector<std::string>{"pod closed rows 2", "closed rows 2", "closed rows 1", "gone rows 1"}));
  EXPECT_EQ(rows(), (kube::MachineTable{{"master-0", "master", {"10.97.77.11"}}}));
  const std::vector<std::string> logged = test.logged();
  EXPECT_TRUE(std::ranges::any_of(
      logged, [](const std::string& line) { return line.find("worker-0 is the last schedulable node") != std::string::npos; }));
  const Result<> again = destroy("worker-0");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), Code::not_found);
}

// A call that was killed between two steps continues.
TEST_F(WorkersTest, DestroyGoesOnWhereItStopped) {
  kube.drop(kube::types::nodes, "", "worker-0");
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_EQ(rows().size(), 1u);
  kube.put(node("worker-0"));
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_FALSE(kube.stored(kube::types::nodes, "", "worker-0"));
}

TEST_F(WorkersTest, DestroyDoesNotWaitForPodsOfAMachineThatIsDead) {
  put_pod();
  kube.put(node("worker-0", "Unknown"));
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_TRUE(kube.stored(kube::types::pods, "default", "app"));  // the garbage collection of the cluster deletes it
}

TEST_F(WorkersTest, DestroyWithForceDoesNotAskPods) {
  put_pod();
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.path.ends_with("/eviction")) return error(Code::unavailable, "the budget allows none");
    return std::nullopt;
  };
  EXPECT_TRUE(destroy("worker-0", true).ok());
}

TEST_F(WorkersTest, DataOfLocalVolumesIsLostWithForceOnly) {
  kube.put({{"apiVersion", "v1"},
            {"kind", "PersistentVolume"},
            {"metadata", {{"name", "pvc-1"}, {"annotations", {{"slipway.internal/node", "worker-0"}}}}},
            {"spec", {{"claimRef", {{"namespace", "shop"}, {"name", "data"}}}}},
            {"status", {{"phase", "Bound"}}}});
  const Result<> refused = destroy("worker-0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_EQ(refused.error().message(),
            "worker worker-0: has the data of shop/data, which would be lost (delete these claims, or use --force to lose their "
            "data)");
  EXPECT_EQ(kube.writes(), 0);
  EXPECT_TRUE(destroy("worker-0", true).ok());
}

TEST_F(WorkersTest, OnlyWorkersAreDestroyed) {
  const std::pair<const char*, Code> cases[] = {
      {"master-0", Code::invalid}, {"bootstrap", Code::invalid}, {"../x", Code::invalid}, {"worker-9", Code::not_found}};
  for (const auto& [name, code] : cases) {
    const Result<> destroyed = destroy(name);
    ASSERT_FALSE(destroyed.ok()) << name;
    EXPECT_EQ(destroyed.error().code(), code) << destroyed.error().message();
  }
  EXPECT_EQ(kube.writes(), 0);
}

TEST_F(WorkersTest, ANodeWithoutItsMachineIsInTheWay) {
  const auto made = create_worker(environment, where, "worker-0");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::conflict);
  EXPECT_EQ(made.error().message(),
            "node worker-0: still exists, but its machine is gone (run `slipway destroy worker worker-0` to remove the node)");
  const auto master = create_worker(environment, where, "master-0");
  ASSERT_FALSE(master.ok());
  EXPECT_EQ(master.error().code(), Code::invalid);
}

TEST_F(WorkersTest, NeedTheConfigThatTheClusterHasForThem) {
  const auto made = create_worker(environment, where, "");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::not_found);
  EXPECT_NE(made.error().message().find("Secret openshift-machine-api/worker-user-data: not found"), std::string::npos)
      << made.error().message();
  EXPECT_EQ(test.event_lines().back(), "step worker-machine failed");
  EXPECT_EQ(kube.writes(), 0);
}

// A cluster that accepts a new worker: it has the config, and a node registers when its machine is in the table.
class CreateWorkerTest : public WorkersTest {
 protected:
  CreateWorkerTest() {
    machines.machines["worker-0"].status = {.name = "worker-0", .state = "running", .is_on = true};
    kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift-machine-api"}}}});
    kube.put({{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"metadata", {{"name", "worker-user-data"}, {"namespace", "openshift-machine-api"}}},
              {"data", {{"userData", base64_encode("{}")}}}});
    kube.after_write = [this](const Json&) {
      if (!kube::find_machine(rows(), "worker-1") || kube.stored(kube::types::nodes, "", "worker-1")) return;
      kube.put(node("worker-1", "True", {{"node-role.kubernetes.io/worker", ""}}));
    };
  }
};

TEST_F(CreateWorkerTest, MakesTheMachineLetsItInAndWaits) {
  const auto made = create_worker(environment, where, "");
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made.value(), "worker-1");
  EXPECT_EQ(machines.calls, std::vector<std::string>{"add worker-1"});
  EXPECT_EQ(machines.machines.at("worker-1").ignition, "{}");
  EXPECT_EQ(*kube::find_machine(rows(), "worker-1"),
            (kube::MachineRow{"worker-1", "worker", {machines.machines.at("worker-1").status.address}}));
}

TEST_F(CreateWorkerTest, ContinuesAfterEachCallWhoseAnswerWasLost) {
  machines.after_change = [](const std::string&) -> Result<> { return error(Code::unavailable, "no answer"); };
  EXPECT_EQ(create_worker(environment, where, "worker-1").error().code(), Code::unavailable);
  machines.after_change = {};
  bool is_first = true;
  kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "GET" || !std::exchange(is_first, false)) return std::nullopt;
    return error(Code::unavailable, "no answer");
  };
  EXPECT_EQ(create_worker(environment, where, "worker-1").error().code(), Code::unavailable);
  const auto made = create_worker(environment, where, "worker-1");
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(machines.machines.size(), 2u);
  EXPECT_EQ(rows().size(), 3u);
}

TEST(PlanScale, TakesFreeNamesAndRemovesTheLast) {
  const auto scaled = [](std::vector<std::string> workers, int count) {
    std::vector<std::string> taken = workers;
    taken.emplace_back("worker-1");  // a row without a machine
    const Scaled plan = plan_scale(std::move(workers), std::move(taken), count);
    return std::pair(plan.added, plan.removed);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(scaled({"worker-0"}, 3), std::pair(Names({"worker-2", "worker-3"}), Names()));
  EXPECT_EQ(scaled({"worker-0", "worker-2", "worker-10"}, 1), std::pair(Names(), Names({"worker-10", "worker-2"})));
  EXPECT_EQ(scaled({"worker-0"}, 1), std::pair(Names(), Names()));
  EXPECT_EQ(scaled({"worker-0", "special"}, 1), std::pair(Names(), Names({"worker-0"}))) << "names without a number stay longest";
}

class ScaleTest : public CreateWorkerTest {
 protected:
  ScaleTest() {
    kube.after_write = [this](const Json&) {
      for (const kube::MachineRow& row : rows()) {
        if (row.role != "worker" || kube.stored(kube::types::nodes, "", row.name) || !machines.machines.contains(row.name))
          continue;
        kube.put(node(row.name, "True", {{"node-role.kubernetes.io/worker", ""}}));
      }
    };
  }

  Result<Scaled> scale(int count) { return scale_workers(environment, where, count, false); }
};

TEST_F(ScaleTest, AddsAndRemovesWorkers) {
  const auto more = scale(3);
  ASSERT_TRUE(more.ok()) << more.error().message();
  EXPECT_EQ(more->added, (std::vector<std::string>{"worker-1", "worker-2"}));
  EXPECT_EQ(rows().size(), 4u);
  machines.calls.clear();
  EXPECT_TRUE(scale(3)->added.empty());
  EXPECT_TRUE(machines.calls.empty());
  const auto fewer = scale(1);
  ASSERT_TRUE(fewer.ok()) << fewer.error().message();
  EXPECT_EQ(fewer->removed, (std::vector<std::string>{"worker-2", "worker-1"}));
  EXPECT_EQ(rows().size(), 2u);
  EXPECT_EQ(machines.machines.size(), 1u);
}

// The machines exist, and the answer was lost: the same call lets them in.
TEST_F(ScaleTest, ContinuesAfterAnAnswerThatWasLost) {
  machines.after_change = [](const std::string&) -> Result<> { return error(Code::unavailable, "no answer"); };
  EXPECT_EQ(scale(2).error().code(), Code::unavailable);
  machines.after_change = {};
  machines.calls.clear();
  const auto again = scale(2);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_TRUE(again->added.empty());
  EXPECT_EQ(machines.calls, std::vector<std::string>{"add worker-1"}) << "the platform completes what it left";
  EXPECT_EQ(rows().size(), 3u);
  EXPECT_TRUE(kube.stored(kube::types::nodes, "", "worker-1"));
}

}  // namespace
}  // namespace slipway::cluster
