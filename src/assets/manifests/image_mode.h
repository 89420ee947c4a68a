// Image mode: the MachineOSConfigs among the manifests.
#pragma once

#include "assets/assets.h"
#include "assets/state.h"
#include "machineconfig/os_build_limits.h"

#include <string>
#include <vector>

namespace slipway::assets {

// Where the machines of a local cluster push OS images: "registry.demo.example.com:5443".
inline constexpr int local_os_registry_port = 5443;
std::string local_os_registry(const config::InstallConfig& config);

// The login of the machines of a local cluster for OS images in its registry, as a docker config; empty on other platforms and
// without image mode. It is derived from the token of the control plane, whose machines may push anyway.
Secret os_registry_login(const config::InstallConfig& config, const ServerToken& token);

// What image mode adds to the limits of waits for masters and for workers.
inline constexpr Milliseconds os_build_allowance = machineconfig::os_build_limits::run;
inline constexpr Milliseconds first_boot_hold = machineconfig::os_build_limits::first_boot_hold;

// MachineOSConfigs and Secrets for the user to complete, one of each for masters and for workers, if there are any. On local
// machines they are complete, if the images are built: they go to the registry of the cluster. Elsewhere check_image_mode refuses
// them until the user names a registry.
Result<AssetFiles> machine_os_configs(const config::InstallConfig& config, const ServerToken& token);

// Whether the file is one of machine_os_configs().
bool is_machine_os_config_file(std::string_view path);

// Checks the MachineOSConfigs of users before a machine exists: that imageMode asks for them, that every pool with machines has
// one, their fields and Containerfiles (machineconfig/os_config.h), and that their Secrets are among the manifests and have a
// login for the registry. At target `manifests` it is no error yet that there are none, or only those of machine_os_configs() as
// they were generated.
//
//   user     the files that are not as generated
//   returns  notes for the user: what to complete; repositories for which the pull secret has no login
//   errors   invalid, with all findings and their places
Result<std::vector<std::string>> check_image_mode(const config::InstallConfig& config, const ManifestSet& manifests,
                                                  const UserFiles& user, Target target);

}  // namespace slipway::assets
