// The effective config of every platform: defaults, Go's zero values, settings of pools.
#include "base/sorted_keys.h"
#include "base/yaml.h"
#include "config/install_config.h"
#include "support/golden.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace slipway::config {
namespace {

InstallConfig loaded(const std::string& text) {
  auto config = load_install_config(text, "c");
  EXPECT_TRUE(config.ok()) << config.error().message() << text;
  return config.ok() ? std::move(config->config) : InstallConfig();
}

InstallConfig of_platform(std::string_view platform, std::string_view more = "") {
  return loaded(
      fmt::format("apiVersion: v1\nmetadata: {{name: demo}}\nbaseDomain: example.com\npullSecret: "
                  "'{{\"auths\":{{\"quay.io\":{{\"auth\":\"c2VjcmV0\"}}}}}}'\nplatform: {}\n{}",
                  platform, more));
}

std::vector<std::string> good_configs() {
  std::vector<std::string> texts;
  for (const char* folder : {"/tests/golden/install-configs", "/tests/golden/configs/good"}) {
    for (const auto& entry : std::filesystem::directory_iterator(SLIPWAY_SOURCE + std::string(folder))) {
      std::ifstream file(entry.path());
      texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return texts;
}

TEST(EffectiveConfig, DoesNotChangeWhenReadAgain) {
  const std::vector<std::string> texts = good_configs();
  ASSERT_GT(texts.size(), 10u);
  for (const std::string& text : texts) {
    const auto once = load_install_config(text, "c");
    if (!once.ok()) continue;  // some break a rule; other tests check the errors
    const std::string written = emit_yaml(once->config.effective);
    const auto twice = load_install_config(written, "c");
    ASSERT_TRUE(twice.ok()) << twice.error().message() << written;
    EXPECT_EQ(emit_yaml(twice->config.effective), written);
    EXPECT_EQ(twice->config.platform, once->config.platform);
    EXPECT_EQ(twice->config.control_plane, once->config.control_plane);
    EXPECT_EQ(twice->config.compute, once->config.compute);
  }
}

TEST(EffectiveConfig, ImageModeNoneIsTheSameAsNoImageMode) {
  const InstallConfig without = of_platform("{none: {}}"), none = of_platform("{none: {}}", "imageMode: {policy: None}\n");
  EXPECT_EQ(none.effective, without.effective);
  EXPECT_EQ(none.image_mode, ImageMode::none);
  for (const ImageMode mode : {ImageMode::build_on_bootstrap, ImageMode::pre_built}) {
    const InstallConfig config = of_platform("{none: {}}", fmt::format("imageMode: {{policy: {}}}\n", to_string(mode)));
    EXPECT_EQ(config.image_mode, mode);
    EXPECT_EQ(text_of(config.effective, {"imageMode", "policy"}), to_string(mode));
    EXPECT_EQ(loaded(emit_yaml(config.effective)).image_mode, mode);
  }
}

TEST(EffectiveConfig, AProvisioningNetworkOfIpv6HasItsRange) {
  for (const auto& [network, range] :
       {std::pair<std::string, std::string>{"fd00:1101::/64", "fd00:1101::a,fd00:1101::ffff:ffff:ffff:fffe"},
        {"fd00:1101:0:0:8000::/80", "fd00:1101::8000:0:0:a,fd00:1101::8000:ffff:ffff:fffe"},
        {"172.22.0.0/24", "172.22.0.10,172.22.0.254"}}) {
    const InstallConfig config = of_platform(
        fmt::format("{{baremetal: {{apiVIPs: [10.0.0.5], ingressVIPs: [10.0.0.7], hosts: [], provisioningNetworkCIDR: '{}'}}}}",
                    network),
        "capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress, baremetal]}\n");
    EXPECT_EQ(find_string(config.platform.section, {"provisioningDHCPRange"}), range);
  }
}

TEST(EffectiveConfig, OfBaremetalHasEmptyFieldsForInterfaceAndHosts) {
  const InstallConfig config =
      of_platform("{baremetal: {apiVIPs: [10.0.0.5], ingressVIPs: [10.0.0.7], hosts: []}}",
                  "capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress, baremetal]}\n");
  const Json& section = *find(config.effective, {"platform", "baremetal"});
  EXPECT_EQ(section.at("provisioningNetworkInterface"), Json(""));
  EXPECT_EQ(section.at("hosts"), Json(JsonArray()));
}

TEST(EffectiveConfig, AFailureDomainOfVsphereDefaultsToTheRootResourcePool) {
  const InstallConfig config = loaded(testing_support::golden("install-configs/vsphere.yaml"));
  const JsonArray& domains = find_array(config.effective, {"platform", "vsphere", "failureDomains"});
  EXPECT_EQ(find_string(domains.at(0), {"topology", "resourcePool"}), "/dc/host/one/Resources/pool");
  EXPECT_EQ(find_string(domains.at(1), {"topology", "resourcePool"}), "/dc/host/two/Resources");
}

TEST(EffectiveConfig, IsTheSameEveryTime) {
  for (const std::string& text : good_configs()) {
    const auto once = load_install_config(text, "c");
    const auto twice = load_install_config(text, "c");
    ASSERT_EQ(once.ok(), twice.ok());
    if (!once.ok()) continue;
    EXPECT_EQ(emit_yaml(once->config.effective), emit_yaml(twice->config.effective));
  }
}

constexpr std::string_view one_host =
    "{apiVIPs: [10.0.0.5], ingressVIPs: [10.0.0.7], hosts: [{name: a, role: master, bootMACAddress: '52:54:00:00:00:01', bmc: "
    "{address: 'redfish-virtualmedia+https://10.0.0.9/a', username: u, password: p}}]";
constexpr std::string_view one_master = "controlPlane: {replicas: 1}\ncompute: [{name: worker, replicas: 0}]\n";

TEST(EffectiveConfig, OfBaremetal) {
  const InstallConfig config = of_platform(fmt::format("{{baremetal: {}}}}}", one_host), one_master);
  JsonObject section = config.platform.section.as_object();
  const std::string external(find_string(section["externalMACAddress"], {}).value_or(""));
  const std::string provisioning(find_string(section["provisioningMACAddress"], {}).value_or(""));
  EXPECT_TRUE(external.starts_with("52:54:00:")) << external;
  EXPECT_EQ(external.size(), 17u);
  EXPECT_NE(external, provisioning);
  section.erase("externalMACAddress");
  section.erase("provisioningMACAddress");
  EXPECT_EQ(emit_yaml(sorted_keys(section)), R"(apiVIPs:
- "10.0.0.5"
bootstrapProvisioningIP: "172.22.0.2"
clusterProvisioningIP: "172.22.0.3"
externalBridge: baremetal
hosts:
- bmc:
    address: redfish-virtualmedia+https://10.0.0.9/a
    disableCertificateVerification: false
    password: p
    username: u
  bootMACAddress: "52:54:00:00:00:01"
  bootMode: UEFI
  hardwareProfile: default
  name: a
  role: master
ingressVIPs:
- "10.0.0.7"
libvirtURI: qemu:///system
provisioningBridge: provisioning
provisioningDHCPRange: 172.22.0.10,172.22.0.254
provisioningNetwork: Managed
provisioningNetworkCIDR: 172.22.0.0/24
provisioningNetworkInterface: ""
)");
}

TEST(EffectiveConfig, OfBaremetalWithoutProvisioningNetwork) {
  const InstallConfig config = of_platform(
      fmt::format("{{baremetal: {}, provisioningNetwork: Disabled, clusterProvisioningIP: 10.0.0.8}}}}", one_host), one_master);
  const Json& section = config.platform.section;
  EXPECT_EQ(find_string(section, {"provisioningNetworkCIDR"}), "10.0.0.0/16");
  EXPECT_EQ(find(section, {"provisioningBridge"}), nullptr);
  EXPECT_EQ(find(section, {"provisioningDHCPRange"}), nullptr);
}

constexpr std::string_view vcenter =
    "vcenters: [{server: v.example.com, user: u, password: p, datacenters: [DC]}], failureDomains: [{name: a, region: r, zone: "
    "z, server: v.example.com, topology: {datacenter: DC, computeCluster: /DC/host/C, networks: [N], datastore: "
    "/DC/datastore/D}}]";

TEST(EffectiveConfig, OfVsphere) {
  const InstallConfig config = of_platform(
      fmt::format("{{vsphere: {{{}, defaultMachinePlatform: {{cpus: 8, zones: [a]}}}}}}", vcenter),
      "controlPlane: {platform: {vsphere: {memoryMB: 32768, osDisk: {diskSizeGB: 200}}}}\ncompute: [{name: worker}]\n");
  EXPECT_EQ(Json(config.control_plane.platform), Json({{"cpus", 8},
                                                       {"zones", JsonArray{"a"}},
                                                       {"memoryMB", 32768},
                                                       {"osDisk", {{"diskSizeGB", 200}}},
                                                       {"coresPerSocket", 4}}));
  EXPECT_EQ(find(config.compute[0].platform, {"memoryMB"})->get_int64(), 16384);
  EXPECT_EQ(find(config.compute[0].platform, {"osDisk", "diskSizeGB"})->get_int64(), 120);
  // As in OpenShift: zeros, not defaults, for fields that are not given.
  EXPECT_EQ(emit_yaml(config.effective.at("controlPlane").at("platform")), R"(vsphere:
  coresPerSocket: 0
  cpus: 0
  memoryMB: 32768
  osDisk:
    diskSizeGB: 200
)");
  EXPECT_EQ(emit_yaml(config.effective.at("compute").as_array()[0].at("platform")), "{}\n");
  EXPECT_TRUE(api_vips(config).empty());
}

TEST(EffectiveConfig, OfOtherPlatforms) {
  const auto yaml = [](const Json& value) { return emit_yaml(value); };
  EXPECT_EQ(yaml(of_platform("{external: {}}").platform.section), "{}\n");
  EXPECT_EQ(yaml(of_platform("{none: {}, external: {}}").platform.section), "{}\n");
  EXPECT_EQ(yaml(of_platform("{openstack: {externalNetwork: public}}",
                             "controlPlane: {platform: {openstack: {type: m1}}}\n"
                             "compute: [{name: worker, platform: {openstack: {type: m1}}}]")
                     .platform.section),
            R"(apiVIPs:
- "10.0.0.5"
cloud: openstack
externalDNS: null
externalNetwork: public
ingressVIPs:
- "10.0.0.7"
)");
  EXPECT_EQ(yaml(of_platform("{libvirt: {}}").platform.section), "URI: qemu+tcp://192.168.122.1/system\nnetwork:\n  if: tt0\n");
  EXPECT_EQ(of_platform("{libvirt: {}}").networking.machine_network, std::vector<std::string>{"192.168.126.0/24"});
  const InstallConfig kubevirt =
      of_platform("{kubevirt: {namespace: n, networkName: m, apiVIP: 10.0.0.5, ingressVIP: 10.0.0.7}}");
  EXPECT_EQ(find_string(kubevirt.platform.section, {"persistentVolumeAccessMode"}), "ReadWriteMany");
  EXPECT_EQ(api_vips(kubevirt), std::vector<std::string>{"10.0.0.5"});
  EXPECT_EQ(ingress_vips(kubevirt), std::vector<std::string>{"10.0.0.7"});
  const InstallConfig aws =
      of_platform("{aws: {region: us-east-1}}", "compute: [{name: edge, platform: {aws: {zones: [us-east-1-bos-1a]}}}]");
  EXPECT_EQ(aws.compute[0].replicas, 0);
  EXPECT_EQ(aws.compute[1].name, "worker");
  EXPECT_EQ(find_string(aws.control_plane.platform, {"rootVolume", "type"}), "gp3");
}

TEST(EffectiveConfig, DropsEmptyFieldsAsGoDoes) {
  const InstallConfig config =
      of_platform("{none: {}}",
                  "fips: false\nsshKey: ''\nfeatureGates: []\nproxy: {httpProxy: 'http://p', noProxy: ''}\n"
                  "imageDigestSources: [{source: quay.io/a, mirrors: []}]\n");
  for (const char* absent : {"fips", "sshKey", "featureGates"})
    EXPECT_FALSE(config.effective.as_object().contains(absent)) << absent;
  EXPECT_EQ(emit_yaml(config.effective.at("proxy")), "httpProxy: http://p\n");
  EXPECT_EQ(emit_yaml(config.effective.at("imageDigestSources")), "- source: quay.io/a\n");
  EXPECT_EQ(emit_yaml(config.effective.at("metadata")), "creationTimestamp: null\nname: demo\n");
}

}  // namespace
}  // namespace slipway::config
