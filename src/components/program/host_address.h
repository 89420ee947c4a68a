// Which of this machine's addresses it is known by in the cluster.
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
  bool deprecated = false;  // a privacy address of IPv6 past its time, or one that was taken back
  bool is_global = false;   // reaches beyond its link

  bool operator==(const HostAddress&) const = default;
};

// The answer of `ip -json address`. errors: invalid
Result<std::vector<HostAddress>> parse_host_addresses(std::string_view json);

// Asks `ip`. errors: as run_checked and parse_host_addresses
Result<std::vector<HostAddress>> host_addresses(sys::Runner& runner, const sys::Context& context);

// The first address of the family that lies in a machine network, on a link that is up, neither deprecated nor virtual; when
// there is none, the first global one that is not virtual.
//
//   virtual_ips  addresses that move from machine to machine; keepalived may hold one here already
//   errors       not_found, naming what there is; invalid: a machine network of the ranges for documentation
Result<net::IpAddress> choose_host_address(const std::vector<HostAddress>& addresses, bool v4,
                                           const std::vector<net::Cidr>& machine_networks,
                                           const std::vector<net::IpAddress>& virtual_ips);

}  // namespace slipway::components
