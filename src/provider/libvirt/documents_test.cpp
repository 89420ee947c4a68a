#include "provider/libvirt/documents.h"

#include "provider/libvirt/xml.h"

#include <gtest/gtest.h>

namespace slipway::provider::libvirt {
namespace {

plan::Resource machine_with(std::string_view channel, std::string_view firmware) {
  return {.kind = "machine",
          .name = "demo-x7k2p-master-0",
          .machine = "master-0",
          .spec = {{"virtualization", "qemu"},
                   {"pool", "p"},
                   {"disk", "d.qcow2"},
                   {"config", "c.ign"},
                   {"channel", channel},
                   {"consoleLog", "d.console.log"},
                   {"cpus", 4},
                   {"memoryMiB", 8192},
                   {"firmware", firmware},
                   {"mac", "52:54:00:01:02:03"},
                   {"interface", "network"},
                   {"network", "demo-x7k2p"},
                   {"cluster", "demo-x7k2p"},
                   {"machine", "master-0"},
                   {"role", "master"},
                   {"after", ""},
                   {"release", "r.example.com/a@sha256:1"},
                   {"version", "0.1.0"}}};
}

TEST(LibvirtDocuments, AMachineWithItsConfigInFwCfg) {
  const std::string xml = machine_xml(machine_with("fw_cfg", ""), "/pool");
  const DomainFacts facts = read_domain(xml).value();
  EXPECT_EQ(facts.mark, (MachineMark{"demo-x7k2p", "master-0", "master", "", "r.example.com/a@sha256:1", "0.1.0"}));
  EXPECT_EQ(facts.files, (std::vector<std::string>{"/pool/c.ign", "/pool/d.qcow2"}));
  EXPECT_NE(xml.find("<acpi/>"), std::string::npos);
  EXPECT_NE(xml.find("<os>"), std::string::npos);
  EXPECT_NE(xml.find("<log file='/pool/d.console.log' append='on'/>"), std::string::npos);
  EXPECT_NE(xml.find("<vcpu>4</vcpu>"), std::string::npos);
}

TEST(LibvirtDocuments, AMachineWithAMediumAndUefi) {
  const std::string xml = machine_xml(machine_with("config-drive", "efi"), "/pool");
  EXPECT_EQ(read_domain(xml)->files, (std::vector<std::string>{"/pool/d.qcow2", "/pool/c.ign"}));
  EXPECT_EQ(xml.find("fwcfg"), std::string::npos);
  EXPECT_NE(xml.find("<os firmware='efi'>"), std::string::npos);
}

TEST(LibvirtDocuments, ANetworkWithTheNamesOfTheCluster) {
  const std::string xml = network_xml(
      {.kind = "network",
       .name = "demo-x7k2p",
       .spec = {{"bridge", "tt0"},
                {"domain", "demo.example.com"},
                {"gateway", "192.168.126.1"},
                {"prefix", 24},
                {"rangeStart", "192.168.126.128"},
                {"rangeEnd", "192.168.126.254"},
                {"apiVIP", "192.168.126.5"},
                {"ingressVIP", "192.168.126.7"},
                {"hosts", JsonArray{{{"mac", "52:54:00:01:02:03"}, {"machine", "master-0"}, {"address", "192.168.126.11"}}}},
                {"options", JsonArray{"server=/a&b/192.0.2.1"}}}});
  const NetworkFacts facts = read_network(xml).value();
  EXPECT_EQ(facts.bridge, "tt0");
  EXPECT_EQ(net::to_string(facts.addresses.at(0)), "192.168.126.1/24");
  for (const std::string_view part : {"<host mac='52:54:00:01:02:03' name='master-0' ip='192.168.126.11'/>",
                                      "value='address=/apps.demo.example.com/192.168.126.7'", "value='server=/a&amp;b/192.0.2.1'",
                                      "<hostname>api-int.demo.example.com</hostname>"}) {
    EXPECT_NE(xml.find(part), std::string::npos) << part;
  }
}

TEST(LibvirtDocuments, VolumesWithAndWithoutABase) {
  EXPECT_EQ(
      read_volume(volume_xml({.name = "a.qcow2", .capacity = 1, .format = "qcow2", .mode = "0600", .backing_path = "/pool/base"}))
          ->backing_path,
      "/pool/base");
  const std::string plain = volume_xml({.name = "a.ign", .capacity = 1700, .format = "raw", .mode = "0600"});
  EXPECT_EQ(read_volume(plain)->backing_path, "");
  EXPECT_NE(plain.find("<capacity unit='bytes'>1700</capacity>"), std::string::npos);
  EXPECT_EQ(read_pool(pool_xml({.kind = "pool", .name = "p", .spec = {{"path", "/pools/p"}}}))->path, "/pools/p");
}

}  // namespace
}  // namespace slipway::provider::libvirt
