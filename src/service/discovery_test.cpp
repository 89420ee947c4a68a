#include "service/discovery.h"

#include "service/installation.h"
#include "service/test_records.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

TEST(Discovery, StartsTheAgentWithItsToken) {
  InfraEnvRecord record{.id = "e", .name = "demo"};
  record.settings = {
      {"ssh_authorized_key", "ssh-ed25519 AAAA me"},
      {"ignition_config_override",
       R"({"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/mine","contents":{"source":"data:,x"}}]}})"}};
  const std::string text =
      discovery_ignition(record, {.url = "https://10.0.0.1:8090", .authority = "PEM", .token = "secret"}).value();
  for (const char* part : {"/etc/slipway-agent/token", "slipway-agent.service", "/etc/mine", "ssh-ed25519 AAAA me"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  record.settings["ignition_config_override"] = R"({"ignition":{"version":"9.9.9"}})";
  EXPECT_FALSE(discovery_ignition(record, {}).ok());
}

TEST(Discovery, InstalledHostsHaveTheirName) {
  HostRecord record = test_host_record("h", "c");
  record.host.requested_hostname = "master-0.example.com";
  const std::string text =
      host_ignition(record, R"({"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://a/config/master"}]}}})")
          .value();
  EXPECT_NE(text.find("/etc/hostname"), std::string::npos);
  EXPECT_NE(text.find("https://a/config/master"), std::string::npos);
}

TEST(InstallConfig, IsMadeFromTheCluster) {
  ClusterRecord cluster = test_cluster_record("c");
  cluster.cluster.machine_networks = {net::parse_cidr("192.168.126.0/24").value()};
  cluster.install_config_overrides = {{"networking", JsonObject{{"networkType", "Other"}}}, {"fips", true}};
  HostRecord host = test_host_record("h", "c");
  host.host.role = assist::Role::master;
  host.host.inventory = assist::test_inventory("host-h");
  const Json config = install_config(cluster, {std::make_shared<const HostRecord>(host)});
  EXPECT_EQ(text_of(config, {"metadata", "name"}), "demo");
  EXPECT_EQ(integer_of(config, {"controlPlane", "replicas"}), 3);
  EXPECT_EQ(text_of(config, {"networking", "networkType"}), "Other");
  EXPECT_TRUE(is_true(config, {"fips"}));
  cluster.settings["https_proxy"] = "http://joe:hunter2@proxy:3128";
  const Json whole = install_config(cluster, {});
  EXPECT_EQ(text_of(whole, {"proxy", "httpsProxy"}), "http://joe:hunter2@proxy:3128");
  EXPECT_EQ(text_of(shown_install_config(whole), {"proxy", "httpsProxy"}), "http://proxy:3128");
  EXPECT_EQ(text_of(shown_install_config(whole), {"pullSecret"}), "");
  EXPECT_EQ(find_array(config, {"platform", "baremetal", "hosts"}).size(), 1u);
  cluster.cluster.manages_addresses = false;
  EXPECT_NE(find(install_config(cluster, {}), {"platform", "none"}), nullptr);
}

TEST(InstallConfig, OfASingleNode) {
  ClusterRecord cluster = test_cluster_record("c");
  HostRecord host = test_host_record("h", "c");
  host.host.role = assist::Role::master;
  host.host.inventory = assist::test_inventory("host-h");
  const std::vector hosts = {std::make_shared<const HostRecord>(host)};
  EXPECT_EQ(find(install_config(cluster, hosts), {"bootstrapInPlace"}), nullptr);
  cluster.cluster.control_plane_count = 1;
  const Json config = install_config(cluster, hosts);
  EXPECT_NE(find(config, {"platform", "none"}), nullptr) << "it has no virtual addresses";
  EXPECT_EQ(text_of(config, {"bootstrapInPlace", "installationDisk"}), "/dev/vda");
  EXPECT_NE(find(install_config(cluster, {}), {"bootstrapInPlace"}), nullptr);
}

}  // namespace
}  // namespace slipway::service
