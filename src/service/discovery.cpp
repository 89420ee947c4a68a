#include "service/discovery.h"

#include "data/data.h"
#include "ignition/make.h"
#include "ignition/merge.h"
#include "ignition/parse.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

// A config, with the config of a user merged over it.
Result<std::string> with_override(const ignition::Config& config, const Json* override, std::string_view name) {
  if (!override) return emit_json(ignition::to_json(config), JsonStyle::compact);
  const ignition::Parsed own = ignition::parse(*override);
  TRY(own.findings.to_result().context(name));
  return emit_json(ignition::to_json(ignition::merge(config, own.config)), JsonStyle::compact);
}

}  // namespace

Result<std::string> discovery_ignition(const InfraEnvRecord& record, const DiscoveryInputs& inputs) {
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
  ignition::put(config, ignition::make_unit("slipway-agent.service",
                                            std::string(data::content(data::assist(), "slipway-agent.service")), true));
  if (const std::string key = text_of(record.settings, {"ssh_authorized_key"}); !key.empty()) {
    config.passwd.users.push_back({.name = "core", .ssh_authorized_keys = {key}});
  }
  const std::string text = text_of(record.settings, {"ignition_config_override"});
  if (text.empty()) return with_override(config, nullptr, "");
  const Json override = TRY(parse_json(text, "ignition_config_override"));
  return with_override(config, &override, "ignition_config_override");
}

Result<std::string> host_ignition(const HostRecord& record, std::string_view base) {
  ignition::Parsed parsed = TRY(ignition::parse_text(base, "config of the role"));
  TRY(parsed.findings.to_result());
  ignition::put(parsed.config, ignition::make_file("/etc/hostname", record.host.hostname() + "\n", 0644));
  return with_override(parsed.config, record.overrides.if_contains("ignition"), "ignition config override of the host");
}

}  // namespace slipway::service
