#include "config/install_config.h"

#include "base/text.h"
#include "base/yaml.h"

#include <gtest/gtest.h>

#include <algorithm>

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

std::string findings_of(const std::string& text) {
  const auto loaded = load_install_config(text, "c");
  return loaded.ok() ? loaded->warnings.to_text() : loaded.error().message() + "\n";
}

TEST(InstallConfig, MinimalOfLocalGetsAllDefaults) {
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

TEST(InstallConfig, EveryFieldArrives) {
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
  EXPECT_EQ(loaded->warnings.to_text(), "");
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

TEST(InstallConfig, OlderFieldsBecomeTodaysAndStay) {
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

TEST(InstallConfig, EffectiveOfEffectiveIsItself) {
  for (const std::string text : {minimal, none}) {
    const auto once = load_install_config(text, "c");
    ASSERT_TRUE(once.ok()) << once.error().message();
    const auto twice = load_install_config(emit_yaml(once->config.effective), "c");
    ASSERT_TRUE(twice.ok()) << twice.error().message();
    EXPECT_EQ(once->config.effective, twice->config.effective);
  }
}

TEST(InstallConfig, AnEmptyFileTellsAllThatIsNeeded) {
  EXPECT_EQ(findings_of(""),
            "c:1:1: error: apiVersion: is missing (write 'apiVersion: v1')\n"
            "c:1:1: error: metadata.name: is missing (the cluster's name, the first part of its domain)\n"
            "c:1:1: error: baseDomain: is missing (the domain in which the cluster gets its own, 'example.com')\n"
            "c:1:1: error: pullSecret: is missing (JSON with 'auths' in single quotes)\n"
            "c:1:1: error: platform: must name a platform ('platform: {local: {}}' for machines on this host)\n");
}

// What a text added to a good one, of platform local or none, makes load say. Line 5 (6) is its first.
struct Case {
  const char* base;
  const char* added;
  const char* findings;
};

TEST(InstallConfig, FindingsHaveTheirPlaceAndHint) {
  const Case cases[] = {
      {minimal, "controlplan: {}\n",
       "c:5:1: warning: controlplan: this field is not known and has no effect (did you mean 'controlPlane'?)\n"},
      {minimal, "BASEDOMAIN: a.b\n", "c:5:1: error: baseDomain: stands twice, here as 'BASEDOMAIN'\n"},
      {minimal, "baseDomain: a.b\n", "c:5:1: error: baseDomain: stands twice, first in line 3 (remove one of them)\n"},
      {minimal, "controlPlane:\n  replicas: 2\n",
       "c:6:3: error: controlPlane.replicas: must be 1, 3 or 5, got 2 (etcd needs an odd number of members)\n"},
      {none, "controlPlane:\n  replicas: 2\n", ""},
      {none, "controlPlane:\n  replicas: '3'\n", "c:7:3: error: controlPlane.replicas: must be a whole number, not a string\n"},
      {none, "controlPlane: {replicas: 3.5}\n", "c:6:16: error: controlPlane.replicas: must be a whole number of 32 bits\n"},
      {none, "controlPlane: {replicas: 0, architecture: mips}\n",
       "c:6:16: error: controlPlane.replicas: must be at least 1, got 0\n"
       "c:6:29: error: controlPlane.architecture: must be amd64, arm64, ppc64le or s390x, not 'mips'\n"
       "c:1:1: error: compute[0].architecture: must be that of the control plane, mips\n"},
      {none, "compute: [{name: worker, replicas: -1}, {name: worker}, {name: infra, platform: {aws: {}}}]\n",
       "c:6:26: error: compute[0].replicas: must not be negative, got -1\n"
       "c:6:42: error: compute[1].name: a second pool of this name\n"
       "c:6:58: error: compute[2].name: must be 'worker', not 'infra'\n"
       "c:6:82: error: compute[2].platform.aws: is not of the cluster's platform, which is none\n"},
      {minimal, "networking: {machineNetwork: [{cidr: 10.1.0.0/16}], machineNetworks: []}\n",
       "c:5:53: warning: networking.machineNetworks: this field is not known and has no effect (did you mean "
       "'machineNetwork'?)\n"},
      {minimal, "networking: {machineNetwork: [{cidr: 10.1.0.0/29}]}\n",
       "c:5:32: error: networking.machineNetwork[0].cidr: has prefix 29; platform local takes 16 to 28\n"},
      {minimal, "networking: {machineNetwork: [{cidr: 10.1.0.7/24}], serviceNetwork: [fd00::/112]}\n",
       "c:5:32: error: networking.machineNetwork[0].cidr: 10.1.0.7/24 is an address in a network (the network is 10.1.0.0/24)\n"
       "c:5:53: error: networking.serviceNetwork: has an IPv6 network; platform local is IPv4 only\n"},
      {none, "networking: {machineNetwork: [{cidr: 172.30.8.0/24}], clusterNetwork: [{cidr: 10.0.0.0/8, hostPrefix: 7}]}\n",
       "c:6:1: error: networking.serviceNetwork[0]: 172.30.0.0/16 overlaps 172.30.8.0/24 of networking.machineNetwork[0].cidr\n"
       "c:6:91: error: networking.clusterNetwork[0].hostPrefix: must be 8 to 32, got 7\n"},
      {none, "networking: {serviceNetwork: [172.16.0.0/11, 10.200.0.0/16], networkType: openshiftsdn}\n",
       "c:6:31: error: networking.serviceNetwork[0]: 172.16.0.0/11 is an address in a network (the network is 172.0.0.0/11)\n"
       "c:6:62: error: networking.networkType: openshiftsdn no longer exists (use OVNKubernetes)\n"},
      {none, "networking: {machineNetwork: [{cidr: 172.17.0.0/24}]}\n",
       "c:6:32: warning: networking.machineNetwork[0].cidr: 172.17.0.0/24 overlaps 172.17.0.0/16, which container tools use on "
       "their hosts\n"},
      {none, "networking: {clusterNetwork: [{cidr: 10.128.0.0/14}], machineNetwork: [{}], serviceNetwork: [nonsense]}\n",
       "c:6:31: error: networking.clusterNetwork[0].hostPrefix: is missing (23 is usual)\n"
       "c:6:72: error: networking.machineNetwork[0].cidr: is missing\n"
       "c:6:94: error: networking.serviceNetwork[0]: 'nonsense' is no network (as in 10.0.0.0/16)\n"},
      {none,
       "networking: {machineNetwork: [{cidr: 10.0.0.0/16}, {cidr: 'fd01::/64'}], serviceNetwork: [172.30.0.0/16, "
       "'fd02::/112']}\n",
       "c:6:1: error: networking.clusterNetwork: has no IPv6 network, others have both families\n"},
      {none, "sshKey: ssh-rsa nonsense\n",
       "c:6:1: error: sshKey: has no line that is a public key (as in ~/.ssh/id_ed25519.pub)\n"},
      {none, "fips: yes\n", "c:6:1: error: fips: must be false: this program's cryptography is not validated for FIPS\n"},
      {none, "additionalTrustBundle: nonsense\n",
       "c:6:1: error: additionalTrustBundle: has no certificate (PEM, '-----BEGIN CERTIFICATE-----')\n"},
      {none, "proxy: {httpProxy: 'https://me:s3cret@p', httpsProxy: 'http://172.30.0.1:3128', noProxy: '*.a,b'}\n",
       "c:6:9: error: proxy.httpProxy: must begin with http://\n"
       "c:6:43: error: proxy.httpsProxy: 172.30.0.1 lies in the cluster's network 172.30.0.0/16\n"
       "c:6:81: error: proxy.noProxy: '*.a' is no address, network or domain (separated by commas without blanks)\n"},
      {none, "proxy: {httpProxy: 'me:s3cret@p'}\n",
       "c:6:9: error: proxy.httpProxy: is no URL of a proxy (as in http://proxy.example.com:3128)\n"},
      {none, "imageContentSources: [{source: 'quay.io/a:1', mirrors: [m.example.com/a]}]\n",
       "c:6:1: warning: imageContentSources: is the older form (use imageDigestSources)\n"
       "c:6:24: error: imageContentSources[0].source: 'quay.io/a:1' is no repository (as in registry.example.com/images, without "
       "tag or digest)\n"},
      {none, "publish: Internal\ncredentialsMode: Manual\n",
       "c:6:1: error: publish: Internal is not possible on platform none\n"
       "c:7:1: error: credentialsMode: must be left out on platform none\n"},
      {minimal, "credentialsMode: Mint\n", "c:5:1: error: credentialsMode: must be Manual on platform local, not Mint\n"},
      {none, "capabilities: {baselineCapabilitySet: v4.11, additionalEnabledCapabilities: [Ingres]}\n",
       "c:6:1: error: capabilities: OperatorLifecycleManager has to be enabled, marketplace needs it (add it to "
       "additionalEnabledCapabilities)\n"
       "c:6:1: error: capabilities: Ingress has to be enabled (add it to additionalEnabledCapabilities)\n"
       "c:6:78: error: capabilities.additionalEnabledCapabilities[0]: 'Ingres' is not known (did you mean 'Ingress'?)\n"},
      {none, "featureSet: CustomNoUpgrades\nfeatureGates: [A]\n",
       "c:6:1: error: featureSet: 'CustomNoUpgrades' is not known (did you mean 'CustomNoUpgrade'?)\n"
       "c:7:1: error: featureGates: needs featureSet: CustomNoUpgrade\n"
       "c:7:16: error: featureGates[0]: must be NAME=true or NAME=false, not 'A'\n"},
  };
  for (const Case& c : cases) {
    std::vector<std::string_view> expected = split(c.findings, '\n');
    std::sort(expected.begin(), expected.end());
    const std::string text = findings_of(std::string(c.base) + c.added);
    std::vector<std::string_view> actual = split(text, '\n');
    std::sort(actual.begin(), actual.end());
    EXPECT_EQ(actual, expected) << c.added << text;
  }
}

TEST(InstallConfig, PlatformsAreOneThatThisVersionKnows) {
  const auto of = [](const std::string& platform) {
    return findings_of(
        "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\npullSecret: "
        "'{\"auths\":{\"a\":{\"auth\":\"b\"}}}'\nplatform: " +
        platform + "\n");
  };
  EXPECT_EQ(of("{none: {}}"), "");
  EXPECT_EQ(of("{None: {}}"), "");
  EXPECT_EQ(of("{none: {}, external: {}}"), "");
  EXPECT_EQ(of("{external: {platformName: oci, cloudControllerManager: External}}"), "");
  EXPECT_EQ(of("{external: {cloudControllerManager: Internal}}"),
            "c:5:23: error: platform.external.cloudControllerManager: must be External or empty, not 'Internal'\n");
  EXPECT_EQ(
      of("{aws: {region: a}}"),
      "c:5:12: error: platform.aws: platform aws is not supported yet by this version (there are local, none and external)\n");
  EXPECT_EQ(of("{local: {}, none: {}}"), "c:5:1: error: platform: must name one platform, has local and none\n");
  EXPECT_EQ(of("{local: }"), "c:5:12: error: platform.local: has no value (write 'local: {}')\n");
  EXPECT_EQ(of("{locale: {}}"),
            "c:5:1: error: platform: must name a platform ('platform: {local: {}}' for machines on this host)\n"
            "c:5:12: warning: platform.locale: this field is not known and has no effect (did you mean 'local'?)\n");
  EXPECT_EQ(of("{local: {apiVIPs: [10.97.77.10], ingressVIPs: [10.97.77.5, 10.97.77.6]}}"),
            "c:5:30: error: platform.local.apiVIPs[0]: 10.97.77.10 is not among the addresses of 10.97.77.0/24 that machines do "
            "not get (use 10.97.77.2 to 10.97.77.9)\n"
            "c:5:44: error: platform.local.ingressVIPs: has 2 addresses, must have one\n");
  EXPECT_EQ(of("{local: {apiVIPs: [10.97.77.7]}}"),
            "c:5:12: error: platform.local.ingressVIPs[0]: is the address of the API too (they have to differ)\n");
  EXPECT_EQ(of("{local: {apiVIPs: [fd00::5]}}"), "c:5:30: error: platform.local.apiVIPs[0]: 'fd00::5' is no IPv4 address\n");
}

TEST(InstallConfig, NamesOfTheClusterAreDnsNames) {
  const auto of = [](const std::string& name, const std::string& domain) {
    return findings_of("apiVersion: v2\nmetadata: {name: " + name + "}\nbaseDomain: " + domain + "\nplatform: {local: {}}\n");
  };
  EXPECT_EQ(
      of("Demo", "example..com"),
      "c:1:1: error: apiVersion: must be v1, not 'v2'\n"
      "c:2:12: error: metadata.name: 'Demo' is no DNS name (lower-case letters, digits, dashes and dots, beginning and ending "
      "with a letter or a digit)\n"
      "c:3:1: error: baseDomain: 'example..com' is no DNS name (lower-case letters, digits, dashes and dots, beginning and "
      "ending with a letter or a digit)\n");
  EXPECT_EQ(of(std::string(54, 'a') + "b", "12"),
            "c:1:1: error: apiVersion: must be v1, not 'v2'\nc:2:12: error: metadata.name: has 55 characters, 54 at most\n");
}

TEST(InstallConfig, PullSecretIsNeverQuoted) {
  const char* cases[][2] = {
      {"pullSecret: '{\"auths\": s3cret'", "is not a JSON object (put the whole text between single quotes)"},
      {"pullSecret: {auths: {s3cret: {auth: s3cret}}}", "must be a string, not an object (put it into single quotes)"},
      {"pullSecret: '{\"auths\":{}}'", "has no registries in 'auths'"},
      {"pullSecret: '{\"auths\":{\"quay.io\":{\"email\":\"s3cret\"}}}'", "has neither 'auth' nor 'credsStore' for quay.io"},
  };
  for (const auto& [text, finding] : cases) {
    const std::string config =
        std::string("apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {none: {}}\n") + text + "\n";
    const std::string found = findings_of(config);
    EXPECT_EQ(found, std::string("c:5:1: error: pullSecret: ") + finding + "\n");
    EXPECT_EQ(found.find("s3cret"), std::string::npos);
  }
}

}  // namespace
}  // namespace slipway::config
