// Steps free-network-addresses and verify-vips: which addresses of a network no machine has.
#pragma once

#include "agent/step.h"
#include "base/json.h"
#include "net/ip.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::agent {

// At most this many free addresses of a network are reported: more than a user chooses from.
inline constexpr std::size_t most_free_addresses = 8000;

// Host addresses of an IPv4 network in order, in parts of at most 1022: an address scan of a whole network would overflow the
// tables of switches. Network and broadcast addresses are left out, except in networks of two or less addresses. Pure.
std::vector<std::vector<net::IpAddress>> scan_parts(const net::Cidr& network, std::size_t most_addresses);

// Arguments ["192.168.1.0/24"], output [{"network", "free_addresses"}]. IPv6 networks have too many addresses to scan, and
// networks without an interface of this host cannot be scanned; the error of the reply names them.
Result<StepReply> find_free_addresses(const StepWorld& world, const Json& arguments);

// Arguments [{"vip", "vip_type"}], output the same with "verification": "succeeded" if no machine has the address, "failed" if
// one has it, "unverified" if this host has no interface in its network.
Result<StepReply> verify_virtual_addresses(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
