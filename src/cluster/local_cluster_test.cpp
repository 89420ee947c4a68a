#include "cluster/local_cluster.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

config::InstallConfig demo() {
  config::InstallConfig config;
  config.name = "demo";
  config.base_domain = "example.com";
  config.networking.machine_network = {"10.97.77.0/24"};
  config.platform = {.type = "local",
                     .local = config::LocalPlatform{"10.97.77.5", "10.97.77.7"},
                     .section = {{"apiVIPs", {"10.97.77.5"}}, {"ingressVIPs", {"10.97.77.7"}}}};
  return config;
}

TEST(LocalCluster, TheBootstrapMachineComesFirstAndWorkersLast) {
  config::InstallConfig config = demo();
  config.compute = {{.name = "worker", .replicas = 2}};
  const auto machines = planned_machines(config).value();
  ASSERT_EQ(machines.size(), 6u);
  EXPECT_EQ(machines[4], (Machine{"worker-0", "worker", "10.97.77.14"}));
  EXPECT_EQ(machines[5], (Machine{"worker-1", "worker", "10.97.77.15"}));
  EXPECT_EQ(machines[0], (Machine{"bootstrap", "bootstrap", "10.97.77.10"}));
  EXPECT_EQ(machines[3], (Machine{"master-2", "master", "10.97.77.13"}));
}

TEST(LocalCluster, NeedsAnAddressForEachMachine) {
  config::InstallConfig config = demo();
  config.networking.machine_network = {"10.97.77.0/28"};
  config.compute = {{.name = "worker", .replicas = 1}};
  EXPECT_EQ(planned_machines(config).value().size(), 5u);
  config.compute[0].replicas = 2;
  const auto planned = planned_machines(config);
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code(), Code::invalid);
  EXPECT_NE(planned.error().message().find("10.97.77.0/28 has addresses for 5 machines, and this cluster begins with 6"),
            std::string::npos)
      << planned.error().message();
}

TEST(LocalCluster, OnlyNodesMayAskForCertificates) {
  const auto nodes = planned_nodes(planned_machines(demo()).value());
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0], (assets::Environment::Node{"master-0", "master", {"10.97.77.11"}}));
}

TEST(LocalCluster, NamesLeadToTheVirtualAddresses) {
  const auto wishes_where = [](const IsFree& is_free) {
    return local_wishes(demo(), {.infra_id = "demo-x7k2p", .cluster_id = ""}, "/srv/repo", {}, is_free);
  };
  const provider::local::ClusterWishes wishes = wishes_where([](const std::string&, int) { return true; });
  const std::vector<provider::local::NameRecord> records = {{"api.demo.example.com", "10.97.77.5"},
                                                            {"api-int.demo.example.com", "10.97.77.5"},
                                                            {"*.apps.demo.example.com", "10.97.77.7"}};
  EXPECT_EQ(wishes.records, records);
  EXPECT_EQ(wishes.forwards, (std::vector<provider::local::Forward>{
                                 {6443, "10.97.77.5", 6443}, {80, "10.97.77.7", 80}, {443, "10.97.77.7", 443}}));
  EXPECT_EQ(ingress_ports(wishes.forwards), (IngressPorts{80, 443}));
  // A web server of the host has port 80 of all addresses.
  const auto beside = wishes_where([&](const std::string& address, int port) {
    EXPECT_EQ(address, wishes.host_address);
    return port != 80;
  });
  EXPECT_EQ(ingress_ports(beside.forwards), (IngressPorts{8080, 443}));
  EXPECT_EQ(ingress_ports(wishes_where([](const std::string&, int) { return false; }).forwards), (IngressPorts{80, 443}));
  EXPECT_EQ(ingress_ports({{6443, "10.97.77.5", 6443}}), (IngressPorts{}));
}

TEST(MachineTroubles, AreTheMachinesOwnWords) {
  using provider::local::State;
  const std::vector<provider::local::MachineStatus> machines = {
      {.name = "master-0", .state = State::running},
      {.name = "worker-0", .state = State::igniting, .reason = "waits for its configuration: Internal Server Error"},
      {.name = "worker-1", .state = State::failed, .reason = "its init ended with status 1"}};
  EXPECT_EQ(machine_troubles(machines, {"worker-0"}), "worker-0 is igniting: waits for its configuration: Internal Server Error");
  EXPECT_EQ(machine_troubles(machines, {}),
            "worker-0 is igniting: waits for its configuration: Internal Server Error; "
            "worker-1 is failed: its init ended with status 1");
  EXPECT_EQ(machine_troubles(machines, {"master-0"}), "");
}

}  // namespace
}  // namespace slipway::cluster
