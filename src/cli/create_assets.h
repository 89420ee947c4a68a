// slipway create manifests, slipway create ignition-configs: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command create_manifests_command();
Command create_ignition_configs_command();

}  // namespace slipway::cli
