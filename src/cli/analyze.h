// slipway analyze: a row of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command analyze_command();

}  // namespace slipway::cli
