#include "provider/local/cluster_plan.h"

#include "assets/identity/identity.h"
#include "assets/manifests/image_mode.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace slipway::provider::local {

namespace {

constexpr int api_port = 6443;
constexpr int http_port = 80;
constexpr int https_port = 443;

// If both ports are in use, returns the usual one, so that the preflight reports it.
int host_port(int usual, int other, const std::string& address, const IsFree& is_free) {
  return is_free(address, usual) || !is_free(address, other) ? usual : other;
}

}  // namespace

Result<std::vector<Machine>> planned_machines(const config::InstallConfig& config) {
  const AddressPlan plan = TRY(parse_network(config.networking.machine_network.at(0)).context("machineNetwork"));
  const int count = 1 + config.control_plane.replicas + config.compute_replicas();
  if (count > plan.most_machines()) {
    return error(Code::invalid,
                 "networking.machineNetwork: {} has addresses for {} machines, but this cluster needs {} (use a larger network, "
                 "or fewer machines)",
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

ClusterOptions cluster_options(const config::InstallConfig& config, const assets::ClusterId& id, const std::string& os_repo,
                               const Images& images, const IsFree& is_free) {
  const std::string domain = config.cluster_domain();
  ClusterOptions options{.os_repo = os_repo,
                         .images = images,
                         .network = config.networking.machine_network.at(0),
                         .domain = domain,
                         .host_address = assets::loopback_address(id),
                         .is_offline = is_true(config.platform.section, {"offline"}),
                         .has_egress = is_true(config.platform.section, {"egress"}),
                         .os_registry = assets::local_os_registry(config)};
  for (const config::ClusterNetwork& network : config.networking.cluster_network) options.other_networks.push_back(network.cidr);
  std::ranges::copy(config.networking.service_network, std::back_inserter(options.other_networks));
  for (const std::string& address : config::api_vips(config)) {
    options.records.push_back({"api." + domain, address});
    options.records.push_back({"api-int." + domain, address});
    options.forwards.push_back({api_port, address, api_port});
  }
  for (const std::string& address : config::ingress_vips(config)) {
    options.records.push_back({"*.apps." + domain, address});
    options.forwards.push_back({host_port(http_port, 8080, options.host_address, is_free), address, http_port});
    options.forwards.push_back({host_port(https_port, 8443, options.host_address, is_free), address, https_port});
  }
  return options;
}

bool was_created_with(const ClusterConfig& existing, const assets::ClusterId& id) {
  return existing.host_address == assets::loopback_address(id);
}

HostAccess host_access_of(const ClusterConfig& cluster) {
  HostAccess access{.address = cluster.host_address, .applications = cluster.host_address};
  for (const Forward& forward : cluster.forwards) {
    if (forward.port == api_port) access.api_port = forward.host_port;
    if (forward.port == http_port) access.http_port = forward.host_port;
    if (forward.port == https_port) access.https_port = forward.host_port;
  }
  return access;
}

}  // namespace slipway::provider::local
