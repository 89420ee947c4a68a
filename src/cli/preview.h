// slipway plan, slipway diff: what a target would do to an asset directory; rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command plan_command();
Command diff_command();

}  // namespace slipway::cli
