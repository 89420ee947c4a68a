#include "service/views.h"

#include "assist/requirements.h"
#include "base/text.h"
#include "service/fields.h"
#include "service/installation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

using assist::ClusterStatus;
using assist::HostStatus;

void add_time(JsonObject& object, std::string_view key, WallTime time) {
  if (time != WallTime{}) object[key] = to_rfc3339(time);
}

std::string compact(const Json& value) { return emit_json(value, JsonStyle::compact); }

void add_settings(JsonObject& object, const JsonObject& settings, std::span<const Field> fields) {
  for (const auto& member : settings) {
    if (!is_secret(fields, member.key())) object[member.key()] = shown_value(fields, member.key(), member.value());
  }
  object["pull_secret_set"] = settings.contains("pull_secret");
}

// The subnets of the hosts' interfaces, with the hosts in each.
JsonArray host_networks(const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  std::map<std::string, JsonArray> networks;
  for (const auto& record : hosts) {
    if (!record->host.inventory) continue;
    std::set<std::string> of_host;
    for (const assist::Interface& interface : record->host.inventory->interfaces) {
      for (const net::Cidr& each : interface.addresses) of_host.insert(net::to_string(net::Cidr{each.network(), each.prefix}));
    }
    for (const std::string& network : of_host) networks[network].emplace_back(record->host.id);
  }
  JsonArray all;
  for (auto& [cidr, ids] : networks) all.push_back(Json{{"cidr", cidr}, {"host_ids", std::move(ids)}});
  return all;
}

// What hosts say of an address: one that found it in use is right.
std::string_view verification_of(const net::IpAddress& address, const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  std::string_view found = "unverified";
  for (const auto& record : hosts) {
    const auto& checked = record->host.checks.address_is_free;
    const auto is_free = checked.find(net::to_string(address));
    if (is_free == checked.end()) continue;
    if (!is_free->second) return "failed";
    found = "succeeded";
  }
  return found;
}

JsonArray addresses_view(const std::string& cluster, const std::vector<net::IpAddress>& addresses,
                         const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  JsonArray all;
  for (const net::IpAddress& each : addresses) {
    all.push_back(Json{{"cluster_id", cluster}, {"ip", net::to_string(each)}, {"verification", verification_of(each, hosts)}});
  }
  return all;
}

// Networks, and for older clients the first one of each kind in a field of its own.
void add_networks(JsonObject& view, const assist::Cluster& cluster) {
  JsonArray of_machines, of_pods, of_services;
  for (const net::Cidr& each : cluster.machine_networks)
    of_machines.push_back(Json{{"cluster_id", cluster.id}, {"cidr", net::to_string(each)}});
  for (const assist::Network& each : cluster.cluster_networks) {
    of_pods.push_back(Json{{"cluster_id", cluster.id}, {"cidr", net::to_string(each.cidr)}, {"host_prefix", each.host_prefix}});
  }
  for (const net::Cidr& each : cluster.service_networks)
    of_services.push_back(Json{{"cluster_id", cluster.id}, {"cidr", net::to_string(each)}});
  if (!cluster.machine_networks.empty()) view["machine_network_cidr"] = net::to_string(cluster.machine_networks.front());
  if (!cluster.cluster_networks.empty()) {
    view["cluster_network_cidr"] = net::to_string(cluster.cluster_networks.front().cidr);
    view["cluster_network_host_prefix"] = cluster.cluster_networks.front().host_prefix;
  }
  if (!cluster.service_networks.empty()) view["service_network_cidr"] = net::to_string(cluster.service_networks.front());
  view["machine_networks"] = std::move(of_machines);
  view["cluster_networks"] = std::move(of_pods);
  view["service_networks"] = std::move(of_services);
}

Json inventory_view(const assist::Host& host, bool is_single_node) {
  const assist::Requirements needed = assist::requirements_of(host.effective_role(), is_single_node);
  Json inventory = assist::to_json(*host.inventory);
  // The service has reasons of its own, for instance the size.
  Json* disks = inventory.get_object().if_contains("disks");
  if (!disks || !disks->is_array()) return inventory;
  for (std::size_t i = 0; i < disks->get_array().size() && i < host.inventory->disks.size(); ++i) {
    const std::vector<std::string> reasons = assist::reasons_against(host.inventory->disks[i], needed);
    disks->get_array()[i].as_object()["installation_eligibility"] =
        Json{{"eligible", reasons.empty()}, {"not_eligible_reasons", array_of(reasons)}};
  }
  return inventory;
}

struct Output {
  std::string_view step, field, member;  // member: of the output; empty: all of it
};
constexpr std::array outputs = {
    Output{"connectivity-check", "connectivity", ""},
    Output{"ntp-synchronizer", "ntp_sources", "ntp_sources"},
    Output{"domain-resolution", "domain_name_resolutions", ""},
    Output{"api-vip-connectivity-check", "api_vip_connectivity", ""},
    Output{"container-image-availability", "images_status", "images"},
};

}  // namespace

Json view_of(const InfraEnvRecord& record) {
  JsonObject view = {{"kind", "InfraEnv"},
                     {"id", record.id},
                     {"href", fmt::format("{}/infra-envs/{}", api_prefix, record.id)},
                     {"name", record.name},
                     {"type", "full-iso"},
                     {"created_at", to_rfc3339(record.created)},
                     {"updated_at", to_rfc3339(record.updated)}};
  add_settings(view, record.settings, infra_env_fields());
  view["name"] = record.name;
  if (const Json* networks = record.settings.if_contains("static_network_config"))
    view["static_network_config"] = compact(*networks);
  view.erase("cluster_id");
  view.erase("image_type");  // the name in requests; it is `type` here
  if (!record.cluster.empty()) view["cluster_id"] = record.cluster;
  return view;
}

Progress progress_of(const ClusterRecord& record, const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  constexpr assist::Set<ClusterStatus> finished = {ClusterStatus::installed, ClusterStatus::adding_hosts};
  if (finished.contains(record.cluster.status)) return {100, 100, 100, 100};
  Progress progress;
  if (record.cluster.status == ClusterStatus::preparing_for_installation) {
    const auto prepared =
        std::ranges::count_if(hosts, [](const auto& each) { return each->host.status == HostStatus::preparing_successful; });
    const auto steps = static_cast<std::ptrdiff_t>(hosts.size()) + 1;
    progress.preparing = static_cast<int>(100 * (prepared + (record.reports.assets_are_made ? 1 : 0)) / steps);
  }
  if (record.install_started != WallTime{} && record.reports.installation_began != WallTime{}) {
    progress.preparing = 100;
    int done = 0, all = 0;
    for (const auto& each : hosts) {
      const assist::Placement placement = assist::placement_of(each->host, record.cluster);
      const auto stages = assist::stages_of(placement);
      all += static_cast<int>(stages.size());
      if (each->host.stage) done += assist::percent_of(placement, *each->host.stage) * static_cast<int>(stages.size());
    }
    progress.installing = all == 0 ? 0 : done / all;
    const auto available =
        std::ranges::count_if(record.operators, [](const auto& each) { return text_of(each.second, {"status"}) == "available"; });
    if (!record.operators.empty()) {
      progress.finalizing = static_cast<int>(100 * available / static_cast<std::ptrdiff_t>(record.operators.size()));
    }
  }
  progress.total = (progress.preparing * 10 + progress.installing * 75 + progress.finalizing * 15) / 100;
  return progress;
}

Json view_of(const ClusterRecord& record, const std::vector<std::shared_ptr<const HostRecord>>& hosts, bool with_hosts) {
  const assist::Cluster& cluster = record.cluster;
  const Progress progress = progress_of(record, hosts);
  const auto ready = std::ranges::count_if(hosts, [](const auto& each) { return each->host.status == HostStatus::known; });
  JsonObject view = {
      {"kind", cluster.is_day_two ? "AddHostsCluster" : "Cluster"},
      {"id", cluster.id},
      {"href", fmt::format("{}/clusters/{}", api_prefix, cluster.id)},
      {"name", cluster.name},
      {"status", assist::to_string(cluster.status)},
      {"status_info", record.status_info},
      {"status_updated_at", to_rfc3339(record.status_since)},
      {"created_at", to_rfc3339(record.created)},
      {"updated_at", to_rfc3339(record.updated)},
  };
  add_settings(view, record.settings, cluster_fields());
  view["control_plane_count"] = cluster.control_plane_count;
  view["high_availability_mode"] = cluster.control_plane_count == 1 ? "None" : "Full";
  view["cpu_architecture"] = "x86_64";
  // The only node has the addresses, as in clusters with load balancers of the user.
  view["user_managed_networking"] = !cluster.manages_addresses || cluster.control_plane_count == 1;
  view["platform"] = Json{{"type", cluster.manages_addresses ? "baremetal" : "none"}};
  view["hyperthreading"] = "all";
  view["vip_dhcp_allocation"] = false;
  view["schedulable_masters"] = false;
  view["schedulable_masters_forced_true"] =
      std::ranges::none_of(hosts, [](const auto& each) { return each->host.effective_role() == assist::Role::worker; });
  JsonObject image;
  if (const std::string key = text_of(record.settings, {"ssh_public_key"}); !key.empty()) image["ssh_public_key"] = key;
  view["image_info"] = std::move(image);
  view["imported"] = is_imported(record);
  view["api_vips"] = addresses_view(cluster.id, cluster.api_addresses, hosts);
  view["ingress_vips"] = addresses_view(cluster.id, cluster.ingress_addresses, hosts);
  add_networks(view, cluster);
  view["host_networks"] = host_networks(hosts);
  view["progress"] = Json{{"total_percentage", progress.total},
                          {"preparing_for_installation_stage_percentage", progress.preparing},
                          {"installing_stage_percentage", progress.installing},
                          {"finalizing_stage_percentage", progress.finalizing}};
  if (!record.finalizing_stage.empty()) view["progress"].as_object()["finalizing_stage"] = record.finalizing_stage;
  add_time(view["progress"].as_object(), "finalizing_stage_started_at", record.finalizing_stage_since);
  view["validations_info"] = compact(assist::to_json(record.validations));
  JsonObject groups;
  for (const auto& [network, ids] : record.groups) groups[network] = array_of({ids.begin(), ids.end()});
  view["connectivity_majority_groups"] = compact(groups);
  // A new member may move the others, so none is made from another one.
  const std::string ignored = compact(array_of({cluster.ignored_validations.begin(), cluster.ignored_validations.end()}));
  view["ignored_cluster_validations"] = ignored;
  view["ignored_host_validations"] = ignored;
  view["last-installation-preparation"] = Json{{"status", record.preparation_status}, {"reason", record.preparation_reason}};
  view["ready_host_count"] = ready;
  view["enabled_host_count"] = hosts.size();
  view["total_host_count"] = hosts.size();
  view["install_config_overrides"] =
      record.install_config_overrides.empty() ? "" : compact(shown_install_config(record.install_config_overrides));
  view["logs_info"] = record.logs_state;
  add_time(view, "controller_logs_collected_at", record.controller_logs);
  add_time(view, "install_started_at", record.install_started);
  add_time(view, "install_completed_at", record.install_completed);
  JsonArray operators;
  for (const auto& [name, each] : record.operators) operators.push_back(each);
  view["monitored_operators"] = std::move(operators);
  JsonArray all;
  if (with_hosts) {
    for (const auto& each : hosts) all.push_back(view_of(*each, &record, each->host.checked_in));
  }
  view["hosts"] = std::move(all);
  return view;
}

Json view_of(const HostRecord& record, const ClusterRecord* cluster, WallTime checked_in) {
  const assist::Host& host = record.host;
  const bool is_single_node = cluster && cluster->cluster.is_single_node();
  JsonObject view = {
      {"kind", cluster && cluster->cluster.is_day_two ? "AddToExistingClusterHost" : "Host"},
      {"id", host.id},
      {"href", fmt::format("{}/infra-envs/{}/hosts/{}", api_prefix, host.infra_env, host.id)},
      {"infra_env_id", host.infra_env},
      {"status", assist::to_string(host.status)},
      {"status_info", record.status_info},
      {"status_updated_at", to_rfc3339(host.status_since)},
      {"role", assist::to_string(host.role)},
      {"suggested_role", assist::to_string(host.suggested_role)},
      {"bootstrap", host.is_bootstrap},
      {"requested_hostname", to_utf8(host.hostname())},
      {"discovery_agent_version", record.agent_version},
      {"media_status", host.has_medium ? "connected" : "disconnected"},
      {"validations_info", compact(assist::to_json(record.validations))},
      {"logs_info", record.logs_state},
      {"checked_in_at", to_rfc3339(checked_in)},
      {"registered_at", to_rfc3339(record.registered)},
      {"created_at", to_rfc3339(record.created)},
      {"updated_at", to_rfc3339(record.updated)},
  };
  if (!host.cluster.empty()) view["cluster_id"] = host.cluster;
  add_time(view, "logs_collected_at", record.logs_collected);
  if (host.inventory) view["inventory"] = compact(inventory_view(host, is_single_node));
  const assist::Requirements needed = assist::requirements_of(host.effective_role(), is_single_node);
  if (const assist::Disk* disk = assist::installation_disk(host, needed)) {
    view["installation_disk_id"] = disk->id;
    view["installation_disk_path"] = disk->path;
  }
  for (const Output& each : outputs) {
    const auto found = record.outputs.find(std::string(each.step));
    if (found == record.outputs.end()) continue;
    const Json* part = each.member.empty() ? &found->second : find(found->second, {each.member});
    if (part) view[each.field] = compact(*part);
  }
  JsonArray disks;
  for (const auto& [path, latency] : host.checks.disk_latency_ms) {
    disks.push_back(
        Json{{"path", path},
             {"disk_speed", {{"tested", true}, {"exit_code", latency < 0 ? 1 : 0}, {"speed_ms", latency < 0 ? 0 : latency}}}});
  }
  view["disks_info"] = compact(disks);
  if (cluster) {
    const assist::Placement placement = assist::placement_of(host, cluster->cluster);
    JsonArray stages;
    for (const assist::Stage each : assist::stages_of(placement)) stages.emplace_back(assist::to_string(each));
    view["progress_stages"] = std::move(stages);
    if (host.stage) {
      JsonObject progress = {{"current_stage", assist::to_string(*host.stage)},
                             {"progress_info", record.progress_info},
                             {"installation_percentage", assist::percent_of(placement, *host.stage)}};
      for (JsonObject* each : {&progress, &view}) {
        add_time(*each, "stage_started_at", record.stage_started);
        add_time(*each, "stage_updated_at", host.stage_since);
      }
      view["progress"] = std::move(progress);
    }
  }
  if (const Json* config = record.overrides.if_contains("ignition")) view["ignition_config_overrides"] = compact(*config);
  if (const Json* args = record.overrides.if_contains("installer_args")) view["installer_args"] = compact(*args);
  view["ignition_endpoint_token_set"] = record.overrides.contains("ignition_token");
  if (const Json* labels = record.overrides.if_contains("node_labels")) view["node_labels"] = compact(*labels);
  return view;
}

Json view_of(const EventRecord& record) {
  JsonObject view = {{"name", record.name},
                     {"severity", to_string(record.severity)},
                     {"category", "user"},
                     {"message", record.message},
                     {"event_time", to_rfc3339(record.at)},
                     {"props", emit_json(record.props, JsonStyle::compact)}};
  if (!record.cluster.empty()) view["cluster_id"] = record.cluster;
  if (!record.infra_env.empty()) view["infra_env_id"] = record.infra_env;
  if (!record.host.empty()) view["host_id"] = record.host;
  return view;
}

Json view_of(const TokenRecord& record) {
  JsonObject view = {{"id", record.id},
                     {"kind", to_string(record.kind)},
                     {"issued_at", to_rfc3339(record.issued)},
                     {"expires_at", to_rfc3339(record.expires)}};
  if (!record.cluster.empty()) view["cluster_id"] = record.cluster;
  if (!record.infra_env.empty()) view["infra_env_id"] = record.infra_env;
  if (!record.host.empty()) view["host_id"] = record.host;
  if (!record.file.empty()) view["file_name"] = record.file;
  return view;
}

}  // namespace slipway::service
