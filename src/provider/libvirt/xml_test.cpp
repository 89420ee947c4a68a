#include "provider/libvirt/xml.h"

#include <gtest/gtest.h>

namespace slipway::provider::libvirt {
namespace {

TEST(LibvirtXml, MachinesWithTheirMarkAndFiles) {
  const DomainFacts facts = read_domain(R"(<domain type='kvm'>
  <name>demo-x7k2p-master-0</name>
  <metadata>
    <slipway:machine xmlns:slipway='https://slipway.invalid/libvirt/1' cluster='demo-x7k2p' name='master-0' role='master' after=''
      release='r.example.com/a@sha256:1' version='0.1.0'/>
  </metadata>
  <sysinfo type='fwcfg'><entry name='opt/com.coreos/config' file='/pool/demo-x7k2p-master-0.ign'/></sysinfo>
  <devices>
    <disk type='file'><source file='/pool/demo-x7k2p-master-0.qcow2'/></disk>
    <disk type='network'><source protocol='rbd' name='x'/></disk>
    <interface type='network'><mac address='52:54:00:01:02:03'/><source network='demo-x7k2p'/></interface>
    <interface type='bridge'><mac address='52:54:00:01:02:04'/><source bridge='br0'/></interface>
  </devices>
</domain>)")
                                .value();
  EXPECT_EQ(facts.mark, (MachineMark{"demo-x7k2p", "master-0", "master", "", "r.example.com/a@sha256:1", "0.1.0"}));
  EXPECT_EQ(facts.virtualization, "kvm");
  EXPECT_EQ(facts.files, (std::vector<std::string>{"/pool/demo-x7k2p-master-0.ign", "/pool/demo-x7k2p-master-0.qcow2"}));
  EXPECT_EQ(facts.interfaces, (std::vector<Interface>{{"52:54:00:01:02:03", "demo-x7k2p"}, {"52:54:00:01:02:04", ""}}));
  EXPECT_EQ(read_domain("<domain><name>other</name></domain>")->mark, std::nullopt);
}

TEST(LibvirtXml, NetworksPoolsVolumes) {
  const NetworkFacts network = read_network(
                                   "<network><bridge name='virbr0'/><ip address='192.168.122.1' netmask='255.255.255.0'/><ip "
                                   "family='ipv6' address='fd00::1' "
                                   "prefix='64'/></network>")
                                   .value();
  EXPECT_EQ(network.bridge, "virbr0");
  ASSERT_EQ(network.addresses.size(), 2u);
  EXPECT_EQ(net::to_string(network.addresses[0]), "192.168.122.1/24");
  EXPECT_EQ(net::to_string(network.addresses[1]), "fd00::1/64");
  const PoolFacts pool = read_pool("<pool type='dir'><target><path>/pool</path></target></pool>").value();
  EXPECT_EQ(pool.type + " " + pool.path, "dir /pool");
  EXPECT_EQ(read_volume("<volume><backingStore><path>/pool/base.qcow2</path></backingStore></volume>")->backing_path,
            "/pool/base.qcow2");
  EXPECT_EQ(read_volume("<volume/>")->backing_path, "");
}

TEST(LibvirtXml, WhatIsNotXmlIsRefused) {
  for (const std::string_view text : {"", "<domain", "<pool/>", "no xml"}) {
    EXPECT_EQ(read_domain(text).error().code(), Code::invalid) << text;
  }
}

TEST(LibvirtXml, Escaped) { EXPECT_EQ(xml_escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&apos;"); }

}  // namespace
}  // namespace slipway::provider::libvirt
