// The version of this program.
#pragma once

#include <string_view>

namespace slipway::cli {

std::string_view program_version();  // "0.1.0"
std::string_view program_commit();   // of the build; empty when unknown

}  // namespace slipway::cli
