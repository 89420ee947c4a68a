// --output of commands that print for people or for programs.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

// text or json, text when it is not given.
Option output_option(std::string help = "output format");

}  // namespace slipway::cli
