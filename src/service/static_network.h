// Static networks of hosts: nmstate documents (https://nmstate.io) as files of systemd-networkd, which configures the machine OS.
// Pure.
//
// Supported: interfaces of types ethernet, vlan and bond with addresses, DHCP, MTU; dns-resolver; routes. Everything else is
// refused by name.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "ignition/types.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::service {

// The network of one host, which is recognized by its MAC addresses.
struct HostNetwork {
  std::vector<std::string> mac_addresses{};    // lower case; any of them
  std::map<std::string, std::string> files{};  // by name: "10-slipway-bond0.netdev"

  bool operator==(const HostNetwork&) const = default;
};

// Reads [{"network_yaml": TEXT, "mac_interface_map": [{"mac_address": MAC, "logical_nic_name": NAME}]}].
//
//   errors  invalid, with all problems and their places
Result<std::vector<HostNetwork>> parse_static_networks(const Json& list);

// Adds all of them to the config of a live system, with a unit that chooses the one of its host before networkd starts.
void add_static_networks(ignition::Config& config, const std::vector<HostNetwork>& networks);

// Adds the network of the host with these MAC addresses to the config of its installed system, if there is one.
void add_static_network(ignition::Config& config, const std::vector<HostNetwork>& networks,
                        const std::vector<std::string>& mac_addresses);

}  // namespace slipway::service
