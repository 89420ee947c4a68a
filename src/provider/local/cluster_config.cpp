#include "provider/local/cluster_config.h"

#include "assets/manifests/image_mode.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "net/ip.h"
#include "provider/local/registry.h"

#include <algorithm>
#include <optional>

namespace slipway::provider::local {

namespace {

std::optional<int> port(std::string_view text) {
  const int value = parse_number<std::uint16_t>(text).value_or(0);
  if (value == 0) return std::nullopt;
  return value;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string to_string(const Forward& forward) { return fmt::format("{}:{}:{}", forward.host_port, forward.target, forward.port); }

Result<Forward> parse_forward(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() == 3) {
    const std::optional<int> host_port = port(parts[0]), machine_port = port(parts[2]);
    if (host_port && machine_port) {
      if (!net::is_ip(parts[1])) TRY(check_name("machine", parts[1]));
      return Forward{*host_port, std::string(parts[1]), *machine_port};
    }
  }
  return error(Code::invalid,
               "'{}' is not a forward (use HOSTPORT:MACHINE:PORT or HOSTPORT:ADDRESS:PORT, for example 8443:master-0:6443)",
               text);
}

Result<NameRecord> parse_name_record(std::string_view text) {
  const std::size_t equal = text.find('=');
  const std::string_view name = text.substr(0, equal);
  const std::string address(equal == std::string_view::npos ? "" : text.substr(equal + 1));
  const bool is_name = !name.empty() &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.*") == std::string_view::npos &&
                       (name.find('*') == std::string_view::npos || (name.starts_with("*.") && name.rfind('*') == 0));
  if (is_name && net::is_ip(address)) return NameRecord{std::string(name), address};
  return error(Code::invalid,
               "'{}' is not a name with its address (use NAME=ADDRESS, for example api.demo.example.com=10.97.77.5)", text);
}

Result<std::vector<int>> parse_host_ports(const std::vector<std::string>& texts) {
  constexpr int name_server_port = 53;
  std::vector<int> ports;
  for (const std::string& text : texts) {
    const std::optional<int> found = port(text);
    if (!found) return error(Code::invalid, "'{}' is not a port", text);
    if (*found == name_server_port || *found == registry_port || *found == assets::local_os_registry_port)
      return error(Code::invalid, "{}: the cluster has a server of its own at this port (use another port of the host)", *found);
    if (std::ranges::find(ports, *found) != ports.end()) return error(Code::invalid, "{} is given twice", *found);
    ports.push_back(*found);
  }
  return ports;
}

std::string to_text(const ClusterConfig& config) {
  JsonArray host_ports;
  for (const int host_port : config.host_ports) host_ports.emplace_back(host_port);
  JsonArray forwards;
  for (const Forward& forward : config.forwards) forwards.emplace_back(to_string(forward));
  JsonArray records;
  for (const NameRecord& record : config.records) records.push_back({{"name", record.name}, {"address", record.address}});
  return emit_json({{"name", config.name},
                    {"id", config.id},
                    {"network", config.network.to_cidr()},
                    {"osRepo", config.os_repo},
                    {"osCommit", config.os_commit},
                    {"release", config.release},
                    {"releaseVersion", config.release_version},
                    {"domain", config.domain},
                    {"records", records},
                    {"hostAddress", config.host_address},
                    {"forwards", forwards},
                    {"egressNetwork", config.egress_network},
                    {"ownImages", config.has_own_images},
                    {"pushPort", config.push_port},
                    {"osRegistry", config.os_registry},
                    {"offline", config.is_offline},
                    {"hostPorts", host_ports},
                    {"images",
                     {{"preload", config.images.preload},
                      {"registry", config.images.registry},
                      {"registryProgram", config.images.registry_program}}}},
                   JsonStyle::pretty);
}

Result<ClusterConfig> parse_cluster_config(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  ClusterConfig config;
  config.name = TRY(require_string(document, {"name"}).context(name));
  config.id = TRY(require_string(document, {"id"}).context(name));
  config.os_repo = TRY(require_string(document, {"osRepo"}).context(name));
  config.network = TRY(parse_network(TRY(require_string(document, {"network"}).context(name))).context(name));
  TRY(check_name("cluster", config.name).context(name));
  // The ID is a part of paths that are removed.
  if (!is_hex(config.id, 12)) return error(Code::invalid, "{}: id must be 12 hexadecimal digits", name);
  for (const Json& forward : find_array(document, {"forwards"})) {
    if (!forward.is_string()) return error(Code::invalid, "{}: forwards must be strings", name);
    config.forwards.push_back(TRY(parse_forward(std::string_view(forward.get_string())).context(name)));
  }
  config.domain = TRY(require_string(document, {"domain"}).context(name));
  config.host_address = TRY(require_string(document, {"hostAddress"}).context(name));
  for (const Json& record : find_array(document, {"records"})) {
    std::string record_name = TRY(require_string(record, {"name"}).context(name));
    std::string address = TRY(require_string(record, {"address"}).context(name));
    TRY(net::parse_ip(address).context(name));
    config.records.push_back({std::move(record_name), std::move(address)});
  }
  config.os_commit = find_string(document, {"osCommit"}).value_or("");
  // The commit is a part of paths.
  if (!config.os_commit.empty() && !is_commit(config.os_commit))
    return error(Code::invalid, "{}: osCommit must be 64 hexadecimal digits", name);
  config.release = find_string(document, {"release"}).value_or("");
  config.release_version = find_string(document, {"releaseVersion"}).value_or("");
  config.egress_network = find_string(document, {"egressNetwork"}).value_or("");
  if (!config.egress_network.empty()) TRY(parse_network(config.egress_network).context(name));
  if (const Json* push_port = find(document, {"pushPort"})) {
    if (!push_port->is_int64() || push_port->get_int64() < 1 || push_port->get_int64() > 65535)
      return error(Code::invalid, "{}: pushPort must be a port", name);
    config.push_port = static_cast<int>(push_port->get_int64());
  }
  config.os_registry = find_string(document, {"osRegistry"}).value_or("");
  // It is a part of paths.
  if (config.os_registry.find('/') != std::string::npos)
    return error(Code::invalid, "{}: osRegistry must be a host name with a port", name);
  config.is_offline = is_true(document, {"offline"});
  for (const Json& value : find_array(document, {"hostPorts"})) {
    if (!value.is_int64() || value.get_int64() < 1 || value.get_int64() > 65535)
      return error(Code::invalid, "{}: hostPorts must be ports", name);
    config.host_ports.push_back(static_cast<int>(value.get_int64()));
  }
  config.has_own_images = is_true(document, {"ownImages"});
  config.images.preload = TRY(require_string(document, {"images", "preload"}).context(name));
  config.images.registry = TRY(require_string(document, {"images", "registry"}).context(name));
  config.images.registry_program = TRY(require_string(document, {"images", "registryProgram"}).context(name));
  return config;
}

std::string to_text(const MachineRecord& record) {
  JsonObject value = {{"name", record.name}, {"number", record.number}, {"uuid", record.uuid}};
  if (!record.after.empty()) value["after"] = record.after;
  if (record.is_blank) value["blank"] = true;
  return emit_json(value, JsonStyle::pretty);
}

Result<MachineRecord> parse_machine_record(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  MachineRecord record;
  record.name = TRY(require_string(document, {"name"}).context(name));
  record.uuid = TRY(require_string(document, {"uuid"}).context(name));
  record.after = find_string(document, {"after"}).value_or("");
  record.is_blank = is_true(document, {"blank"});
  TRY(check_name("machine", record.name).context(name));
  // The name is a part of paths.
  if (!record.after.empty()) TRY(check_name("machine", record.after).context(name));
  const Json* number = find(document, {"number"});
  if (!is_hex(record.uuid, 32) || !number || !number->is_int64() || number->get_int64() < 0 || number->get_int64() > 100'000) {
    return error(Code::invalid, "{}: must have a uuid of 32 hexadecimal digits and a number", name);
  }
  record.number = static_cast<int>(number->get_int64());
  return record;
}

bool is_commit(std::string_view text) { return is_hex(text, 64); }

Result<> check_name(std::string_view what, std::string_view name) {
  const bool fine = !name.empty() && name.size() <= 40 && !name.starts_with('-') && !name.ends_with('-') &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (fine) return Ok{};
  return error(Code::invalid,
               "name of a {} must be at most 40 lower-case letters, digits and dashes, without a dash at either end, got '{}'",
               what, name);
}

}  // namespace slipway::provider::local
