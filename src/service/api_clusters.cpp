// Clusters: their settings and their installation.
#include "assist/gates.h"
#include "assist/requirements.h"
#include "assist/roles.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "net/x509.h"
#include "release/tar.h"
#include "service/api_parts.h"
#include "service/bootstrap_config.h"
#include "service/cluster_settings.h"
#include "service/multipart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

using assist::ClusterStatus;
using assist::ClusterTrigger;
using assist::HostTrigger;

constexpr Milliseconds life_of_controller_token = std::chrono::hours(24);
constexpr Milliseconds life_after_installation = std::chrono::minutes(10);

// Where later hosts get their config is a setting of clusters that exist.
Result<> check_endpoint(const assist::Cluster& cluster, const JsonObject& given) {
  for (const char* field : {"ignition_endpoint", "api_vip_dns_name"}) {
    if (given.contains(field) && !cluster.is_day_two)
      return error(Code::invalid, "cluster: {}: is only for clusters that exist and take more hosts", field);
  }
  return Ok{};
}

// The Ignition configs of an agent-based installation exist already.
Result<> check_settings_have_effect(const Api& api) {
  if (!api.options.prepared_install_config) return Ok{};
  return error(
      Code::conflict,
      "the settings of this cluster are in its image and cannot change (change install-config.yaml, make the image again "
      "with `slipway agent create image`, and boot all hosts from it)");
}

Result<std::string> prepared_install_config(const Api& api) {
  if (!api.options.prepared_install_config->empty()) return *api.options.prepared_install_config;
  return error(Code::not_found, "install-config.yaml: not in the image of this cluster (an older slipway made the image)");
}

// The roles that the service suggested become final, and one master gets the bootstrap.
void settle_roles(Edit& edit, const std::string& cluster) {
  std::vector<const assist::Host*> pointers;
  const auto hosts = edit.world().hosts_of_cluster(cluster);
  for (const auto& each : hosts) pointers.push_back(&each->host);
  const std::string bootstrap = assist::choose_bootstrap(pointers);
  for (const auto& each : hosts) {
    HostRecord record = *each;
    record.host.role = record.host.effective_role();
    record.host.is_bootstrap = record.host.id == bootstrap;
    if (record.host.is_bootstrap) edit.add(event_of(record, "host_bootstrap_set", EventSeverity::info, "carries the bootstrap"));
    edit.put(std::move(record));
  }
}

// The controller of an installation that ends is refused, and removes itself.
void revoke_controller_token(Edit& edit, const std::string& cluster) {
  for (const auto& [id, token] : Table<TokenRecord>(edit.world().tokens)) {
    if (token->kind == TokenKind::controller && token->cluster == cluster && !token->host.empty()) edit.remove(Kind::token, id);
  }
}

// What was in a cluster must not change its kubeconfig for long when it is installed. The controller still has to send its log.
void end_controller_token(Edit& edit, const std::string& cluster) {
  const WallTime end = edit.now() + life_after_installation;
  for (const auto& [id, token] : Table<TokenRecord>(edit.world().tokens)) {
    if (token->kind != TokenKind::controller || token->cluster != cluster || token->host.empty() || token->expires <= end)
      continue;
    TokenRecord shorter = *token;
    shorter.expires = end;
    edit.put(std::move(shorter));
  }
}

Answer act(Api& api, const Call& call, ClusterTrigger what, std::optional<HostTrigger> of_hosts, std::string_view event) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const std::string& id = call.target.cluster;
    TRY(trigger(edit, id, what));
    revoke_controller_token(edit, id);
    if (of_hosts) {
      for (const auto& host : edit.world().hosts_of_cluster(id)) TRY(trigger(edit, host->table_key(), *of_hosts));
    }
    const auto record = TRY(cluster_of(edit.world(), id));
    edit.add(event_of(*record, std::string(event), EventSeverity::info, "requested by a user"));
    return Ok{};
  }));
  return cluster_answer(api, 202, call.target.cluster);
}

constexpr std::array<std::string_view, 3> open_files = {"install-config.yaml", "metadata.json", "kubeconfig-noingress"};
constexpr std::array<std::string_view, 3> machine_files = {"bootstrap.ign", "master.ign", "worker.ign"};
constexpr std::array<std::string_view, 3> credential_files = {"kubeconfig", "kubeconfig-noingress", "kubeadmin-password"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Answer stored_file(Api& api, const std::string& cluster, const std::string& name) {
  const std::optional<std::string> content = TRY(api.core.file(cluster, name));
  if (!content) return missing_file(name);
  return file_answer(*content, name);
}

// A token for one file opens no other one.
Result<> check_token_of_file(const Call& call, const std::string& name) {
  if (call.caller.kind != TokenKind::file || call.caller.file == name) return Ok{};
  return error(Code::denied, "the token is for {}, not for {}", call.caller.file, name);
}

// A host gets the bootstrap's config only while it carries the bootstrap, with the key that it had when its installation began.
Result<> check_host_may_read(Api& api, const Call& call, const std::string& name) {
  if (call.caller.kind == TokenKind::controller) return error(Code::denied, "a token of kind controller may not read {}", name);
  const auto record =
      TRY(api.core.look([&](const World& world) { return host_of(world, host_key(call.caller.infra_env, call.caller.host)); }));
  constexpr assist::Set<assist::HostStatus> installing = {assist::HostStatus::installing,
                                                          assist::HostStatus::installing_in_progress,
                                                          assist::HostStatus::installing_pending_user_action};
  const bool may = name == "bootstrap.ign" && record->host.is_bootstrap && installing.contains(record->host.status) &&
                   record->key == record->key_of_installation;
  if (!may) return error(Code::denied, "this host may not read {} now", name);
  return Ok{};
}

// bootstrap.ign with the parts of an assisted installation. Each download has a new token for the controller, and revokes the one
// before.
Answer complete_bootstrap_file(Api& api, const Call& call) {
  const std::string& id = call.target.cluster;
  const std::optional<std::string> base = TRY(api.core.file(id, "bootstrap.ign"));
  if (!base) return error(Code::conflict, "bootstrap.ign does not exist yet: it is made when the installation is prepared");
  const WallTime until = api.core.now() + life_of_controller_token;
  std::string token;
  if (api.options.authenticates) {
    TRY(api.core.run([&](Edit& edit) -> Result<> {
      revoke_controller_token(edit, id);
      token = TRY(issue_token(edit, api.environment.random,
                              {.kind = TokenKind::controller, .cluster = id, .host = call.caller.host, .expires = until}));
      return Ok{};
    }));
  }
  const auto seen =
      api.core.look([&](const World& world) { return std::pair(look_up(world.clusters, id), world.hosts_of_cluster(id)); });
  if (!seen.first) return error(Code::not_found, "the cluster does not exist");
  ControllerAccess access{
      .url = api.options.url, .token = std::move(token), .authority = api.options.authority, .until = until};
  for (const auto& each : seen.second) {
    if (api.options.is_on_bootstrap_host && each->host.is_bootstrap) access.host = each->host.hostname();
  }
  return file_answer(TRY(bootstrap_ignition(*seen.first, seen.second, *base, access)), "bootstrap.ign");
}

// The kubeconfig, which trusts one more authority.
Result<std::string> with_authority(const std::string& kubeconfig, std::string_view pem) {
  Json document = TRY(parse_yaml(kubeconfig, "kubeconfig")).value;
  Json* clusters = document.is_object() ? document.get_object().if_contains("clusters") : nullptr;
  if (!clusters || !clusters->is_array()) return error(Code::internal, "the kubeconfig of the cluster has no clusters");
  for (Json& each : clusters->get_array()) {
    const std::string old = TRY(base64_decode(text_of(each, {"cluster", "certificate-authority-data"})));
    each.as_object()["cluster"].as_object()["certificate-authority-data"] = base64_encode(fmt::format("{}{}", old, pem));
  }
  return emit_yaml(document);
}

// Paths of logs have IDs only, which are UUIDs.
std::string logs_folder(const Api& api, const std::string& cluster) { return fmt::format("{}/{}", api.options.logs, cluster); }
std::string logs_path(const Api& api, const std::string& cluster, const std::string& name) {
  return fmt::format("{}/{}.tar.gz", logs_folder(api, cluster), name);
}

net::ServerAnswer logs_answer(const std::string& path, std::uint64_t size, std::string_view name) {
  net::ServerAnswer answer = file_answer("", name);
  answer.body = nullptr;
  answer.file = net::FilePart{.path = path, .length = size};
  return answer;
}

// One archive with the archives that hosts and the controller have sent. It stays beside them until the next one replaces it, or the
// cluster is deleted.
Answer all_logs(Api& api, const std::string& cluster) {
  sys::Files& files = api.environment.files;
  const std::string folder = logs_folder(api, cluster), name = "logs.tar";
  std::vector<std::string> names;
  if (TRY(files.info(folder))) names = TRY(files.list(folder));
  std::erase_if(names, [](const std::string& each) { return !each.ends_with(".tar.gz"); });
  if (names.empty()) return error(Code::not_found, "there are no logs of the cluster");
  const std::string made = fmt::format("{}/{}.part", folder, TRY(sys::random_uuid(api.environment.random)));
  const auto write_all = [&]() -> Result<> {
    release::TarWriter archive = TRY(release::TarWriter::create(made));
    for (const std::string& each : names) {
      const std::string content = TRY(files.read(fmt::format("{}/{}", folder, each)));
      TRY(archive.begin(each, content.size()));
      TRY(archive.write(content));
    }
    return archive.finish();
  };
  const std::string path = fmt::format("{}/{}", folder, name);
  Result<> written = write_all();
  if (written.ok()) written = files.rename(made, path);
  if (!written.ok()) {
    (void)files.remove(made);
    return std::move(written).error();
  }
  const auto info = TRY(files.info(path));
  if (!info) return error(Code::not_found, "there are no logs of the cluster");
  return logs_answer(path, info->size, name);
}

}  // namespace

Result<> check_may_change(const ClusterRecord& record) {
  constexpr assist::Set<ClusterStatus> may_change = {ClusterStatus::insufficient, ClusterStatus::pending_for_input,
                                                     ClusterStatus::ready, ClusterStatus::adding_hosts};
  if (may_change.contains(record.cluster.status)) return Ok{};
  return error(Code::conflict, "cluster {} is {}: its settings cannot change any more", record.cluster.name,
               assist::to_string(record.cluster.status));
}

EventRecord update_event(const ClusterRecord& record, std::string_view what) {
  return event_of(record, "cluster_updated", EventSeverity::info, fmt::format("{} changed", what));
}

bool is_cluster_file(std::string_view name) {
  return contains(open_files, name) || contains(machine_files, name) || is_credential_file(name);
}
bool is_credential_file(std::string_view name) { return contains(credential_files, name); }

Error missing_file(std::string_view name) {
  return error(Code::conflict, "{} does not exist yet: it is made when the installation is prepared", name);
}

Answer cluster_answer(Api& api, int status, const std::string& id) {
  struct Seen {
    std::shared_ptr<const ClusterRecord> cluster;
    std::vector<std::shared_ptr<const HostRecord>> hosts;
  };
  const Seen seen = TRY(api.core.look([&](const World& world) -> Result<Seen> {
    std::shared_ptr<const ClusterRecord> cluster = TRY(cluster_of(world, id));
    return Seen{std::move(cluster), world.hosts_of_cluster(id)};
  }));
  return json_answer(status, view_of(*seen.cluster, seen.hosts, true));
}

Answer create_cluster(Api& api, const Call& call) {
  const JsonObject given = TRY(read_fields(call.request.body, cluster_fields(), "cluster"));
  for (const char* needed : {"name", "openshift_version", "pull_secret"}) {
    if (text_of(given, {needed}).empty()) return error(Code::invalid, "cluster: {}: missing", needed);
  }
  const std::string id = TRY(sys::random_uuid(api.environment.random));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    ClusterRecord record;
    record.settings = given;
    TRY(check_endpoint(record.cluster, given));
    TRY(settle_fields(record.settings, given));
    add_defaults(record.settings, api.options.openshift_version);
    record.cluster.id = id;
    record.cluster.name = text_of(given, {"name"});
    apply_settings(record.cluster, record.settings);
    record.created = record.updated = record.status_since = edit.now();
    edit.add(event_of(record, "cluster_registration_succeeded", EventSeverity::info, "registered"));
    edit.put(std::move(record));
    edit.touch_cluster(id);
    return Ok{};
  }));
  return cluster_answer(api, 201, id);
}

Answer list_clusters(Api& api, const Call& call) {
  const World world = api.core.look(
      [](const World& all) { return World{.infra_envs = all.infra_envs, .clusters = all.clusters, .hosts = all.hosts}; });
  JsonArray list;
  for (const auto& [id, record] : world.clusters) {
    if (!check_access(world, call.caller, {.user = true}, {.cluster = id}).ok()) continue;
    list.push_back(view_of(*record, world.hosts_of_cluster(id), call["with_hosts"] == "true"));
  }
  return json_answer(200, list);
}

Answer get_cluster(Api& api, const Call& call) { return cluster_answer(api, 200, call.target.cluster); }

Answer update_cluster(Api& api, const Call& call) {
  TRY(check_settings_have_effect(api));
  JsonObject given = TRY(read_fields(call.request.body, cluster_fields(), "cluster"));
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    TRY(check_may_change(record));
    TRY(check_endpoint(record.cluster, given));
    keep_logins(given, record.settings, cluster_fields());
    for (const auto& member : given) record.settings[member.key()] = member.value();
    TRY(settle_fields(record.settings, given));
    if (const std::string name = text_of(given, {"name"}); !name.empty()) record.cluster.name = name;
    const bool keeps_networks = list_in(record.settings, "machine_networks").empty();
    const std::vector<net::Cidr> derived = record.cluster.machine_networks;
    apply_settings(record.cluster, record.settings);
    if (keeps_networks) record.cluster.machine_networks = derived;  // derived again when the cluster is looked at
    edit.add(update_event(record, "settings"));
    return Ok{};
  }));
  return cluster_answer(api, 201, call.target.cluster);
}

Answer delete_cluster(Api& api, const Call& call) {
  const std::string& id = call.target.cluster;
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(cluster_of(edit.world(), id));
    constexpr assist::Set<ClusterStatus> busy = {ClusterStatus::preparing_for_installation, ClusterStatus::installing,
                                                 ClusterStatus::installing_pending_user_action, ClusterStatus::finalizing};
    if (busy.contains(record->cluster.status)) {
      return error(Code::conflict, "cluster {} is {}: cancel its installation first", record->cluster.name,
                   assist::to_string(record->cluster.status));
    }
    for (const auto& host : edit.world().hosts_of_cluster(id)) remove_host(edit, host->table_key());
    edit.remove_files(manifests_of(id));
    for (const auto& [infra_env_id, infra_env] : Table<InfraEnvRecord>(edit.world().infra_envs)) {
      if (infra_env->cluster != id) continue;
      InfraEnvRecord changed = *infra_env;
      changed.cluster.clear();
      edit.put(std::move(changed));
    }
    for (const auto& [token_id, token] : Table<TokenRecord>(edit.world().tokens)) {
      if (token->cluster == id) edit.remove(Kind::token, token_id);
    }
    edit.add(event_of(*record, "cluster_deregistered", EventSeverity::info, "deregistered"));
    edit.remove(Kind::cluster, id);
    return Ok{};
  }));
  TRY(api.environment.files.remove(fmt::format("{}/{}", api.options.logs, id)));
  return empty_answer(204);
}

Answer list_hosts_of_cluster(Api& api, const Call& call) {
  const auto seen = api.core.look([&](const World& world) {
    return std::pair(look_up(world.clusters, call.target.cluster), world.hosts_of_cluster(call.target.cluster));
  });
  JsonArray list;
  for (const auto& each : seen.second) list.push_back(view_of(*each, seen.first.get(), api.core.contact_of(*each)));
  return json_answer(200, list);
}

Result<> start_installation(Edit& edit, const std::string& cluster) {
  TRY(trigger(edit, cluster, ClusterTrigger::install));
  settle_roles(edit, cluster);
  const auto record = TRY(cluster_of(edit.world(), cluster));
  edit.add(event_of(*record, "cluster_prepare_installation_started", EventSeverity::info, "the installation is being prepared"));
  return Ok{};
}

Answer install_cluster(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) { return start_installation(edit, call.target.cluster); }));
  return cluster_answer(api, 202, call.target.cluster);
}

Answer cancel_cluster(Api& api, const Call& call) {
  return act(api, call, ClusterTrigger::cancel, HostTrigger::cancel, "cluster_installation_canceled");
}
Answer reset_cluster(Api& api, const Call& call) {
  return act(api, call, ClusterTrigger::reset, HostTrigger::reset, "cluster_installation_reset");
}

Answer complete_installation(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const bool* success = body.contains("is_success") ? body.at("is_success").if_bool() : nullptr;
  if (!success) return error(Code::invalid, "body: is_success: missing, must be a boolean");
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    if (record.cluster.status != ClusterStatus::finalizing && record.cluster.status != ClusterStatus::installed) {
      return error(Code::conflict, "cluster {} is {}: only a cluster that is finalizing can be completed", record.cluster.name,
                   assist::to_string(record.cluster.status));
    }
    record.reports.operators_are_available = *success;
    record.reports.controller_failed = !*success;
    end_controller_token(edit, record.cluster.id);
    if (!*success) {
      edit.add(event_of(record, "cluster_failure_reported", EventSeverity::error, to_utf8(text_of(body, {"error_info"}))));
    }
    return Ok{};
  }));
  return cluster_answer(api, 202, call.target.cluster);
}

Answer put_cluster_progress(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string stage = TRY(require_string(body, {"finalizing_stage"}));
  constexpr std::array<std::string_view, 7> stages = {"Waiting for cluster operators",
                                                      "Adding router ca",
                                                      "Waiting for olm operators csv initialization",
                                                      "Applying olm manifests",
                                                      "Waiting for olm operators csv",
                                                      "Waiting for OLM operator setup jobs",
                                                      "Done"};
  if (std::ranges::find(stages, stage) == stages.end())
    return error(Code::invalid, "finalizing_stage: '{}' is no stage", to_utf8(stage));
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    if (record.cluster.status != ClusterStatus::finalizing) {
      return error(Code::conflict, "cluster {} is {}, not finalizing", record.cluster.name,
                   assist::to_string(record.cluster.status));
    }
    if (record.finalizing_stage == stage) return Ok{};
    record.finalizing_stage = stage;
    record.finalizing_stage_since = edit.now();
    edit.add(event_of(record, "cluster_finalizing_stage_updated", EventSeverity::info, stage));
    return Ok{};
  }));
  return empty_answer(200);
}

// Whether the steps of the page are done.
Answer get_gates(Api& api, const Call& call) {
  const InstallationRequest seen = api.core.look([&](const World& world) -> InstallationRequest {
    return {look_up(world.clusters, call.target.cluster), world.hosts_of_cluster(call.target.cluster)};
  });
  if (!seen.cluster) return error(Code::not_found, "the cluster does not exist");
  std::vector<assist::HostChecks> of_hosts;
  for (const auto& each : seen.hosts) of_hosts.push_back({each->host.id, each->validations});
  return json_answer(200, assist::to_json(assist::gates_of(seen.cluster->validations, of_hosts)));
}

Answer get_install_config(Api& api, const Call& call) {
  const InstallationRequest seen = api.core.look([&](const World& world) -> InstallationRequest {
    return {look_up(world.clusters, call.target.cluster), world.hosts_of_cluster(call.target.cluster)};
  });
  if (!seen.cluster) return error(Code::not_found, "the cluster does not exist");
  if (api.options.prepared_install_config) return json_answer(200, Json(TRY(prepared_install_config(api))));
  const Json config = shown_install_config(install_config(*seen.cluster, seen.hosts));
  return json_answer(200, Json(emit_json(config, JsonStyle::pretty)));
}

Answer update_install_config(Api& api, const Call& call) {
  TRY(check_settings_have_effect(api));
  const Json body = TRY(parse_json(call.request.body, "body"));
  const auto* text = body.if_string();
  if (!text) return error(Code::invalid, "body: must be a string with a JSON object, is {}", kind_name(body));
  const Json overrides = TRY(parse_part(*text, "install-config overrides"));
  if (!overrides.is_object())
    return error(Code::invalid, "install-config overrides: must be an object, is {}", kind_name(overrides));
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    TRY(check_may_change(record));
    record.install_config_overrides = overrides.get_object();
    edit.add(event_of(record, "install_config_applied", EventSeverity::info, "overrides of the install-config changed"));
    return Ok{};
  }));
  return empty_answer(201);
}

Answer get_ignored_validations(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  const auto& ignored = record->cluster.ignored_validations;
  const std::string list = emit_json(array_of({ignored.begin(), ignored.end()}), JsonStyle::compact);
  return json_answer(200, {{"host-validation-ids", list}, {"cluster-validation-ids", list}});
}

Answer put_ignored_validations(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  std::set<std::string> ignored;
  for (const char* key : {"host-validation-ids", "cluster-validation-ids"}) {
    const std::string text = text_of(body, {key});
    if (text.empty()) continue;
    const Json list = TRY(parse_json(text, key));
    if (!list.is_array()) return error(Code::invalid, "{}: must be a list in a string", key);
    for (const Json& each : list.get_array()) {
      const auto* id = each.if_string();
      if (!id) return error(Code::invalid, "{}: must be a list of strings", key);
      ignored.insert(to_utf8(*id));
    }
  }
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    TRY(check_may_change(record));
    record.cluster.ignored_validations = ignored;
    edit.add(event_of(record, "validations_ignored", EventSeverity::warning,
                      fmt::format("{} validations are ignored", ignored.size())));
    return Ok{};
  }));
  return get_ignored_validations(api, call).ok() ? json_answer(201, body) : empty_answer(201);
}

Answer get_ui_settings(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  return json_answer(200, Json(record->ui_settings));
}

Answer put_ui_settings(Api& api, const Call& call) {
  const Json body = TRY(parse_json(call.request.body, "body"));
  const auto* text = body.if_string();
  if (!text || text->size() > 64 * 1024) return error(Code::invalid, "body: must be a string of at most 64 KiB");
  TRY(change_cluster(api, call.target.cluster, [&](Edit&, ClusterRecord& record) -> Result<> {
    record.ui_settings = std::string(*text);
    return Ok{};
  }));
  return json_answer(200, body);
}

Answer get_cluster_file(Api& api, const Call& call) {
  const std::string name = call["file_name"];
  if (!is_cluster_file(name)) return error(Code::not_found, "there is no file '{}'", to_utf8(name));
  TRY(check_token_of_file(call, name));
  const bool is_user =
      call.caller.kind == TokenKind::admin || call.caller.kind == TokenKind::user || call.caller.kind == TokenKind::file;
  if (!is_user) TRY(check_host_may_read(api, call, name));
  // Without authentication, hosts are not known from users.
  if (name == "bootstrap.ign" && (!is_user || !api.options.authenticates)) return complete_bootstrap_file(api, call);
  if (name == "install-config.yaml" && api.options.prepared_install_config)
    return file_answer(TRY(prepared_install_config(api)), name);
  return stored_file(api, call.target.cluster, name);
}

Answer get_credential_file(Api& api, const Call& call) {
  const std::string name = call["file_name"];
  if (!is_credential_file(name)) return error(Code::not_found, "there is no file '{}' with credentials", to_utf8(name));
  TRY(check_token_of_file(call, name));
  return stored_file(api, call.target.cluster, name);
}

Answer get_credentials(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  const std::optional<std::string> password = TRY(api.core.file(call.target.cluster, "kubeadmin-password"));
  if (!password) {
    return error(Code::conflict,
                 "there is no kubeadmin password: the release has no OAuth server, or the installation is not prepared yet "
                 "(use the kubeconfig)");
  }
  return json_answer(200, {{"username", "kubeadmin"},
                           {"password", *password},
                           {"console_url", fmt::format("https://console-openshift-console.apps.{}", record->cluster.domain())}});
}

// The logs of the controller or of one host; without a type, one archive with all that there are.
Answer get_logs(Api& api, const Call& call) {
  const std::string host = call["host_id"], type = call["logs_type"];
  const bool is_all = type.empty() || type == "all", is_controller = type == "controller";
  if (is_all && host.empty()) return all_logs(api, call.target.cluster);
  if (!is_controller && (!is_uuid(host) || (!is_all && type != "host"))) {
    return error(Code::invalid, "logs_type=controller, logs_type=host with host_id=UUID, or none of both is required");
  }
  const std::string name = is_controller ? "controller" : host;
  const std::string path = logs_path(api, call.target.cluster, name);
  const auto info = TRY(api.environment.files.info(path));
  if (!info) return error(Code::not_found, "there are no logs of {}", name);
  return logs_answer(path, info->size, name + ".tar.gz");
}

Answer post_logs(Api& api, const Call& call) {
  const std::string type = call["logs_type"], host = call["host_id"];
  const bool is_controller = type == "controller";
  if (!is_controller && type != "host") return error(Code::invalid, "logs_type: '{}' is not host or controller", to_utf8(type));
  if (!is_controller && !is_uuid(host)) return error(Code::invalid, "host_id: must be a UUID");
  if (call.caller.kind == TokenKind::host && (is_controller || host != call.caller.host)) {
    return error(Code::denied, "a host may only send its own logs");
  }
  const std::string_view content = TRY(part_of(call.request.header("Content-Type").value_or(""), call.request.body, "upfile"));
  std::string key;
  if (!is_controller) {
    for (const auto& each : api.core.look([&](const World& world) { return world.hosts_of_cluster(call.target.cluster); })) {
      if (each->host.id == host) key = each->table_key();
    }
    if (key.empty()) return error(Code::not_found, "host {} is not one of the cluster", host);
  }
  TRY(api.environment.files.write(logs_path(api, call.target.cluster, is_controller ? "controller" : host), content, 0600));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    if (is_controller) {
      ClusterRecord record = *TRY(cluster_of(edit.world(), call.target.cluster));
      record.controller_logs = edit.now();
      edit.add(event_of(record, "cluster_logs_uploaded", EventSeverity::info, "logs of the controller arrived"));
      edit.put(std::move(record));
      return Ok{};
    }
    HostRecord record = *TRY(host_of(edit.world(), key));
    record.logs_collected = edit.now();
    edit.add(event_of(record, "host_logs_uploaded", EventSeverity::info, "logs arrived"));
    edit.put(std::move(record));
    return Ok{};
  }));
  return empty_answer(204);
}

Answer put_cluster_logs_progress(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string state = TRY(require_string(body, {"logs_state"}));
  constexpr std::array<std::string_view, 4> states = {"requested", "collecting", "completed", "timeout"};
  if (!contains(states, state)) return error(Code::invalid, "logs_state: '{}' is no state", to_utf8(state));
  TRY(change_cluster(api, call.target.cluster, [&](Edit&, ClusterRecord& record) -> Result<> {
    record.logs_state = state;
    return Ok{};
  }));
  return empty_answer(204);
}

Answer get_operators(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  JsonArray list;
  for (const auto& [name, each] : record->operators) list.push_back(each);
  return json_answer(200, list);
}

Answer put_operators(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string name = TRY(require_string(body, {"name"})), status = TRY(require_string(body, {"status"}));
  constexpr std::array<std::string_view, 3> states = {"failed", "progressing", "available"};
  if (!contains(states, status)) return error(Code::invalid, "status: '{}' is no state of an operator", to_utf8(status));
  if (name.empty() || name.size() > 253 || !is_utf8(name)) return error(Code::invalid, "name: must have 1 to 253 characters");
  TRY(change_cluster(api, call.target.cluster, [&](Edit& edit, ClusterRecord& record) -> Result<> {
    if (record.operators.size() >= 200 && !record.operators.contains(name))
      return error(Code::invalid, "a cluster has at most 200 operators");
    record.operators[name] = Json{{"name", name},
                                  {"operator_type", "builtin"},
                                  {"version", text_of(body, {"version"})},
                                  {"status", status},
                                  {"status_info", text_of(body, {"status_info"})},
                                  {"status_updated_at", to_rfc3339(edit.now())}};
    edit.add(event_of(record, "cluster_operator_status", status == "failed" ? EventSeverity::warning : EventSeverity::info,
                      fmt::format("operator {} is {}", to_utf8(name), status)));
    return Ok{};
  }));
  return empty_answer(200);
}

Answer post_ingress_certificate(Api& api, const Call& call) {
  const Json body = TRY(parse_json(call.request.body, "body"));
  const auto* pem = body.if_string();
  if (!pem) return error(Code::invalid, "body: must be a certificate in PEM in a string");
  const std::string text(*pem);
  TRY(net::parse_certificates(text).context("body"));
  // The kubeconfig then also trusts the routers.
  const std::optional<std::string> plain = TRY(api.core.file(call.target.cluster, "kubeconfig-noingress"));
  if (!plain) return error(Code::conflict, "the cluster has no kubeconfig yet");
  const std::string kubeconfig = TRY(with_authority(*plain, text));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(cluster_of(edit.world(), call.target.cluster));
    if (record->cluster.status != ClusterStatus::finalizing && record->cluster.status != ClusterStatus::installed) {
      return error(Code::conflict, "cluster {} is {}, not finalizing", record->cluster.name,
                   assist::to_string(record->cluster.status));
    }
    edit.put_file(call.target.cluster, "kubeconfig", kubeconfig);
    edit.add(event_of(*record, "ingress_certificate_uploaded", EventSeverity::info, "the authority of the routers arrived"));
    return Ok{};
  }));
  return empty_answer(201);
}

Answer get_default_config(Api&, const Call&) {
  return json_answer(200, {{"cluster_network_cidr", "10.128.0.0/14"},
                           {"cluster_network_host_prefix", 23},
                           {"service_network_cidr", "172.30.0.0/16"},
                           {"inactive_deletion_hours", 0}});
}

Answer get_hardware_requirements(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  JsonObject roles;
  for (const assist::Role role : {assist::Role::master, assist::Role::worker}) {
    const assist::Requirements needed = assist::requirements_of(role, record->cluster.is_single_node());
    roles[assist::to_string(role)] = Json{{"quantitative",
                                           {{"cpu_cores", needed.cpus},
                                            {"ram_mib", needed.memory_mib},
                                            {"disk_size_gb", needed.disk_gb},
                                            {"installation_disk_speed_threshold_ms", static_cast<int>(needed.disk_latency_ms)},
                                            {"network_latency_threshold_ms", needed.network_latency_ms},
                                            {"packet_loss_percentage", needed.packet_loss_percent}}},
                                          {"qualitative", JsonArray{}}};
  }
  return json_answer(200, {{"ocp", std::move(roles)}, {"operators", JsonArray{}}});
}

Answer get_platforms(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return cluster_of(world, call.target.cluster); }));
  JsonArray platforms{"none"};
  if (!record->cluster.is_single_node()) platforms.emplace_back("baremetal");
  return json_answer(200, platforms);
}

}  // namespace slipway::service
