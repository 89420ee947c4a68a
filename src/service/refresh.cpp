#include "service/refresh.h"

#include "assist/groups.h"
#include "assist/roles.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::service {

namespace {

using assist::ClusterStatus;
using assist::HostStatus;

constexpr int most_rounds = 32;  // a chain of states is shorter

constexpr assist::Set<ClusterStatus> before_installation = {ClusterStatus::insufficient, ClusterStatus::pending_for_input,
                                                            ClusterStatus::ready};

// Validations that changed become events; the outcomes are kept, so that a restart of the service does not tell them again.
template <class Record>
bool take_validations(Edit& edit, Record& record, std::vector<assist::Validation> found, std::string_view prefix) {
  std::map<std::string, std::string> outcomes;
  for (const assist::Validation& each : found) outcomes[std::string(each.id)] = assist::to_string(each.outcome);
  const bool is_new = record.validations != found;
  if (outcomes != record.outcomes) {
    for (const assist::Validation& each : found) {
      const auto old = record.outcomes.find(std::string(each.id));
      const bool failed_before = old != record.outcomes.end() && old->second == "failure";
      const bool fails = each.outcome == assist::Outcome::failure;
      if (fails == failed_before) continue;
      edit.add(event_of(record, fmt::format("{}_validation_{}", prefix, fails ? "failed" : "fixed"),
                        fails ? EventSeverity::warning : EventSeverity::info, fmt::format("{}: {}", each.id, each.message),
                        {{"validation_id", each.id}}));
    }
    record.outcomes = std::move(outcomes);
  }
  record.validations = std::move(found);
  return is_new;
}

bool has_default_route(const assist::Inventory& inventory, const std::string& interface) {
  return std::ranges::any_of(inventory.routes,
                             [&](const assist::Route& route) { return route.is_default() && route.interface == interface; });
}

bool has_family(const assist::Cluster& cluster, const net::Cidr& network) {
  return std::ranges::any_of(cluster.cluster_networks,
                             [&](const assist::Network& each) { return each.cidr.is_v4() == network.is_v4(); });
}

// Of the only node: those of its interfaces with a default route, because the address of the API is one of its own.
std::vector<net::Cidr> networks_of_node(const assist::Cluster& cluster, const assist::Inventory& inventory) {
  std::vector<net::Cidr> found;
  for (const assist::Interface& interface : inventory.interfaces) {
    if (!has_default_route(inventory, interface.name)) continue;
    for (const net::Cidr& each : interface.addresses) {
      const net::Cidr network{each.network(), each.prefix};
      if (has_family(cluster, network) && std::ranges::find(found, network) == found.end()) found.push_back(network);
    }
  }
  return found;
}

// The networks of the cluster's machines: those that the user set, else those of hosts in which the API's addresses are.
bool derive_networks(assist::Cluster& cluster, const JsonObject& settings,
                     const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  if (!list_in(settings, "machine_networks").empty()) return false;
  std::vector<net::Cidr> found;
  if (cluster.is_single_node() && hosts.size() == 1 && hosts.front()->host.inventory)
    found = networks_of_node(cluster, *hosts.front()->host.inventory);
  const std::vector<net::IpAddress> none;
  for (const net::IpAddress& address : cluster.is_single_node() ? none : cluster.api_addresses) {
    for (const auto& record : hosts) {
      if (!record->host.inventory) continue;
      for (const assist::Interface& interface : record->host.inventory->interfaces) {
        for (const net::Cidr& each : interface.addresses) {
          const net::Cidr network{each.network(), each.prefix};
          if (each.contains(address) && std::ranges::find(found, network) == found.end()) found.push_back(network);
        }
      }
    }
  }
  if (found == cluster.machine_networks) return false;
  cluster.machine_networks = std::move(found);
  return true;
}

std::map<std::string, std::set<std::string>> groups_of(const assist::Cluster& cluster,
                                                       const std::vector<const assist::Host*>& hosts) {
  std::map<std::string, std::set<std::string>> groups;
  for (const net::Cidr& network : cluster.machine_networks) {
    groups[net::to_string(network)] = assist::majority_group(hosts, network, cluster.manages_addresses);
  }
  return groups;
}

// One look at everything of a cluster. Returns whether a state changed.
class ClusterRound {
 public:
  ClusterRound(Edit& edit, const std::string& id, const RefreshSettings& settings)
      : edit_(edit), id_(id), settings_(settings), records_(edit.world().hosts_of_cluster(id)) {}

  bool run() {
    if (!look_up(edit_.world().clusters, id_)) return false;
    derive();
    bool changed = false;
    for (const auto& record : records_) changed = look_at_host(*record) || changed;
    return look_at_cluster() || changed;
  }

 private:
  const ClusterRecord& cluster() const { return *edit_.world().clusters.find(id_)->second; }

  // Copies with the time of the last contact; the pointers stay valid during the round.
  void collect() {
    hosts_.clear();
    for (const auto& record : records_) {
      assist::Host host = look_up(edit_.world().hosts, record->table_key())->host;
      host.checked_in = settings_.contact(*record);
      hosts_.push_back(std::move(host));
    }
    pointers_.clear();
    for (const assist::Host& host : hosts_) pointers_.push_back(&host);
  }

  void derive() {
    collect();
    ClusterRecord record = cluster();
    bool changed = derive_networks(record.cluster, record.settings, records_);
    if (auto groups = groups_of(record.cluster, pointers_); groups != record.groups) {
      record.groups = std::move(groups);
      changed = true;
    }
    const bool chooses_roles =
        before_installation.contains(record.cluster.status) || record.cluster.status == ClusterStatus::adding_hosts;
    if (changed) edit_.put(std::move(record));
    if (!chooses_roles) return;
    const std::map<std::string, assist::Role> roles = assist::suggest_roles(cluster().cluster, pointers_);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const auto role = roles.find(hosts_[i].id);
      if (role == roles.end() || hosts_[i].suggested_role == role->second) continue;
      HostRecord changed_host = *look_up(edit_.world().hosts, records_[i]->table_key());
      changed_host.host.suggested_role = hosts_[i].suggested_role = role->second;
      edit_.put(std::move(changed_host));
    }
  }

  bool look_at_host(const HostRecord& old) {
    const std::string key = old.table_key();
    HostRecord record = *look_up(edit_.world().hosts, key);
    const auto self = std::ranges::find(hosts_, record.host.id, &assist::Host::id);
    const assist::HostScene scene{
        .host = *self, .cluster = &cluster().cluster, .hosts = pointers_, .groups = cluster().groups, .now = edit_.now()};
    std::vector<assist::Validation> found = assist::validate_host(scene);
    const assist::HostFacts facts = assist::host_facts(scene, found, settings_.stops_at_limits);
    const assist::HostChange change = assist::change_of(record.host.status, assist::HostTrigger::refresh, facts);
    const bool changed = take_validations(edit_, record, std::move(found), "host");
    if (change.status != record.host.status) {
      record.host.checked_in = self->checked_in;
      set_status(edit_, std::move(record), change);
      self->status = change.status;
      self->status_since = edit_.now();
      return true;
    }
    if (changed) edit_.put(std::move(record));
    return false;
  }

  bool look_at_cluster() {
    collect();
    ClusterRecord record = cluster();
    std::vector<assist::Validation> found = assist::validate_cluster(record.cluster, pointers_);
    const assist::ClusterFacts facts =
        assist::cluster_facts(record.cluster, pointers_, found, record.reports, edit_.now(), settings_.stops_at_limits);
    const assist::ClusterChange change = assist::change_of(record.cluster.status, assist::ClusterTrigger::refresh, facts);
    const bool changed = take_validations(edit_, record, std::move(found), "cluster");
    if (change.status != record.cluster.status) {
      set_status(edit_, std::move(record), change);
      return true;
    }
    if (changed) edit_.put(std::move(record));
    return false;
  }

  Edit& edit_;
  const std::string& id_;
  const RefreshSettings& settings_;
  std::vector<std::shared_ptr<const HostRecord>> records_;
  std::vector<assist::Host> hosts_;
  std::vector<const assist::Host*> pointers_;
};

EventSeverity severity_of(HostStatus status) {
  if (status == HostStatus::error) return EventSeverity::error;
  constexpr assist::Set<HostStatus> warnings = {HostStatus::disconnected,         HostStatus::insufficient,
                                                HostStatus::disconnected_unbound, HostStatus::insufficient_unbound,
                                                HostStatus::preparing_failed,     HostStatus::installing_pending_user_action};
  return warnings.contains(status) ? EventSeverity::warning : EventSeverity::info;
}

}  // namespace

EventRecord event_of(const HostRecord& record, std::string name, EventSeverity severity, std::string message, JsonObject props) {
  return {.name = std::move(name),
          .severity = severity,
          .cluster = record.host.cluster,
          .infra_env = record.host.infra_env,
          .host = record.host.id,
          .message = fmt::format("Host {}: {}", record.host.shown_name(), message),
          .props = std::move(props)};
}

EventRecord event_of(const ClusterRecord& record, std::string name, EventSeverity severity, std::string message,
                     JsonObject props) {
  return {.name = std::move(name),
          .severity = severity,
          .cluster = record.cluster.id,
          .message = fmt::format("Cluster {}: {}", record.cluster.name, message),
          .props = std::move(props)};
}

void forget_inventory(HostRecord& record) {
  record.host.inventory.reset();
  record.host.checks = {};
  record.outputs.clear();
}

void set_status(Edit& edit, HostRecord record, const assist::HostChange& change) {
  const HostStatus old = record.host.status;
  record.host.status = change.status;
  record.host.status_since = record.updated = edit.now();
  record.status_info = change.info;
  if (change.forgets_inventory) forget_inventory(record);
  if (change.status == HostStatus::installing) {
    record.host.stage.reset();
    record.progress_info.clear();
    record.key_of_installation = record.key;
  }
  if (change.status == HostStatus::discovering || change.status == HostStatus::resetting_pending_user_action) {
    record.host.stage.reset();
    record.progress_info.clear();
    record.host.is_bootstrap = false;
    record.key_of_installation.clear();
  }
  // The images are checked again before each installation.
  if (change.status == HostStatus::preparing_for_installation) {
    record.host.checks.images.reset();
    record.outputs.erase("container-image-availability");
  }
  edit.add(event_of(
      record, "host_status_updated", severity_of(change.status),
      fmt::format("updated status from {} to {} ({})", assist::to_string(old), assist::to_string(change.status), change.info),
      {{"src_status", assist::to_string(old)}, {"new_status", assist::to_string(change.status)}, {"rule", change.rule}}));
  edit.put(std::move(record));
}

void set_status(Edit& edit, ClusterRecord record, const assist::ClusterChange& change) {
  const ClusterStatus old = record.cluster.status;
  const WallTime now = edit.now();
  record.cluster.status = change.status;
  record.status_since = record.updated = now;
  record.status_info = change.info;
  const bool leaves_preparation = old == ClusterStatus::preparing_for_installation;
  switch (change.status) {
    case ClusterStatus::preparing_for_installation:
      record.reports = {.preparation_began = now};
      record.preparation_status = "not_started";
      record.preparation_reason.clear();
      break;
    case ClusterStatus::installing:
      if (!leaves_preparation) break;
      record.preparation_status = "success";
      record.install_started = record.reports.installation_began = now;
      record.install_completed = {};
      break;
    case ClusterStatus::finalizing:
      if (record.reports.finalizing_began == WallTime{}) record.reports.finalizing_began = now;
      break;
    case ClusterStatus::installed: record.install_completed = now; break;
    default: break;
  }
  const bool is_installing = change.status == ClusterStatus::installing;
  if (leaves_preparation && !is_installing) {
    record.reports = {};
    edit.remove_files(record.cluster.id);
    if (!change.rule.starts_with("cancelled") && change.rule != "reset") {
      record.preparation_status = "failed";
      if (record.preparation_reason.empty()) record.preparation_reason = change.info;
      edit.add(event_of(record, "prepare_installation_failed", EventSeverity::error, record.preparation_reason));
    }
  }
  if (change.status == ClusterStatus::insufficient && !leaves_preparation && old != ClusterStatus::ready &&
      old != ClusterStatus::pending_for_input) {
    edit.remove_files(record.cluster.id);  // after a reset
    record.reports = {};
    record.operators.clear();
    record.finalizing_stage.clear();
  }
  const EventSeverity severity = change.status == ClusterStatus::error ? EventSeverity::critical : EventSeverity::info;
  edit.add(event_of(
      record, "cluster_status_updated", severity,
      fmt::format("updated status from {} to {} ({})", assist::to_string(old), assist::to_string(change.status), change.info),
      {{"src_status", assist::to_string(old)}, {"new_status", assist::to_string(change.status)}, {"rule", change.rule}}));
  if (change.status == ClusterStatus::installed) {
    edit.add(event_of(record, "cluster_installation_completed", EventSeverity::info, "the installation is complete"));
  }
  if (change.status == ClusterStatus::error) {
    edit.add(event_of(record, "cluster_installation_failed", EventSeverity::critical, change.info));
  }
  edit.put(std::move(record));
}

void refresh_cluster(Edit& edit, const std::string& id, const RefreshSettings& settings) {
  for (int round = 0; round < most_rounds && ClusterRound(edit, id, settings).run(); ++round) continue;
}

void refresh_host(Edit& edit, const std::string& key, const RefreshSettings& settings) {
  for (int round = 0; round < most_rounds; ++round) {
    const auto old = look_up(edit.world().hosts, key);
    if (!old || !old->host.cluster.empty()) return;
    HostRecord record = *old;
    assist::Host host = record.host;
    host.checked_in = settings.contact(record);
    const assist::HostScene scene{.host = host, .hosts = {&host}, .now = edit.now()};
    std::vector<assist::Validation> found = assist::validate_host(scene);
    const assist::HostFacts facts = assist::host_facts(scene, found, settings.stops_at_limits);
    const assist::HostChange change = assist::change_of(host.status, assist::HostTrigger::refresh, facts);
    const bool changed = take_validations(edit, record, std::move(found), "host");
    if (change.status == host.status) {
      if (changed) edit.put(std::move(record));
      return;
    }
    set_status(edit, std::move(record), change);
  }
}

assist::HostScene HostLook::scene(WallTime now) const {
  assist::HostScene scene{.host = host->host, .cluster = cluster ? &cluster->cluster : nullptr, .now = now};
  if (cluster) scene.groups = cluster->groups;
  for (const auto& each : hosts) scene.hosts.push_back(&each->host);
  return scene;
}

HostLook look_at(const World& world, std::shared_ptr<const HostRecord> record) {
  const std::string& cluster = record->host.cluster;
  HostLook look{.host = record, .cluster = look_up(world.clusters, cluster)};
  if (look.cluster) look.hosts = world.hosts_of_cluster(cluster);
  return look;
}

std::optional<WallTime> next_limit_of_host(const World& world, const std::string& key, WallTime now,
                                           const RefreshSettings& settings) {
  const auto record = look_up(world.hosts, key);
  if (!record) return std::nullopt;
  assist::Host host = record->host;
  host.checked_in = settings.contact(*record);
  const auto cluster = look_up(world.clusters, host.cluster);
  return assist::next_limit({.host = host, .cluster = cluster ? &cluster->cluster : nullptr, .now = now});
}

std::optional<WallTime> next_limit_of_cluster(const World& world, const std::string& id, WallTime now,
                                              const RefreshSettings& settings) {
  const auto record = look_up(world.clusters, id);
  if (!record) return std::nullopt;
  std::optional<WallTime> next = assist::next_limit(record->cluster, record->reports, now);
  for (const auto& host : world.hosts_of_cluster(id)) {
    const auto limit = next_limit_of_host(world, host->table_key(), now, settings);
    if (limit && (!next || *limit < *next)) next = limit;
  }
  return next;
}

}  // namespace slipway::service
