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
  std::string digest{};  // of the content of agent-config.yaml, without comments and layout
};

// errors: those of both files together; the program then exits with ExitStatus::install_config
Result<AgentFiles> read_agent_files(const Environment& environment, const std::string& folder, bool strict = false);

// For an install-config that was validated before: the hosts and the disk of agent-config.yaml, if the directory has one.
config::LoadOptions load_options_of(const Environment& environment, const std::string& folder);

// How to reach the service on the rendezvous host.
struct RendezvousAccess {
  std::string url{};
  std::string cluster_id{};
  std::string authority{};  // PEM
  Secret token{};           // of kind user
  std::string agent_config_digest{};  // that the image was made from; empty in directories of older versions
};

// Files below FOLDER/rendezvous: service.json, ca.crt, token. errors of reading: not_found, with what to do; invalid
Result<> write_rendezvous_access(const Environment& environment, const std::string& folder, const RendezvousAccess& access);
Result<RendezvousAccess> read_rendezvous_access(const Environment& environment, const std::string& folder);

}  // namespace slipway::cli
