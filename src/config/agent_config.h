// Reads and validates agent-config.yaml, which describes the hosts of an agent-based installation. All problems are reported
// together, each with its place. The fields are OpenShift's; those that slipway does not support are refused by name. Pure.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "config/install_config.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::config {

struct AgentInterface {
  std::string name{};
  std::string mac_address{};  // lower case, with colons

  bool operator==(const AgentInterface&) const = default;
};

struct AgentHost {
  std::string hostname{};  // empty: the one that the host has
  std::string role{};      // "master", "worker"; empty: the service chooses
  std::vector<AgentInterface> interfaces{};
  Json root_device_hints = JsonObject();
  Json network_config = nullptr;  // nmstate

  bool operator==(const AgentHost&) const = default;
};

struct AgentConfig {
  std::string rendezvous_ip{};
  std::vector<AgentHost> hosts{};
  std::vector<std::string> time_servers{};

  bool operator==(const AgentConfig&) const = default;
};

// What is wrong with the networkConfig of a host, one text for each problem.
using NetworkCheck = std::function<std::vector<std::string>(const AgentHost& host)>;

struct CheckedAgentConfig {
  AgentConfig config;  // without the parts that cannot be used
  Findings findings;
};

// name     of the text in messages
// install  of the same cluster: the configs must fit together. Null: not checked
CheckedAgentConfig check_agent_config(std::string_view text, std::string_view name, const NetworkCheck& problems_of_network,
                                      const InstallConfig* install = nullptr);

// The hosts as platform.baremetal.hosts of an install-config, for LoadOptions.
JsonArray baremetal_hosts(const AgentConfig& config);

// The disk of the only host, for LoadOptions; empty if the config does not name it.
std::string in_place_disk(const AgentConfig& config);

// An item of platform.baremetal.hosts for a host that no controller manages.
//
//   id   of the host, unique among all hosts
//   bmc  address of its management controller; empty: not known. An address of the range for documentation is then used
Json unmanaged_host(std::string_view name, std::string_view role, std::string_view mac_address, std::string_view id,
                    std::string_view bmc = "");

}  // namespace slipway::config
