#include "ignition/types.h"

#include <fmt/core.h>

namespace slipway::ignition {

std::string to_string(Version version) { return fmt::format("3.{}.0", static_cast<int>(version)); }

std::optional<Version> find_version(std::string_view text) {
  for (int minor = 0; minor <= static_cast<int>(newest_version); ++minor) {
    if (text == to_string(static_cast<Version>(minor))) return static_cast<Version>(minor);
  }
  return std::nullopt;
}

}  // namespace slipway::ignition
