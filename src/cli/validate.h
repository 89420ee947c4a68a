// slipway validate, and --strict of the commands that read an install-config.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command validate_command();

// --strict
Option strict_option();

}  // namespace slipway::cli
