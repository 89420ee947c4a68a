#include "cluster/local_cluster.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

config::InstallConfig demo() {
  config::InstallConfig config;
  config.name = "demo";
  config.base_domain = "example.com";
  config.networking.machine_network = {"10.97.77.0/24"};
  config.platform = {.type = "local", .local = config::LocalPlatform{"10.97.77.5", "10.97.77.7"}};
  return config;
}

TEST(LocalCluster, TheBootstrapMachineComesFirst) {
  const auto machines = planned_machines(demo()).value();
  ASSERT_EQ(machines.size(), 4u);
  EXPECT_EQ(machines[0], (Machine{"bootstrap", "bootstrap", "10.97.77.10"}));
  EXPECT_EQ(machines[3], (Machine{"master-2", "master", "10.97.77.13"}));
}

TEST(LocalCluster, OnlyNodesMayAskForCertificates) {
  const auto nodes = planned_nodes(planned_machines(demo()).value());
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0], (assets::Environment::Node{"master-0", "master", {"10.97.77.11"}}));
}

TEST(LocalCluster, NamesLeadToTheVirtualAddresses) {
  const provider::local::ClusterWishes wishes =
      local_wishes(demo(), {.infra_id = "demo-x7k2p", .cluster_id = ""}, "/srv/repo", {});
  const std::vector<provider::local::NameRecord> records = {{"api.demo.example.com", "10.97.77.5"},
                                                            {"api-int.demo.example.com", "10.97.77.5"},
                                                            {"*.apps.demo.example.com", "10.97.77.7"}};
  EXPECT_EQ(wishes.records, records);
  EXPECT_EQ(wishes.forwards, (std::vector<provider::local::Forward>{{6443, "10.97.77.5", 6443}}));
}

}  // namespace
}  // namespace slipway::cluster
