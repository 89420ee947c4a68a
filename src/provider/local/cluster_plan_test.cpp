#include "provider/local/cluster_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway::provider::local {
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

// The ports of the API and of applications.
using Ports = std::vector<int>;
Ports ports_of(const std::vector<Forward>& forwards) {
  const HostAccess access = host_access_of({.name = "demo", .id = "", .network = {}, .os_repo = "", .forwards = forwards});
  return {access.api_port, access.http_port, access.https_port};
}

TEST(ClusterPlan, TheBootstrapMachineComesFirstAndWorkersLast) {
  config::InstallConfig config = demo();
  config.compute = {{.name = "worker", .replicas = 2}};
  const auto machines = planned_machines(config).value();
  ASSERT_EQ(machines.size(), 6u);
  EXPECT_EQ(machines[4], (Machine{"worker-0", "worker", "10.97.77.14"}));
  EXPECT_EQ(machines[5], (Machine{"worker-1", "worker", "10.97.77.15"}));
  EXPECT_EQ(machines[0], (Machine{"bootstrap", "bootstrap", "10.97.77.10"}));
  EXPECT_EQ(machines[3], (Machine{"master-2", "master", "10.97.77.13"}));
}

TEST(ClusterPlan, NeedsAnAddressForEachMachine) {
  config::InstallConfig config = demo();
  config.networking.machine_network = {"10.97.77.0/28"};
  config.compute = {{.name = "worker", .replicas = 1}};
  EXPECT_EQ(planned_machines(config).value().size(), 5u);
  config.compute[0].replicas = 2;
  const auto planned = planned_machines(config);
  ASSERT_FALSE(planned.ok());
  EXPECT_EQ(planned.error().code(), Code::invalid);
  EXPECT_NE(planned.error().message().find("10.97.77.0/28 has addresses for 5 machines, but this cluster needs 6"),
            std::string::npos)
      << planned.error().message();
}

TEST(ClusterPlan, NamesLeadToTheVirtualAddresses) {
  const auto options_where = [](const IsFree& is_free) {
    return cluster_options(demo(), {.infra_id = "demo-x7k2p", .cluster_id = ""}, "/srv/repo", {}, is_free);
  };
  const ClusterOptions options = options_where([](const std::string&, int) { return true; });
  const std::vector<NameRecord> records = {{"api.demo.example.com", "10.97.77.5"},
                                           {"api-int.demo.example.com", "10.97.77.5"},
                                           {"*.apps.demo.example.com", "10.97.77.7"}};
  EXPECT_EQ(options.records, records);
  EXPECT_EQ(options.os_registry, "registry.demo.example.com:5443");
  EXPECT_EQ(options.forwards,
            (std::vector<Forward>{{6443, "10.97.77.5", 6443}, {80, "10.97.77.7", 80}, {443, "10.97.77.7", 443}}));
  EXPECT_EQ(ports_of(options.forwards), (Ports{6443, 80, 443}));
  // A web server of the host uses port 80 of all addresses.
  const auto beside = options_where([&](const std::string& address, int port) {
    EXPECT_EQ(address, options.host_address);
    return port != 80;
  });
  EXPECT_EQ(ports_of(beside.forwards), (Ports{6443, 8080, 443}));
  EXPECT_EQ(ports_of(options_where([](const std::string&, int) { return false; }).forwards), (Ports{6443, 80, 443}));
  EXPECT_EQ(ports_of({{6443, "10.97.77.5", 6443}}), (Ports{6443, 0, 0}));
}

}  // namespace
}  // namespace slipway::provider::local
