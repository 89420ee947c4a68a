// slipway plan, slipway diff: show what a target would change in an asset directory; rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command plan_command();
Command diff_command();

}  // namespace slipway::cli
