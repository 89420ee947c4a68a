// `machine-config-controller bootstrap`: renders the pools from all manifests on the bootstrap machine, for its
// machine-config-server.
#pragma once

#include "base/secret.h"
#include "base/yaml.h"
#include "components/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// The files below the output folder, in the order in which they have to be written: pools last, so that a pool that is there
// can be served. Pure.
//
//   documents    of all manifests, in the order of their files; kinds that are not ours are passed over
//   pull_secret  the Secret with the credentials of registries
//   version      of the payload; a ControllerConfig of another one is refused
//   errors       invalid, with every problem: no ControllerConfig, two pools of a user with one name, a MachineConfig that is
//                none, a KubeletConfig or ContainerRuntimeConfig that is refused (kubelet_configs.h), what rendering says
Result<RenderedFiles> render_machine_config_pools(const std::vector<YamlDocument>& documents, const Json& pull_secret,
                                                  std::string_view version);

// The command.
Result<> run_controller_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
