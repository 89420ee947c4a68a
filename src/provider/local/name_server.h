// Names inside a cluster's network: dnsmasq on the bridge's address. Pure.
#pragma once

#include "provider/local/cluster_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// What dnsmasq prints, after a time of day and its name, once its sockets are there.
inline constexpr std::string_view name_server_is_up = "started, version";

// Runs until it is ended.
//
//   address  where it listens, the bridge's
//   domain   names in it are known here or nowhere; every other name does not exist, since the network leads nowhere
//   hosts    a folder of hosts files, which it reads again when one changes
//   records   names besides those of machines
std::vector<std::string> name_server_command(std::string_view address, std::string_view domain, std::string_view hosts,
                                             const std::vector<NameRecord>& records);

// The hosts file of one machine: "10.97.77.10 m0.demo m0\n".
std::string hosts_entry(std::string_view address, std::string_view machine, std::string_view domain);

}  // namespace slipway::provider::local
