// Plans a cluster on platform local: machines, names in their network, and forwards from the host. Pure.
#pragma once

#include "assets/assets.h"
#include "config/install_config.h"
#include "provider/local/client.h"
#include "provider/provider.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::provider::local {

// Machines get their addresses in this order. errors: invalid: machineNetwork is not a network or has too few addresses
Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config);

// Whether a port of an address of the host is free.
using IsFree = std::function<bool(const std::string& address, int port)>;

// The network, its names (api, api-int, *.apps, registry), and the forwards from the host to the API and to applications.
// Applications have ports 80 and 443 of the cluster's loopback address, or 8080 and 8443 if another program listens on 80 and 443
// of all addresses.
ClusterOptions cluster_options(const config::InstallConfig& config, const assets::ClusterId& id, const std::string& os_repo,
                               const Images& images, const IsFree& is_free);

// Whether a cluster was created with that ID: its loopback address depends on the ID.
bool was_created_with(const ClusterConfig& existing, const assets::ClusterId& id);

// Computed from the forwards of a cluster. Ports without a forward are 0.
HostAccess host_access_of(const ClusterConfig& cluster);

}  // namespace slipway::provider::local
