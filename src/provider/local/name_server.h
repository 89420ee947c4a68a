// The name server of a cluster's network: dnsmasq on the bridge's address. Pure.
#pragma once

#include "provider/local/cluster_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// dnsmasq prints this, after the time and its name, when its sockets are open.
inline constexpr std::string_view name_server_is_up = "started, version";

// A command that runs until it is killed.
//
//   address  the bridge's address, on which dnsmasq listens
//   domain   the domain of the machines' names
//   hosts    a folder of hosts files; dnsmasq reads changed files again
//   records  names in addition to those of machines
//   upstream the address of the server for all other names; empty: they do not exist
std::vector<std::string> name_server_command(std::string_view address, std::string_view domain, std::string_view hosts,
                                             const std::vector<NameRecord>& records, const std::string& upstream);

// The hosts file of one machine: "10.97.77.10 m0.demo m0\n".
std::string hosts_entry(std::string_view address, std::string_view machine, std::string_view domain);

}  // namespace slipway::provider::local
