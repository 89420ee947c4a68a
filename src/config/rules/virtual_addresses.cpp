#include "config/rules/platform_rules.h"

#include <algorithm>

namespace slipway::config {

namespace {

struct VirtualAddress {
  std::string path;
  net::IpAddress address;
};
using VirtualAddresses = std::vector<VirtualAddress>;

constexpr std::size_t most_addresses = 2;  // one of each family

// The address families of the machine networks.
struct Families {
  bool are_two = false;
  bool first_is_v4 = true;
};

Families families_of(const Document& document) {
  Families families;
  bool is_first = true;
  for (const Json& network : find_array(document.value, {"networking", "machineNetwork"})) {
    const auto cidr = net::parse_cidr(find_string(network, {"cidr"}).value_or(""));
    if (!cidr.ok()) continue;
    if (is_first) families.first_is_v4 = cidr->is_v4();
    families.are_two |= cidr->is_v4() != families.first_is_v4;
    is_first = false;
  }
  return families;
}

VirtualAddresses addresses_of(const Section& platform, std::string_view list) {
  VirtualAddresses addresses;
  const std::vector<Section> items = platform.items(list);
  for (const Section& item : items) {
    if (!item.value().is_string()) continue;
    const auto address = net::parse_ip(item.text());
    if (address.ok()) {
      addresses.push_back({item.path(), address.value()});
    } else {
      item.error("'{}' is not an IP address", item.text());
    }
  }
  if (items.size() > most_addresses) {
    platform.error_at(list, "has {} addresses, must have at most {}", items.size(), most_addresses)
        .hint("one, or one of each family");
  } else if (addresses.size() == 2 && addresses[0].address.is_v4() == addresses[1].address.is_v4()) {
    platform.error_at(list, "has two {} addresses", addresses[0].address.is_v4() ? "IPv4" : "IPv6")
        .hint("one, or one of each family");
  }
  const Families families = families_of(platform.document());
  if (items.size() == 1 && addresses.size() == 1 && families.are_two && addresses[0].address.is_v4() != families.first_is_v4) {
    platform.document()
        .error(addresses[0].path, "must be {}, as the first of networking.machineNetwork", families.first_is_v4 ? "IPv4" : "IPv6")
        .hint("or one of each family");
  }
  return addresses;
}

void refuse_outside(const Section& platform, const VirtualAddresses& addresses) {
  for (const VirtualAddress& virtual_address : addresses) {
    if (is_in_machine_networks(platform.document(), virtual_address.address)) continue;
    platform.document()
        .error(virtual_address.path, "{} is not in a machine network", net::to_string(virtual_address.address))
        .hint("use a free address of networking.machineNetwork");
  }
}

}  // namespace

bool is_in_machine_networks(const Document& document, const net::IpAddress& address) {
  return std::ranges::any_of(find_array(document.value, {"networking", "machineNetwork"}), [&](const Json& network) {
    const auto cidr = net::parse_cidr(find_string(network, {"cidr"}).value_or(""));
    return !cidr.ok() || cidr->contains(address);
  });
}

void validate_virtual_addresses(const Section& platform, const VirtualAddressRules& rules) {
  const bool is_user_managed = platform.at("loadBalancer").text("type") == "UserManaged";
  const bool any = platform.has(rules.api) || platform.has(rules.ingress);
  if (any || rules.are_needed) {
    platform.need(rules.api, "the address of the API");
    platform.need(rules.ingress, "the address of the applications");
  }
  const VirtualAddresses api = addresses_of(platform, rules.api);
  const VirtualAddresses ingress = addresses_of(platform, rules.ingress);
  // A load balancer of the user may have the same address for API and ingress, in any network.
  if (is_user_managed) return;
  for (const VirtualAddress& address : ingress) {
    const auto same = std::ranges::find(api, address.address, &VirtualAddress::address);
    if (same == api.end()) continue;
    platform.document().error(address.path, "is also the address of the API").hint("use a different address");
  }
  if (!rules.are_of_machine_networks) return;
  refuse_outside(platform, api);
  refuse_outside(platform, ingress);
}

}  // namespace slipway::config
