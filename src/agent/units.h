// Names that several files of the agent use.
#pragma once

#include <algorithm>
#include <string_view>

namespace slipway::agent {

inline constexpr std::string_view agent_unit = "slipway-agent.service";

// In a live system it is in memory, with the space of the root file system: /run is too small for the image of a disk.
inline constexpr std::string_view default_folder = "/var/lib/slipway-agent";

// IDs become parts of URLs.
inline bool is_uuid(std::string_view text) {
  constexpr std::string_view pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return text.size() == pattern.size() && std::equal(text.begin(), text.end(), pattern.begin(), [](char c, char wanted) {
           const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           return wanted == '-' ? c == '-' : is_digit;
         });
}

}  // namespace slipway::agent
