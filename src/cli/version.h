// slipway version: a row of the table of commands; and the version of the program.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command version_command();

}  // namespace slipway::cli
