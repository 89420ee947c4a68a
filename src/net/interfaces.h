// The network interfaces of this machine and their addresses, from the kernel.
#pragma once

#include "base/result.h"
#include "net/ip.h"

#include <sys/socket.h>

#include <string>
#include <vector>

namespace slipway::net {

struct InterfaceAddress {
  std::string interface;
  Cidr address;
  bool is_link_local = false;  // 169.254.0.0/16, fe80::/10

  bool operator==(const InterfaceAddress&) const = default;
};

// The addresses of the network namespace of this process, in the kernel's order, without those of loopback interfaces.
// errors: internal
Result<std::vector<InterfaceAddress>> interface_addresses();

// Whether one of interface_addresses() is this one. errors: internal
Result<bool> has_address(const IpAddress& address);

bool is_link_local(const IpAddress& address);

// errors: invalid: an address that is neither IPv4 nor IPv6, or null
Result<IpAddress> ip_of_socket_address(const sockaddr* address);

}  // namespace slipway::net
