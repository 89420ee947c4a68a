#include "config/rules/platform_rules.h"

#include <set>

namespace slipway::config {

namespace {

void validate_affinity_groups(const Section& platform) {
  Distinct names;
  for (const Section& group : platform.items("affinityGroups")) {
    names.add(group.at("name"));
    constexpr int highest_priority = 5;
    if (const auto priority = group.number("priority"); priority && (*priority < 0 || *priority > highest_priority)) {
      group.error_at("priority", "must be 0 to {}, got {}", highest_priority, *priority);
    }
  }
}

}  // namespace

void validate_ovirt(const Section& platform) {
  for (const std::string_view name : {"ovirt_cluster_id", "ovirt_storage_domain_id", "vnicProfileID"})
    platform.at(name).unique_id();
  validate_affinity_groups(platform);
  validate_virtual_addresses(platform, {.api = "api_vips", .ingress = "ingress_vips"});
}

void validate_ovirt_pool(const Section& pool, const Section& platform, bool) {
  const Section cpu = pool.at("cpu");
  for (const std::string_view name : {"cores", "sockets"}) cpu.at_least_one(name);
  cpu.not_negative("threads");
  pool.not_negative("memoryMB");
  pool.at("osDisk").at_least_one("sizeGB");
  if (const auto size = pool.number("hugepages"); size && *size != 0 && *size != 2048 && *size != 1048576) {
    pool.error_at("hugepages", "must be 2048 or 1048576 (kB), got {}", *size);
  }
  if (pool.at("instanceTypeID").unique_id() && (cpu.value().is_object() || pool.number("memoryMB").value_or(0) > 0)) {
    pool.error_at("instanceTypeID", "cannot be used with cpu and memoryMB").hint("the instance type defines both");
  }
  std::set<std::string_view> groups;
  for (const Section& group : platform.items("affinityGroups")) groups.insert(group.text("name"));
  for (const Section& name : pool.items("affinityGroupsNames")) {
    if (!groups.contains(name.text())) name.error("platform.ovirt.affinityGroups has no group '{}'", name.text());
  }
}

}  // namespace slipway::config
