// Deprecated fields of every platform: the fields that replace them, and the errors if both are given and differ.
#include "base/yaml.h"
#include "config/document.h"

#include <gtest/gtest.h>

namespace slipway::config {
namespace {

struct Case {
  const char* platform;
  const char* section;      // flow YAML
  const char* converted;    // fields that are added or changed, flow YAML of the section's members
  const char* errors = "";  // "field: message"
};

constexpr Case cases[] = {
    {"baremetal", "{apiVIP: 10.0.0.5, ingressVIP: 10.0.0.7}", "{apiVIPs: [10.0.0.5], ingressVIPs: [10.0.0.7]}"},
    {"baremetal", "{apiVIP: 10.0.0.5, apiVIPs: [10.0.0.5, 'fd00::5']}", "{apiVIPs: [10.0.0.5, 'fd00::5']}"},
    {"baremetal", "{apiVIP: 10.0.0.5, apiVIPs: [10.0.0.6]}", "{apiVIPs: [10.0.0.6]}",
     "platform.baremetal.apiVIP: contradicts apiVIPs"},
    {"baremetal", "{provisioningHostIP: 172.22.0.9}", "{clusterProvisioningIP: 172.22.0.9}"},
    {"baremetal", "{provisioningHostIP: 172.22.0.9, clusterProvisioningIP: 172.22.0.3}", "{clusterProvisioningIP: 172.22.0.3}",
     "platform.baremetal.provisioningHostIP: contradicts clusterProvisioningIP"},
    {"baremetal", "{provisioningDHCPExternal: true}", "{provisioningNetwork: Unmanaged}"},
    {"baremetal", "{provisioningDHCPExternal: true, provisioningNetwork: Disabled}", "{provisioningNetwork: Disabled}"},
    {"openstack", "{lbFloatingIP: 203.0.113.9}", "{apiFloatingIP: 203.0.113.9}"},
    {"openstack", "{lbFloatingIP: 203.0.113.9, apiFloatingIP: 203.0.113.8}", "{apiFloatingIP: 203.0.113.8}",
     "platform.openstack.lbFloatingIP: contradicts apiFloatingIP"},
    {"openstack", "{computeFlavor: m1.large}", "{defaultMachinePlatform: {type: m1.large}}"},
    {"openstack", "{computeFlavor: m1.large, defaultMachinePlatform: {type: m1.small}}",
     "{defaultMachinePlatform: {type: m1.small}}", "platform.openstack.computeFlavor: contradicts defaultMachinePlatform.type"},
    {"openstack", "{machinesSubnet: a}", "{controlPlanePort: {fixedIPs: [{subnet: {id: a}}]}}"},
    {"openstack", "{machinesSubnet: a, controlPlanePort: {fixedIPs: [{subnet: {id: b}}]}}",
     "{controlPlanePort: {fixedIPs: [{subnet: {id: b}}]}}", "platform.openstack.machinesSubnet: contradicts controlPlanePort"},
    {"openstack", "{defaultMachinePlatform: {rootVolume: {size: 30, type: fast}}}",
     "{defaultMachinePlatform: {rootVolume: {size: 30, types: [fast]}}}"},
    {"openstack", "{defaultMachinePlatform: {rootVolume: {size: 30, type: fast, types: [slow]}}}",
     "{defaultMachinePlatform: {rootVolume: {size: 30, type: fast, types: [slow]}}}",
     "platform.openstack.defaultMachinePlatform.rootVolume.type: cannot be used with types"},
    {"aws", "{amiID: ami-1}", "{defaultMachinePlatform: {amiID: ami-1}}"},
    {"aws", "{amiID: ami-1, defaultMachinePlatform: {amiID: ami-2}}", "{defaultMachinePlatform: {amiID: ami-2}}"},
    {"aws", "{experimentalPropagateUserTags: false, propagateUserTags: true}", "{propagateUserTags: false}"},
    {"aws", "{preserveBootstrapIgnition: true}", "{bestEffortDeleteIgnition: true}"},
    {"ovirt", "{api_vip: 10.0.0.5, ingress_vip: 10.0.0.7}", "{api_vips: [10.0.0.5], ingress_vips: [10.0.0.7]}"},
    {"ovirt", "{api_vips: ['fd00::5', 10.0.0.5]}", "{api_vips: [10.0.0.5, 'fd00::5']}"},
    {"vsphere",
     "{vCenter: v.example.com, username: u, password: p, datacenter: DC, cluster: C, network: N, defaultDatastore: D, folder: F, "
     "resourcePool: /DC/host/C/Resources/R}",
     "{vcenters: [{server: v.example.com, user: u, password: p, port: 443, datacenters: [DC]}], failureDomains: [{name: "
     "generated-failure-domain, region: generated-region, zone: generated-zone, server: v.example.com, topology: {datacenter: "
     "DC, "
     "computeCluster: /DC/host/C, networks: [N], datastore: /DC/datastore/D, resourcePool: /DC/host/C/Resources/R, folder: "
     "/DC/vm/F}}]}"},
    {"vsphere", "{vCenter: v, username: u, password: p, failureDomains: [{name: a, topology: {datacenter: DC, datastore: D}}]}",
     "{vcenters: [{server: v, user: u, password: p, port: 443, datacenters: [DC]}], failureDomains: [{name: a, server: v, "
     "topology: {datacenter: DC, datastore: /DC/datastore/D}}]}"},
    {"vsphere", "{vcenters: [{server: a}], failureDomains: [{topology: {datacenter: DC, folder: /DC/vm/F, computeCluster: C}}]}",
     "{failureDomains: [{topology: {datacenter: DC, folder: /DC/vm/F, computeCluster: C}}]}"},
    {"vsphere", "{}", "{}"},
};

JsonObject parsed(std::string_view text) { return parse_yaml(text, "t")->value.as_object(); }

TEST(ConvertInstallConfig, DeprecatedFieldsOfPlatformsAreCopiedToNewFields) {
  for (const Case& c : cases) {
    const std::string name = fmt::format("{}: {}", c.platform, c.section);
    Document document("c");
    const JsonObject given = parsed(c.section);
    document.value = {{"apiVersion", "v1"}, {"platform", JsonObject{{c.platform, given}}}};
    convert_older_fields(document);
    const JsonObject& section = find_object(document.value, {"platform", c.platform});
    const JsonObject expected = parsed(c.converted);
    for (const auto& member : expected) {
      ASSERT_TRUE(section.contains(member.key())) << name;
      EXPECT_EQ(section.at(member.key()), member.value()) << name << emit_yaml(section);
    }
    for (const auto& member : given) EXPECT_TRUE(section.contains(member.key())) << name;
    std::string errors;
    for (const Finding& finding : document.findings.all()) errors += fmt::format("{}: {}", finding.field, finding.message);
    EXPECT_EQ(errors, c.errors) << name;
  }
}

TEST(ConvertInstallConfig, FindingsAboutConvertedFieldsAreWhereTheUserWroteThem) {
  Document document("c");
  document.remember("platform.vsphere.vCenter", {"c", 7, 3});
  document.value = {{"apiVersion", "v1"},
                    {"platform", {{"vsphere", {{"vCenter", "V"}, {"username", "u"}, {"password", "p"}, {"datacenter", "DC"}}}}}};
  convert_older_fields(document);
  EXPECT_EQ(document.place("platform.vsphere.vcenters[0].server"), (Place{"c", 7, 3}));
}

TEST(ConvertInstallConfig, ConvertsVolumesOfPools) {
  Document document("c");
  document.value = parse_yaml(R"(apiVersion: v1
platform: {openstack: {}}
controlPlane: {platform: {openstack: {rootVolume: {type: fast}}}}
compute: [{platform: {openstack: {rootVolume: {type: slow}}}}, {name: other}]
)",
                              "t")
                       ->value;
  convert_older_fields(document);
  EXPECT_EQ(find_array(document.value, {"controlPlane", "platform", "openstack", "rootVolume", "types"}), JsonArray{"fast"});
  EXPECT_EQ(find_array(find_array(document.value, {"compute"})[0], {"platform", "openstack", "rootVolume", "types"}),
            JsonArray{"slow"});
}

TEST(ConvertInstallConfig, IgnoresTheCaseOfNetworkTypes) {
  Document document("c");
  document.value = {{"apiVersion", "v1beta4"}, {"networking", {{"type", "ovnkubernetes"}}}};
  convert_older_fields(document);
  EXPECT_EQ(document.text({"networking", "networkType"}), "OVNKubernetes");
  EXPECT_EQ(document.text({"apiVersion"}), "v1");
  EXPECT_TRUE(document.findings.empty());
}

}  // namespace
}  // namespace slipway::config
