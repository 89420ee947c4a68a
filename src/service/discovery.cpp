#include "service/discovery.h"

#include "data/data.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "ignition/merge.h"
#include "ignition/parse.h"
#include "ignition/translate.h"
#include "service/static_network.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::service {

namespace {

constexpr ignition::Version machine_version = ignition::Version::v3_3;  // of the Ignition in the machine OS

// A config, with the config of a user merged over it, as the machine OS reads it.
Result<std::string> with_override(const ignition::Config& config, const Json* override, std::string_view name) {
  if (!override) return emit_json(ignition::to_json(config), JsonStyle::compact);
  const ignition::Parsed own = ignition::parse(*override);
  TRY(own.findings.to_result().context(name));
  ignition::Config merged = ignition::merge(config, own.config);
  if (merged.ignition.version > machine_version) merged = TRY(ignition::translate(merged, machine_version).context(name));
  return emit_json(ignition::to_json(merged), JsonStyle::compact);
}

Result<std::vector<HostNetwork>> static_networks_of(const JsonObject& settings) {
  const Json* list = settings.if_contains("static_network_config");
  if (!list) return std::vector<HostNetwork>();
  return parse_static_networks(*list).context("static_network_config");
}

// The proxies of the environment, for all units of the live system: the agent, containerd. Empty: none.
std::string proxy_variables(const InfraEnvRecord& record) {
  std::string lines;
  for (const auto& [field, variable] :
       {std::pair("http_proxy", "HTTP_PROXY"), std::pair("https_proxy", "HTTPS_PROXY"), std::pair("no_proxy", "NO_PROXY")}) {
    const std::string value = text_of(record.settings, {"proxy", field});
    if (!value.empty()) lines += ignition::manager_variable(variable, value);
  }
  return lines.empty() ? lines : "[Manager]\n" + lines;
}

}  // namespace

Result<ignition::Config> discovery_config(const InfraEnvRecord& record, const DiscoveryInputs& inputs) {
  ignition::Config config;
  config.ignition.version = ignition::Version::v3_1;
  const std::string folder = "/etc/slipway-agent/";
  ignition::put(
      config, ignition::make_file(folder + "environment", fmt::format("URL={}\nINFRA_ENV_ID={}\n", inputs.url, record.id), 0600));
  ignition::put(config, ignition::make_file(folder + "token", inputs.token, 0600));
  ignition::put(config, ignition::make_file(folder + "ca.crt", inputs.authority, 0644));
  if (const std::string secret = text_of(record.settings, {"pull_secret"}); !secret.empty()) {
    ignition::put(config, ignition::make_file("/root/.docker/config.json", secret, 0600));
  }
  if (const std::string bundle = text_of(record.settings, {"additional_trust_bundle"}); !bundle.empty()) {
    ignition::put(config, ignition::make_file("/etc/pki/ca-trust/source/anchors/slipway.crt", bundle, 0644));
  }
  if (const std::string proxies = proxy_variables(record); !proxies.empty()) {
    ignition::put(config, ignition::make_file("/etc/systemd/system.conf.d/10-default-env.conf", proxies, 0600));
  }
  add_static_networks(config, TRY(static_networks_of(record.settings)));
  ignition::put(config, ignition::make_unit("slipway-agent.service",
                                            std::string(data::content(data::assist(), "slipway-agent.service")), true));
  if (const std::string key = text_of(record.settings, {"ssh_authorized_key"}); !key.empty()) {
    config.passwd.users.push_back({.name = "core", .ssh_authorized_keys = {key}});
  }
  return config;
}

Result<std::string> discovery_ignition(const InfraEnvRecord& record, const DiscoveryInputs& inputs) {
  const ignition::Config config = TRY(discovery_config(record, inputs));
  const std::string text = text_of(record.settings, {"ignition_config_override"});
  if (text.empty()) return with_override(config, nullptr, "");
  const Json override = TRY(parse_json(text, "ignition_config_override"));
  return with_override(config, &override, "ignition_config_override");
}

ignition::File name_file(const HostRecord& record) {
  return ignition::make_file("/etc/hostname", record.host.hostname() + "\n", 0644);
}

std::string pointer_ignition(const assist::Cluster& cluster, std::string_view token) {
  ignition::Config config;
  config.ignition.version = ignition::Version::v3_2;
  ignition::Resource source = ignition::make_reference(cluster.ignition_url);
  if (!token.empty()) source.http_headers.push_back({.name = "Authorization", .value = fmt::format("Bearer {}", token)});
  config.ignition.config.merge.push_back(std::move(source));
  config.ignition.security.tls.certificate_authorities.push_back(
      {.source = ignition::encode_data_url(cluster.ignition_authority)});
  return emit_json(ignition::to_json(config), JsonStyle::compact);
}

Result<std::string> host_ignition(const HostRecord& record, std::string_view base, const JsonObject& settings) {
  ignition::Parsed parsed = TRY(ignition::parse_text(base, "config of the role"));
  TRY(parsed.findings.to_result());
  ignition::put(parsed.config, name_file(record));
  if (record.host.inventory) {
    std::vector<std::string> macs;
    for (const assist::Interface& interface : record.host.inventory->interfaces) macs.push_back(interface.mac_address);
    add_static_network(parsed.config, TRY(static_networks_of(settings)), macs);
  }
  return with_override(parsed.config, record.overrides.if_contains("ignition"), "ignition config override of the host");
}

}  // namespace slipway::service
