#include "assist/requirements.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace slipway::assist {

namespace {

constexpr Requirements of_master = {
    .cpus = 4, .memory_mib = 16'384, .disk_gb = 100, .disk_latency_ms = 10, .network_latency_ms = 100};
constexpr Requirements of_worker = {.cpus = 2,
                                    .memory_mib = 8'192,
                                    .disk_gb = 100,
                                    .disk_latency_ms = 10,
                                    .network_latency_ms = 1'000,
                                    .packet_loss_percent = 10};
constexpr Requirements of_single_node = {.cpus = 4, .memory_mib = 16'384, .disk_gb = 100, .disk_latency_ms = 10};

// Firmware and graphics keep memory for themselves.
constexpr std::uint64_t memory_tolerance_mib = 100;

constexpr std::array<std::string_view, 7> installable_types = {"HDD", "SSD", "virtual", "Multipath", "iSCSI", "FC", "RAID"};

}  // namespace

Requirements requirements_of(Role role, bool is_single_node) {
  if (is_single_node) return of_single_node;
  return role == Role::master ? of_master : of_worker;
}

bool has_enough_memory(const Inventory& inventory, const Requirements& needed) {
  const std::uint64_t bytes = std::max(inventory.memory_bytes, inventory.usable_memory_bytes);
  return bytes / 1024 / 1024 + memory_tolerance_mib >= needed.memory_mib;
}

std::vector<std::string> reasons_against(const Disk& disk, const Requirements& needed) {
  std::vector<std::string> reasons = disk.reasons;
  if (disk.is_installation_media) reasons.emplace_back("it is the medium that the host booted");
  if (disk.removable) reasons.emplace_back("it is removable");
  if (std::ranges::find(installable_types, disk.drive_type) == installable_types.end()) {
    reasons.push_back(
        fmt::format("disks of type {} cannot be installed on", disk.drive_type.empty() ? "unknown" : to_utf8(disk.drive_type)));
  }
  if (disk.size_bytes < needed.disk_gb * 1'000'000'000) {
    reasons.push_back(fmt::format("it has {}, the installation needs {} GB", human_size(disk.size_bytes), needed.disk_gb));
  }
  return reasons;
}

std::vector<const Disk*> installable_disks(const Inventory& inventory, const Requirements& needed) {
  std::vector<const Disk*> found;
  for (const Disk& disk : inventory.disks) {
    if (reasons_against(disk, needed).empty()) found.push_back(&disk);
  }
  const auto rank = [](const Disk* disk) {
    return std::tuple(!disk->bootable, disk->name.starts_with("nvme"), disk->drive_type != "HDD", disk->size_bytes, disk->hctl,
                      disk->id);
  };
  std::ranges::sort(found, {}, rank);
  return found;
}

const Disk* installation_disk(const Host& host, const Requirements& needed) {
  if (!host.inventory) return nullptr;
  const std::vector<const Disk*> disks = installable_disks(*host.inventory, needed);
  if (host.chosen_disk.empty()) return disks.empty() ? nullptr : disks.front();
  const auto chosen = std::ranges::find(disks, host.chosen_disk, [](const Disk* disk) { return disk->id; });
  return chosen == disks.end() ? nullptr : *chosen;
}

}  // namespace slipway::assist
