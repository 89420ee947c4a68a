// slipway image ...: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command image_create_command();
Command image_list_command();
Command image_load_command();
Command image_write_command();

}  // namespace slipway::cli
