#include "assist/requirements.h"
#include "assist/validations.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace slipway::assist {

namespace {

using std::chrono::minutes;

struct Verdict {
  Outcome outcome = Outcome::success;
  std::string message;
};

Verdict success(std::string message) { return {Outcome::success, std::move(message)}; }
Verdict failure(std::string message) { return {Outcome::failure, std::move(message)}; }
Verdict pending(std::string message) { return {Outcome::pending, std::move(message)}; }
Verdict verdict(bool passes, std::string message) { return {passes ? Outcome::success : Outcome::failure, std::move(message)}; }

Requirements needed_by(const HostScene& scene, Role role) {
  return requirements_of(role, scene.cluster && scene.cluster->is_single_node());
}
const Inventory& inventory_of(const HostScene& scene) { return *scene.host.inventory; }

Requirements for_role(const HostScene& scene) { return needed_by(scene, scene.host.effective_role()); }

std::string_view role_name(const HostScene& scene) { return to_string(scene.host.effective_role()); }

std::vector<const Host*> others(const HostScene& scene) {
  std::vector<const Host*> found;
  std::ranges::copy_if(scene.hosts, std::back_inserter(found), [&](const Host* host) { return host->id != scene.host.id; });
  return found;
}

// ------------------------------------------------------------------------------------------------------------------- hardware

Verdict connected(const HostScene& scene) {
  const Host& host = scene.host;
  const bool has_left = host.stage && *host.stage >= Stage::rebooting;
  if (has_left || scene.now - host.checked_in <= contact_limit(host)) return success("the host answers");
  return failure(
      fmt::format("the host has not answered since {}: look at its console and its network", to_rfc3339(host.checked_in)));
}

Verdict media_connected(const HostScene& scene) {
  return verdict(scene.host.has_medium, scene.host.has_medium ? "the discovery image can be read"
                                                              : "the host cannot read its discovery image: attach it again");
}

Verdict has_inventory(const HostScene& scene) {
  return scene.host.inventory ? success("the hardware of the host is known") : pending("the host has not sent its hardware yet");
}

Verdict cpus(const HostScene& scene, const Requirements& needed, std::string_view what) {
  const int count = inventory_of(scene).cpu_count;
  return verdict(count >= needed.cpus, fmt::format("{} needs {} processors, the host has {}", what, needed.cpus, count));
}

Verdict memory(const HostScene& scene, const Requirements& needed, std::string_view what) {
  return verdict(has_enough_memory(inventory_of(scene), needed),
                 fmt::format("{} needs {} MiB of memory, the host has {} MiB", what, needed.memory_mib,
                             inventory_of(scene).memory_bytes / 1024 / 1024));
}

Verdict min_cpus(const HostScene& scene) { return cpus(scene, needed_by(scene, Role::auto_assign), "a node"); }
Verdict min_memory(const HostScene& scene) { return memory(scene, needed_by(scene, Role::auto_assign), "a node"); }
Verdict cpus_for_role(const HostScene& scene) { return cpus(scene, for_role(scene), fmt::format("a {}", role_name(scene))); }
Verdict memory_for_role(const HostScene& scene) { return memory(scene, for_role(scene), fmt::format("a {}", role_name(scene))); }

Verdict min_disks(const HostScene& scene) {
  const Requirements needed = needed_by(scene, Role::auto_assign);
  if (const Disk* disk = installation_disk(scene.host, needed))
    return success(fmt::format("the host is installed on {}", disk->path));
  if (!scene.host.chosen_disk.empty()) {
    return failure(fmt::format("disk {} cannot be installed on: choose another one", to_utf8(scene.host.chosen_disk)));
  }
  std::string why;
  for (const Disk& disk : inventory_of(scene).disks) {
    why += fmt::format("; {}: {}", to_utf8(disk.path), join(reasons_against(disk, needed), ", "));
  }
  return failure(fmt::format("no disk of the host can be installed on{}", why.empty() ? ": it has none" : why));
}

Verdict disk_speed(const HostScene& scene) {
  const Requirements needed = for_role(scene);
  const Disk* disk = installation_disk(scene.host, needed);
  if (!disk) return pending("the host has no installation disk");
  const auto measured = scene.host.checks.disk_latency_ms.find(disk->path);
  if (measured == scene.host.checks.disk_latency_ms.end())
    return success("the speed of the disk is measured before the installation");
  if (measured->second < 0)
    return failure(fmt::format("the speed of {} cannot be measured: look at the events of the host", disk->path));
  return verdict(measured->second <= needed.disk_latency_ms,
                 fmt::format("a synchronous write to {} takes {:.1f} ms, etcd needs at most {:.0f} ms", disk->path,
                             measured->second, needed.disk_latency_ms));
}

Verdict images_available(const HostScene& scene) {
  if (!scene.host.checks.images) return success("images are pulled before the installation");
  std::vector<std::string> missing;
  for (const auto& [name, is_there] : *scene.host.checks.images) {
    if (!is_there) missing.push_back(to_utf8(name));
  }
  if (missing.empty()) return success("the host can pull the images of the release");
  return failure(fmt::format("the host cannot pull {}: check the pull secret and the way to the registry", join(missing, ", ")));
}

// -------------------------------------------------------------------------------------------------------------------- network

// A cluster that exists may have machines in any network from which they reach its API.
Verdict any_network() { return success("a host may join a cluster that exists from any network"); }

Verdict networks_known(const HostScene& scene) {
  if (scene.cluster->is_day_two) return any_network();
  if (!scene.cluster->machine_networks.empty()) return success("the machine networks are known");
  return pending(fmt::format("the machine networks are not known: set {}", scene.cluster->has_virtual_addresses()
                                                                               ? "the virtual addresses of the API"
                                                                               : "them in the cluster"));
}

bool has_address_in(const Host& host, const net::Cidr& network) {
  return host.inventory && std::ranges::any_of(host.inventory->interfaces, [&](const Interface& interface) {
           return std::ranges::any_of(interface.addresses, [&](const net::Cidr& each) { return network.contains(each.address); });
         });
}

Verdict in_machine_networks(const HostScene& scene) {
  if (scene.cluster->is_day_two) return any_network();
  if (scene.cluster->machine_networks.empty()) return pending("the machine networks are not known");
  for (const net::Cidr& network : scene.cluster->machine_networks) {
    if (!has_address_in(scene.host, network))
      return failure(fmt::format("the host has no address in {}", net::to_string(network)));
  }
  return success("the host has an address in every machine network");
}

Verdict unique_name(const HostScene& scene) {
  const std::string name = scene.host.hostname();
  const auto same = [&](const Host* host) { return host->hostname() == name; };
  const bool is_unique = std::ranges::none_of(others(scene), same);
  return verdict(is_unique, is_unique ? fmt::format("no other host has the name {}", to_utf8(name))
                                      : fmt::format("another host has the name {}, too: change one of them", to_utf8(name)));
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > 63) return false;
  for (const std::string_view label : split(name, '.')) {
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (!std::ranges::all_of(label, is_allowed)) return false;
  }
  return name != "localhost" && !name.starts_with("localhost.") && name != "localhost4" && name != "localhost6";
}

Verdict valid_name(const HostScene& scene) {
  const std::string name = scene.host.hostname();
  if (is_valid_name(name)) return success(fmt::format("{} is a valid name", name));
  return failure(fmt::format(
      "'{}' is no name for a node: use at most 63 lower-case letters, digits, '-' and '.', and not localhost", to_utf8(name)));
}

Verdict in_majority_group(const HostScene& scene) {
  if (scene.cluster->is_day_two) return success("the nodes of the cluster are not among the hosts here");
  if (scene.cluster->control_plane_count == 1) return success("the cluster has one master");
  if (scene.hosts.size() < 3) return pending("fewer than three hosts are known");
  if (scene.cluster->machine_networks.empty()) return pending("the machine networks are not known");
  for (const net::Cidr& network : scene.cluster->machine_networks) {
    const auto group = scene.groups.find(net::to_string(network));
    if (group == scene.groups.end() || group->second.empty()) {
      return scene.host.checks.reach.empty()
                 ? pending("the network between the hosts has not been checked yet")
                 : failure(fmt::format("no three hosts reach each other in {}", net::to_string(network)));
    }
    if (group->second.contains(scene.host.id)) continue;
    std::vector<std::string> unreachable;
    for (const Host* host : scene.hosts) {
      if (group->second.contains(host->id)) unreachable.push_back(to_utf8(host->hostname()));
    }
    return failure(fmt::format("the host and one of {} do not reach each other in {}: check cables, VLANs and filters",
                               join(unreachable, ", "), net::to_string(network)));
  }
  return success("the host and most of the other hosts reach each other");
}

Verdict default_route(const HostScene& scene) {
  const bool has_one = std::ranges::any_of(inventory_of(scene).routes, &Route::is_default);
  return verdict(has_one, has_one ? "the host has a default route" : "the host has no default route: add a gateway");
}

// The worst value towards hosts with the same role.
template <class Value>
Verdict quality(const HostScene& scene, const Value& value, double limit, std::string_view what, std::string_view unit) {
  if (limit == 0 && unit == "ms") return success("any latency is sufficient");
  double worst = 0;
  std::string to;
  for (const Host* other : others(scene)) {
    if (other->effective_role() != scene.host.effective_role()) continue;
    for (const Reach& reach : scene.host.checks.reach) {
      if (reach.host != other->id || !reach.by_address || value(reach) <= worst) continue;
      worst = value(reach);
      to = to_utf8(other->hostname());
    }
  }
  if (worst <= limit) return success(fmt::format("{} is at most {:g} {}", what, limit, unit));
  return failure(fmt::format("{} to {} is {:g} {}, at most {:g} {} are allowed", what, to, worst, unit, limit, unit));
}

Verdict latency(const HostScene& scene) {
  return quality(
      scene, [](const Reach& reach) { return reach.latency_ms; }, for_role(scene).network_latency_ms, "the latency", "ms");
}

Verdict packet_loss(const HostScene& scene) {
  return quality(
      scene, [](const Reach& reach) { return reach.loss_percent; }, for_role(scene).packet_loss_percent, "the packet loss", "%");
}

Verdict no_collisions(const HostScene& scene) {
  for (const auto& [address, macs] : scene.host.checks.macs_of) {
    if (macs.size() < 2) continue;
    return failure(fmt::format("{} is used by {}: give each machine an address of its own", to_utf8(address),
                               to_utf8(join({macs.begin(), macs.end()}, " and "))));
  }
  return success("every address is used once");
}

Verdict no_overlaps(const HostScene& scene) {
  const std::vector<Interface>& interfaces = inventory_of(scene).interfaces;
  for (std::size_t a = 0; a < interfaces.size(); ++a) {
    for (std::size_t b = a + 1; b < interfaces.size(); ++b) {
      for (const net::Cidr& one : interfaces[a].addresses) {
        for (const net::Cidr& other : interfaces[b].addresses) {
          if (one.is_v4() != other.is_v4() || !one.overlaps(other)) continue;
          return failure(fmt::format("{} ({}) and {} ({}) are in overlapping networks: use one of them", interfaces[a].name,
                                     net::to_string(one), interfaces[b].name, net::to_string(other)));
        }
      }
    }
  }
  return success("no two interfaces are in overlapping networks");
}

Verdict time_synced(const HostScene& scene) {
  if (!scene.host.checks.time_sources) return pending("the time sources have not been checked yet");
  const bool synced = std::ranges::any_of(*scene.host.checks.time_sources, [](const TimeSource& source) {
    return source.state == "synced" || source.state == "combined";
  });
  return verdict(synced, synced ? "the host has a time source" : "the host has no time source that answers: add an NTP server");
}

Verdict clock(const HostScene& scene) {
  constexpr Milliseconds behind = minutes(20), ahead = minutes(60);
  const Milliseconds offset = scene.host.clock_offset;
  if (offset >= -behind && offset <= ahead) return success("the clock of the host is right");
  return failure(fmt::format("the clock of the host is {} {}: set it", human_duration(std::chrono::abs(offset)),
                             offset.count() < 0 ? "behind" : "ahead"));
}

Verdict mtu(const HostScene& scene) {
  for (const Reach& reach : scene.host.checks.reach) {
    if (reach.by_address && !reach.has_mtu) {
      return failure(fmt::format("packets as large as the MTU do not reach {}: use one MTU on all hosts and switches",
                                 to_utf8(reach.address)));
    }
  }
  return success("packets as large as the MTU arrive");
}

enum class Expected { resolves, does_not_resolve };

Verdict domain(const HostScene& scene, const std::string& name, Expected expected) {
  if (!scene.host.checks.resolved) return pending("the domains have not been looked up yet");
  const auto found = scene.host.checks.resolved->find(name);
  const bool resolves = found != scene.host.checks.resolved->end() && !found->second.empty();
  if (expected == Expected::resolves) {
    return verdict(resolves,
                   resolves ? fmt::format("{} resolves", name) : fmt::format("{} does not resolve: add it to your DNS", name));
  }
  return verdict(!resolves, resolves ? fmt::format("{} resolves, although it does not exist: remove the wildcard record of {}",
                                                   name, scene.cluster->domain())
                                     : "there is no wildcard record");
}

Verdict api_domain(const HostScene& scene) { return domain(scene, "api." + scene.cluster->domain(), Expected::resolves); }
Verdict internal_domain(const HostScene& scene) {
  return domain(scene, "api-int." + scene.cluster->domain(), Expected::resolves);
}
Verdict apps_domain(const HostScene& scene) {
  return domain(scene, "console-openshift-console.apps." + scene.cluster->domain(), Expected::resolves);
}
Verdict no_wildcard(const HostScene& scene) {
  if (scene.cluster->is_day_two && scene.cluster->base_domain.empty()) return success("the domain of the cluster is not known");
  return domain(scene, "validateNoWildcardDNS." + scene.cluster->domain(), Expected::does_not_resolve);
}

Verdict ignition(const HostScene& scene) {
  if (!scene.host.checks.can_get_ignition) return pending("the host has not asked the cluster for its config yet");
  return verdict(*scene.host.checks.can_get_ignition, *scene.host.checks.can_get_ignition
                                                          ? "the host gets its config from the cluster"
                                                          : "the host does not get its config from the cluster: check the way to "
                                                            "port 22623 of its API address, and the certificate authority in "
                                                            "ignition_endpoint");
}

// ---------------------------------------------------------------------------------------------------------------------- table

struct Row {
  std::string_view id, category;
  Weight weight;
  enum class Of { any, cluster, user_addresses, day_two } of;
  Verdict (*check)(const HostScene& scene);
};

constexpr std::string_view hardware = "hardware", network = "network";
using enum Weight;
using Of = Row::Of;

constexpr std::array rows = {
    Row{"connected", hardware, state, Of::any, connected},
    Row{"media-connected", hardware, state, Of::any, media_connected},
    Row{"has-inventory", hardware, state, Of::any, has_inventory},
    Row{"has-min-cpu-cores", hardware, minimum, Of::any, min_cpus},
    Row{"has-min-memory", hardware, minimum, Of::any, min_memory},
    Row{"has-min-valid-disks", hardware, minimum, Of::any, min_disks},
    Row{"has-cpu-cores-for-role", hardware, blocking, Of::cluster, cpus_for_role},
    Row{"has-memory-for-role", hardware, blocking, Of::cluster, memory_for_role},
    Row{"hostname-unique", hardware, blocking, Of::cluster, unique_name},
    Row{"hostname-valid", hardware, blocking, Of::cluster, valid_name},
    Row{"sufficient-installation-disk-speed", hardware, blocking, Of::cluster, disk_speed},
    Row{"container-images-available", hardware, warning, Of::cluster, images_available},
    Row{"machine-cidr-defined", network, input, Of::cluster, networks_known},
    Row{"belongs-to-machine-cidr", network, blocking, Of::cluster, in_machine_networks},
    Row{"belongs-to-majority-group", network, blocking, Of::cluster, in_majority_group},
    Row{"has-default-route", network, blocking, Of::cluster, default_route},
    Row{"sufficient-network-latency-requirement-for-role", network, blocking, Of::cluster, latency},
    Row{"sufficient-packet-loss-requirement-for-role", network, blocking, Of::cluster, packet_loss},
    Row{"no-ip-collisions-in-network", network, blocking, Of::cluster, no_collisions},
    Row{"non-overlapping-subnets", network, blocking, Of::cluster, no_overlaps},
    Row{"ntp-synced", network, warning, Of::any, time_synced},
    Row{"mtu-valid", network, warning, Of::cluster, mtu},
    Row{"time-synced-between-host-and-service", network, blocking, Of::cluster, clock},
    Row{"dns-wildcard-not-configured", network, blocking, Of::cluster, no_wildcard},
    Row{"api-domain-name-resolved-correctly", network, blocking, Of::user_addresses, api_domain},
    Row{"api-int-domain-name-resolved-correctly", network, blocking, Of::user_addresses, internal_domain},
    Row{"apps-domain-name-resolved-correctly", network, blocking, Of::user_addresses, apps_domain},
    Row{"ignition-downloadable", network, blocking, Of::day_two, ignition},
};

// Without these, nothing can be installed.
constexpr std::array<std::string_view, 5> never_ignored = {"connected", "has-inventory", "machine-cidr-defined",
                                                           "hostname-unique", "hostname-valid"};

bool applies(const Row& row, const Cluster* cluster) {
  switch (row.of) {
    case Of::any: return true;
    case Of::cluster: return cluster;
    case Of::user_addresses: return cluster && !cluster->has_virtual_addresses() && !cluster->is_day_two;
    case Of::day_two: break;
  }
  return cluster && cluster->is_day_two;
}

bool is_ignored(const Row& row, const Cluster* cluster) {
  if (!cluster || std::ranges::find(never_ignored, row.id) != never_ignored.end()) return false;
  return cluster->ignores(row.id);
}

}  // namespace

Milliseconds contact_limit(const Host& host) {
  constexpr Milliseconds usual = minutes(3), more_for_bootstrap = minutes(2);
  return host.is_bootstrap ? usual + more_for_bootstrap : usual;
}

std::vector<Validation> validate_host(const HostScene& scene) {
  std::vector<Validation> all;
  for (const Row& row : rows) {
    if (!applies(row, scene.cluster)) continue;
    Verdict found =
        row.weight == state || scene.host.inventory ? row.check(scene) : pending("the hardware of the host is not known yet");
    if (found.outcome != Outcome::success && is_ignored(row, scene.cluster)) found.outcome = Outcome::disabled;
    all.push_back({row.id, row.category, row.weight, found.outcome, std::move(found.message)});
  }
  return all;
}

}  // namespace slipway::assist
