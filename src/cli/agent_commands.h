// Commands of agent-based installations: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command agent_create_image_command();
Command agent_create_template_command();
Command agent_wait_for_bootstrap_command();
Command agent_wait_for_install_command();

}  // namespace slipway::cli
