#include "cluster/workers.h"

#include "net/curl_http.h"
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
  const std::vector<MachineRow> rows = {{"master-0", "master", {}}, {"worker-0", "worker", {}}};
  EXPECT_EQ(no_worker("worker-0", rows, node("worker-0")), std::nullopt);
  EXPECT_EQ(no_worker("worker-9", rows, std::nullopt), std::nullopt);
  EXPECT_EQ(no_worker("master-0", rows, std::nullopt), "master-0 is of the control plane, not a worker");
  EXPECT_EQ(no_worker("m", {}, node("m", "True", of_master)), "m is of the control plane, not a worker");
  EXPECT_EQ(no_worker("bootstrap", {}, std::nullopt), "bootstrap is the name of the bootstrap machine");
}

TEST(OtherHome, IsANodeThatTakesOrdinaryPods) {
  const auto tainted = [](const char* effect) {
    return JsonObject{{"taints", JsonArray{{{"key", "node-role.kubernetes.io/master"}, {"effect", effect}}}}};
  };
  EXPECT_FALSE(has_other_home({node("worker-0"), node("master-0", "True", of_master, tainted("NoSchedule"))}, "worker-0"));
  EXPECT_FALSE(has_other_home({node("worker-0"), node("worker-1", "False")}, "worker-0"));
  EXPECT_FALSE(has_other_home({node("worker-0"), node("worker-1", "True", {}, {{"unschedulable", true}})}, "worker-0"));
  EXPECT_TRUE(has_other_home({node("worker-0"), node("worker-1")}, "worker-0"));
  EXPECT_TRUE(has_other_home({node("worker-0"), node("master-0", "True", of_master, tainted("PreferNoSchedule"))}, "worker-0"));
}

// A cluster of which the host has nothing but its record: no machine is on.
class WorkersTest : public testing::Test {
 protected:
  WorkersTest() {
    const provider::local::ClusterConfig config{
        "demo", "0123456789ab", provider::local::parse_network("10.97.77.0/24").value(), "/repo", {}};
    EXPECT_TRUE(files.write("/state/demo/cluster.json", to_text(config), 0600).ok());
    kube.put(table({{"master-0", "master", {"10.97.77.11"}}, {"worker-0", "worker", {"10.97.77.14"}}}));
    kube.put(node("master-0", "True", of_master, {{"taints", JsonArray{{{"key", "master"}, {"effect", "NoSchedule"}}}}}));
    kube.put(node("worker-0"));
  }

  static Json table(const std::vector<MachineRow>& rows) {
    return with_machine_rows({{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}}},
                             rows);
  }
  std::vector<MachineRow> rows() {
    return machine_rows(*kube.look(kube::types::config_maps, "openshift-config", "machine-addresses")).value();
  }
  void put_pod() {
    kube.put({{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "app"}, {"namespace", "default"}}},
              {"spec", {{"nodeName", "worker-0"}}}});
  }
  Result<> destroy(const std::string& name, bool force = false) { return destroy_local_worker(environment, where, name, force); }

  testing_support::MemoryFiles files;
  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  testing_support::SeededRandom random_{1};
  net::CurlHttp http_;
  LocalGround ground_{.state = "/state", .program = "/bin/false"};

 protected:
  Environment environment{context_, files, runner_, random_, http_};
  WorkerGround where{ground_, "demo", kube};
};

TEST_F(WorkersTest, DestroyDrainsAndForgets) {
  put_pod();
  std::vector<std::string> seen;
  kube.after_write = [&](const Json&) {
    const auto left = kube.look(kube::types::nodes, "", "worker-0");
    seen.push_back(fmt::format("{}{} rows {}", kube.look(kube::types::pods, "default", "app") ? "pod " : "",
                               !left                                    ? "gone"
                               : find(*left, {"spec", "unschedulable"}) ? "closed"
                                                                        : "open",
                               rows().size()));
  };
  const Result<> destroyed = destroy("worker-0");
  ASSERT_TRUE(destroyed.ok()) << destroyed.error().message();
  EXPECT_EQ(seen, (std::vector<std::string>{"pod closed rows 2", "closed rows 2", "closed rows 1", "gone rows 1"}));
  EXPECT_EQ(rows(), (std::vector<MachineRow>{{"master-0", "master", {"10.97.77.11"}}}));
  const std::vector<std::string> logged = test.logged();
  EXPECT_TRUE(std::ranges::any_of(logged, [](const std::string& line) {
    return line.find("worker-0 is the last node that takes ordinary pods") != std::string::npos;
  }));
  const Result<> again = destroy("worker-0");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), Code::not_found);
}

// Killed between any two steps it goes on.
TEST_F(WorkersTest, DestroyGoesOnWhereItStopped) {
  kube.drop(kube::types::nodes, "", "worker-0");
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_EQ(rows().size(), 1u);
  kube.put(node("worker-0"));
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_FALSE(kube.look(kube::types::nodes, "", "worker-0"));
}

TEST_F(WorkersTest, DestroyDoesNotWaitForPodsOfAMachineThatIsDead) {
  put_pod();
  kube.put(node("worker-0", "Unknown"));
  EXPECT_TRUE(destroy("worker-0").ok());
  EXPECT_TRUE(kube.look(kube::types::pods, "default", "app"));  // the cluster's garbage collection takes it
}

TEST_F(WorkersTest, DestroyWithForceDoesNotAskPods) {
  put_pod();
  kube.spoil = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.path.ends_with("/eviction")) return error(Code::unavailable, "the budget allows none");
    return std::nullopt;
  };
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
  const auto made = create_local_worker(environment, where, "worker-0");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::conflict);
  EXPECT_EQ(made.error().message(),
            "the cluster still has a node worker-0, whose machine is gone; `slipway destroy worker worker-0` makes it forget it");
  const auto master = create_local_worker(environment, where, "master-0");
  ASSERT_FALSE(master.ok());
  EXPECT_EQ(master.error().code(), Code::invalid);
}

TEST_F(WorkersTest, NeedTheConfigThatTheClusterHasForThem) {
  const auto made = create_local_worker(environment, where, "");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::not_found);
  EXPECT_NE(made.error().message().find("Secret openshift-machine-api/worker-user-data is missing"), std::string::npos)
      << made.error().message();
  EXPECT_EQ(test.told().back(), "step worker-machine failed");
  EXPECT_EQ(kube.writes(), 0);
}

}  // namespace
}  // namespace slipway::cluster
