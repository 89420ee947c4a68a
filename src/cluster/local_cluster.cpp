#include "cluster/local_cluster.h"

#include "assets/identity.h"

#include <fmt/core.h>

namespace slipway::cluster {

namespace local = provider::local;

Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config) {
  const local::AddressPlan plan = TRY(local::parse_network(config.networking.machine_network.at(0)).context("machineNetwork"));
  std::vector<Machine> machines = {{"bootstrap", "bootstrap", plan.address(0)}};
  for (int i = 0; i < config.control_plane.replicas; ++i) {
    machines.push_back({fmt::format("master-{}", i), "master", plan.address(i + 1)});
  }
  return machines;
}

std::vector<assets::Environment::Node> planned_nodes(const std::vector<Machine>& machines) {
  std::vector<assets::Environment::Node> nodes;
  for (const Machine& machine : machines) {
    if (machine.role != "bootstrap") nodes.push_back({machine.name, machine.role, {machine.address}});
  }
  return nodes;
}

local::ClusterWishes local_wishes(const config::InstallConfig& config, const assets::ClusterId& id, const std::string& os_repo,
                                  const local::Images& images) {
  const std::string domain = config.cluster_domain();
  local::ClusterWishes wishes{.os_repo = os_repo,
                              .images = images,
                              .network = config.networking.machine_network.at(0),
                              .domain = domain,
                              .host_address = assets::loopback_address(id)};
  for (const std::string& address : config::api_vips(config)) {
    wishes.records.push_back({"api." + domain, address});
    wishes.records.push_back({"api-int." + domain, address});
    wishes.forwards.push_back({api_port, address, api_port});
  }
  for (const std::string& address : config::ingress_vips(config)) wishes.records.push_back({"*.apps." + domain, address});
  return wishes;
}

}  // namespace slipway::cluster
