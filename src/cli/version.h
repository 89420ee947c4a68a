// slipway version: a row of the table of commands; and what version this is.
#pragma once

#include "cli/command.h"

#include <string_view>

namespace slipway::cli {

std::string_view program_version();  // "0.1.0"
std::string_view program_commit();   // that it was built from; empty when that is not known

Command version_command();

}  // namespace slipway::cli
