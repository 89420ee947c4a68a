// Which machines an install-config asks for on platform local, what their network knows, and how the host reaches it. Pure.
#pragma once

#include "assets/assets.h"
#include "config/install_config.h"
#include "provider/local/client.h"
#include "provider/provider.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::provider::local {

// In this order machines get their addresses. errors: invalid: machineNetwork is no network, or has too few addresses
Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config);

// Whether no program listens on a port of one of the host's own addresses.
using IsFree = std::function<bool(const std::string& address, int port)>;

// The network, its names (api, api-int, *.apps), and the forwards from the host to the API and to applications: ports 80 and 443
// of the cluster's own loopback address, 8080 and 8443 when another program listens on 80 and 443 of all addresses.
ClusterOptions cluster_wishes(const config::InstallConfig& config, const assets::ClusterId& id, const std::string& os_repo,
                              const Images& images, const IsFree& is_free);

// Whether a cluster was created for that id: its loopback address depends on it.
bool is_of(const ClusterConfig& there, const assets::ClusterId& id);

// From the forwards of a cluster; ports of applications are 0 in clusters that have no forwards for them.
HostAccess host_access_of(const ClusterConfig& cluster);

}  // namespace slipway::provider::local
