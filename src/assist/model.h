// What the service knows of clusters, discovery environments and hosts, as far as rules need it. Values, without behaviour.
#pragma once

#include "assist/host_progress.h"
#include "assist/host_states.h"
#include "assist/inventory.h"
#include "assist/status.h"
#include "base/text.h"
#include "base/time.h"
#include "net/ip.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::assist {

// What a host has found out about an address of another host.
struct Reach {
  std::string host;         // ID of the other host
  std::string address;      // of the other host, without prefix length
  bool by_link = false;     // its MAC address answers for the address (ARP, neighbour discovery)
  bool by_address = false;  // it answers to pings
  bool has_mtu = true;      // packets as large as the MTU of the interface arrive
  double latency_ms = 0;
  double loss_percent = 0;

  bool operator==(const Reach&) const = default;
};

struct TimeSource {
  std::string name;
  std::string state;  // "synced", "combined", "not_combined", "unreachable", "error", "variable"

  bool operator==(const TimeSource&) const = default;
};

// What the checks of a host's agent have found. A check that has not run is missing.
struct CheckResults {
  std::vector<Reach> reach{};
  std::map<std::string, std::set<std::string>> macs_of{};  // by address: all that answered for it, if more than one
  std::optional<std::vector<TimeSource>> time_sources{};
  std::optional<std::map<std::string, std::vector<std::string>>> resolved{};  // addresses by domain
  std::map<std::string, double> disk_latency_ms{};                            // by path of the disk: negative if the check failed
  std::optional<std::map<std::string, bool>> images{};                        // by name: it can be pulled
  std::map<std::string, bool> address_is_free{};                              // of virtual addresses
  std::optional<bool> can_get_ignition{};                                     // from the cluster that it is added to

  bool operator==(const CheckResults&) const = default;
};

struct Host {
  std::string id;
  std::string infra_env;
  std::string cluster{};  // empty: in the pool
  HostStatus status = HostStatus::discovering;
  WallTime status_since{};
  Role role = Role::auto_assign;            // that a user chose
  Role suggested_role = Role::auto_assign;  // that the service chose
  bool is_bootstrap = false;
  std::string requested_hostname{};  // empty: that of the inventory
  std::string chosen_disk{};         // ID; empty: the first of installable_disks
  WallTime checked_in{};
  bool has_medium = true;
  Milliseconds clock_offset{};  // of the host's clock, ahead of the service's
  std::optional<Inventory> inventory{};
  CheckResults checks{};
  std::optional<Stage> stage{};
  WallTime stage_since{};

  Role effective_role() const { return role == Role::auto_assign ? suggested_role : role; }
  std::string hostname() const {
    if (!requested_hostname.empty() || !inventory) return requested_hostname;
    return inventory->hostname;
  }
  // For messages: the ID of a host without a name.
  std::string shown_name() const { return hostname().empty() ? id : to_utf8(hostname()); }
};

struct Network {
  net::Cidr cidr;
  int host_prefix = 0;  // of the part that a node gets

  bool operator==(const Network&) const = default;
};

struct Cluster {
  std::string id;
  std::string name;
  std::string base_domain{};
  ClusterStatus status = ClusterStatus::insufficient;
  bool is_day_two = false;
  int control_plane_count = 3;
  bool manages_addresses = true;  // virtual addresses by the cluster; otherwise load balancers of the user
  std::vector<net::IpAddress> api_addresses{};
  std::vector<net::IpAddress> ingress_addresses{};
  std::vector<net::Cidr> machine_networks{};
  std::vector<Network> cluster_networks{};
  std::vector<net::Cidr> service_networks{};
  std::string network_type{"OVNKubernetes"};
  std::vector<std::string> time_servers{};
  std::string ignition_url{};        // of the config of a host that joins a cluster that exists; empty: at the API's address
  std::string ignition_authority{};  // who signs the certificate of that URL, PEM; empty: not known
  bool has_pull_secret = false;
  std::set<std::string> ignored_validations{};  // IDs, of hosts and of the cluster; "all"

  // Installed on one host, which bootstraps the cluster in place. Hosts that are added later are ordinary workers.
  bool is_single_node() const { return control_plane_count == 1 && !is_day_two; }
  bool has_virtual_addresses() const { return manages_addresses && !is_single_node(); }
  bool ignores(std::string_view validation) const {
    return ignored_validations.contains("all") || ignored_validations.contains(std::string(validation));
  }
  std::string domain() const { return name + "." + base_domain; }
};

}  // namespace slipway::assist
