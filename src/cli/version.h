// slipway version: a row of the table of commands; and the version of the program.
#pragma once

#include "cli/command.h"

#include <string_view>

namespace slipway::cli {

std::string_view program_version();  // "0.1.0"
std::string_view program_commit();   // of the build; empty when unknown

Command version_command();

}  // namespace slipway::cli
