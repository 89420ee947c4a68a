// Names that Ignition writes to machines.
#pragma once

#include "config/install_config.h"

#include <string>

namespace slipway::provider {

enum class ApiNames {
  of_network,  // a DNS server of the machines has them
  in_hosts,    // /etc/hosts has them
};

// The Ignition config of a machine with its host name, so that no DHCP server needs to know the machines, and with the names of
// the API if nothing else gives them. errors: invalid: not an Ignition config
Result<std::string> with_names(const std::string& ignition, const std::string& machine, const config::InstallConfig& config,
                               ApiNames names);

}  // namespace slipway::provider
