// Which address of this machine the cluster uses for it.
#pragma once

#include "net/ip.h"
#include "sys/runner.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

struct HostAddress {
  net::IpAddress address;
  std::string interface;
  bool link_is_up = false;
  bool deprecated = false;  // an expired IPv6 privacy address, or a withdrawn address
  bool is_global = false;   // reachable beyond its link

  bool operator==(const HostAddress&) const = default;
};

// Parses the output of `ip -json address`. errors: invalid
Result<std::vector<HostAddress>> parse_host_addresses(std::string_view json);

// Runs `ip`. errors: as run_checked and parse_host_addresses
Result<std::vector<HostAddress>> host_addresses(sys::Runner& runner, const sys::Context& context);

// Returns the first address of the family in a machine network that is on a link that is up and neither deprecated nor virtual.
// If there is none, returns the first such address with global scope.
//
//   virtual_ips  addresses that move between machines; keepalived may already hold one on this machine
//   errors       not_found, with the addresses of this machine; invalid: a machine network in a range for documentation
Result<net::IpAddress> choose_host_address(const std::vector<HostAddress>& addresses, bool v4,
                                           const std::vector<net::Cidr>& machine_networks,
                                           const std::vector<net::IpAddress>& virtual_ips);

}  // namespace slipway::components
