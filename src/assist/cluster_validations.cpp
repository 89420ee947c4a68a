#include "assist/requirements.h"
#include "assist/validations.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::assist {

namespace {

struct Verdict {
  Outcome outcome = Outcome::success;
  std::string message;
};

struct Scene {
  const Cluster& cluster;
  const std::vector<const Host*>& hosts;
};

Verdict success(std::string message) { return {Outcome::success, std::move(message)}; }
Verdict failure(std::string message) { return {Outcome::failure, std::move(message)}; }
Verdict pending(std::string message) { return {Outcome::pending, std::move(message)}; }

template <class Networks>
Verdict defined(const Networks& networks, std::string_view what) {
  return networks.empty() ? pending(fmt::format("set the {}", what)) : success(fmt::format("the {} are set", what));
}

Verdict machine_networks(const Scene& scene) { return defined(scene.cluster.machine_networks, "machine networks"); }
Verdict cluster_networks(const Scene& scene) { return defined(scene.cluster.cluster_networks, "cluster networks"); }
Verdict service_networks(const Scene& scene) { return defined(scene.cluster.service_networks, "service networks"); }
Verdict base_domain(const Scene& scene) {
  return scene.cluster.base_domain.empty() ? pending("set the base domain") : success("the base domain is set");
}
Verdict pull_secret(const Scene& scene) {
  return scene.cluster.has_pull_secret ? success("there is a pull secret") : pending("set the pull secret");
}

Verdict addresses_not_needed(const Scene& scene, const std::vector<net::IpAddress>& addresses) {
  const std::string_view owner = scene.cluster.is_single_node() ? "the only node has" : "your load balancers have";
  return success(fmt::format("{} the addresses{}", owner, addresses.empty() ? "" : "; virtual addresses have no effect"));
}

Verdict addresses_defined(const Scene& scene, const std::vector<net::IpAddress>& addresses, std::string_view what) {
  if (!scene.cluster.has_virtual_addresses()) return addresses_not_needed(scene, addresses);
  return defined(addresses, fmt::format("virtual addresses of {}", what));
}
Verdict api_defined(const Scene& scene) { return addresses_defined(scene, scene.cluster.api_addresses, "the API"); }
Verdict ingress_defined(const Scene& scene) { return addresses_defined(scene, scene.cluster.ingress_addresses, "ingress"); }

bool is_last(const net::Cidr& network, const net::IpAddress& address) {
  if (!network.is_v4()) return false;
  const Result<net::IpAddress> next = address.plus(1);
  return !next.ok() || !network.contains(next.value());
}

// Whether a host has found out that the address is used. nullopt: no host has looked.
std::optional<bool> is_free(const Scene& scene, const std::string& address) {
  std::optional<bool> found;
  for (const Host* host : scene.hosts) {
    const auto told = host->checks.address_is_free.find(address);
    if (told != host->checks.address_is_free.end()) found = found.value_or(true) && told->second;
  }
  return found;
}

Verdict addresses_valid(const Scene& scene, const std::vector<net::IpAddress>& addresses, std::string_view what) {
  if (!scene.cluster.has_virtual_addresses()) return addresses_not_needed(scene, addresses);
  if (addresses.empty()) return pending(fmt::format("set the virtual addresses of {}", what));
  for (const net::IpAddress& address : addresses) {
    const std::string text = net::to_string(address);
    const auto network =
        std::ranges::find_if(scene.cluster.machine_networks, [&](const net::Cidr& each) { return each.contains(address); });
    if (network == scene.cluster.machine_networks.end()) return failure(fmt::format("{} is in no machine network", text));
    if (address == network->network() || is_last(*network, address)) {
      return failure(fmt::format("{} is the address of the network or its broadcast address: choose another one", text));
    }
    if (const std::optional<bool> free = is_free(scene, text); !free)
      return pending(fmt::format("no host has tried {} yet", text));
    else if (!*free)
      return failure(fmt::format("{} is used by another machine: choose another address", text));
  }
  return success(fmt::format("the virtual addresses of {} are free", what));
}

Verdict api_valid(const Scene& scene) { return addresses_valid(scene, scene.cluster.api_addresses, "the API"); }

Verdict ingress_valid(const Scene& scene) {
  const bool may_be_equal = !scene.cluster.has_virtual_addresses();
  for (const net::IpAddress& address : scene.cluster.ingress_addresses) {
    if (may_be_equal || std::ranges::find(scene.cluster.api_addresses, address) == scene.cluster.api_addresses.end()) continue;
    return failure(fmt::format("{} cannot be an address of the API and of ingress", net::to_string(address)));
  }
  return addresses_valid(scene, scene.cluster.ingress_addresses, "ingress");
}

struct Named {
  net::Cidr network;
  std::string_view what;
};

std::vector<Named> all_networks(const Cluster& cluster) {
  std::vector<Named> all;
  for (const net::Cidr& each : cluster.machine_networks) all.push_back({each, "machine network"});
  for (const Network& each : cluster.cluster_networks) all.push_back({each.cidr, "cluster network"});
  for (const net::Cidr& each : cluster.service_networks) all.push_back({each, "service network"});
  return all;
}

Verdict no_overlaps(const Scene& scene) {
  const std::vector<Named> all = all_networks(scene.cluster);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (all[a].network.is_v4() != all[b].network.is_v4() || !all[a].network.overlaps(all[b].network)) continue;
      return failure(fmt::format("{} {} and {} {} overlap", all[a].what, net::to_string(all[a].network), all[b].what,
                                 net::to_string(all[b].network)));
    }
  }
  return success("no two networks overlap");
}

Verdict same_families(const Scene& scene) {
  const auto families = [](const auto& networks, auto is_v4) {
    bool v4 = false, v6 = false;
    for (const auto& each : networks) (is_v4(each) ? v4 : v6) = true;
    return std::pair(v4, v6);
  };
  const auto of_cidr = [](const net::Cidr& each) { return each.is_v4(); };
  const Cluster& cluster = scene.cluster;
  if (cluster.machine_networks.empty() || cluster.cluster_networks.empty() || cluster.service_networks.empty()) {
    return pending("not all networks are set");
  }
  const auto machines = families(cluster.machine_networks, of_cidr);
  const auto pods = families(cluster.cluster_networks, [](const Network& each) { return each.cidr.is_v4(); });
  const auto services = families(cluster.service_networks, of_cidr);
  if (pods == services && machines == pods) return success("all networks have the same IP families");
  return failure("machine, cluster and service networks must have the same IP families");
}

Verdict prefixes(const Scene& scene) {
  for (const Network& each : scene.cluster.cluster_networks) {
    const int least = each.cidr.prefix, most = each.cidr.bits() - 3;
    if (each.host_prefix >= least && each.host_prefix <= most) continue;
    return failure(fmt::format("the host prefix of cluster network {} must be between {} and {}, is {}",
                               net::to_string(each.cidr), least, most, each.host_prefix));
  }
  for (const net::Cidr& each : scene.cluster.service_networks) {
    constexpr int bits_of_128_addresses = 7;
    if (each.bits() - each.prefix < bits_of_128_addresses) {
      return failure(fmt::format("service network {} has fewer than 128 addresses", net::to_string(each)));
    }
  }
  return success("the networks are large enough");
}

Verdict network_type(const Scene& scene) {
  const bool is_known = scene.cluster.network_type == "OVNKubernetes";
  return {is_known ? Outcome::success : Outcome::failure,
          is_known ? "the network type is OVNKubernetes"
                   : fmt::format("network type '{}' is not available: use OVNKubernetes", to_utf8(scene.cluster.network_type))};
}

Verdict hosts_ready(const Scene& scene) {
  constexpr Set<HostStatus> fit = {
      HostStatus::known,      HostStatus::preparing_for_installation, HostStatus::preparing_successful,
      HostStatus::installing, HostStatus::installing_in_progress,     HostStatus::installed};
  std::vector<std::string> unfit;
  for (const Host* host : scene.hosts) {
    if (!fit.contains(host->status)) unfit.push_back(fmt::format("{} is {}", host->shown_name(), to_string(host->status)));
  }
  return unfit.empty() ? success("all hosts can be installed")
                       : failure(fmt::format("not all hosts can be installed: {}", join(unfit, ", ")));
}

Verdict masters_count(const Scene& scene) {
  if (scene.cluster.is_single_node() && scene.hosts.size() > 1) {
    return failure(
        fmt::format("a cluster with one master is installed on one host, and has {}: remove the others (workers can be "
                    "added when the cluster is installed)",
                    scene.hosts.size()));
  }
  const auto masters = std::ranges::count(scene.hosts, Role::master, &Host::effective_role);
  if (masters == scene.cluster.control_plane_count) return success("there are enough masters");
  return failure(fmt::format("the cluster needs {} {}, {} hosts have this role", scene.cluster.control_plane_count,
                             scene.cluster.control_plane_count == 1 ? "master" : "masters", masters));
}

Verdict clocks(const Scene& scene) {
  constexpr Milliseconds limit = std::chrono::minutes(4);
  if (scene.hosts.empty()) return success("there are no hosts");
  const auto [first, last] = std::ranges::minmax(scene.hosts, {}, &Host::clock_offset);
  const Milliseconds apart = last->clock_offset - first->clock_offset;
  if (apart <= limit) return success("the clocks of the hosts agree");
  return failure(fmt::format("the clocks of {} and {} differ by {}: add an NTP server", to_utf8(first->hostname()),
                             to_utf8(last->hostname()), human_duration(apart)));
}

struct Row {
  std::string_view id, category;
  Weight weight;
  Verdict (*check)(const Scene& scene);
};

constexpr std::string_view network = "network", configuration = "configuration", hosts_data = "hosts-data";
using enum Weight;

constexpr std::array rows = {
    Row{"machine-cidr-defined", network, input, machine_networks},
    Row{"cluster-cidr-defined", network, input, cluster_networks},
    Row{"service-cidr-defined", network, input, service_networks},
    Row{"dns-domain-defined", network, input, base_domain},
    Row{"pull-secret-set", configuration, input, pull_secret},
    Row{"api-vips-defined", network, input, api_defined},
    Row{"ingress-vips-defined", network, input, ingress_defined},
    Row{"api-vips-valid", network, blocking, api_valid},
    Row{"ingress-vips-valid", network, blocking, ingress_valid},
    Row{"no-cidrs-overlapping", network, blocking, no_overlaps},
    Row{"networks-same-address-families", network, blocking, same_families},
    Row{"network-prefix-valid", network, blocking, prefixes},
    Row{"network-type-valid", network, blocking, network_type},
    Row{"ntp-server-configured", network, blocking, clocks},
    Row{"all-hosts-are-ready-to-install", hosts_data, blocking, hosts_ready},
    Row{"sufficient-masters-count", hosts_data, blocking, masters_count},
};

constexpr std::array<std::string_view, 5> never_ignored = {
    "api-vips-defined", "ingress-vips-defined", "all-hosts-are-ready-to-install", "sufficient-masters-count", "pull-secret-set"};

bool is_ignored(const Row& row, const Cluster& cluster) {
  if (std::ranges::find(never_ignored, row.id) != never_ignored.end()) return false;
  return cluster.ignores(row.id);
}

}  // namespace

std::vector<Validation> validate_cluster(const Cluster& cluster, const std::vector<const Host*>& hosts) {
  std::vector<Validation> all;
  for (const Row& row : rows) {
    Verdict found = row.check({cluster, hosts});
    if (found.outcome != Outcome::success && is_ignored(row, cluster)) found.outcome = Outcome::disabled;
    all.push_back({row.id, row.category, row.weight, found.outcome, std::move(found.message)});
  }
  return all;
}

}  // namespace slipway::assist
