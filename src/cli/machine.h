// slipway machine ...: local machines for users and tests; rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command machine_create_command();
Command machine_start_command();
Command machine_stop_command();
Command machine_reboot_command();
Command machine_list_command();
Command machine_console_command();
Command machine_shell_command();
Command machine_destroy_command();

// Hidden: runs as the owner process of a cluster (provider/local/owner.h).
Command machine_owner_command();

}  // namespace slipway::cli
