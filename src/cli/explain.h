// slipway explain: a row of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command explain_command();

}  // namespace slipway::cli
