#include "node/report_progress.h"

#include "support/fake_kube.h"
#include "support/node_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace slipway::node {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeNodeWorld;

class ReportProgress : public testing::Test {
 protected:
  ReportProgress() { kube.serve_openshift(); }

  void say_topology(const char* topology) {
    kube.put({{"apiVersion", "config.openshift.io/v1"},
              {"kind", "Infrastructure"},
              {"metadata", {{"name", "cluster"}}},
              {"status", {{"controlPlaneTopology", topology}}}});
  }
  void serve(int servers) {
    JsonArray addresses;
    for (int i = 0; i < servers; ++i) addresses.push_back(JsonObject{{"ip", fmt::format("10.0.0.{}", i + 1)}});
    kube.put({{"apiVersion", "v1"},
              {"kind", "Endpoints"},
              {"metadata", {{"name", "kubernetes"}, {"namespace", "default"}}},
              {"subsets", JsonArray{JsonObject{{"addresses", addresses}}}}});
  }
  std::string status() const {
    const auto map = kube.stored(kube::types::config_maps, "kube-system", "bootstrap");
    return map ? std::string(find_string(*map, {"data", "status"}).value_or("")) : "none";
  }

  RealTimeNodeWorld world;
  FakeKube kube;
};

TEST_F(ReportProgress, OneServerIsEnoughForOneMaster) {
  say_topology("SingleReplica");
  ASSERT_TRUE(report_bootstrap_complete(world.environment(), kube).ok());
  EXPECT_EQ(status(), "complete");
  EXPECT_TRUE(report_bootstrap_complete(world.environment(), kube).ok());
}

TEST_F(ReportProgress, ThreeMastersNeedTwoServers) {
  say_topology("HighlyAvailable");
  serve(1);
  std::jthread second([&] {
    while (true) {
      const std::vector<std::string> requests = kube.requests();
      if (std::ranges::any_of(requests, [](const std::string& line) { return line.starts_with("WATCH"); })) break;
      std::this_thread::yield();
    }
    EXPECT_EQ(status(), "none");
    serve(2);
  });
  ASSERT_TRUE(report_bootstrap_complete(world.environment(), kube).ok());
  EXPECT_EQ(status(), "complete");
}

TEST_F(ReportProgress, TwoServersAreEnoughInAnyCluster) {
  serve(2);
  ASSERT_TRUE(report_bootstrap_complete(world.environment(), kube).ok());
  EXPECT_EQ(status(), "complete");
  for (const std::string& line : kube.requests()) EXPECT_EQ(line.find("infrastructures"), std::string::npos) << line;
}

TEST_F(ReportProgress, UsageIsOneKubeconfig) {
  EXPECT_EQ(run_report_progress(world.environment(), {}).error().message(), "usage: report-progress KUBECONFIG");
}

}  // namespace
}  // namespace slipway::node
