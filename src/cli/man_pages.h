// Manual pages, generated from the table of commands; packages contain them.
#pragma once

#include "cli/command.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace slipway::cli {

// One page for the program and one for each command that is not hidden, in the man macros of roff. Pure.
//
//   returns  by file name: "slipway.1", "slipway-create-cluster.1"
std::map<std::string, std::string> man_pages(std::string_view program, std::string_view version,
                                             std::span<const Command> commands);

Command man_command();

}  // namespace slipway::cli
