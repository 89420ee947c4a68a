// Access to the environment variables of this process.
#pragma once

#include <string>

namespace slipway::sys {

// Value of the environment variable, or the fallback if the variable is unset or empty.
std::string environment_variable(const std::string& name, const std::string& fallback = "");

}  // namespace slipway::sys
