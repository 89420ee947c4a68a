// The network interfaces and routes of this machine, from /sys/class/net and /proc/net.
#pragma once

#include "agent/system_tree.h"
#include "assist/inventory.h"
#include "net/interfaces.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// Interfaces that carry the traffic of this machine, by name: physical ones, bonds, VLANs and bridges. Virtual Ethernet devices
// whose other end is in another namespace count as physical: machines that are containers have no others. Link-local addresses
// are left out. The MAC address of a part of a bond is its own one, which identifies the hardware.
std::vector<assist::Interface> read_interfaces(const SystemTree& tree, const std::vector<net::InterfaceAddress>& addresses);

// The routes of the main table, IPv4 first, without those of loopback, multicast and this machine itself.
std::vector<assist::Route> read_routes(const SystemTree& tree);

}  // namespace slipway::agent
