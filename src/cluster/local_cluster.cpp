#include "cluster/local_cluster.h"

#include "assets/identity/identity.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace local = provider::local;

namespace {

constexpr int http_port = 80;
constexpr int https_port = 443;

// A port for people that is not taken; when both are, the usual one, so that the preflight says so.
int host_port(int usual, int other, const std::string& address, const IsFree& is_free) {
  return is_free(address, usual) || !is_free(address, other) ? usual : other;
}

}  // namespace

Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config) {
  const local::AddressPlan plan = TRY(local::parse_network(config.networking.machine_network.at(0)).context("machineNetwork"));
  const int count = 1 + config.control_plane.replicas + config.compute_replicas();
  if (count > plan.most_machines()) {
    return error(Code::invalid,
                 "networking.machineNetwork: {} has addresses for {} machines, and this cluster begins with {}; use a larger "
                 "network, or fewer machines",
                 config.networking.machine_network.at(0), plan.most_machines(), count);
  }
  std::vector<Machine> machines = {{"bootstrap", "bootstrap", plan.address(0)}};
  const auto add = [&](std::string_view role, int replicas) {
    for (int i = 0; i < replicas; ++i) {
      const std::string address = plan.address(static_cast<int>(machines.size()));
      machines.push_back({fmt::format("{}-{}", role, i), std::string(role), address});
    }
  };
  add("master", config.control_plane.replicas);
  add("worker", config.compute_replicas());
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
                                  const local::Images& images, const IsFree& is_free) {
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
  for (const std::string& address : config::ingress_vips(config)) {
    wishes.records.push_back({"*.apps." + domain, address});
    wishes.forwards.push_back({host_port(http_port, 8080, wishes.host_address, is_free), address, http_port});
    wishes.forwards.push_back({host_port(https_port, 8443, wishes.host_address, is_free), address, https_port});
  }
  return wishes;
}

bool is_of(const local::ClusterConfig& there, const assets::ClusterId& id) {
  return there.host_address == assets::loopback_address(id);
}

IngressPorts ingress_ports(const std::vector<local::Forward>& forwards) {
  IngressPorts ports;
  for (const local::Forward& forward : forwards) {
    if (forward.port == http_port) ports.http = forward.host_port;
    if (forward.port == https_port) ports.https = forward.host_port;
  }
  return ports;
}

std::string machine_troubles(const std::vector<local::MachineStatus>& machines, const std::vector<std::string>& names) {
  std::vector<std::string> troubles;
  for (const local::MachineStatus& machine : machines) {
    const bool is_meant = names.empty() || std::ranges::find(names, machine.name) != names.end();
    if (!is_meant || machine.reason.empty()) continue;
    troubles.push_back(fmt::format("{} is {}: {}", machine.name, to_string(machine.state), machine.reason));
  }
  return join(troubles, "; ");
}

}  // namespace slipway::cluster
