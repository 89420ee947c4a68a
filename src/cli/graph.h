// slipway graph: a row of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command graph_command();

}  // namespace slipway::cli
