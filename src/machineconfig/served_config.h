// The config that the machine-config-server gives to a machine: the rendered MachineConfig and files that only the server knows,
// in the version of Ignition that the machine asks for.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "ignition/types.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The version of Ignition's spec to answer an Accept header with. The entry for application/vnd.coreos.ignition+json with the
// highest q that has a version decides; a newer 3.x than we know gets the newest that we know.
//
// Without such an entry it is 3.2.0: what every machine reads that was built since 2020. Upstream answers those, and those that
// ask for 2.x, in 2.2.0; machines that read nothing else cannot run anything that we install.
//
//   errors  invalid: a version that we do not write, 2.x among them
Result<ignition::Version> accepted_version(std::string_view accept_header);

// How a machine asks for its config again, when the credential that it got to join with is over. The file config_server_file:
//   {"url": "https://api-int.demo.example.com:22623/config/worker", "ca": "-----BEGIN CERTIFICATE----- ...", "token": "5f0c..."}
struct ConfigServerAccess {
  std::string url;
  std::string ca;  // PEM
  Secret token;

  bool operator==(const ConfigServerAccess&) const = default;
};

inline constexpr std::string_view config_server_file = "/etc/kubernetes/config-server.json";

Json to_json(const ConfigServerAccess& access);
// errors: invalid: not such a file
Result<ConfigServerAccess> parse_config_server_access(std::string_view text, std::string_view name);

// What a pool's machines get to join the cluster, and to come back to it.
struct JoinCredentials {
  Secret kubeconfig;                                               // for /etc/kubernetes/kubeconfig
  std::optional<ConfigServerAccess> config_server = std::nullopt;  // for config_server_file
};

// Adds to the rendered config: the CA of kubelets' clients, node-annotations.json, the credentials, the MachineConfig for people
// and, last, the MachineConfig without its Ignition part, from which the first boot learns image and kernel. Files with secrets
// are 0600. Pure.
//
//   errors  invalid, naming what the version cannot express
Result<ignition::Config> served_config(const MachineConfig& rendered, const ControllerConfig& controller,
                                       const JoinCredentials& credentials, ignition::Version version);

}  // namespace slipway::machineconfig
