// The files of an agent-based installation in its asset directory: install-config.yaml and agent-config.yaml of the user, and
// what `agent create image` writes for the commands that follow.
#pragma once

#include "assets/plan.h"
#include "base/secret.h"
#include "cli/command.h"
#include "config/agent_config.h"

#include <string>

namespace slipway::cli {

inline constexpr std::string_view agent_config_file = "agent-config.yaml";

struct AgentFiles {
  assets::Folder folder;  // with the install-config; on platform baremetal its hosts are those of agent-config.yaml
  config::AgentConfig agent;
};

// errors: those of both files together; the program then exits with ExitStatus::install_config
Result<AgentFiles> read_agent_files(const Environment& environment, const std::string& folder, bool strict = false);

// How to reach the service on the rendezvous host.
struct RendezvousAccess {
  std::string url{};
  std::string cluster_id{};
  std::string authority{};  // PEM
  Secret token{};           // of kind user
};

// Files below FOLDER/rendezvous: service.json, ca.crt, token. errors of reading: not_found, with what to do; invalid
Result<> write_rendezvous_access(const Environment& environment, const std::string& folder, const RendezvousAccess& access);
Result<RendezvousAccess> read_rendezvous_access(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
