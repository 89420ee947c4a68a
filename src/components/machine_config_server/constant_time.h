// Comparison of secrets.
#pragma once

#include <cstddef>
#include <string_view>

namespace slipway::components::machine_config_server {

// For secrets: the time does not depend on the position of the first difference.
inline bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ (i < b.size() ? b[i] : '\0')));
  }
  return difference == 0;
}

}  // namespace slipway::components::machine_config_server
