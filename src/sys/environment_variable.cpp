#include "sys/environment_variable.h"

#include <cstdlib>

namespace slipway::sys {

std::string environment_variable(const std::string& name, const std::string& fallback) {
  const char* value = std::getenv(name.c_str());
  return value && *value != '\0' ? value : fallback;
}

}  // namespace slipway::sys
