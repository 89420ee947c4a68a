// What a host says about its hardware and its networks. The agent writes it, the service reads it: one codec for both. The field
// names are those of the model `inventory` in the API of OpenShift's assisted-service. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "net/ip.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::assist {

struct Interface {
  std::string name;
  std::string mac_address;       // "52:54:00:12:34:56"; of a part of a bond its own one
  std::string type{"physical"};  // "physical", "bond", "vlan", "bridge", ...
  int mtu = 1500;
  int speed_mbps = 0;  // 0: unknown
  bool has_carrier = false;
  std::string vendor{};
  std::string product{};
  std::vector<net::Cidr> addresses{};  // without link-local ones; both families

  bool operator==(const Interface&) const = default;
};

struct Disk {
  std::string id;  // by-id, else by-path, else /dev/NAME
  std::string name;
  std::string path;
  std::string by_id{};
  std::string by_path{};
  std::string hctl{};        // "0:0:0:0": host, channel, target and unit of SCSI
  std::string drive_type{};  // "HDD", "SSD", "ODD", "FDD", "virtual", "Multipath", "iSCSI", "FC", "LVM", "RAID"
  std::string model{};
  std::string vendor{};
  std::string serial{};
  std::string wwn{};
  std::uint64_t size_bytes = 0;
  bool bootable = false;  // has a boot sector
  bool removable = false;
  bool is_installation_media = false;
  std::vector<std::string> reasons{};  // why the agent says that it cannot be installed on

  bool operator==(const Disk&) const = default;
};

struct Route {
  std::string interface;
  std::string gateway{};    // empty: none
  std::string destination;  // "0.0.0.0"
  int prefix = 0;
  int metric = 0;

  bool is_default() const { return prefix == 0 && !gateway.empty(); }
  bool operator==(const Route&) const = default;
};

struct Inventory {
  std::string hostname;
  int cpu_count = 0;
  std::string cpu_architecture{};  // "x86_64"
  std::string cpu_model{};
  std::uint64_t memory_bytes = 0;         // installed
  std::uint64_t usable_memory_bytes = 0;  // that the kernel has
  std::string boot_mode{};                // "bios", "uefi"
  std::string manufacturer{};
  std::string product{};
  std::string serial_number{};
  bool is_virtual = false;
  std::string bmc_address{};
  std::string tpm_version{"none"};  // "none", "1.2", "2.0"
  std::vector<std::string> gpus{};
  std::vector<Interface> interfaces{};
  std::vector<Disk> disks{};
  std::vector<Route> routes{};

  bool operator==(const Inventory&) const = default;
};

// errors  invalid, with the path of each wrong field
Result<Inventory> parse_inventory(const Json& value, std::string_view name);
Json to_json(const Inventory& inventory);

}  // namespace slipway::assist
