// Configs that hosts boot with: the discovery image's, and the one of the installed system. Pure.
#pragma once

#include "ignition/types.h"
#include "service/records.h"

#include <string>
#include <string_view>

namespace slipway::service {

struct DiscoveryInputs {
  std::string url;        // of the service, as hosts reach it: "https://192.168.126.1:8090"
  std::string authority;  // PEM of the service's certificate authority; empty: plain HTTP
  std::string token;      // of an agent; empty: the service does not authenticate
};

// What a discovery image configures: the agent, its credential, the SSH key, proxies, static networks.
// errors: invalid: the static networks
Result<ignition::Config> discovery_config(const InfraEnvRecord& record, const DiscoveryInputs& inputs);

// The Ignition config of a discovery image: the same, with the user's own config merged over it.
// errors: also invalid: the user's config
Result<std::string> discovery_ignition(const InfraEnvRecord& record, const DiscoveryInputs& inputs);

// The file with the name of the host.
ignition::File name_file(const HostRecord& record);

// The base of that config for a host that joins a cluster which was installed elsewhere: where the rest of it is.
//
//   token  for that server; empty: none is needed
std::string pointer_ignition(const assist::Cluster& cluster, std::string_view token);

// The config of the installed system: that of the role, with the name of the host and the user's own config merged over it.
//
//   base      master.ign or worker.ign
//   settings  of its discovery environment, with the static networks of its hosts
//   errors    invalid: one of the configs
Result<std::string> host_ignition(const HostRecord& record, std::string_view base, const JsonObject& settings = {});

}  // namespace slipway::service
