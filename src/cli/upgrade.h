// slipway upgrade
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command upgrade_command();

}  // namespace slipway::cli
