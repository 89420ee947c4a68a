// slipway release info, slipway release mirror: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command release_info_command();
Command release_mirror_command();

Result<> release_info(const Environment& environment, const Arguments& arguments);
Result<> release_mirror(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
