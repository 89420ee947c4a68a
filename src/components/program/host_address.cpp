#include "components/program/host_address.h"

#include "base/json.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::components {

namespace {

bool contains_text(const JsonArray& items, std::string_view text) {
  return std::ranges::any_of(items, [&](const Json& item) { return item.is_string() && item.get_string() == text; });
}

}  // namespace

Result<std::vector<HostAddress>> parse_host_addresses(std::string_view json) {
  const Json document = TRY(parse_json(json, "ip -json address"));
  if (!document.is_array()) return error(Code::invalid, "ip -json address: must be a list, got {}", kind_name(document));
  std::vector<HostAddress> found;
  for (const Json& link : document.get_array()) {
    const bool up = contains_text(find_array(link, {"flags"}), "UP");
    for (const Json& entry : find_array(link, {"addr_info"})) {
      const auto text = find_string(entry, {"local"});
      if (!text) continue;
      const Json* deprecated = find(entry, {"deprecated"});
      HostAddress address;
      address.address = TRY(net::parse_ip(*text).context("ip -json address"));
      address.interface = find_string(link, {"ifname"}).value_or("");
      address.link_is_up = up;
      address.deprecated = deprecated != nullptr && *deprecated == Json(true);
      address.is_global = find_string(entry, {"scope"}) == "global";
      found.push_back(std::move(address));
    }
  }
  return found;
}

Result<std::vector<HostAddress>> host_addresses(sys::Runner& runner, const sys::Context& context) {
  const std::string answer = TRY(run_checked(runner, context, {.argv = {"ip", "-json", "address"}, .limit = Seconds(10)}));
  return parse_host_addresses(answer);
}

Result<net::IpAddress> choose_host_address(const std::vector<HostAddress>& addresses, bool v4,
                                           const std::vector<net::Cidr>& machine_networks,
                                           const std::vector<net::IpAddress>& virtual_ips) {
  const net::Cidr documentation_v4 = TRY(net::parse_cidr("192.0.2.0/24"));
  const net::Cidr documentation_v6 = TRY(net::parse_cidr("2001:db8::/32"));
  for (const net::Cidr& network : machine_networks) {
    for (const net::Cidr& range : {documentation_v4, documentation_v6}) {
      if (range.overlaps(network)) {
        return error(Code::invalid, "machine network {} is in {}, which is reserved for documentation", to_string(network),
                     to_string(range));
      }
    }
  }
  const auto is_candidate = [&](const HostAddress& host) {
    return host.address.is_v4() == v4 && host.link_is_up && !host.deprecated &&
           std::ranges::find(virtual_ips, host.address) == virtual_ips.end();
  };
  for (const HostAddress& host : addresses) {
    const bool is_inside =
        std::ranges::any_of(machine_networks, [&](const net::Cidr& network) { return network.contains(host.address); });
    if (is_inside && is_candidate(host)) return host.address;
  }
  for (const HostAddress& host : addresses) {
    if (host.is_global && is_candidate(host)) return host.address;
  }
  std::vector<std::string> seen;
  for (const HostAddress& host : addresses) seen.push_back(fmt::format("{} {}", host.interface, to_string(host.address)));
  return error(Code::not_found, "this machine has no IPv{} address that can be used in the cluster (addresses: {})", v4 ? 4 : 6,
               seen.empty() ? "none" : join(seen, ", "));
}

}  // namespace slipway::components
