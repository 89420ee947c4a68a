// `machine-config-controller bootstrap`: renders the pools from all manifests on the bootstrap machine, for the
// machine-config-server there.
#pragma once

#include "base/secret.h"
#include "base/yaml.h"
#include "components/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// The files of the output folder, in the order in which they have to be written. Pools are last, so that every pool that exists
// can be served. Pools of the control plane with a MachineOSConfig also have the files of bootstrap_os_builds.h. Pure.
//
//   documents    documents of all manifests, in the order of their files; other kinds are ignored
//   pull_secret  the Secret with the credentials for registries
//   version      version of the payload; a ControllerConfig with another version is refused
//   errors       invalid, with every problem: no ControllerConfig, two pools of a user with one name, an invalid MachineConfig, a
//                KubeletConfig or ContainerRuntimeConfig that is refused (machineconfig/pool_settings.h), two of one kind for a
//                pool, a MachineOSConfig that cannot be built (bootstrap_os_builds.h), errors of rendering
Result<RenderedFiles> render_machine_config_pools(const std::vector<YamlDocument>& documents, const Json& pull_secret,
                                                  std::string_view version);

// The command.
Result<> run_controller_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
