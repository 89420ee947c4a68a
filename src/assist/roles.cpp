#include "assist/roles.h"

#include "assist/requirements.h"

#include <algorithm>
#include <tuple>

namespace slipway::assist {

namespace {

bool can_be_master(const Host& host, const Cluster& cluster) {
  const Requirements needed = requirements_of(Role::master, cluster.is_single_node());
  const Inventory& inventory = *host.inventory;
  return (inventory.cpu_count >= needed.cpus || cluster.ignores("has-cpu-cores-for-role")) &&
         (has_enough_memory(inventory, needed) || cluster.ignores("has-memory-for-role")) && installation_disk(host, needed);
}

// Size beyond the requirements of a master. A processor counts as much as 10 GiB of memory or 250 GB of disk.
double size_of(const Host& host, bool is_single_node) {
  const Requirements needed = requirements_of(Role::master, is_single_node);
  const Inventory& inventory = *host.inventory;
  const Disk* disk = installation_disk(host, needed);
  const double memory_gib = static_cast<double>(inventory.memory_bytes) / 1024 / 1024 / 1024;
  const double disk_gb = disk ? static_cast<double>(disk->size_bytes) / 1e9 : 0;
  return inventory.cpu_count - needed.cpus + 0.1 * (memory_gib - static_cast<double>(needed.memory_mib) / 1024) +
         0.004 * (disk_gb - static_cast<double>(needed.disk_gb));
}

}  // namespace

std::map<std::string, Role> suggest_roles(const Cluster& cluster, const std::vector<const Host*>& hosts) {
  std::map<std::string, Role> roles;
  std::vector<const Host*> candidates;
  int masters = 0;
  for (const Host* host : hosts) {
    if (host->role != Role::auto_assign) {
      roles[host->id] = host->role;
      masters += host->role == Role::master;
    } else if (host->inventory) {
      roles[host->id] = Role::worker;
      if (!cluster.is_day_two && can_be_master(*host, cluster)) candidates.push_back(host);
    }
  }
  std::ranges::sort(candidates, {}, [&](const Host* host) {
    return std::tuple(!host->inventory->gpus.empty(), size_of(*host, cluster.is_single_node()), host->id);
  });
  for (const Host* host : candidates) {
    if (masters++ < cluster.control_plane_count) roles[host->id] = Role::master;
  }
  return roles;
}

std::string choose_bootstrap(const std::vector<const Host*>& hosts) {
  std::string chosen;
  for (const Host* host : hosts) {
    if (host->effective_role() != Role::master) continue;
    if (host->is_bootstrap) return host->id;
    chosen = std::max(chosen, host->id);
  }
  return chosen;
}

}  // namespace slipway::assist
