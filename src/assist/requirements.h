// What hosts need, by role. Pure.
#pragma once

#include "assist/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace slipway::assist {

struct Requirements {
  int cpus = 0;
  std::uint64_t memory_mib = 0;
  std::uint64_t disk_gb = 0;      // decimal
  double disk_latency_ms = 0;     // of a synchronous write, 99th percentile
  double network_latency_ms = 0;  // to hosts of the same role; 0: any
  double packet_loss_percent = 0;
};

// Of a host of this role in the cluster. Without a role: the lowest of all roles.
Requirements requirements_of(Role role, bool is_single_node);

// Memory for the role, with the tolerance for what firmware takes.
bool has_enough_memory(const Inventory& inventory, const Requirements& needed);

// Why the disk cannot be installed on, a sentence each; empty if it can be.
std::vector<std::string> reasons_against(const Disk& disk, const Requirements& needed);

// Disks that can be installed on, the default one first: smaller ones before larger ones, and ones with an operating system and
// slower kinds first, so that large fast disks stay for data.
std::vector<const Disk*> installable_disks(const Inventory& inventory, const Requirements& needed);

// The disk that the host is installed on: the chosen one, else the first installable one; null if there is none.
const Disk* installation_disk(const Host& host, const Requirements& needed);

}  // namespace slipway::assist
