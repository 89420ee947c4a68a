// slipway release ...: rows of the table of commands.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command release_export_command();
Command release_graph_command();
Command release_import_command();
Command release_info_command();
Command release_list_command();
Command release_mirror_command();
Command release_remove_command();

Result<> release_info(const Environment& environment, const Arguments& arguments);
Result<> release_mirror(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
