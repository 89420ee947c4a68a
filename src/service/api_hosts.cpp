// Hosts, as users see them.
#include "base/text.h"
#include "ignition/parse.h"
#include "service/api_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

using assist::HostStatus;
using assist::HostTrigger;

constexpr assist::Set<HostStatus> may_change = {HostStatus::discovering,          HostStatus::known,
                                                HostStatus::disconnected,         HostStatus::insufficient,
                                                HostStatus::pending_for_input,    HostStatus::binding,
                                                HostStatus::discovering_unbound,  HostStatus::known_unbound,
                                                HostStatus::disconnected_unbound, HostStatus::insufficient_unbound};

// Runs a change on a copy of a host that is not being installed.
template <class Change>
Result<> change_host(Api& api, const std::string& key, const Change& change) {
  return api.core.run([&](Edit& edit) -> Result<> {
    HostRecord record = *TRY(host_of(edit.world(), key));
    if (!may_change.contains(record.host.status)) {
      return error(Code::conflict, "host {} is {}: it cannot change now", record.host.id, assist::to_string(record.host.status));
    }
    TRY(change(edit, record));
    record.updated = edit.now();
    edit.touch(record);
    edit.put(std::move(record));
    return Ok{};
  });
}

Result<> choose_disk(HostRecord& record, const JsonArray& config) {
  std::string chosen;
  for (const Json& each : config) {
    const std::string id = text_of(each, {"id"}), role = text_of(each, {"role"});
    if (role != "install" && role != "none")
      return error(Code::invalid, "disks_selected_config: role '{}' is not install or none", to_utf8(role));
    if (role != "install") continue;
    if (!chosen.empty()) return error(Code::invalid, "disks_selected_config: only one disk can be installed on");
    chosen = id;
  }
  const bool is_known = chosen.empty() || (record.host.inventory &&
                                           std::ranges::any_of(record.host.inventory->disks,
                                                               [&](const assist::Disk& disk) { return disk.id == chosen; }));
  if (!is_known) return error(Code::invalid, "disks_selected_config: the host has no disk '{}'", to_utf8(chosen));
  record.host.chosen_disk = chosen;
  return Ok{};
}

Result<> apply_fields(Edit& edit, HostRecord& record, const JsonObject& given) {
  if (given.contains("host_role")) {
    const auto role = assist::find_role(text_of(given, {"host_role"}));
    if (!role)
      return error(Code::invalid, "host_role: '{}' is not auto-assign, master or worker", to_utf8(text_of(given, {"host_role"})));
    if (record.host.role != *role) {
      record.host.role = *role;
      edit.add(event_of(record, "host_role_updated", EventSeverity::info, fmt::format("role is {}", assist::to_string(*role))));
    }
  }
  if (given.contains("host_name")) record.host.requested_hostname = text_of(given, {"host_name"});
  if (given.contains("disks_selected_config")) TRY(choose_disk(record, list_in(given, "disks_selected_config")));
  if (given.contains("node_labels")) {
    JsonObject labels;
    for (const Json& each : list_in(given, "node_labels")) labels[text_of(each, {"key"})] = text_of(each, {"value"});
    record.overrides["node_labels"] = std::move(labels);
  }
  if (given.contains("ignition_endpoint_token")) {
    const auto cluster = look_up(edit.world().clusters, record.host.cluster);
    if (!cluster || !is_imported(*cluster))
      return error(Code::invalid, "host: ignition_endpoint_token: is only for hosts of imported clusters");
    const std::string token = text_of(given, {"ignition_endpoint_token"});
    record.overrides.erase("ignition_token");
    if (!token.empty()) record.overrides["ignition_token"] = token;
  }
  return Ok{};
}

// A host of an imported cluster gets its config from that cluster alone.
Result<> check_can_join(const World& world, const assist::Host& host) {
  const auto cluster = look_up(world.clusters, host.cluster);
  if (!cluster || !is_imported(*cluster)) return Ok{};
  if (host.effective_role() != assist::Role::worker)
    return error(Code::conflict, "host {}: hosts of an imported cluster can only be workers", host.shown_name());
  if (!cluster->cluster.ignition_authority.empty()) return Ok{};
  return error(Code::conflict,
               "cluster {}: the host would not trust the machine-config-server: set ignition_endpoint.ca_certificate of the "
               "cluster to its certificate authority (PEM, in base64)",
               cluster->cluster.name);
}

}  // namespace

Answer host_answer(Api& api, int status, const std::string& key) {
  struct Seen {
    std::shared_ptr<const HostRecord> host;
    std::shared_ptr<const ClusterRecord> cluster;
  };
  const Seen seen = TRY(api.core.look([&](const World& world) -> Result<Seen> {
    Seen found;
    found.host = TRY(host_of(world, key));
    found.cluster = look_up(world.clusters, found.host->host.cluster);
    return found;
  }));
  return json_answer(status, view_of(*seen.host, seen.cluster.get(), api.core.contact_of(*seen.host)));
}

Answer list_hosts(Api& api, const Call& call) {
  struct Seen {
    std::vector<std::shared_ptr<const HostRecord>> hosts;
    Table<ClusterRecord> clusters;
  };
  const Seen seen = api.core.look([&](const World& world) -> Seen {
    return {world.hosts_of_infra_env(call.target.infra_env), world.clusters};
  });
  JsonArray list;
  for (const auto& each : seen.hosts) {
    list.push_back(view_of(*each, look_up(seen.clusters, each->host.cluster).get(), api.core.contact_of(*each)));
  }
  return json_answer(200, list);
}

Answer get_host(Api& api, const Call& call) { return host_answer(api, 200, call.key()); }

Answer update_host(Api& api, const Call& call) {
  const JsonObject given = TRY(read_fields(call.request.body, host_fields(), "host"));
  TRY(change_host(api, call.key(), [&](Edit& edit, HostRecord& record) { return apply_fields(edit, record, given); }));
  return host_answer(api, 201, call.key());
}

Answer delete_host(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(host_of(edit.world(), call.key()));
    const auto cluster = look_up(edit.world().clusters, record->host.cluster);
    constexpr assist::Set<assist::ClusterStatus> installing = {
        assist::ClusterStatus::preparing_for_installation, assist::ClusterStatus::installing,
        assist::ClusterStatus::installing_pending_user_action, assist::ClusterStatus::finalizing};
    if (cluster && installing.contains(cluster->cluster.status)) {
      return error(Code::conflict, "cluster {} is being installed: its hosts cannot be deleted", cluster->cluster.name);
    }
    remove_host(edit, call.key());
    return Ok{};
  }));
  api.feed.forget(call.key());
  return empty_answer(204);
}

Answer bind_host(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string cluster = TRY(require_string(body, {"cluster_id"}));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto target = TRY(cluster_of(edit.world(), cluster));
    TRY(check_access(edit.world(), call.caller, {.user = true}, {.cluster = cluster}));
    const assist::HostChange open = assist::first_registration({.cluster = target->cluster.status});
    if (!open.refusal.empty()) return error(Code::conflict, "cluster {}: {}", target->cluster.name, open.refusal);
    TRY(trigger(edit, call.key(), HostTrigger::bind));
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    record.host.cluster = cluster;
    edit.add(event_of(record, "host_bind_succeeded", EventSeverity::info, fmt::format("joins cluster {}", target->cluster.name)));
    edit.put(std::move(record));
    edit.touch_cluster(cluster);
    return Ok{};
  }));
  return host_answer(api, 200, call.key());
}

Answer unbind_host(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto old = TRY(host_of(edit.world(), call.key()));
    if (old->host.cluster.empty()) return error(Code::conflict, "host {} has no cluster", old->host.id);
    TRY(trigger(edit, call.key(), HostTrigger::unbind));
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    edit.add(event_of(record, "host_unbind_succeeded", EventSeverity::info, "leaves its cluster"));
    record.host.cluster.clear();
    record.host.role = record.host.suggested_role = assist::Role::auto_assign;
    record.host.is_bootstrap = false;
    edit.put(std::move(record));
    edit.touch_cluster(old->host.cluster);
    return Ok{};
  }));
  return host_answer(api, 200, call.key());
}

Answer install_host(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto old = TRY(host_of(edit.world(), call.key()));
    TRY(check_can_join(edit.world(), old->host));
    TRY(trigger(edit, call.key(), HostTrigger::install));
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    record.host.role = record.host.effective_role();
    edit.add(event_of(record, "host_installation_started", EventSeverity::info, "the installation starts"));
    edit.touch(*old);
    edit.put(std::move(record));
    return Ok{};
  }));
  return host_answer(api, 202, call.key());
}

Answer reset_host(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto old = TRY(host_of(edit.world(), call.key()));
    const auto cluster = look_up(edit.world().clusters, old->host.cluster);
    if (!cluster || !cluster->cluster.is_day_two) {
      return error(Code::conflict,
                   "host {}: only hosts that are added to a cluster that exists are reset one by one (reset the cluster)",
                   old->host.shown_name());
    }
    TRY(trigger(edit, call.key(), HostTrigger::reset));
    edit.touch(*old);
    return Ok{};
  }));
  return host_answer(api, 200, call.key());
}

// A check whose result would stay is done again.
Answer reset_host_validation(Api& api, const Call& call) {
  const bool is_disk = call.name == "sufficient-installation-disk-speed", is_images = call.name == "container-images-available";
  if (!is_disk && !is_images) {
    return error(Code::invalid, "'{}' cannot be reset (only sufficient-installation-disk-speed and container-images-available)",
                 to_utf8(call.name));
  }
  TRY(change_host(api, call.key(), [&](Edit&, HostRecord& record) -> Result<> {
    if (is_disk) {
      record.host.checks.disk_latency_ms.clear();
      record.outputs.erase("installation-disk-speed-check");
    } else {
      record.host.checks.images.reset();
      record.outputs.erase("container-image-availability");
    }
    return Ok{};
  }));
  return host_answer(api, 200, call.key());
}

Answer update_installer_args(Api& api, const Call& call) {
  constexpr std::array<std::string_view, 6> with_value = {"--append-karg",    "--delete-karg",    "--network-dir",
                                                          "--save-partlabel", "--save-partindex", "--image-url"};
  const JsonObject body = TRY(body_object(call));
  JsonArray args;
  bool is_value = false;
  for (const Json& each : list_in(body, "args")) {
    const auto* text = each.if_string();
    if (!text || !is_utf8(*text)) return error(Code::invalid, "args: must be a list of strings");
    const std::string arg(*text);
    const std::string name = arg.substr(0, arg.find('='));
    const bool takes_value = std::ranges::find(with_value, name) != with_value.end();
    if (!is_value && !takes_value && arg != "-n" && arg != "--copy-network") {
      return error(Code::invalid, "args: '{}' is not allowed (use {}, -n or --copy-network)", arg,
                   join({with_value.begin(), with_value.end()}, ", "));
    }
    is_value = !is_value && takes_value && arg.find('=') == std::string::npos;
    args.emplace_back(arg);
  }
  if (is_value) return error(Code::invalid, "args: the last one has no value");
  TRY(change_host(api, call.key(), [&](Edit& edit, HostRecord& record) -> Result<> {
    record.overrides["installer_args"] = args;
    edit.add(event_of(record, "host_installer_args_applied", EventSeverity::info, "arguments of the installer changed"));
    return Ok{};
  }));
  return host_answer(api, 201, call.key());
}

Answer get_host_ignition(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return host_of(world, call.key()); }));
  const Json* config = record->overrides.if_contains("ignition");
  return json_answer(200, {{"config", config ? emit_json(*config, JsonStyle::compact) : ""}});
}

Answer update_host_ignition(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string text = TRY(require_string(body, {"config"}));
  std::optional<Json> config;
  if (!text.empty()) {
    config = TRY(parse_part(text, "config"));
    TRY(ignition::parse(*config).findings.to_result().context("config"));
  }
  TRY(change_host(api, call.key(), [&](Edit& edit, HostRecord& record) -> Result<> {
    if (config) {
      record.overrides["ignition"] = *config;
    } else {
      record.overrides.erase("ignition");
    }
    edit.add(event_of(record, "host_discovery_ignition_config_applied", EventSeverity::info, "its own Ignition config changed"));
    return Ok{};
  }));
  return host_answer(api, 201, call.key());
}

}  // namespace slipway::service
