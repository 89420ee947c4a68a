#include "base/uuid.h"

#include <fmt/core.h>

namespace slipway {

std::string uuid_of_hex(std::string_view digits) {
  return fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4), digits.substr(16, 4),
                     digits.substr(20, 12));
}

}  // namespace slipway
