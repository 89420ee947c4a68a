#include "assets/identity/identity.h"

#include "assets/identity/metadata.h"
#include "assets/identity/password.h"
#include "assets/manifests/cluster_config.h"
#include "assets/platform.h"
#include "assets/tls/kubeconfigs.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::assets {
namespace {

using testing_support::SeededRandom;

TEST(ClusterId, IsMadeOfTheNameAndFiveCharacters) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"demo", "demo"},
      {"a.b..c", "a-b-c"},
      {"a-.-b", "a-b"},
      {"a-very-long-name-of-a-cluster", "a-very-long-name-of-a"},
      {"exactly-twenty-chars-x", "exactly-twenty-chars"},
      {"twenty-one-characters", "twenty-one-characters"},
  };
  SeededRandom random(1);
  for (const auto& [name, stem] : cases) {
    config::InstallConfig config;
    config.name = name;
    const ClusterId id = make_cluster_id(config, {&random}).value();
    ASSERT_EQ(id.infra_id.size(), stem.size() + 6) << id.infra_id;
    EXPECT_TRUE(id.infra_id.starts_with(stem + "-")) << id.infra_id;
    EXPECT_EQ(id.infra_id.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", stem.size() + 1), std::string::npos) << id.infra_id;
    EXPECT_EQ(id.cluster_id.size(), 36u);
    EXPECT_EQ(is_infra_id_cut(config), name.size() > 21) << name;
  }
}

TEST(KubeadminPassword, IsFourGroupsOfReadableCharacters) {
  SeededRandom random(1);
  std::set<std::string> seen;
  for (int i = 0; i < 3; ++i) {
    const KubeadminPassword password = make_kubeadmin_password({&random}, {}).value();
    const std::string& text = password.plain.reveal();
    ASSERT_EQ(text.size(), 23u);
    for (const std::string_view group : split(text, '-')) EXPECT_EQ(group.size(), 5u) << text;
    EXPECT_EQ(text.find_first_of("lO01"), std::string::npos) << text;
    EXPECT_TRUE(password.hash.starts_with("$2a$10$")) << password.hash;
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(KubeadminPassword, HasOnlyTheHashWhenTheUserGivesIt) {
  SeededRandom random(1);
  UserTls user;
  user.password_hash = "$2y$10$hash";
  EXPECT_EQ(make_kubeadmin_password({&random}, user).value(), (KubeadminPassword{Secret(), "$2y$10$hash"}));
}

TEST(WhatIsDrawn, FollowsFromASeed) {
  SeededRandom random(1);
  const config::InstallConfig config = testing_support::sample_config();
  const auto draw = [&](const char* seed) {
    const Randomness drawn{&random, Secret(seed)};
    const ClusterId id = make_cluster_id(config, drawn).value();
    const KubeadminPassword password = make_kubeadmin_password(drawn, {}).value();
    return std::vector{id.infra_id,
                       id.cluster_id,
                       password.plain.reveal(),
                       password.hash,
                       make_server_token(drawn)->text.reveal(),
                       make_server_token(drawn)->worker.reveal()};
  };
  const std::vector<std::string> one = draw("a"), other = draw("b");
  EXPECT_EQ(draw("a"), one);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NE(one[i], other[i]);
}

TEST(ServerToken, Has256BitsForEachRole) {
  SeededRandom random(1);
  const ServerToken token = make_server_token({&random}).value();
  EXPECT_EQ(token.text.reveal().size(), 64u);
  EXPECT_EQ(token.worker.reveal().size(), 64u);
  EXPECT_NE(token.text.reveal(), token.worker.reveal());
}

// The server certificate for each kubeconfig contains the server's name and is signed by an authority in the kubeconfig.
TEST(Kubeconfigs, ReachTheServerThatTheyName) {
  config::InstallConfig config = testing_support::sample_config();
  config.platform.type = "none";
  config.platform.local.reset();
  testing_support::SampleGraph sample(config);
  const Kubeconfigs& made = sample.get<Kubeconfigs>();
  const Tls& tls = sample.get<Tls>();
  struct Row {
    const Secret& text;
    std::string server;
    std::string certificate;
    std::string user;
  };
  for (const Row& row : {Row{made.user, "api.demo.example.com", "kube-apiserver-lb-server", "system:admin"},
                         Row{made.bootstrap, "api-int.demo.example.com", "kube-apiserver-internal-lb-server", "system:admin"},
                         Row{made.loopback, "localhost", "kube-apiserver-localhost-server", "system:admin"},
                         Row{made.kubelet, "api-int.demo.example.com", "kube-apiserver-internal-lb-server",
                             "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"}}) {
    const auto access = kube::parse_kubeconfig(
        row.text.reveal(), "kubeconfig",
        [](const std::string& path) -> Result<std::string> { return error(Code::internal, "reads {}", path); });
    ASSERT_TRUE(access.ok()) << access.error().message();
    EXPECT_EQ(access->server, fmt::format("https://{}:6443", row.server));
    const std::string& served = tls.find(row.certificate)->second.pem;
    const auto names = net::parse_certificate(served)->dns_names;
    EXPECT_NE(std::ranges::find(names, row.server), names.end()) << row.server;
    bool is_trusted = false;
    const std::vector<std::string> authorities = net::split_certificates(access->ca).value();
    for (const std::string& authority : authorities) {
      is_trusted = is_trusted || net::is_signed_by(served, authority).value();
    }
    EXPECT_TRUE(is_trusted) << row.certificate;
    EXPECT_EQ(net::parse_certificate(access->client_certificate)->subject.common_name, row.user);
  }
}

TEST(Kubeconfigs, OfTheUserLeadsToTheHostsLoopbackOnPlatformLocal) {
  testing_support::SampleGraph sample;
  config::InstallConfig config = testing_support::sample_config();
  const ClusterId id{"demo-x7k2p", ""};
  config.platform = {.type = "local", .local = config::LocalPlatform{"10.97.77.5", "10.97.77.7"}};
  const Secret text = make_kubeconfigs(config, id, sample.get<Tls>())->user;
  const Json value = parse_yaml(text.reveal(), "kubeconfig")->value;
  const Json& cluster = find_array(value, {"clusters"}).at(0);
  EXPECT_EQ(find_string(cluster, {"cluster", "server"}), fmt::format("https://{}:6443", loopback_address(id)));
  EXPECT_EQ(find_string(cluster, {"cluster", "tls-server-name"}), "api." + config.cluster_domain());
  EXPECT_EQ(find_string(value, {"current-context"}), "admin");
}

TEST(Topology, FollowsTheNumberOfMachines) {
  struct Row {
    int masters, workers;
    std::string_view control_plane, infrastructure;
  };
  for (const Row& row : {Row{1, 0, "SingleReplica", "SingleReplica"}, Row{3, 0, "HighlyAvailable", "HighlyAvailable"},
                         Row{3, 1, "HighlyAvailable", "SingleReplica"}, Row{1, 2, "SingleReplica", "HighlyAvailable"}}) {
    config::InstallConfig config = testing_support::sample_config();
    config.control_plane.replicas = row.masters;
    config.compute.at(0).replicas = row.workers;
    EXPECT_EQ(control_plane_topology(config), row.control_plane);
    EXPECT_EQ(infrastructure_topology(config), row.infrastructure);
  }
}

TEST(NoProxy, HasWhatTheClusterReachesItself) {
  config::InstallConfig config = testing_support::sample_config();
  config.proxy = config::Proxy{"http://p:1", "", "b.example.com, a.example.com"};
  EXPECT_EQ(no_proxy(config),
            ".cluster.local,.svc,10.128.0.0/14,10.97.77.0/24,127.0.0.1,172.30.0.0/16,a.example.com,api-int.demo.example.com,"
            "b.example.com,localhost");
  config.proxy->no_proxy = "*";
  EXPECT_EQ(no_proxy(config), "*");
}

TEST(NoProxy, HasWhereMachinesOfCloudsAskWhoTheyAre) {
  struct Row {
    std::string platform, region, has;
  };
  for (const Row& row : {Row{"aws", "us-east-1", ".ec2.internal"}, Row{"aws", "eu-west-1", ".eu-west-1.compute.internal"},
                         Row{"gcp", "", "metadata.google.internal."}, Row{"openstack", "", "169.254.169.254"}}) {
    config::InstallConfig config = testing_support::sample_config();
    config.platform = {.type = row.platform, .section = {{"region", row.region}}};
    const std::string names = no_proxy(config);
    EXPECT_NE(("," + names + ",").find("," + row.has + ","), std::string::npos) << names;
  }
}

TEST(PublicConfig, HasNoLoginOfAnything) {
  config::InstallConfig config;
  config.effective = parse_yaml(R"(pullSecret: hidden
proxy: {httpProxy: "http://joe:hidden@p:1/x@y", httpsProxy: "https://p:2", noProxy: a@b}
platform:
  baremetal:
    hosts:
    - {name: a, bmc: {username: hidden, password: hidden, address: "ipmi://joe:hidden@1"}, networkConfig: {x: [{password: hidden}]}}
    - {name: b, hardwareProfile: default, networkConfig: "password: hidden"}
  vsphere: {username: hidden, password: hidden, vcenters: [{server: v, user: hidden, password: hidden}]}
)",
                                "c")
                         ->value;
  EXPECT_EQ(emit_json(public_config(config), JsonStyle::compact),
            R"({"pullSecret":"","proxy":{"httpProxy":"http://p:1/x@y","httpsProxy":"https://p:2","noProxy":"a@b"},)"
            R"("platform":{"baremetal":{"hosts":[{"name":"a","bmc":{"username":"","password":"","address":"ipmi://1"},)"
            R"("networkConfig":{"x":[{"password":""}]}},)"
            R"({"name":"b","hardwareProfile":"unknown","networkConfig":{"password":""}}]},)"
            R"("vsphere":{"vcenters":[{"server":"v","user":"","password":""}]}}})");
}

TEST(Metadata, HasTheMembersThatDestroyingReads) {
  const Metadata made = make_metadata(testing_support::sample_config(), {"demo-x7k2p", "5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22"});
  EXPECT_EQ(emit_json(made.document, JsonStyle::compact),
            R"({"clusterName":"demo","clusterID":"5f0c6b1e-9a1d-4c3e-8f3a-0b5f5f7c1a22","infraID":"demo-x7k2p",)"
            R"("local":{"apiVIPs":["10.97.77.5"],"ingressVIPs":["10.97.77.7"]},"featureSet":"","customFeatureSet":null})");
  config::InstallConfig none = testing_support::sample_config();
  none.platform = {.type = "none"};
  EXPECT_FALSE(make_metadata(none, {}).document.as_object().contains("none"));
}

TEST(LoopbackAddress, IsTheClustersOwn) {
  EXPECT_EQ(loopback_address({"demo-x7k2p", ""}), loopback_address({"demo-x7k2p", ""}));
  EXPECT_NE(loopback_address({"demo-x7k2p", ""}), loopback_address({"demo-x7k2q", ""}));
  for (int i = 0; i < 1000; ++i) {
    const std::string address = loopback_address({std::to_string(i), ""});
    EXPECT_TRUE(address.starts_with("127.") && !address.starts_with("127.0.") && !address.starts_with("127.255.") &&
                !address.ends_with(".0") && !address.ends_with(".255"))
        << address;
  }
}

}  // namespace
}  // namespace slipway::assets
