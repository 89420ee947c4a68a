// Prices of a platform: the file of this version, or one of the user.
#pragma once

#include "cli/command.h"
#include "provider/plan/preview.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

Option prices_option();

// What the items cost an hour. Empty if there is no price file for the platform. errors: those of the user's file
Result<std::optional<provider::plan::Costs>> costs_on(const Environment& environment, const Arguments& arguments,
                                                      const std::string& platform,
                                                      const std::vector<provider::plan::Priced>& items);

}  // namespace slipway::cli
