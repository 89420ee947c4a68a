// Specifications of machines, templates and rules in vSphere's XML. Pure.
#pragma once

#include "provider/vsphere/properties.h"
#include "provider/vsphere/soap.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider::vsphere {

// What machines of a template get changed: the disk grows, and each network adapter is replaced by one in the cluster's network.
struct Hardware {
  Xml disk{};                   // the first VirtualDisk
  std::uint64_t disk_size = 0;  // bytes
  std::vector<Xml> adapters{};
};

// From the property config.hardware.device. errors: invalid: there is no disk
Result<Hardware> hardware_of(const Xml& devices);

using Options = std::vector<std::pair<std::string, std::string>>;  // extraConfig, by key

struct NewMachine {
  std::string name{};
  Reference folder{}, datastore{}, resource_pool{};
  std::string network_backing{};  // of network_backing()
  int cpus = 0;
  int cores_per_socket = 0;
  std::uint64_t memory_mib = 0;
  std::uint64_t disk_size = 0;  // bytes
  Options options{};
  bool is_started = true;
};

// The arguments of CloneVM_Task.
std::string clone_arguments(const NewMachine& machine, const Hardware& source);

// The backing of an adapter, from the properties of a network: Network (name), DistributedVirtualPortgroup (key, with the UUID of
// its switch), OpaqueNetwork (summary).
std::string network_backing(const Object& network, std::string_view switch_uuid);

// The arguments of CreateImportSpec.
struct Import {
  std::string descriptor{};  // the OVF
  std::string name{};        // of the new machine
  Reference resource_pool{}, datastore{}, network{};
  std::string disk_type{};  // thin, thick, eagerZeroedThick; empty: as in the storage policy
};
Result<std::string> import_arguments(const Import& import);

// The names of the networks in an OVF. errors: invalid: not an OVF
Result<std::vector<std::string>> networks_of_descriptor(std::string_view descriptor);

// Which file vCenter wants for which device: "disk.vmdk" by the import key of the lease.
struct ImportFile {
  std::string device;
  std::string path;
};

// The result of CreateImportSpec.
struct ImportSpec {
  Xml spec{};
  std::vector<ImportFile> files{};
};

// errors: invalid: what vCenter does not accept about the OVF
Result<ImportSpec> import_spec_of(const Xml& result);

// The spec for ImportVApp, with more settings of the machine.
std::string import_spec_with(const Xml& spec, const Options& options);

// The spec of ReconfigureComputeResource_Task: adds a rule that keeps machines on different hosts where possible, or removes one.
std::string rule_to_add(std::string_view name, const std::vector<Reference>& machines);
std::string rule_to_remove(int key);

struct Rule {
  int key = 0;
  std::string name{};
  std::vector<Reference> machines{};
};

// From the property configurationEx of a compute cluster.
std::vector<Rule> rules_of(const Xml& configuration);

}  // namespace slipway::provider::vsphere
