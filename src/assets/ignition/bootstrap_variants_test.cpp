#include "assets/ignition/bootstrap_variants.h"

#include "data/data.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::assets {
namespace {

using testing_support::sample_config;

config::InstallConfig baremetal(std::string_view changes = "{}") {
  config::InstallConfig config = sample_config();
  Json section = parse_json(R"({
    "provisioningNetwork": "Managed", "provisioningNetworkCIDR": "172.22.0.0/24", "bootstrapProvisioningIP": "172.22.0.2",
    "provisioningDHCPRange": "172.22.0.10,172.22.0.254", "provisioningMACAddress": "52:54:00:00:00:01",
    "externalMACAddress": "52:54:00:00:00:02", "apiVIPs": ["192.168.111.5"], "ingressVIPs": ["192.168.111.4"],
    "hosts": [{"role": "worker", "bootMACAddress": "aa:00"}, {"bootMACAddress": "aa:01"}, {"role": "master", "bootMACAddress": "aa:02"},
              {"role": "master", "bootMACAddress": "aa:03"}, {"bootMACAddress": "aa:04"}]})",
                            "section")
                     .value();
  const Json changed = parse_json(changes, "changes").value();
  for (const auto& member : changed.as_object()) section.as_object()[member.key()] = member.value();
  config.platform = {.type = "baremetal", .section = section};
  config.networking.machine_network = {"192.168.111.0/25", "fd00:111::/64"};
  config.ssh_key = "ssh-ed25519 AAAA \"me\"\n";
  return config;
}

IronicCredentials credentials() { return {"bootstrap-user", Secret("0123456789abcdef")}; }

struct ValueCase {
  const char* changes;
  std::map<std::string, std::string> expected;
};

// The expected values are those of openshift-install's environment files on platform baremetal.
TEST(BootstrapVariants, BaremetalValuesFollowTheProvisioningNetwork) {
  const std::vector<ValueCase> cases = {
      {"{}",
       {{"IRONIC_IP", "192.168.111.5"},
        {"IRONIC_HOST", "192.168.111.5"},
        {"IRONIC_EXTERNAL_URL_V6", ""},
        {"SSH_KEY", R"(ssh-ed25519 AAAA \"me\")"},
        {"CONTROL_PLANE_REPLICAS", "3"},
        {"PROVISIONING_NETWORK", "Managed"},
        {"PROVISIONING_MAC", "52:54:00:00:00:01"},
        {"PROVISIONING_SUBNET", "172.22.0.2/24"},
        {"PROVISIONING_FAMILY", "ip4"},
        {"PROVISIONING_UNITS", "Requires=provisioning-interface.service\nWants=ironic-dnsmasq.service\n"},
        {"IPTABLES", "iptables"},
        {"DHCP_RANGE", "172.22.0.10,172.22.0.254,24"},
        {"DHCP_ALLOW_MACS", "aa:01 aa:02 aa:03"},
        {"EXTERNAL_FAMILY_LINE", "EXTERNAL_IP_FAMILY=ip4\n"}}},
      {R"({"provisioningNetwork": "Unmanaged"})",
       {{"PROVISIONING_MAC", "52:54:00:00:00:01"},
        {"PROVISIONING_SUBNET", "172.22.0.2/24"},
        {"DHCP_RANGE", ""},
        {"DHCP_ALLOW_MACS", ""}}},
      {R"({"provisioningNetwork": "Disabled", "provisioningNetworkCIDR": ""})",
       {{"PROVISIONING_MAC", "52:54:00:00:00:02"},
        {"PROVISIONING_SUBNET", "/0"},
        {"PROVISIONING_FAMILY", "ip4"},
        {"PROVISIONING_UNITS", ""},
        {"DHCP_RANGE", ""}}},
      {R"({"provisioningNetworkCIDR": "fd00:1101::/64", "bootstrapProvisioningIP": "fd00:1101::2", "apiVIPs": ["fd00:111::5"]})",
       {{"PROVISIONING_SUBNET", "fd00:1101::2/64"},
        {"PROVISIONING_FAMILY", "ip6"},
        {"IPTABLES", "ip6tables"},
        {"IRONIC_IP", "fd00:111::5"},
        {"IRONIC_HOST", "[fd00:111::5]"},
        {"IRONIC_EXTERNAL_URL_V6", ""},
        {"EXTERNAL_FAMILY_LINE", "EXTERNAL_IP_FAMILY=ip6\n"}}},
      {R"({"apiVIPs": ["192.168.111.5", "fd00:111::5"]})",
       {{"IRONIC_HOST", "192.168.111.5"},
        {"IRONIC_EXTERNAL_URL_V6", "http://[fd00:111::5]:6180/"},
        {"EXTERNAL_FAMILY_LINE", ""}}},
      {R"({"bootstrapExternalStaticIP": "192.168.111.20", "bootstrapExternalStaticGateway": "192.168.111.1",
           "bootstrapExternalStaticDNS": "192.168.111.2"})",
       {{"EXTERNAL_MAC", "52:54:00:00:00:02"},
        {"EXTERNAL_FAMILY", "ipv4"},
        {"EXTERNAL_ADDRESS", "192.168.111.20/25"},
        {"EXTERNAL_GATEWAY", "192.168.111.1"},
        {"EXTERNAL_DNS", "192.168.111.2"}}},
  };
  for (const ValueCase& it : cases) {
    const TemplateValues values = variant_values(baremetal(it.changes), credentials());
    for (const auto& [name, value] : it.expected) EXPECT_EQ(values.find(name)->second, value) << it.changes << " " << name;
  }
}

TEST(BootstrapVariants, EveryFolderIsOfSomePlatformOrAsksForSomething) {
  std::set<std::string_view> used = {"cluster-profile", "in-place"};
  for (const std::string_view type :
       {"aws", "baremetal", "external", "gcp", "libvirt", "local", "none", "openstack", "ovirt", "vsphere"}) {
    config::InstallConfig config = sample_config();
    config.platform.type = type;
    for (const std::string_view folder : variant_folders(config)) used.insert(folder);
  }
  std::set<std::string_view> there;
  for (const data::File& file : data::bootstrap_variants()) there.insert(file.path.substr(0, file.path.find('/')));
  EXPECT_EQ(there, used);
}

TEST(BootstrapVariants, ClustersOnThisHostHaveNone) {
  EXPECT_TRUE(variant_folders(sample_config()).empty());
  EXPECT_TRUE(silent_files(sample_config()).empty());
}

TEST(BootstrapVariants, SomeFilesSayNothing) {
  EXPECT_EQ(silent_files(baremetal()),
            (std::map<std::string, std::string>{{"/etc/NetworkManager/system-connections/nmconnection", "\n"}}));
  EXPECT_TRUE(silent_files(baremetal(R"({"bootstrapExternalStaticIP": "192.168.111.20"})")).empty());
  config::InstallConfig config = sample_config();
  config.platform = {.type = "vsphere"};
  EXPECT_EQ(silent_files(config), (std::map<std::string, std::string>{{"/etc/NetworkManager/conf.d/99-vsphere.conf", ""}}));
}

TEST(IronicCredentials, AreDrawnForBaremetalOnly) {
  testing_support::SeededRandom source(1);
  const Randomness random{&source};
  const IronicCredentials first = make_ironic_credentials(baremetal(), random).value();
  EXPECT_EQ(first.user, "bootstrap-user");
  EXPECT_EQ(first.password.reveal().size(), 16u);
  EXPECT_TRUE(std::ranges::all_of(first.password.reveal(), [](unsigned char c) { return std::isalnum(c); }));
  EXPECT_NE(first, make_ironic_credentials(baremetal(), random).value());
  EXPECT_EQ(make_ironic_credentials(sample_config(), random).value(), IronicCredentials{});
}

}  // namespace
}  // namespace slipway::assets
