// --output of commands that print text or JSON.
#pragma once

#include "cli/command.h"

#include <string>

namespace slipway::cli {

// text or json; default text.
Option output_option(std::string help = "output format");

}  // namespace slipway::cli
