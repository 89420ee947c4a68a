#include "config/rules/platform_rules.h"

namespace slipway::config {

namespace {

void validate_port(const Section& platform) {
  const Section port = platform.at("controlPlanePort");
  port.at("network").at("id").unique_id();
  const std::vector<Section> addresses = port.items("fixedIPs");
  if (addresses.size() > 2)
    port.error_at("fixedIPs", "has {} subnets, must have at most 2", addresses.size()).hint("one of each family");
  for (const Section& address : addresses) {
    if (!address.value().is_object()) continue;
    const Section subnet = address.at("subnet");
    subnet.at("id").unique_id();
    if (!subnet.has("id") && !subnet.has("name")) subnet.error("must have id or name");
  }
}

void validate_floating_addresses(const Section& platform) {
  for (const std::string_view name : {"apiFloatingIP", "ingressFloatingIP"}) {
    if (platform.at(name).address() && !platform.has("externalNetwork")) {
      platform.error_at(name, "requires platform.openstack.externalNetwork").hint("floating IPs belong to that network");
    }
  }
  const std::string_view api = platform.text("apiFloatingIP");
  if (!api.empty() && api == platform.text("ingressFloatingIP")) {
    platform.error_at("ingressFloatingIP", "is also the address of the API").hint("use a different address");
  }
}

void validate_name_servers(const Section& platform) {
  for (const Section& server : platform.items("externalDNS")) {
    if (!net::is_ip(server.text())) server.error("'{}' is not an IP address", server.text());
  }
  if (platform.has("externalDNS") && platform.has("controlPlanePort")) {
    platform.error_at("externalDNS", "cannot be used with controlPlanePort").hint("an existing subnet has its own DNS servers");
  }
}

// A root volume has one type and one zone for all machines, or one for each zone of the machines.
void validate_root_volume(const Section& pool) {
  const Section volume = pool.at("rootVolume");
  if (volume.value().is_null()) return;
  volume.not_negative("size");
  const std::size_t zones = pool.items("zones").size();
  for (const std::string_view name : {"types", "zones"}) {
    const std::size_t count = volume.items(name).size();
    if (count > 1 && count != zones) volume.error_at(name, "must have 1 item or as many as zones, {}, got {}", zones, count);
  }
}

}  // namespace

void validate_openstack(const Section& platform) {
  validate_port(platform);
  validate_floating_addresses(platform);
  validate_name_servers(platform);
  platform.at("machinesSubnet").unique_id();
  validate_virtual_addresses(platform, {});
}

void validate_openstack_pool(const Section& pool, const Section&, bool) {
  for (const std::string_view list : {"additionalNetworkIDs", "additionalSecurityGroupIDs"}) {
    for (const Section& id : pool.items(list)) id.unique_id();
  }
  validate_root_volume(pool);
}

}  // namespace slipway::config
