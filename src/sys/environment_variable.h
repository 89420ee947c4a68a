// What this program was started with beside its arguments.
#pragma once

#include <string>

namespace slipway::sys {

// The value of a variable of the environment; the fallback where it is missing or empty.
std::string environment_variable(const std::string& name, const std::string& fallback = "");

}  // namespace slipway::sys
