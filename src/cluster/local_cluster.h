// A cluster on local machines: which machines an install-config asks for, what their network knows, how the host reaches it.
// Pure.
#pragma once

#include "assets/assets.h"
#include "config/install_config.h"
#include "kube/kubeconfig.h"
#include "provider/local/client.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

struct Machine {
  std::string name;     // "bootstrap", "master-0"
  std::string role;     // "bootstrap", "master", "worker"
  std::string address;  // that the provider will give it: machines get theirs in the order in which they are made

  bool operator==(const Machine&) const = default;
};

// The bootstrap machine, which comes first, the control plane, the workers. errors: invalid: the machine network is none, or has
// too few addresses
Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config);

// Those of them that will be nodes.
std::vector<assets::Environment::Node> planned_nodes(const std::vector<Machine>& machines);

inline constexpr int api_port = 6443;

// Whether a port of one of the host's own addresses is nobody's.
using IsFree = std::function<bool(const std::string& address, int port)>;

// The network, its names (api, api-int, *.apps), and the way from the host to the API and to applications: ports 80 and 443 of
// the cluster's own loopback address, 8080 and 8443 where somebody listens on those of all addresses.
provider::local::ClusterWishes local_wishes(const config::InstallConfig& config, const assets::ClusterId& id,
                                            const std::string& os_repo, const provider::local::Images& images,
                                            const IsFree& is_free);

// Whether local machines were made for the cluster of that id: their loopback address is made of it.
bool is_of(const provider::local::ClusterConfig& there, const assets::ClusterId& id);

// Where the host finds applications. Zero: nowhere, as in clusters that had no forwards for them.
struct IngressPorts {
  int http = 0;
  int https = 0;

  bool operator==(const IngressPorts&) const = default;
};
IngressPorts ingress_ports(const std::vector<provider::local::Forward>& forwards);

// Why machines are not up, as far as they say it: "worker-0 is igniting: waits for its configuration: Internal Server Error";
// empty when there is nothing to say. names: those that are meant, all when empty.
std::string machine_troubles(const std::vector<provider::local::MachineStatus>& machines, const std::vector<std::string>& names);

}  // namespace slipway::cluster
