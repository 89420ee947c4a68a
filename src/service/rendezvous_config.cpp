#include "service/rendezvous_config.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "data/data.h"
#include "ignition/gzip.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "net/ip.h"
#include "service/access.h"
#include "service/discovery.h"
#include "service/server.h"
#include "service/static_network.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::service {

namespace {

constexpr int port = 8090, secret_mode = 0600;
// Longer than the certificates in the Ignition configs of the cluster.
constexpr Milliseconds life_of_tokens = std::chrono::hours(24 * 7);
constexpr std::string_view record_file = "rendezvous.json", certificate_file = "tls/server.crt", key_file = "tls/server.key",
                           authority_file = "tls/ca.crt";

std::string in(std::string_view folder, std::string_view name) { return fmt::format("{}/{}", folder, name); }

// The form of the API of assisted-service for networks of hosts.
Json static_network(const config::AgentHost& host) {
  JsonArray map;
  for (const config::AgentInterface& interface : host.interfaces)
    map.push_back(Json{{"mac_address", interface.mac_address}, {"logical_nic_name", interface.name}});
  return {{"network_yaml", emit_yaml(host.network_config)}, {"mac_interface_map", std::move(map)}};
}

JsonArray items(const std::vector<std::string>& values, std::string_view member) {
  JsonArray list;
  for (const std::string& value : values) list.push_back(Json{{member, value}});
  return list;
}

JsonObject cluster_settings(const config::InstallConfig& install, const config::AgentConfig& agent) {
  JsonArray cluster_networks;
  for (const config::ClusterNetwork& each : install.networking.cluster_network)
    cluster_networks.push_back(Json{{"cidr", each.cidr}, {"host_prefix", each.host_prefix}});
  JsonObject settings = {{"name", install.name},
                         {"openshift_version", default_openshift_version},
                         {"base_dns_domain", install.base_domain},
                         {"pull_secret", install.pull_secret.reveal()},
                         {"ssh_public_key", install.ssh_key},
                         {"control_plane_count", install.control_plane.replicas},
                         {"user_managed_networking", install.platform.type == "none"},
                         {"api_vips", items(config::api_vips(install), "ip")},
                         {"ingress_vips", items(config::ingress_vips(install), "ip")},
                         {"machine_networks", items(install.networking.machine_network, "cidr")},
                         {"cluster_networks", std::move(cluster_networks)},
                         {"service_networks", items(install.networking.service_network, "cidr")},
                         {"network_type", install.networking.network_type},
                         {"additional_ntp_source", join(agent.time_servers, ",")}};
  if (install.proxy) {
    settings["http_proxy"] = install.proxy->http_proxy;
    settings["https_proxy"] = install.proxy->https_proxy;
    settings["no_proxy"] = install.proxy->no_proxy;
  }
  return settings;
}

JsonObject infra_env_settings(const config::InstallConfig& install, const config::AgentConfig& agent) {
  JsonObject settings = {{"pull_secret", install.pull_secret.reveal()},
                         {"ssh_authorized_key", install.ssh_key},
                         {"additional_ntp_sources", join(agent.time_servers, ",")},
                         {"additional_trust_bundle", install.additional_trust_bundle}};
  if (install.proxy) {
    // The hosts and the service reach each other directly.
    const std::string& own = install.proxy->no_proxy;
    settings["proxy"] = Json{{"http_proxy", install.proxy->http_proxy},
                             {"https_proxy", install.proxy->https_proxy},
                             {"no_proxy", own.empty() ? agent.rendezvous_ip : fmt::format("{},{}", own, agent.rendezvous_ip)}};
  }
  JsonArray networks;
  for (const config::AgentHost& host : agent.hosts) {
    if (!host.network_config.is_null()) networks.push_back(static_network(host));
  }
  if (!networks.empty()) settings["static_network_config"] = std::move(networks);
  return settings;
}

PlannedHost planned_host(const config::AgentHost& host) {
  PlannedHost planned{.hostname = host.hostname,
                      .role = assist::find_role(host.role).value_or(assist::Role::auto_assign),
                      .disk_hints = host.root_device_hints};
  for (const config::AgentInterface& interface : host.interfaces) planned.mac_addresses.push_back(interface.mac_address);
  return planned;
}

// Text, smaller: the area for the config of a live image is limited.
Result<ignition::File> packed_file(std::string path, std::string_view content) {
  ignition::File file = ignition::make_file(std::move(path), "", secret_mode);
  const std::string packed = TRY(ignition::gzip(content));
  file.contents.source = fmt::format("data:;base64,{}", base64_encode(packed));
  file.contents.compression = "gzip";
  return file;
}

}  // namespace

Json to_json(const RendezvousConfig& config) {
  JsonArray tokens, hosts;
  for (const TokenRecord& token : config.tokens) tokens.push_back(to_json(token));
  for (const PlannedHost& host : config.hosts) {
    JsonArray macs(host.mac_addresses.begin(), host.mac_addresses.end());
    hosts.push_back(Json{{"hostname", host.hostname},
                         {"role", assist::to_string(host.role)},
                         {"mac_addresses", std::move(macs)},
                         {"disk_hints", host.disk_hints}});
  }
  return {{"address", config.address},
          {"url", config.url},
          {"expected_hosts", config.expected_hosts},
          {"cluster", to_json(config.cluster)},
          {"infra_env", to_json(config.infra_env)},
          {"tokens", std::move(tokens)},
          {"hosts", std::move(hosts)}};
}

Result<RendezvousConfig> parse_rendezvous(const Json& value) {
  RendezvousConfig config;
  config.address = TRY(require_string(value, {"address"}));
  config.url = TRY(require_string(value, {"url"}));
  config.expected_hosts = integer_of(value, {"expected_hosts"});
  if (!net::is_ip(config.address) || config.expected_hosts < 1)
    return error(Code::invalid, "address and expected_hosts must be an address and a number of hosts");
  const Json cluster = find_object(value, {"cluster"}), infra_env = find_object(value, {"infra_env"});
  config.cluster = TRY(parse_cluster(cluster));
  config.infra_env = TRY(parse_infra_env(infra_env));
  for (const Json& token : find_array(value, {"tokens"})) config.tokens.push_back(TRY(parse_token(token)));
  for (const Json& host : find_array(value, {"hosts"})) {
    const Json* hints = find(host, {"disk_hints"});
    config.hosts.push_back({.hostname = text_of(host, {"hostname"}),
                            .role = assist::find_role(text_of(host, {"role"})).value_or(assist::Role::auto_assign),
                            .mac_addresses = texts_of(host, {"mac_addresses"}),
                            .disk_hints = hints ? *hints : Json(JsonObject())});
  }
  return config;
}

std::vector<std::string> problems_of_network(const config::AgentHost& host) {
  const Result<std::vector<HostNetwork>> read = parse_static_networks(JsonArray{static_network(host)});
  std::vector<std::string> problems;
  if (read.ok()) return problems;
  for (std::string_view line : split(read.error().message(), '\n')) {
    // The places are those of the API.
    for (const std::string_view prefix : {"error: ", "[0].", "network_yaml."}) {
      if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    problems.emplace_back(line);
  }
  return problems;
}

Result<RendezvousImage> make_rendezvous_image(const config::InstallConfig& install, const config::AgentConfig& agent,
                                              const InstallationFiles& files, sys::Random& random, WallTime now) {
  RendezvousConfig made{.address = agent.rendezvous_ip,
                        .url = fmt::format("https://{}", net::host_and_port(agent.rendezvous_ip, port)),
                        .expected_hosts = install.control_plane.replicas + install.compute_replicas()};
  made.cluster.cluster.id = TRY(sys::random_uuid(random));
  made.cluster.cluster.name = install.name;
  made.cluster.settings = cluster_settings(install, agent);
  apply_settings(made.cluster.cluster, made.cluster.settings);
  made.cluster.created = made.cluster.updated = made.cluster.status_since = now;
  std::string infra_env_id = TRY(sys::random_uuid(random));
  made.infra_env = {.id = std::move(infra_env_id),
                    .name = install.name,
                    .cluster = made.cluster.cluster.id,
                    .settings = infra_env_settings(install, agent),
                    .created = now,
                    .updated = now};
  for (const config::AgentHost& host : agent.hosts) made.hosts.push_back(planned_host(host));

  World tokens;
  Edit edit(tokens, now);
  const std::string agent_token = TRY(issue_token(
      edit, random, {.kind = TokenKind::agent, .infra_env = made.infra_env.id, .expires = now + life_of_tokens}));
  const std::string user_token = TRY(issue_token(
      edit, random, {.kind = TokenKind::user, .cluster = made.cluster.cluster.id, .expires = now + life_of_tokens}));
  for (const auto& [id, token] : tokens.tokens) made.tokens.push_back(*token);

  // The key of the authority is not kept: it signs nothing else.
  const net::Certificate authority = TRY(make_authority(random, now));
  const net::Certificate server =
      TRY(make_server_certificate(authority, {agent.rendezvous_ip, "127.0.0.1", "localhost"}, random, now));
  ignition::Config config =
      TRY(discovery_config(made.infra_env, {.url = made.url, .authority = authority.pem, .token = agent_token}));
  const std::string records = emit_json(to_json(made), JsonStyle::compact);
  std::vector<std::pair<std::string, std::string_view>> all = {{in(rendezvous_folder, record_file), records},
                                                               {in(rendezvous_folder, certificate_file), server.pem},
                                                               {in(rendezvous_folder, key_file), server.key.reveal()},
                                                               {in(rendezvous_folder, authority_file), authority.pem}};
  for (const auto& [name, content] : files) {
    if (name == kubeconfig_without_routers) continue;  // the same as kubeconfig
    all.emplace_back(in(rendezvous_assets(std::string(rendezvous_folder)), name), content);
  }
  for (const auto& [path, content] : all) ignition::put(config, TRY(packed_file(path, content)));
  ignition::put(config,
                ignition::make_unit("slipway-rendezvous.service",
                                    std::string(data::content(data::assist(), "slipway-rendezvous.service")), true));
  return RendezvousImage{.ignition = emit_json(ignition::to_json(config), JsonStyle::compact),
                         .url = made.url,
                         .cluster_id = made.cluster.cluster.id,
                         .user_token = user_token,
                         .authority = authority.pem};
}

Result<RendezvousConfig> read_rendezvous(sys::Files& files, const std::string& folder) {
  const std::string path = in(folder, record_file);
  const std::string text = TRY(files.read(path));
  const Json value = TRY(parse_json(text, path));
  return parse_rendezvous(value).context(path);
}

Result<ServerCertificate> read_rendezvous_certificate(sys::Files& files, const std::string& folder) {
  ServerCertificate certificate;
  certificate.authority = TRY(files.read(in(folder, authority_file)));
  certificate.tls.certificate = TRY(files.read(in(folder, certificate_file)));
  certificate.tls.key = Secret(TRY(files.read(in(folder, key_file))));
  return certificate;
}

std::string rendezvous_assets(const std::string& folder) { return folder + "/assets"; }

}  // namespace slipway::service
