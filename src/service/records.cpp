#include "service/records.h"

#include "assist/replies.h"
#include "base/digest.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

std::int64_t number_of(WallTime time) { return time.time_since_epoch().count(); }

std::int64_t integer(const Json& value, std::string_view key) {
  const Json* member = find(value, {key});
  if (!member) return 0;
  if (const std::int64_t* number = member->if_int64()) return *number;
  return 0;
}

WallTime time_of(const Json& value, std::string_view key) { return WallTime(Milliseconds(integer(value, key))); }

JsonObject texts(const std::map<std::string, std::string>& map) {
  JsonObject object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

std::map<std::string, std::string> text_map(const Json& value, std::string_view key) {
  std::map<std::string, std::string> map;
  for (const auto& member : find_object(value, {key})) {
    if (const auto* text = member.value().if_string()) map[std::string(member.key())] = std::string(*text);
  }
  return map;
}

std::map<std::string, Json> json_map(const Json& value, std::string_view key) {
  std::map<std::string, Json> map;
  for (const auto& member : find_object(value, {key})) map[std::string(member.key())] = member.value();
  return map;
}

JsonObject object_of(const std::map<std::string, Json>& map) {
  JsonObject object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

Result<std::string> id_of(const Json& value) { return require_string(value, {"id"}).context("record"); }

std::vector<net::IpAddress> addresses_of(const JsonObject& settings, std::string_view key) {
  std::vector<net::IpAddress> found;
  for (const Json& each : list_in(settings, key)) {
    const Result<net::IpAddress> address = net::parse_ip(text_of(each, {"ip"}));
    if (address.ok()) found.push_back(address.value());
  }
  return found;
}

template <class Add>
void each_network(const JsonObject& settings, std::string_view key, const Add& add) {
  for (const Json& each : list_in(settings, key)) {
    const Result<net::Cidr> cidr = net::parse_cidr(text_of(each, {"cidr"}));
    if (cidr.ok()) add(cidr.value(), each);
  }
}

constexpr std::array<std::string_view, 7> kinds = {"admin", "user", "agent", "host", "controller", "image", "file"};
constexpr std::array<std::string_view, 4> severities = {"info", "warning", "error", "critical"};
constexpr int port_of_configs = 22623;  // of the machine-config-server

}  // namespace

const JsonArray& list_in(const JsonObject& object, std::string_view key) {
  static const JsonArray none;
  const Json* member = object.if_contains(key);
  return member && member->is_array() ? member->get_array() : none;
}

std::string host_key(std::string_view infra_env, std::string_view host) { return fmt::format("{}/{}", infra_env, host); }
std::string HostRecord::table_key() const { return host_key(host.infra_env, host.id); }

bool is_imported(const ClusterRecord& record) { return record.settings.contains("api_vip_dns_name"); }

std::string_view to_string(TokenKind kind) { return kinds[static_cast<std::size_t>(kind)]; }
std::optional<TokenKind> find_token_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds, name);
  if (found == kinds.end()) return std::nullopt;
  return static_cast<TokenKind>(found - kinds.begin());
}
std::string_view to_string(EventSeverity severity) { return severities[static_cast<std::size_t>(severity)]; }

void apply_settings(assist::Cluster& cluster, const JsonObject& settings) {
  cluster.base_domain = text_of(settings, {"base_dns_domain"});
  if (const int count = integer_of(settings, {"control_plane_count"}); count != 0) cluster.control_plane_count = count;
  cluster.manages_addresses = !is_true(settings, {"user_managed_networking"});
  cluster.api_addresses = addresses_of(settings, "api_vips");
  cluster.ingress_addresses = addresses_of(settings, "ingress_vips");
  cluster.machine_networks.clear();
  cluster.cluster_networks.clear();
  cluster.service_networks.clear();
  each_network(settings, "machine_networks",
               [&](const net::Cidr& cidr, const Json&) { cluster.machine_networks.push_back(cidr); });
  each_network(settings, "service_networks",
               [&](const net::Cidr& cidr, const Json&) { cluster.service_networks.push_back(cidr); });
  each_network(settings, "cluster_networks", [&](const net::Cidr& cidr, const Json& each) {
    cluster.cluster_networks.push_back({cidr, integer_of(each, {"host_prefix"})});
  });
  cluster.network_type = text_of(settings, {"network_type"});
  cluster.time_servers.clear();
  const std::string time_servers = text_of(settings, {"additional_ntp_source"});
  for (const std::string_view each : split(time_servers, ',')) {
    if (!trim(each).empty()) cluster.time_servers.emplace_back(trim(each));
  }
  cluster.has_pull_secret = !text_of(settings, {"pull_secret"}).empty();
  cluster.ignition_url = text_of(settings, {"ignition_endpoint", "url"});
  if (const std::string api = text_of(settings, {"api_vip_dns_name"}); !api.empty() && cluster.ignition_url.empty())
    cluster.ignition_url = fmt::format("https://{}/config/worker", net::host_and_port(api, port_of_configs));
  const Result<std::string> authority = base64_decode(text_of(settings, {"ignition_endpoint", "ca_certificate"}));
  cluster.ignition_authority = authority.ok() ? authority.value() : "";
}

Json to_json(const InfraEnvRecord& record) {
  return {{"id", record.id},
          {"name", record.name},
          {"cluster", record.cluster},
          {"settings", record.settings},
          {"created", number_of(record.created)},
          {"updated", number_of(record.updated)}};
}

Result<InfraEnvRecord> parse_infra_env(const Json& value) {
  InfraEnvRecord record{.id = TRY(id_of(value))};
  record.name = text_of(value, {"name"});
  record.cluster = text_of(value, {"cluster"});
  record.settings = find_object(value, {"settings"});
  record.created = time_of(value, "created");
  record.updated = time_of(value, "updated");
  return record;
}

Json to_json(const ClusterRecord& record) {
  const assist::Cluster& cluster = record.cluster;
  const assist::InstallationReports& reports = record.reports;
  JsonArray machine_networks;  // also those that come from the addresses of hosts
  for (const net::Cidr& each : cluster.machine_networks) machine_networks.emplace_back(net::to_string(each));
  return {{"id", cluster.id},
          {"name", cluster.name},
          {"status", assist::to_string(cluster.status)},
          {"status_info", record.status_info},
          {"status_since", number_of(record.status_since)},
          {"is_day_two", cluster.is_day_two},
          {"ignored_validations", array_of({cluster.ignored_validations.begin(), cluster.ignored_validations.end()})},
          {"settings", record.settings},
          {"machine_networks", std::move(machine_networks)},
          {"created", number_of(record.created)},
          {"updated", number_of(record.updated)},
          {"install_started", number_of(record.install_started)},
          {"install_completed", number_of(record.install_completed)},
          {"reports",
           {{"assets_are_made", reports.assets_are_made},
            {"assets_failed", reports.assets_failed},
            {"operators_are_available", reports.operators_are_available},
            {"controller_failed", reports.controller_failed},
            {"preparation_began", number_of(reports.preparation_began)},
            {"installation_began", number_of(reports.installation_began)},
            {"finalizing_began", number_of(reports.finalizing_began)}}},
          {"preparation_status", record.preparation_status},
          {"preparation_reason", record.preparation_reason},
          {"finalizing_stage", record.finalizing_stage},
          {"finalizing_stage_since", number_of(record.finalizing_stage_since)},
          {"operators", object_of(record.operators)},
          {"ui_settings", record.ui_settings},
          {"install_config_overrides", record.install_config_overrides},
          {"logs_state", record.logs_state},
          {"controller_logs", number_of(record.controller_logs)},
          {"outcomes", texts(record.outcomes)}};
}

Result<ClusterRecord> parse_cluster(const Json& value) {
  ClusterRecord record;
  record.cluster.id = TRY(id_of(value));
  record.cluster.name = text_of(value, {"name"});
  const auto status = assist::find_cluster_status(text_of(value, {"status"}));
  if (!status) return error(Code::invalid, "cluster {}: unknown status '{}'", record.cluster.id, text_of(value, {"status"}));
  record.cluster.status = *status;
  record.cluster.is_day_two = is_true(value, {"is_day_two"});
  for (const std::string& each : texts_of(value, {"ignored_validations"})) record.cluster.ignored_validations.insert(each);
  record.settings = find_object(value, {"settings"});
  apply_settings(record.cluster, record.settings);
  record.cluster.machine_networks.clear();
  for (const std::string& each : texts_of(value, {"machine_networks"})) {
    record.cluster.machine_networks.push_back(TRY(net::parse_cidr(each).context(fmt::format("cluster {}", record.cluster.id))));
  }
  record.status_info = text_of(value, {"status_info"});
  record.status_since = time_of(value, "status_since");
  record.created = time_of(value, "created");
  record.updated = time_of(value, "updated");
  record.install_started = time_of(value, "install_started");
  record.install_completed = time_of(value, "install_completed");
  const Json reports = find_object(value, {"reports"});
  record.reports = {.assets_are_made = is_true(reports, {"assets_are_made"}),
                    .assets_failed = is_true(reports, {"assets_failed"}),
                    .operators_are_available = is_true(reports, {"operators_are_available"}),
                    .controller_failed = is_true(reports, {"controller_failed"}),
                    .preparation_began = time_of(reports, "preparation_began"),
                    .installation_began = time_of(reports, "installation_began"),
                    .finalizing_began = time_of(reports, "finalizing_began")};
  record.preparation_status = text_of(value, {"preparation_status"});
  record.preparation_reason = text_of(value, {"preparation_reason"});
  record.finalizing_stage = text_of(value, {"finalizing_stage"});
  record.finalizing_stage_since = time_of(value, "finalizing_stage_since");
  record.operators = json_map(value, "operators");
  record.ui_settings = text_of(value, {"ui_settings"});
  record.install_config_overrides = find_object(value, {"install_config_overrides"});
  record.logs_state = text_of(value, {"logs_state"});
  record.controller_logs = time_of(value, "controller_logs");
  record.outcomes = text_map(value, "outcomes");
  return record;
}

Json to_json(const HostRecord& record) {
  const assist::Host& host = record.host;
  return {{"id", host.id},
          {"infra_env", host.infra_env},
          {"cluster", host.cluster},
          {"status", assist::to_string(host.status)},
          {"status_info", record.status_info},
          {"status_since", number_of(host.status_since)},
          {"role", assist::to_string(host.role)},
          {"suggested_role", assist::to_string(host.suggested_role)},
          {"is_bootstrap", host.is_bootstrap},
          {"requested_hostname", host.requested_hostname},
          {"chosen_disk", host.chosen_disk},
          {"checked_in", number_of(host.checked_in)},
          {"has_medium", host.has_medium},
          {"clock_offset", host.clock_offset.count()},
          {"outputs", object_of(record.outputs)},
          {"failed_disks",
           [&] {
             JsonArray failed;
             for (const auto& [path, latency] : host.checks.disk_latency_ms) {
               if (latency < 0) failed.emplace_back(path);
             }
             return failed;
           }()},
          {"stage", host.stage ? assist::to_string(*host.stage) : ""},
          {"stage_since", number_of(host.stage_since)},
          {"stage_started", number_of(record.stage_started)},
          {"progress_info", record.progress_info},
          {"created", number_of(record.created)},
          {"updated", number_of(record.updated)},
          {"registered", number_of(record.registered)},
          {"agent_version", record.agent_version},
          {"boot_id", record.boot_id},
          {"key", record.key},
          {"key_of_installation", record.key_of_installation},
          {"overrides", record.overrides},
          {"logs_state", record.logs_state},
          {"logs_collected", number_of(record.logs_collected)},
          {"outcomes", texts(record.outcomes)}};
}

Result<HostRecord> parse_host(const Json& value) {
  HostRecord record;
  assist::Host& host = record.host;
  host.id = TRY(id_of(value));
  host.infra_env = text_of(value, {"infra_env"});
  host.cluster = text_of(value, {"cluster"});
  const auto status = assist::find_host_status(text_of(value, {"status"}));
  if (!status) return error(Code::invalid, "host {}: unknown status '{}'", host.id, text_of(value, {"status"}));
  host.status = *status;
  host.status_since = time_of(value, "status_since");
  host.role = assist::find_role(text_of(value, {"role"})).value_or(assist::Role::auto_assign);
  host.suggested_role = assist::find_role(text_of(value, {"suggested_role"})).value_or(assist::Role::auto_assign);
  host.is_bootstrap = is_true(value, {"is_bootstrap"});
  host.requested_hostname = text_of(value, {"requested_hostname"});
  host.chosen_disk = text_of(value, {"chosen_disk"});
  host.checked_in = time_of(value, "checked_in");
  host.has_medium = is_true(value, {"has_medium"});
  host.clock_offset = Milliseconds(integer(value, "clock_offset"));
  host.stage = assist::find_stage(text_of(value, {"stage"}));
  host.stage_since = time_of(value, "stage_since");
  record.outputs = json_map(value, "outputs");
  for (const auto& [type, output] : record.outputs)
    TRY(assist::apply_output(host, type, output).context(fmt::format("host {}", host.id)));
  for (const std::string& path : texts_of(value, {"failed_disks"})) host.checks.disk_latency_ms[path] = -1;
  record.stage_started = time_of(value, "stage_started");
  record.progress_info = text_of(value, {"progress_info"});
  record.status_info = text_of(value, {"status_info"});
  record.created = time_of(value, "created");
  record.updated = time_of(value, "updated");
  record.registered = time_of(value, "registered");
  record.agent_version = text_of(value, {"agent_version"});
  record.boot_id = text_of(value, {"boot_id"});
  record.key = text_of(value, {"key"});
  record.key_of_installation = text_of(value, {"key_of_installation"});
  record.overrides = find_object(value, {"overrides"});
  record.logs_state = text_of(value, {"logs_state"});
  record.logs_collected = time_of(value, "logs_collected");
  record.outcomes = text_map(value, "outcomes");
  return record;
}

Json to_json(const TokenRecord& record) {
  return {{"id", record.id},
          {"digest", record.digest},
          {"kind", to_string(record.kind)},
          {"cluster", record.cluster},
          {"infra_env", record.infra_env},
          {"host", record.host},
          {"file", record.file},
          {"issued", number_of(record.issued)},
          {"expires", number_of(record.expires)}};
}

Result<TokenRecord> parse_token(const Json& value) {
  TokenRecord record{.id = TRY(id_of(value))};
  record.digest = text_of(value, {"digest"});
  const auto kind = find_token_kind(text_of(value, {"kind"}));
  if (!kind) return error(Code::invalid, "token {}: unknown kind", record.id);
  record.kind = *kind;
  record.cluster = text_of(value, {"cluster"});
  record.infra_env = text_of(value, {"infra_env"});
  record.host = text_of(value, {"host"});
  record.file = text_of(value, {"file"});
  record.issued = time_of(value, "issued");
  record.expires = time_of(value, "expires");
  return record;
}

}  // namespace slipway::service
