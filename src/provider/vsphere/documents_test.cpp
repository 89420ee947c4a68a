#include "provider/vsphere/documents.h"

#include <gtest/gtest.h>

namespace slipway::provider::vsphere {
namespace {

Xml xml(const std::string& text) {
  Result<Xml> read = parse_xml("<r xmlns:xsi=\"i\">" + text + "</r>");
  EXPECT_TRUE(read.ok()) << text;
  return std::move(read).value();
}

const std::string devices =
    "<VirtualDevice xsi:type=\"ParaVirtualSCSIController\"><key>1000</key></VirtualDevice>"
    "<VirtualDevice xsi:type=\"VirtualDisk\"><key>2000</key><backing xsi:type=\"B\"><fileName>[ds] a</fileName></backing>"
    "<capacityInKB>16777216</capacityInKB><capacityInBytes>17179869184</capacityInBytes></VirtualDevice>"
    "<VirtualDevice xsi:type=\"VirtualE1000\"><key>4000</key><addressType>generated</addressType></VirtualDevice>";

TEST(Documents, ReadsTheHardwareOfATemplate) {
  const Result<Hardware> hardware = hardware_of(xml(devices));
  ASSERT_TRUE(hardware.ok());
  EXPECT_EQ(hardware->disk_size, 16ull << 30);
  ASSERT_EQ(hardware->adapters.size(), 1u);
  EXPECT_EQ(hardware->adapters[0].text_at({"key"}), "4000");
  EXPECT_EQ(hardware_of(xml("<d/>")).error().code(), Code::invalid);
}

TEST(Documents, AMachineHasALargerDiskAndTheNetworkOfTheCluster) {
  const Hardware source = hardware_of(xml(devices)).value();
  NewMachine machine{.name = "demo-master-0",
                     .folder = {"Folder", "group-v5"},
                     .datastore = {"Datastore", "ds-1"},
                     .resource_pool = {"ResourcePool", "pool-1"},
                     .network_backing = "<backing/>",
                     .cpus = 4,
                     .cores_per_socket = 2,
                     .memory_mib = 8192,
                     .disk_size = 120ull << 30,
                     .options = {{"k", "v"}}};
  const std::string text = clone_arguments(machine, source);
  const Xml spec = xml(text);
  EXPECT_EQ(spec.text_at({"name"}), "demo-master-0");
  EXPECT_EQ(spec.text_at({"spec", "powerOn"}), "true");
  EXPECT_EQ(spec.text_at({"spec", "location", "datastore"}), "ds-1");
  const Xml& config = spec.at({"spec", "config"});
  std::vector<std::string> order;
  for (const Xml& member : config.children) order.push_back(member.name);
  EXPECT_EQ(order, (std::vector<std::string>{"flags", "numCPUs", "numCoresPerSocket", "memoryMB", "deviceChange", "deviceChange",
                                             "deviceChange", "extraConfig", "vAppConfigRemoved"}))
      << "the order of vSphere's schema";
  EXPECT_EQ(config.text_at({"deviceChange", "operation"}), "edit");
  EXPECT_EQ(config.text_at({"deviceChange", "device", "capacityInKB"}), "125829120");
  EXPECT_EQ(config.text_at({"deviceChange", "device", "backing", "fileName"}), "[ds] a");
  machine.disk_size = source.disk_size;
  machine.is_started = false;
  const Xml same = xml(clone_arguments(machine, source));
  EXPECT_EQ(same.text_at({"spec", "config", "deviceChange", "operation"}), "remove") << "the disk stays";
  EXPECT_EQ(same.text_at({"spec", "powerOn"}), "false");
}

TEST(Documents, NetworksHaveABacking) {
  EXPECT_EQ(network_backing({.self = {"Network", "n"}, .properties = {{"name", Xml{.text = "VM Network"}}}}, ""),
            "<backing xsi:type=\"VirtualEthernetCardNetworkBackingInfo\"><deviceName>VM Network</deviceName></backing>");
  EXPECT_EQ(
      network_backing({.self = {"DistributedVirtualPortgroup", "n"}, .properties = {{"key", Xml{.text = "dvpg-1"}}}}, "50 2f"),
      "<backing xsi:type=\"VirtualEthernetCardDistributedVirtualPortBackingInfo\"><port><switchUuid>50 2f</switchUuid>"
      "<portgroupKey>dvpg-1</portgroupKey></port></backing>");
}

TEST(Documents, ADescriptorNamesNetworks) {
  const std::string descriptor =
      "<Envelope xmlns:ovf=\"o\"><NetworkSection><Info/><Network ovf:name=\"a\"/><Network "
      "ovf:name=\"b\"/></NetworkSection></Envelope>";
  EXPECT_EQ(networks_of_descriptor(descriptor).value(), (std::vector<std::string>{"a", "b"}));
  const Result<std::string> arguments = import_arguments({.descriptor = descriptor,
                                                          .name = "t",
                                                          .resource_pool = {},
                                                          .datastore = {},
                                                          .network = {"Network", "n-1"},
                                                          .disk_type = "thin"});
  ASSERT_TRUE(arguments.ok());
  const Xml read = xml(arguments.value());
  EXPECT_EQ(read.text_at({"ovfDescriptor"}), descriptor);
  EXPECT_EQ(read.text_at({"cisp", "networkMapping", "network"}), "n-1");
  EXPECT_EQ(read.text_at({"cisp", "diskProvisioning"}), "thin");
  EXPECT_EQ(networks_of_descriptor("<html/>").error().code(), Code::invalid);
  EXPECT_EQ(networks_of_descriptor("").error().code(), Code::invalid);
}

TEST(Documents, AnImportSpecificationGetsMarks) {
  const Xml result =
      xml("<importSpec "
          "xsi:type=\"VirtualMachineImportSpec\"><configSpec><name>t</name><deviceChange/><vAppConfig/></configSpec></importSpec>"
          "<fileItem><deviceId>/t/VirtualDisk:0</deviceId><path>disk.vmdk</path></fileItem>");
  const Result<ImportSpec> spec = import_spec_of(result);
  ASSERT_TRUE(spec.ok());
  ASSERT_EQ(spec->files.size(), 1u);
  EXPECT_EQ(spec->files[0].path, "disk.vmdk");
  EXPECT_EQ(import_spec_with(spec->spec, {{"k", "v"}}),
            "<spec xsi:type=\"VirtualMachineImportSpec\"><configSpec><name>t</name><deviceChange></deviceChange>" +
                option("extraConfig", "k", "v") + "<vAppConfig></vAppConfig></configSpec></spec>");
  const auto refused =
      import_spec_of(xml("<error><fault xsi:type=\"OvfUnsupportedType\"/><localizedMessage>no</localizedMessage></error>"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "vCenter does not accept the OVF: no");
  EXPECT_FALSE(import_spec_of(Xml()).ok());
}

TEST(Documents, RulesAreRead) {
  const std::vector<Rule> rules = rules_of(xml(
      "<rule xsi:type=\"ClusterAntiAffinityRuleSpec\"><key>3</key><name>demo-masters</name><vm type=\"VirtualMachine\">vm-1</vm>"
      "<vm type=\"VirtualMachine\">vm-2</vm></rule><other/>"));
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].key, 3);
  EXPECT_EQ(rules[0].machines.size(), 2u);
  EXPECT_EQ(rule_to_remove(3),
            "<rulesSpec><operation>remove</operation><removeKey xsi:type=\"xsd:int\">3</removeKey></rulesSpec>");
}

}  // namespace
}  // namespace slipway::provider::vsphere
