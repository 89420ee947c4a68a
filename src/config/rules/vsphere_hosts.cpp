#include "config/rules/platform_rules.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr std::size_t most_name_servers = 3;  // the limit of the resolver of Linux

void validate_device(const Section& device) {
  device.at("gateway").address();
  for (const Section& item : device.items("ipAddrs")) {
    if (!net::parse_cidr(item.text()).ok())
      item.error("'{}' is not an address with prefix length", item.text()).hint("for example 192.0.2.10/24");
  }
  const std::vector<Section> servers = device.items("nameservers");
  if (servers.size() > most_name_servers) {
    device.error_at("nameservers", "has {} addresses, must have at most {}", servers.size(), most_name_servers);
  }
  for (const Section& server : servers) {
    if (!net::is_ip(server.text())) server.error("'{}' is not an IP address", server.text());
  }
}

void validate_host(const Section& host, const std::vector<Section>& domains) {
  const std::string_view domain = host.text("failureDomain");
  const bool is_known = std::ranges::any_of(domains, [&](const Section& each) { return each.text("name") == domain; });
  if (!domain.empty() && !is_known) {
    host.error_at("failureDomain", "'{}' is not the name of a failure domain in platform.vsphere.failureDomains", domain);
  }
  validate_device(host.at("networkDevice"));
}

void need_hosts(const Section& platform, const std::vector<Section>& hosts, std::string_view role, std::int64_t wanted) {
  const auto count = std::ranges::count_if(hosts, [&](const Section& host) { return host.text("role") == role; });
  if (count >= wanted) return;
  platform.error_at("hosts", "has {} hosts with role {}, must have {}", count, role, wanted)
      .hint("without hosts, machines use DHCP");
}

}  // namespace

void validate_vsphere_hosts(const Section& platform) {
  const std::vector<Section> hosts = platform.items("hosts");
  if (hosts.empty()) return;
  refuse_without_gate(platform, "hosts", "VSphereStaticIPs");
  for (const Section& host : hosts) {
    if (host.value().is_object()) validate_host(host, platform.items("failureDomains"));
  }
  const Section top(platform.document(), {});
  std::int64_t workers = 0;
  for (const Section& pool : top.items("compute")) workers += std::max<std::int64_t>(pool.number("replicas").value_or(0), 0);
  need_hosts(platform, hosts, "bootstrap", 1);
  need_hosts(platform, hosts, "control-plane", top.at("controlPlane").number("replicas").value_or(0));
  need_hosts(platform, hosts, "compute", workers);
}

}  // namespace slipway::config
