#include "cluster/install.h"

#include "cluster/fault_watch.h"
#include "net/curl_http.h"
#include "provider/fake/fake_provider.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/sample_assets.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

namespace types = kube::types;

Json object_of(const kube::ResourceType& type, const std::string& name, Json status) {
  return {{"apiVersion", type.api_version()}, {"kind", type.kind}, {"metadata", {{"name", name}}}, {"status", std::move(status)}};
}

Json conditions(JsonObject statuses) {
  JsonArray list;
  for (const auto& [type, status] : statuses) list.push_back({{"type", type}, {"status", status}});
  return {{"conditions", std::move(list)}};
}

// A cluster of three masters that is complete when its machines exist.
class InstallTest : public testing::Test {
 protected:
  InstallTest() {
    assets.config = testing_support::sample_config();
    assets.id = {.infra_id = "demo-x7k2p", .cluster_id = "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22"};
    for (const auto& type : {types::cluster_versions, types::cluster_operators, types::etcds, types::kube_apiservers})
      kube.serve(type);
    JsonArray servers;
    for (const char* name : {"master-0", "master-1", "master-2"}) {
      Json node = object_of(types::nodes, name, conditions({{"Ready", "True"}}));
      node.at("metadata").as_object()["labels"] = {{"node-role.kubernetes.io/master", ""}};
      kube.put(node);
      servers.push_back({{"nodeName", name}, {"currentRevision", 1}});
    }
    kube.put({{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", "bootstrap"}, {"namespace", "kube-system"}}},
              {"data", {{"status", "complete"}}}});
    kube.put(object_of(types::etcds, "cluster", conditions({{"EtcdBootstrapMemberRemoved", "True"}})));
    kube.put(object_of(types::kube_apiservers, "cluster", {{"nodeStatuses", std::move(servers)}}));
    kube.put(object_of(types::cluster_operators, "etcd",
                       conditions({{"Available", "True"}, {"Progressing", "False"}, {"Degraded", "False"}})));
    kube.put(object_of(types::cluster_versions, "version", conditions({{"Available", "True"}})));
  }

  Result<> run() {
    FaultWatch faults(test.clock);
    return install({context, files, runner, random, http},
                   {.assets = assets, .machines = machines, .api = kube, .folder = "/demo", .keep_bootstrap = keep_bootstrap},
                   faults, steps);
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, machine] : machines.machines) all.push_back(name);
    return all;
  }
  bool was_emitted(const std::string& line) {
    const std::vector<std::string> lines = test.event_lines();
    return std::ranges::find(lines, line) != lines.end();
  }

  assets::Assets assets;
  provider::fake::FakeProvider machines;
  testing_support::FakeKube kube;
  testing_support::MemoryFiles files;
  testing_support::RealTimeContext test;
  bool keep_bootstrap = false;
  Steps steps;

 private:
  sys::Context context = test.context();
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
};

const std::vector<std::string> masters = {"master-0", "master-1", "master-2"};

TEST_F(InstallTest, MakesTheMachinesWaitsAndRemovesTheBootstrapMachine) {
  const Result<> done = run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(machines.calls, (std::vector<std::string>{"create", "remove bootstrap"}));
  EXPECT_EQ(names(), masters);
  for (const char* step : {"machines", "kubernetes-api", "control-plane-nodes", "bootstrap-complete", "bootstrap-member",
                           "bootstrap-machine", "nodes-ready", "api-servers", "cluster-operators", "cluster-version"}) {
    EXPECT_TRUE(was_emitted(fmt::format("step {} finished", step))) << step;
  }
}

TEST_F(InstallTest, ContinuesAfterEachCallWhoseAnswerWasLost) {
  for (const char* call : {"create", "remove bootstrap"}) {
    machines.after_change = [call](const std::string& made) -> Result<> {
      if (made == call) return error(Code::unavailable, "no answer");
      return Ok{};
    };
    const Result<> failed = run();
    ASSERT_FALSE(failed.ok()) << call;
    EXPECT_EQ(failed.error().code(), Code::unavailable);
  }
  machines.after_change = {};
  const Result<> done = run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  // The bootstrap machine was removed, so the existing machines are only started.
  EXPECT_EQ(machines.calls, (std::vector<std::string>{"create", "create", "remove bootstrap", "start"}));
  EXPECT_EQ(names(), masters);
}

TEST_F(InstallTest, TellsWhichStepFailed) {
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.path.find("/etcds") == std::string::npos) return std::nullopt;
    return error(Code::denied, "not for you");
  };
  const Result<> failed = run();
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(was_emitted("step bootstrap-complete finished"));
  EXPECT_TRUE(was_emitted("step bootstrap-member failed"));
  EXPECT_EQ(steps.failed(), Step::bootstrap_member);
  EXPECT_TRUE(machines.machines.contains("bootstrap"));
}

TEST_F(InstallTest, KeepsTheBootstrapMachineForPeople) {
  keep_bootstrap = true;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(machines.machines.contains("bootstrap"));
}

TEST_F(InstallTest, ChecksBeforeAnythingIsMade) {
  machines.existing.of = provider::ExistingCluster::Of::another_cluster;
  const Result<> failed = run();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::conflict);
  EXPECT_TRUE(machines.calls.empty());
}

}  // namespace
}  // namespace slipway::cluster
