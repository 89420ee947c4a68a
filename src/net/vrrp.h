// The message of VRRP version 3 (RFC 5798) with which a machine gives a virtual address away.
#pragma once

#include "base/result.h"
#include "net/ip.h"

#include <string>

namespace slipway::net {

struct VrrpFarewell {
  std::string interface;
  IpAddress own;      // address of this machine, the source of the message; IPv6 uses the link-local address of the interface
  int router_id = 0;  // 1 to 255
  IpAddress address;  // the virtual address
};

// The message after the IP header: an advertisement with priority 0, every half second. The checksum of IPv6 is 0: the kernel,
// which knows the source address, fills it in. Pure.
std::string vrrp_farewell(const VrrpFarewell& farewell);

// Sends the message to the other machines of the interface, not to this one. The machine with the highest priority takes the
// address over after (256 - its priority) / 256 of half a second, instead of after three missing advertisements. It announces
// this, and this machine then gives the address up if its own priority is lower. If no other machine takes part, nothing happens.
//
// errors: denied: not root (CAP_NET_RAW); not_found: no such interface; those of the system
Result<> send_vrrp_farewell(const VrrpFarewell& farewell);

}  // namespace slipway::net
