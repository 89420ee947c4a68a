#include "cli/agent_files.h"

#include "assets/store.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/asset_inputs.h"
#include "service/rendezvous_config.h"

#include <fmt/core.h>

namespace slipway::cli {

namespace {

std::string in(const std::string& folder, std::string_view name) { return fmt::format("{}/{}", folder, name); }

Error both(const Error& one, const Error& other) {
  return {one.code(), fmt::format("{}\n{}", one.message(), other.message())};
}

void add_hosts(config::LoadOptions& options, const config::AgentConfig& agent) {
  options.baremetal_hosts = config::baremetal_hosts(agent);
  options.in_place_disk = config::in_place_disk(agent);
}

Result<AgentFiles> read(const Environment& environment, const std::string& folder, bool strict) {
  const std::optional<std::string> text = TRY(environment.files.read_if_exists(in(folder, agent_config_file)));
  if (!text) {
    return error(Code::not_found,
                 "{}: not found in this directory (`slipway agent create agent-config-template` makes an example)",
                 agent_config_file);
  }
  // The install-config may need the hosts, and the agent-config is checked against the install-config.
  config::CheckedAgentConfig agent = config::check_agent_config(*text, agent_config_file, service::problems_of_network);
  config::LoadOptions options = load_options(environment, strict);
  add_hosts(options, agent.config);
  Result<assets::Folder> opened = assets::open_folder(environment.files, folder, options);
  if (opened.ok()) {
    agent = config::check_agent_config(*text, agent_config_file, service::problems_of_network, &opened->config.config);
  }
  const Result<> checked = agent.findings.to_result();
  if (!opened.ok()) return checked.ok() ? opened.error() : both(opened.error(), checked.error());
  TRY(checked);
  if (!agent.findings.empty()) environment.context.log.warn("{}", trim(agent.findings.to_text()));
  const YamlDocument content = TRY(parse_yaml(*text, agent_config_file));
  return AgentFiles{.folder = std::move(opened).value(),
                    .agent = std::move(agent.config),
                    .digest = sha256_hex(emit_json(content.value, JsonStyle::compact))};
}

}  // namespace

Result<AgentFiles> read_agent_files(const Environment& environment, const std::string& folder, bool strict) {
  return or_exit_unread(environment, folder, read(environment, folder, strict));
}

config::LoadOptions load_options_of(const Environment& environment, const std::string& folder) {
  config::LoadOptions options;
  const auto text = environment.files.read_if_exists(in(folder, agent_config_file));
  if (text.ok() && text.value())
    add_hosts(options, config::check_agent_config(*text.value(), agent_config_file, service::problems_of_network).config);
  return options;
}

Result<> write_rendezvous_access(const Environment& environment, const std::string& folder, const RendezvousAccess& access) {
  const std::string place = in(folder, "rendezvous");
  const Json service = {
      {"url", access.url}, {"cluster_id", access.cluster_id}, {"agent_config_sha256", access.agent_config_digest}};
  TRY(environment.files.write(in(place, "token"), fmt::format("{}\n", access.token.reveal()), 0600));
  TRY(environment.files.write(in(place, "ca.crt"), access.authority, 0644));
  return environment.files.write(in(place, "service.json"), emit_json(service, JsonStyle::pretty), 0644);
}

Result<RendezvousAccess> read_rendezvous_access(const Environment& environment, const std::string& folder) {
  const std::string place = in(folder, "rendezvous"), path = in(place, "service.json");
  const std::optional<std::string> text = TRY(environment.files.read_if_exists(path));
  if (!text) return error(Code::not_found, "{}: not found (run `slipway agent create image --dir {}` first)", path, folder);
  const Json service = TRY(parse_json(*text, path));
  RendezvousAccess access;
  access.url = TRY(require_string(service, {"url"}).context(path));
  access.cluster_id = TRY(require_string(service, {"cluster_id"}).context(path));
  access.agent_config_digest = text_of(service, {"agent_config_sha256"});
  access.authority = TRY(environment.files.read(in(place, "ca.crt")));
  const std::string token = TRY(environment.files.read(in(place, "token")));
  access.token = Secret(std::string(trim(token)));
  return access;
}

}  // namespace slipway::cli
