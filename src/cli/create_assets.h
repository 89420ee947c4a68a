// slipway create install-config, manifests, ignition-configs, single-node-ignition-config: rows of the table of commands.
#pragma once

#include "assets/plan.h"
#include "cli/command.h"

namespace slipway::cli {

// The request for a target. Called as openshift-install, the program deletes install-config.yaml afterwards.
assets::Request target_request(const Environment& environment, assets::Target target);

Command create_install_config_command();
Command create_manifests_command();
Command create_ignition_configs_command();
Command create_single_node_ignition_config_command();

}  // namespace slipway::cli
