#include "config/install_config.h"

#include "base/yaml.h"
#include "net/x509.h"

#include <gtest/gtest.h>

namespace slipway::config {
namespace {

constexpr const char* minimal = R"(apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {local: {}}
)";

constexpr const char* none = R"(apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}'
)";

TEST(InstallConfig, AMinimalConfigOfLocalGetsAllDefaults) {
  const auto loaded = load_install_config(minimal, "c");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(emit_yaml(loaded->config.effective), R"(additionalTrustBundlePolicy: Proxyonly
apiVersion: v1
baseDomain: example.com
compute:
- architecture: amd64
  hyperthreading: Enabled
  name: worker
  platform: {}
  replicas: 1
controlPlane:
  architecture: amd64
  hyperthreading: Enabled
  name: master
  platform: {}
  replicas: 3
credentialsMode: Manual
metadata:
  creationTimestamp: null
  name: demo
networking:
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  machineNetwork:
  - cidr: 10.97.77.0/24
  networkType: Flannel
  serviceNetwork:
  - 172.30.0.0/16
platform:
  local:
    apiVIPs:
    - "10.97.77.5"
    ingressVIPs:
    - "10.97.77.7"
publish: External
pullSecret: '{"auths":{}}'
)");
  EXPECT_EQ(loaded->config.cluster_domain(), "demo.example.com");
  EXPECT_EQ(api_vips(loaded->config), std::vector<std::string>{"10.97.77.5"});
  EXPECT_EQ(ingress_vips(loaded->config), std::vector<std::string>{"10.97.77.7"});
  EXPECT_EQ(loaded->config.compute_replicas(), 1);
  EXPECT_EQ(loaded->config.control_plane.replicas, 3);
  EXPECT_EQ(loaded->config.networking.cluster_network, (std::vector<ClusterNetwork>{{"10.128.0.0/14", 23}}));
}

TEST(InstallConfig, ReadsEveryField) {
  const auto loaded = load_install_config(R"(apiVersion: v1
METADATA: {name: demo}
basedomain: example.com.
platform: {local: {apiVIPs: [10.1.0.2], ingressVIPs: [10.1.0.9]}}
pullSecret: '{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}'
controlPlane: {replicas: 1.0, hyperthreading: Disabled}
compute: [{name: worker, replicas: 0}]
networking: {machineNetwork: [{cidr: 10.1.0.0/20}], networkType: OVNKubernetes, clusterNetworkMTU: 1400}
proxy: {httpProxy: 'http://me:s3cret@proxy.example.com:3128', noProxy: '.example.com,10.0.0.0/8'}
imageDigestSources: [{source: quay.io/a, mirrors: [mirror.example.com:5000/a]}]
additionalTrustBundlePolicy: Always
fips: no
cpuPartitioningMode: AllNodes
bootstrapInPlace: {installationDisk: /dev/vda}
capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress]}
featureSet: CustomNoUpgrade
featureGates: [A=true]
)",
                                          "c");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(loaded->warnings.to_text(),
            "c:16:1: warning: featureSet: CustomNoUpgrade cannot be undone and prevents minor updates\n");
  const InstallConfig& config = loaded->config;
  EXPECT_EQ(config.base_domain, "example.com");
  EXPECT_EQ(config.platform.local, (LocalPlatform{"10.1.0.2", "10.1.0.9"}));
  EXPECT_EQ(config.pull_secret.reveal(), R"({"auths":{"quay.io":{"auth":"c2VjcmV0"}}})");
  EXPECT_EQ(config.control_plane.replicas, 1);
  EXPECT_FALSE(config.control_plane.hyperthreading);
  EXPECT_EQ(config.compute_replicas(), 0);
  EXPECT_EQ(config.networking.network_type, "OVNKubernetes");
  EXPECT_EQ(config.networking.machine_network, std::vector<std::string>{"10.1.0.0/20"});
  EXPECT_EQ(config.networking.mtu, 1400);
  EXPECT_EQ(config.proxy, (Proxy{"http://me:s3cret@proxy.example.com:3128", "", ".example.com,10.0.0.0/8"}));
  EXPECT_EQ(config.image_digest_sources, (std::vector<MirrorSource>{{"quay.io/a", {"mirror.example.com:5000/a"}}}));
  EXPECT_EQ(config.additional_trust_bundle_policy, "Always");
  EXPECT_EQ(config.cpu_partitioning_mode, "AllNodes");
  EXPECT_EQ(config.bootstrap_in_place, "/dev/vda");
  EXPECT_EQ(config.capabilities.at("baselineCapabilitySet"), "None");
  EXPECT_EQ(config.feature_gates, std::vector<std::string>{"A=true"});
}

TEST(InstallConfig, DeprecatedFieldsAreCopiedToNewFields) {
  const auto loaded = load_install_config(std::string(none) + R"(networking:
  type: Flannel
  machineCIDR: 10.1.0.0/16
  serviceCIDR: 10.2.0.0/16
  clusterNetworks: [{cidr: 10.4.0.0/14, hostSubnetLength: 9}]
)",
                                          "c");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(emit_yaml(loaded->config.effective.at("networking")), R"(clusterNetwork:
- cidr: 10.4.0.0/14
  hostPrefix: 23
  hostSubnetLength: 9
clusterNetworks:
- cidr: 10.4.0.0/14
  hostSubnetLength: 9
machineCIDR: 10.1.0.0/16
machineNetwork:
- cidr: 10.1.0.0/16
networkType: Flannel
serviceCIDR: 10.2.0.0/16
serviceNetwork:
- 10.2.0.0/16
type: Flannel
)");
}

TEST(InstallConfig, HostPrefixIsOptionalForPluginsThatDoNotNeedIt) {
  const auto prefixes = [](std::string_view networking) {
    const auto loaded = load_install_config(fmt::format("{}networking: {}\n", none, networking), "c");
    if (!loaded.ok()) return std::vector<int>{-1};
    std::vector<int> found;
    for (const ClusterNetwork& each : loaded->config.networking.cluster_network) found.push_back(each.host_prefix);
    return found;
  };
  EXPECT_EQ(prefixes("{clusterNetworks: [{cidr: 10.4.0.0/14}]}"), std::vector<int>{23});
  EXPECT_EQ(prefixes("{clusterNetworks: [{cidr: 10.4.0.0/14, hostPrefix: 24}]}"), std::vector<int>{24});
  EXPECT_EQ(prefixes("{clusterNetworks: [{cidr: 10.4.0.0/14, hostSubnetLength: 8}]}"), std::vector<int>{24});
  EXPECT_EQ(prefixes("{networkType: Calico, clusterNetwork: [{cidr: 10.4.0.0/14}]}"), std::vector<int>{23});
  EXPECT_EQ(prefixes("{networkType: OVNKubernetes, clusterNetwork: [{cidr: 10.4.0.0/14}]}"), std::vector<int>{-1});
  EXPECT_EQ(prefixes("{networkType: Flannel, clusterNetwork: [{cidr: 10.4.0.0/14}]}"), std::vector<int>{-1});
}

TEST(InstallConfig, FipsNeedsAHostInFipsModeOrTheSkipVariable) {
  const std::string text = std::string(none) + "fips: true\n";
  const auto said = [&](const LoadOptions& options) { return check_install_config(text, "c", options).to_text(); };
  EXPECT_EQ(said({.host = Host{}}),
            "c:6:1: error: fips: requires a host in FIPS mode, but this host is not (or set "
            "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION=true to generate the keys of the cluster on this host)\n");
  EXPECT_FALSE(load_install_config(text, "c", {.host = Host{}}).ok());
  EXPECT_EQ(said({.host = Host{.skips_fips_check = true}}),
            "c:6:1: warning: fips: this host is not in FIPS mode; keys are generated on it because of "
            "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION\n");
  const std::string taken = "c:6:1: warning: fips: machines run in FIPS mode, but this program is not validated for FIPS\n";
  EXPECT_EQ(said({.host = Host{.has_fips = true}}), taken);
  EXPECT_EQ(said({}), taken);
  EXPECT_TRUE(check_install_config(none, "c", {.host = Host{}}).empty());
  EXPECT_TRUE(load_install_config(text, "c")->config.fips);
  EXPECT_FALSE(load_install_config(none, "c")->config.fips);
}

TEST(InstallConfig, ATrustBundleHasNoTextAfterTheLastCertificate) {
  const net::Certificate authority =
      net::make_certificate(
          {.subject = {.common_name = "corp"}, .is_ca = true, .valid_from = WallTime(), .valid_for = std::chrono::hours(1)},
          nullptr)
          .value();
  const auto said = [](const std::string& bundle) {
    Json config = parse_yaml(none, "c")->value;
    config.as_object()["additionalTrustBundle"] = bundle;
    return check_install_config(emit_yaml(config), "c").to_text();
  };
  std::string bare = authority.pem;
  if (bare.ends_with('\n')) bare.pop_back();
  for (const std::string& good : {authority.pem, bare, "words\n" + authority.pem, authority.pem + "\n\n" + authority.pem}) {
    EXPECT_EQ(said(good), "") << good;
  }
  for (const std::string& wrong : {authority.pem + "\n", authority.pem + "words\n", authority.pem + "\n \n"}) {
    EXPECT_NE(said(wrong).find("error: additionalTrustBundle: has text after the last certificate"), std::string::npos) << wrong;
  }
}

TEST(InstallConfig, TheEffectiveConfigDoesNotChangeWhenReadAgain) {
  for (const std::string text : {minimal, none}) {
    const auto once = load_install_config(text, "c");
    ASSERT_TRUE(once.ok()) << once.error().message();
    const auto twice = load_install_config(emit_yaml(once->config.effective), "c");
    ASSERT_TRUE(twice.ok()) << twice.error().message();
    EXPECT_EQ(once->config.effective, twice->config.effective);
  }
}

TEST(InstallConfig, AnEmptyFileReportsAllRequiredFields) {
  EXPECT_EQ(check_install_config("", "c").to_text(),
            "c:1:1: error: apiVersion: missing (use 'apiVersion: v1')\n"
            "c:1:1: error: metadata.name: missing (the cluster's name, the first part of its domain)\n"
            "c:1:1: error: baseDomain: missing (the domain in which the cluster gets its own, 'example.com')\n"
            "c:1:1: error: pullSecret: missing (JSON with 'auths' in single quotes)\n"
            "c:1:1: error: platform: must name a platform ('platform: {local: {}}' for machines on this host)\n");
}

}  // namespace
}  // namespace slipway::config
