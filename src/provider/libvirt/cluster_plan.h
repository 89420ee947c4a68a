// What a cluster needs on a libvirt host: a pool, a network, volumes, machines, with their names and addresses. Pure.
//
// All names begin with the infraID, which is unique, so the resources of a cluster are found by name.
#pragma once

#include "config/install_config.h"
#include "net/ip.h"
#include "provider/plan/resource.h"
#include "provider/provider.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::libvirt {

// Kinds of resources.
inline constexpr std::string_view pool_kind = "pool";
inline constexpr std::string_view network_kind = "network";
inline constexpr std::string_view volume_kind = "volume";
inline constexpr std::string_view machine_kind = "machine";

// Where a volume comes from (member "from" of its spec).
inline constexpr std::string_view from_os_image = "os-image";
inline constexpr std::string_view from_ignition = "ignition";          // the text of the config
inline constexpr std::string_view from_config_drive = "config-drive";  // a medium with the config
inline constexpr std::string_view from_base = "base";                  // a layer on the volume "base"

// How a machine gets its Ignition config. fw_cfg is read in quadratic time, so large configs are on a medium.
enum class Channel { fw_cfg, config_drive };
inline constexpr std::size_t largest_fw_cfg = 700'000;  // bytes; 4 s on an emulated machine
Channel channel_for(std::size_t ignition_size);

// The platform of Ignition that reads the channel; disk images have one (release/disk_image.h).
std::string_view ignition_platform(Channel channel);

// The addresses of a network that is created for a cluster:
//   1             the host: gateway, DNS and DHCP server
//   2 to 9        free, for the virtual addresses
//   from 10       planned machines, in their order, without the virtual addresses
//   upper half    other machines, by DHCP
struct AddressPlan {
  net::Cidr network;

  std::string gateway() const;
  std::string range_start() const;
  std::string range_end() const;
};

// Whether slipway creates the machines of a config.
// errors: invalid: all problems, one line each with a hint
Result<> check_config(const config::InstallConfig& config);

// The machines of a cluster. They have addresses if the network is created for the cluster.
// errors: invalid: the network is too small
Result<std::vector<Machine>> addressed_machines(const config::InstallConfig& config);

// The same for each machine of a cluster at each start: locally administered.
std::string mac_address(std::string_view infra_id, std::string_view machine);

// Names of resources.
std::string machine_name(std::string_view infra_id, std::string_view machine);  // "demo-x7k2p-master-0"
std::string disk_name(std::string_view infra_id, std::string_view machine);
std::string console_log_name(std::string_view infra_id, std::string_view machine);
// "demo-x7k2p.os-3f2a9c01d4e5-qemu.qcow2". Each cluster has its own, so that no other cluster can use or remove it half-written.
std::string os_volume_name(std::string_view infra_id, std::string_view image, Channel channel);
// "3f2a9c01d4e5"; nothing for other volumes
std::optional<std::string> os_image_of_volume(std::string_view infra_id, std::string_view volume);

// The machine that a volume of the cluster belongs to: "master-0" for "demo-x7k2p-master-0.console.log". Empty if the volume is
// none that slipway creates for a machine of this cluster.
std::string machine_of_volume(std::string_view infra_id, std::string_view volume);

struct PlannedMachine {
  Machine machine;
  std::size_t ignition_size = 0;
  std::string after{};  // as in MachineGroup
};

struct PlanInput {
  const config::InstallConfig& config;
  std::string infra_id;
  std::string os_image;        // identifies the machine OS: "3f2a9c01d4e5"
  std::string virtualization;  // "kvm", "qemu"
  std::string release{};
  std::string release_version{};
};

// All resources of a cluster with these machines.
Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines);

// Sizes of the machines of a role. The bootstrap machine has the size of a master.
struct Size {
  int cpus = 0;
  std::uint64_t memory = 0;  // bytes
  std::uint64_t disk = 0;    // bytes
};
Size size_of(const config::InstallConfig& config, std::string_view role);

}  // namespace slipway::provider::libvirt
