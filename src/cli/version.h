// slipway version
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Result<> version(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
