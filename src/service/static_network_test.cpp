#include "service/static_network.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

const std::string bond_with_vlan = R"(interfaces:
- name: bond0
  type: bond
  state: up
  mtu: 9000
  link-aggregation: {mode: 802.3ad, port: [eth0, eth1], options: {miimon: 100}}
- name: bond0.10
  type: vlan
  vlan: {base-iface: bond0, id: 10}
  ipv4: {enabled: true, address: [{ip: 192.168.126.10, prefix-length: 24}]}
  ipv6: {enabled: true, dhcp: true, autoconf: true}
dns-resolver: {config: {server: [192.168.126.1, 192.168.126.2], search: [example.com]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.168.126.1, next-hop-interface: bond0.10, metric: 50}
)";

Json host(const std::string& yaml, std::vector<std::pair<std::string, std::string>> macs) {
  JsonArray map;
  for (const auto& [name, mac] : macs) map.push_back(Json{{"mac_address", mac}, {"logical_nic_name", name}});
  return {{"network_yaml", yaml}, {"mac_interface_map", map}};
}

TEST(StaticNetwork, BecomesFilesOfNetworkd) {
  const auto networks =
      parse_static_networks(JsonArray{host(bond_with_vlan, {{"eth0", "52:54:00:00:00:0A"}, {"eth1", "52:54:00:00:00:0b"}})});
  ASSERT_TRUE(networks.ok()) << networks.error().message();
  const HostNetwork expected{
      .mac_addresses = {"52:54:00:00:00:0a", "52:54:00:00:00:0b"},
      .files = {
          {"10-slipway-bond0.netdev", "[NetDev]\nName=bond0\nKind=bond\n\n[Bond]\nMode=802.3ad\nMIIMonitorSec=100ms\n"},
          {"10-slipway-bond0.network", "[Match]\nName=bond0\n\n[Link]\nMTUBytes=9000\n\n[Network]\nDHCP=no\nVLAN=bond0.10\n"},
          {"10-slipway-bond0.10.netdev", "[NetDev]\nName=bond0.10\nKind=vlan\n\n[VLAN]\nId=10\n"},
          {"10-slipway-bond0.10.network",
           "[Match]\nName=bond0.10\n\n[Network]\nAddress=192.168.126.10/24\nIPv6AcceptRA=yes\nDHCP=ipv6\n"
           "DNS=192.168.126.1\nDNS=192.168.126.2\nDomains=example.com\n\n[Route]\nDestination=0.0.0.0/0\nGateway=192.168.126.1\n"
           "Metric=50\n"},
          {"10-slipway-eth0.network",
           "[Match]\nType=ether\nPermanentMACAddress=52:54:00:00:00:0a\n\n[Network]\nLinkLocalAddressing=no\nBond=bond0\n"},
          {"10-slipway-eth1.network",
           "[Match]\nType=ether\nPermanentMACAddress=52:54:00:00:00:0b\n\n[Network]\nLinkLocalAddressing=no\nBond=bond0\n"},
      }};
  ASSERT_EQ(networks->size(), 1u);
  EXPECT_EQ(networks->front().mac_addresses, expected.mac_addresses);
  for (const auto& [name, content] : expected.files) {
    const auto found = networks->front().files.find(name);
    EXPECT_EQ(found == networks->front().files.end() ? "none" : found->second, content) << name;
  }
  EXPECT_EQ(networks->front().files.size(), expected.files.size());
}

TEST(StaticNetwork, RefusesByName) {
  const std::vector<std::pair<std::string, std::string>> macs = {{"eth0", "52:54:00:00:00:0a"}};
  const std::string fine = "interfaces: [{name: eth0, type: ethernet}]";
  struct {
    Json item;
    std::string expected;
  } rows[] = {
      {host("interfaces: [{name: eth1, type: ethernet}]", macs), "'eth1' is not in mac_interface_map"},
      {host("interfaces: [{name: br0, type: linux-bridge}]", macs), "interfaces[0].type: 'linux-bridge' is not supported"},
      {host("interfaces: [{name: ../x, type: ethernet}]", macs), "is no name of an interface"},
      {host("interfaces: [{name: eth0, type: ethernet, ethtool: {}}]", macs),
       "interfaces[0].ethtool: this field is not supported"},
      {host("interfaces: [{name: eth0, type: ethernet, ipv4: {enabled: true, address: [{ip: 1.2.3, prefix-length: 24}]}}]", macs),
       "'1.2.3/24' is no ipv4 address"},
      {host("interfaces: [{name: v, type: vlan, vlan: {base-iface: eth7, id: 9999}}]", macs), "between 1 and 4094"},
      {host("interfaces: [{name: v, type: vlan, vlan: {base-iface: eth7, id: 9}}]", macs), "'eth7' is no interface"},
      {host("interfaces: {", macs), "network_yaml"},
      {host("", macs), "interfaces"},
      {host(fine, {{"eth0", "52:54"}}), "'52:54' is no MAC address"},
      {host(fine, {}), "mac_interface_map"},
      {host(fine + "\nroutes: {config: [{destination: x, next-hop-interface: eth0}]}", macs), "'x' is no network"},
      {host(fine + "\ndns-resolver: {config: {server: [dns.example.com]}}", macs), "'dns.example.com' is no IP address"},
  };
  for (const auto& row : rows) {
    const auto networks = parse_static_networks(JsonArray{row.item});
    ASSERT_FALSE(networks.ok()) << row.expected;
    EXPECT_NE(networks.error().message().find(row.expected), std::string::npos) << networks.error().message();
  }
  EXPECT_FALSE(parse_static_networks(JsonArray{host(fine, macs), host(fine, macs)}).ok()) << "one MAC address, two hosts";
}

TEST(StaticNetwork, TheInstalledSystemHasTheOneOfItsHost) {
  const auto networks = parse_static_networks(JsonArray{
      host("interfaces: [{name: a, type: ethernet, ipv4: {enabled: true, dhcp: true}}]", {{"a", "52:54:00:00:00:0a"}}),
      host("interfaces: [{name: b, type: ethernet, ipv4: {enabled: true, dhcp: true}}]", {{"b", "52:54:00:00:00:0b"}})});
  ASSERT_TRUE(networks.ok()) << networks.error().message();
  ignition::Config live, own, other;
  add_static_networks(live, networks.value());
  EXPECT_EQ(live.storage.files.size(), 5u) << "two hosts with two files, and the program that chooses";
  add_static_network(own, networks.value(), {"52:54:00:00:00:0b"});
  ASSERT_EQ(own.storage.files.size(), 1u);
  EXPECT_EQ(own.storage.files[0].path, "/etc/systemd/network/10-slipway-b.network");
  add_static_network(other, networks.value(), {"52:54:00:00:00:0c"});
  EXPECT_TRUE(other.storage.files.empty());
}

}  // namespace
}  // namespace slipway::service
