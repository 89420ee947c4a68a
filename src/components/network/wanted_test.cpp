#include "components/network/wanted.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

Json yaml(std::string_view text) {
  Result<YamlDocument> parsed = parse_yaml(text, "test");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  return parsed.ok() ? parsed->value : Json();
}

constexpr std::string_view usual =
    "{networkType: Flannel, clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}], serviceNetwork: [172.30.0.0/16]}";

Json with_spec(std::string_view spec, std::string_view status = "{}") {
  return yaml(fmt::format("spec: {}\nstatus: {}\n", spec, status));
}

TEST(WantedNetwork, AcceptsTheInstallersSettings) {
  for (std::string_view type : {"Flannel", "OVNKubernetes"}) {
    const Json config = with_spec(
        fmt::format("{{networkType: {}, clusterNetwork: [{{cidr: 10.128.0.0/14}}], serviceNetwork: [172.30.0.0/16]}}", type));
    const Wanted wanted = read_wanted(config, Json());
    EXPECT_EQ(wanted.cluster_network, "10.128.0.0/14");
    EXPECT_EQ(wanted.refusals, std::vector<std::string>{}) << type;
  }
}

TEST(WantedNetwork, RefusesUnsupportedNetworks) {
  const struct {
    std::string config, refusal;
  } cases[] = {
      {"{networkType: Calico, clusterNetwork: [{cidr: 10.128.0.0/14}], serviceNetwork: [172.30.0.0/16]}",
       "spec.networkType of Network.config.openshift.io cluster is \"Calico\", must be Flannel"},
      {"{networkType: Flannel, clusterNetwork: [{cidr: fd01::/48}], serviceNetwork: [172.30.0.0/16]}",
       "spec.clusterNetwork[0].cidr of Network.config.openshift.io cluster is fd01::/48, but this release supports IPv4 only"},
      {"{networkType: Flannel, clusterNetwork: [{cidr: 10.128.0.0/14}, {cidr: 10.0.0.0/14}], serviceNetwork: []}",
       "Network.config.openshift.io cluster has 2 networks of pods and 0 of Services, must have one of each"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(read_wanted(with_spec(each.config), Json()).refusals, std::vector<std::string>{each.refusal});
  }
  EXPECT_EQ(read_wanted(Json(), Json()).refusals.size(), 2u);
}

TEST(WantedNetwork, RefusesToChangeTheSettingsInForce) {
  const std::string in_force =
      "{networkType: Flannel, clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}], "
      "serviceNetwork: [172.30.0.0/16]}";
  EXPECT_EQ(read_wanted(with_spec(usual, in_force), Json()).refusals, std::vector<std::string>{});
  const Json changed =
      with_spec("{networkType: Flannel, clusterNetwork: [{cidr: 10.0.0.0/14}], serviceNetwork: [172.30.0.0/16]}", in_force);
  EXPECT_EQ(read_wanted(changed, Json()).refusals,
            std::vector<std::string>{"spec.clusterNetwork of Network.config.openshift.io cluster cannot be changed (restore "
                                     "[{\"cidr\":\"10.128.0.0/14\",\"hostPrefix\":23}])"});
}

TEST(WantedNetwork, RefusesSettingsWithoutEffect) {
  const struct {
    std::string spec, begins;
  } cases[] = {
      {"{additionalNetworks: [{name: a}]}", "spec.additionalNetworks of"},
      {"{additionalRoutingCapabilities: {providers: [FRR]}}", "spec.additionalRoutingCapabilities of"},
      {"{exportNetworkFlows: {netFlow: {collectors: ['10.0.0.1:1']}}}", "spec.exportNetworkFlows of"},
      {"{kubeProxyConfig: {bindAddress: 0.0.0.0}}", "spec.kubeProxyConfig of"},
      {"{migration: {networkType: OVNKubernetes}}", "spec.migration of"},
      {"{useMultiNetworkPolicy: true}", "spec.useMultiNetworkPolicy of"},
      {"{deployKubeProxy: false}", "spec.deployKubeProxy of"},
      {"{defaultNetwork: {ovnKubernetesConfig: {mtu: 1400}}}", "spec.defaultNetwork.ovnKubernetesConfig.mtu of"},
  };
  for (const auto& each : cases) {
    const Wanted wanted = read_wanted(with_spec(usual), with_spec(each.spec));
    ASSERT_EQ(wanted.refusals.size(), 1u) << each.spec;
    EXPECT_TRUE(wanted.refusals[0].starts_with(each.begins)) << wanted.refusals[0];
    EXPECT_TRUE(wanted.refusals[0].ends_with(" (remove it)")) << wanted.refusals[0];
  }
  const Json harmless = with_spec(
      "{additionalNetworks: [], migration: null, useMultiNetworkPolicy: false, deployKubeProxy: true, "
      "defaultNetwork: {ovnKubernetesConfig: {mtu: 1500}}, disableNetworkDiagnostics: false}");
  EXPECT_EQ(read_wanted(with_spec(usual), harmless).refusals, std::vector<std::string>{});
}

}  // namespace
}  // namespace slipway::components::network
