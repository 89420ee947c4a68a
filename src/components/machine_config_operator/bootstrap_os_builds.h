// Image mode on the bootstrap machine: what the stage os-image-build builds, and what the machine-config-server waits for. Pure.
#pragma once

#include "base/findings.h"
#include "base/secret.h"
#include "base/yaml.h"
#include "components/program/program.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_config.h"
#include "machineconfig/types.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components::machine_config_operator {

// A MachineOSConfig among the manifests, with the logins that it names.
struct OsConfigWithLogins {
  machineconfig::OsConfig config;
  std::string file;                     // of the manifest
  Secret push_logins{};                 // docker configs
  std::optional<Secret> pull_logins{};  // for the base image; nothing: those of the machine

  bool operator==(const OsConfigWithLogins&) const = default;
};

// The MachineOSConfigs of the manifests, sorted by pool, with the Secrets of their namespace.
//
//   pools     names of all pools
//   findings  those of read_os_config; two objects for a pool; a pool that does not exist; a Secret that does not exist, has
//             another type or has no login for the repository
std::vector<OsConfigWithLogins> read_os_configs(const std::vector<YamlDocument>& documents, const std::vector<std::string>& pools,
                                                Findings& findings);

// The files for the pools of the control plane that have a MachineOSConfig; the other pools get their images in the cluster.
//
//   os-builds/POOL/            Containerfile, root/...: what podman builds; build.json: the OsBuild, last
//   os-logins/POOL/            push.json, pull.json (0600): docker configs
//   os-images/POOL/image.json  instead, if the MachineOSConfig names a pre-built image: the OsImage, in the repository of this
//                              image
//
//   rendered  the rendered configs, by pool
//   errors    invalid, with the problems of all pools
Result<RenderedFiles> os_build_files(const std::vector<OsConfigWithLogins>& configs,
                                     const std::map<std::string, machineconfig::MachineConfig>& rendered,
                                     const machineconfig::ControllerConfig& controller);

}  // namespace slipway::components::machine_config_operator
