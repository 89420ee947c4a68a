#include "service/rendezvous_config.h"

#include "ignition/data_url.h"
#include "ignition/gzip.h"
#include "ignition/validate.h"
#include "service/access.h"
#include "service/test_records.h"
#include "support/seeded_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace slipway::service {
namespace {

const WallTime now = assist::test_now;
constexpr std::size_t largest_text = 1 << 20;

config::InstallConfig install_config() {
  config::InstallConfig config;
  config.name = "demo";
  config.base_domain = "example.com";
  config.pull_secret = Secret(R"({"auths": {}})");
  config.ssh_key = "ssh-ed25519 AAAA me";
  config.control_plane.replicas = 3;
  config.compute = {{.name = "worker", .replicas = 1}};
  config.networking = {.network_type = "Flannel",
                       .machine_network = {"192.168.126.0/24"},
                       .cluster_network = {{"10.128.0.0/14", 23}},
                       .service_network = {"172.30.0.0/16"}};
  config.platform.type = "baremetal";
  config.platform.section = {{"apiVIPs", JsonArray{"192.168.126.100"}}, {"ingressVIPs", JsonArray{"192.168.126.101"}}};
  config.proxy = config::Proxy{"http://proxy:3128", "", ".example.com"};
  return config;
}

config::AgentConfig agent_config() {
  config::AgentHost host{.hostname = "m0", .role = "master", .interfaces = {{"eth0", "52:54:00:00:00:01"}}};
  host.root_device_hints = {{"deviceName", "/dev/vda"}};
  host.network_config = {{"interfaces", JsonArray{Json{{"name", "eth0"}, {"type", "ethernet"}, {"state", "up"}}}}};
  return {.rendezvous_ip = "192.168.126.11",
          .hosts = {host, {.interfaces = {{"", "52:54:00:00:00:02"}}}},
          .time_servers = {"a", "b"}};
}

const InstallationFiles files = {
    {"bootstrap.ign", "BOOTSTRAP"}, {"kubeconfig", "KUBECONFIG"}, {kubeconfig_without_routers, "KUBECONFIG"}};

class RendezvousImageTest : public testing::Test {
 protected:
  RendezvousImageTest() {
    testing_support::SeededRandom random(1);
    image = make_rendezvous_image(install_config(), agent_config(), files, random, now).value();
    const ignition::Parsed parsed = ignition::read_config(image.ignition, "image").value();
    for (const ignition::File& file : parsed.config.storage.files) {
      const std::string content = ignition::decode_data_url(*file.contents.source).value();
      contents[file.path] =
          file.contents.compression.value_or("") == "gzip" ? ignition::gunzip(content, largest_text).value() : content;
      modes[file.path] = file.mode.value_or(0);
    }
    for (const ignition::Unit& unit : parsed.config.systemd.units) units.push_back(unit.name);
  }

  RendezvousConfig config() {
    const Json value = parse_json(contents.at("/etc/slipway-rendezvous/rendezvous.json"), "records").value();
    return parse_rendezvous(value).value();
  }

  RendezvousImage image;
  std::map<std::string, std::string> contents;
  std::map<std::string, int> modes;
  std::vector<std::string> units;
};

TEST_F(RendezvousImageTest, HasTheAgentAndTheService) {
  EXPECT_EQ(contents.at("/etc/slipway-agent/environment"),
            "URL=https://192.168.126.11:8090\nINFRA_ENV_ID=" + config().infra_env.id + "\n");
  EXPECT_EQ(contents.at("/etc/slipway-agent/ca.crt"), image.authority);
  EXPECT_EQ(contents.at("/etc/slipway-rendezvous/tls/ca.crt"), image.authority);
  EXPECT_EQ(contents.at("/etc/slipway-rendezvous/assets/bootstrap.ign"), "BOOTSTRAP");
  EXPECT_EQ(contents.at("/etc/slipway-rendezvous/assets/kubeconfig"), "KUBECONFIG");
  EXPECT_FALSE(contents.contains("/etc/slipway-rendezvous/assets/kubeconfig-noingress"));
  EXPECT_TRUE(contents.contains("/etc/slipway-network/0/mac-addresses"));
  for (const char* unit : {"slipway-agent.service", "slipway-rendezvous.service", "slipway-static-network.service"})
    EXPECT_NE(std::ranges::find(units, unit), units.end()) << unit;
  for (const auto& [path, mode] : modes) {
    EXPECT_EQ(mode, path.starts_with("/etc/slipway-rendezvous/") ? 0600 : mode) << path;
  }
}

TEST_F(RendezvousImageTest, RegistersTheClusterOfTheTwoFiles) {
  const RendezvousConfig found = config();
  EXPECT_EQ(found.address, "192.168.126.11");
  EXPECT_EQ(found.expected_hosts, 4);
  const assist::Cluster& cluster = found.cluster.cluster;
  EXPECT_EQ(cluster.id, image.cluster_id);
  EXPECT_EQ(cluster.domain(), "demo.example.com");
  EXPECT_TRUE(cluster.manages_addresses && cluster.has_pull_secret);
  EXPECT_EQ(cluster.control_plane_count, 3);
  EXPECT_EQ(cluster.network_type, "Flannel");
  EXPECT_EQ(cluster.machine_networks, std::vector{net::parse_cidr("192.168.126.0/24").value()});
  EXPECT_EQ(cluster.api_addresses, std::vector{net::parse_ip("192.168.126.100").value()});
  EXPECT_EQ(cluster.time_servers, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.infra_env.cluster, cluster.id);
  EXPECT_EQ(text_of(found.infra_env.settings, {"proxy", "no_proxy"}), ".example.com,192.168.126.11");
  EXPECT_EQ(found.hosts, (std::vector<PlannedHost>{{.hostname = "m0",
                                                    .role = assist::Role::master,
                                                    .mac_addresses = {"52:54:00:00:00:01"},
                                                    .disk_hints = {{"deviceName", "/dev/vda"}}},
                                                   {.mac_addresses = {"52:54:00:00:00:02"}}}));
}

TEST_F(RendezvousImageTest, ItsTokensOpenTheirObjectsOnly) {
  World world;
  for (const TokenRecord& token : config().tokens) world.tokens[token.id] = std::make_shared<const TokenRecord>(token);
  const Caller agent = caller_of(world, contents.at("/etc/slipway-agent/token"), now).value();
  EXPECT_EQ(agent.kind, TokenKind::agent);
  EXPECT_EQ(agent.infra_env, config().infra_env.id);
  const Caller user = caller_of(world, image.user_token, now).value();
  EXPECT_EQ(user.kind, TokenKind::user);
  EXPECT_EQ(user.cluster, image.cluster_id);
  EXPECT_EQ(world.tokens.size(), 2u);
  EXPECT_FALSE(caller_of(world, image.user_token, now + std::chrono::hours(24 * 8)).ok());
  EXPECT_EQ(image.ignition.find(image.user_token), std::string::npos) << "the image has its digest only";
}

TEST_F(RendezvousImageTest, ItsCertificateIsOfTheAddress) {
  const std::string& certificate = contents.at("/etc/slipway-rendezvous/tls/server.crt");
  EXPECT_TRUE(net::is_signed_by(certificate, image.authority).value());
  EXPECT_TRUE(net::key_fits(certificate, Secret(contents.at("/etc/slipway-rendezvous/tls/server.key"))).value());
  const net::CertificateInfo info = net::parse_certificate(certificate).value();
  EXPECT_NE(std::ranges::find(info.ip_addresses, "192.168.126.11"), info.ip_addresses.end());
}

TEST(RendezvousConfig, ABrokenOneIsRefused) {
  EXPECT_EQ(parse_rendezvous(JsonObject()).error().code(), Code::invalid);
  EXPECT_EQ(parse_rendezvous(Json{{"address", "x"}, {"url", "y"}, {"expected_hosts", 3}}).error().code(), Code::invalid);
}

TEST(ProblemsOfNetwork, AreNamedAsTheUserWroteThem) {
  config::AgentHost host{.interfaces = {{"eth0", "52:54:00:00:00:01"}}};
  host.network_config = {{"interfaces", JsonArray{Json{{"name", "eth0"}, {"type", "ethernet"}}}}};
  EXPECT_EQ(problems_of_network(host), std::vector<std::string>{});
  host.network_config = {{"interfaces", JsonArray{Json{{"name", "br0"}, {"type", "linux-bridge"}}}}, {"ovs-db", JsonObject()}};
  EXPECT_EQ(problems_of_network(host),
            (std::vector<std::string>{"ovs-db: this field is not supported",
                                      "interfaces[0].type: 'linux-bridge' is not supported (use ethernet, vlan or bond)"}));
}

}  // namespace
}  // namespace slipway::service
