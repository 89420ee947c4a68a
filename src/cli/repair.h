// slipway repair: a row of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command repair_command();

}  // namespace slipway::cli
