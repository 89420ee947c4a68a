#include "provider/vsphere/documents.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

constexpr std::string_view edit = "edit";
constexpr std::string_view add = "add";
constexpr std::string_view remove = "remove";

std::string device_change(std::string_view operation, std::string_view device) {
  return element_of("deviceChange", element("operation", operation) + std::string(device), "VirtualDeviceConfigSpec");
}

std::string options_text(const Options& options) {
  std::string made;
  for (const auto& [key, value] : options) made += option("extraConfig", key, value);
  return made;
}

std::string grown_disk(const Xml& disk, std::uint64_t size) {
  Xml grown = disk;
  for (Xml& member : grown.children) {
    if (member.name == "capacityInKB") member.text = std::to_string(size / 1024);
    if (member.name == "capacityInBytes") member.text = std::to_string(size);
  }
  return to_xml(grown, "device");
}

// vmxnet3 is the adapter that Linux has a driver for in its kernel and that costs the host least.
std::string new_adapter(std::string_view backing) {
  return element_of("device",
                    element("key", "-1") + std::string(backing) +
                        element_of("connectable", element("startConnected", "true") + element("allowGuestControl", "true") +
                                                      element("connected", "true")) +
                        element("addressType", "generated"),
                    "VirtualVmxnet3");
}

std::string removed_adapter(const Xml& adapter) {
  return element_of("device", element("key", adapter.text_at({"key"})), std::string(adapter.instance_type()));
}

// Members of VirtualMachineConfigSpec that come after extraConfig in vSphere's schema.
constexpr std::array after_options = {"swapPlacement",
                                      "bootOptions",
                                      "vAppConfig",
                                      "ftInfo",
                                      "repConfig",
                                      "vAppConfigRemoved",
                                      "vAssertsEnabled",
                                      "changeTrackingEnabled",
                                      "firmware",
                                      "maxMksConnections",
                                      "guestAutoLockEnabled",
                                      "managedBy",
                                      "memoryReservationLockedToMax",
                                      "nestedHVEnabled",
                                      "vPMCEnabled",
                                      "scheduledHardwareUpgradeInfo",
                                      "vmProfile",
                                      "messageBusTunnelEnabled",
                                      "crypto",
                                      "migrateEncryption"};

}  // namespace

Result<Hardware> hardware_of(const Xml& devices) {
  Hardware found;
  for (const Xml& device : devices.children) {
    if (device.instance_type() == "VirtualDisk" && found.disk.children.empty()) found.disk = device;
    if (device.has("addressType") || device.has("macAddress")) found.adapters.push_back(device);
  }
  if (found.disk.children.empty()) return error(Code::invalid, "has no disk");
  found.disk_size = parse_number<std::uint64_t>(found.disk.text_at({"capacityInKB"})).value_or(0) * 1024;
  return found;
}

std::string clone_arguments(const NewMachine& machine, const Hardware& source) {
  std::string changes;
  if (machine.disk_size > source.disk_size) changes += device_change(edit, grown_disk(source.disk, machine.disk_size));
  for (const Xml& adapter : source.adapters) changes += device_change(remove, removed_adapter(adapter));
  changes += device_change(add, new_adapter(machine.network_backing));
  std::string config = element_of("flags", element("diskUuidEnabled", "true")) +
                       element("numCPUs", std::to_string(machine.cpus)) +
                       element("numCoresPerSocket", std::to_string(machine.cores_per_socket)) +
                       element("memoryMB", std::to_string(machine.memory_mib)) + changes + options_text(machine.options) +
                       element("vAppConfigRemoved", "true");
  const std::string location = element("datastore", machine.datastore) +
                               element("diskMoveType", "moveAllDiskBackingsAndDisallowSharing") +
                               element("pool", machine.resource_pool);
  const std::string spec = element_of("location", location) + element("template", "false") + element_of("config", config) +
                           element("powerOn", machine.is_started ? "true" : "false");
  return element("folder", machine.folder) + element("name", machine.name) + element_of("spec", spec);
}

std::string network_backing(const Object& network, std::string_view switch_uuid) {
  if (network.self.type == "DistributedVirtualPortgroup") {
    const std::string port = element("switchUuid", switch_uuid) + element("portgroupKey", network.text("key"));
    return element_of("backing", element_of("port", port), "VirtualEthernetCardDistributedVirtualPortBackingInfo");
  }
  if (network.self.type == "OpaqueNetwork") {
    const Xml& summary = network.at("summary");
    return element_of("backing",
                      element("opaqueNetworkId", summary.text_at({"opaqueNetworkId"})) +
                          element("opaqueNetworkType", summary.text_at({"opaqueNetworkType"})),
                      "VirtualEthernetCardOpaqueNetworkBackingInfo");
  }
  return element_of("backing", element("deviceName", network.text("name")), "VirtualEthernetCardNetworkBackingInfo");
}

Result<std::vector<std::string>> networks_of_descriptor(std::string_view descriptor) {
  const Xml root = TRY(parse_xml(descriptor).context("the OVF descriptor"));
  if (root.name != "Envelope") return error(Code::invalid, "the OVF descriptor: has no element Envelope");
  std::vector<std::string> names;
  for (const Xml& network : root.at({"NetworkSection"}).children) {
    if (network.name == "Network") names.push_back(network.attribute("name"));
  }
  return names;
}

Result<std::string> import_arguments(const Import& import) {
  std::string parameters = element("locale", "") + element("deploymentOption", "") + element("entityName", import.name);
  for (const std::string& name : TRY(networks_of_descriptor(import.descriptor))) {
    parameters += element_of("networkMapping", element("name", name) + element("network", import.network));
  }
  if (!import.disk_type.empty()) parameters += element("diskProvisioning", import.disk_type);
  return element("ovfDescriptor", import.descriptor) + element("resourcePool", import.resource_pool) +
         element("datastore", import.datastore) + element_of("cisp", parameters);
}

Result<ImportSpec> import_spec_of(const Xml& result) {
  std::vector<std::string> problems;
  ImportSpec made;
  for (const Xml& child : result.children) {
    if (child.name == "error") problems.push_back(fault_of(child).message);
    if (child.name == "fileItem") made.files.push_back({child.text_at({"deviceId"}), child.text_at({"path"})});
    if (child.name == "importSpec") made.spec = child;
  }
  if (!problems.empty()) return error(Code::invalid, "vCenter does not accept the OVF: {}", join(problems, "; "));
  if (made.spec.children.empty()) return error(Code::invalid, "vCenter makes no specification of the OVF");
  return made;
}

std::string import_spec_with(const Xml& spec, const Options& options) {
  Xml made = spec;
  const Result<Xml> more = parse_xml(fmt::format("<m xmlns:xsi=\"i\">{}</m>", options_text(options)));
  for (Xml& child : made.children) {
    if (child.name != "configSpec" || !more.ok()) continue;
    auto place = std::ranges::find_if(
        child.children, [](const Xml& member) { return std::ranges::find(after_options, member.name) != after_options.end(); });
    child.children.insert(place, more->children.begin(), more->children.end());
  }
  return to_xml(made, "spec");
}

std::string rule_to_add(std::string_view name, const std::vector<Reference>& machines) {
  std::string info =
      element("enabled", "true") + element("name", name) + element("mandatory", "false") + element("userCreated", "true");
  for (const Reference& machine : machines) info += element("vm", machine);
  return element_of("rulesSpec", element("operation", add) + element_of("info", info, "ClusterAntiAffinityRuleSpec"));
}

std::string rule_to_remove(int key) {
  return element_of("rulesSpec", element("operation", remove) + element_of("removeKey", std::to_string(key), "xsd:int"));
}

std::vector<Rule> rules_of(const Xml& configuration) {
  std::vector<Rule> rules;
  for (const Xml& child : configuration.children) {
    if (child.name != "rule") continue;
    Rule rule{.key = parse_number<int>(child.text_at({"key"})).value_or(0), .name = child.text_at({"name"})};
    for (const Xml& member : child.children) {
      if (member.name == "vm") rule.machines.push_back(reference_of(member));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace slipway::provider::vsphere
