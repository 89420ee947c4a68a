// The config that the machine-config-server sends to a machine: the rendered MachineConfig plus files that only the server has,
// in the Ignition version that the machine requests.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "ignition/types.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_build.h"
#include "machineconfig/types.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The version of the Ignition spec for an Accept header. The entry for application/vnd.coreos.ignition+json with a version and
// the highest q decides. For an unknown newer 3.x it is the newest known version.
//
// Without such an entry it is 3.2.0, which all machine images since 2020 can read. OpenShift's server sends 2.2.0 to these
// machines and to those that request 2.x; machines that can read only 2.x cannot run what slipway installs.
//
//   errors  invalid: an unsupported version, including 2.x
Result<ignition::Version> accepted_version(std::string_view accept_header);

// How a machine requests its config again after its join credential expired. The content of config_server_file:
//   {"url": "https://api-int.demo.example.com:22623/config/worker", "ca": "-----BEGIN CERTIFICATE----- ...", "token": "5f0c..."}
struct ConfigServerAccess {
  std::string url;
  std::string ca;  // PEM
  Secret token;

  bool operator==(const ConfigServerAccess&) const = default;
};

inline constexpr std::string_view config_server_file = "/etc/kubernetes/config-server.json";

Json to_json(const ConfigServerAccess& access);
// errors: invalid: a malformed file
Result<ConfigServerAccess> parse_config_server_access(std::string_view text, std::string_view name);

// Credentials for a pool's machines to join the cluster and to request their config again.
struct JoinCredentials {
  Secret kubeconfig;                                               // for /etc/kubernetes/kubeconfig
  std::optional<ConfigServerAccess> config_server = std::nullopt;  // for config_server_file
};

// The image that a machine boots instead of that of its config (image mode).
struct ServedImage {
  std::string image;                                   // by digest
  std::optional<OsImageSource> source = std::nullopt;  // where the machine finds it before its registry
};

// Adds to the rendered config: the CA of kubelet clients, node-annotations.json, the credentials, a readable copy of the
// MachineConfig and the MachineConfig without its Ignition part, from which the first boot reads image and kernel. Files with
// secrets have mode 0600. Pure.
//
// An image is in the annotations, in the MachineConfig of the first boot, and its source in os_image_source_file. The name of the
// config and the readable copy stay the same: the image does not belong to the config.
//
//   errors  invalid, with the feature that the version does not support
Result<ignition::Config> served_config(const MachineConfig& rendered, const ControllerConfig& controller,
                                       const JoinCredentials& credentials, ignition::Version version,
                                       const std::optional<ServedImage>& image = std::nullopt);

}  // namespace slipway::machineconfig
