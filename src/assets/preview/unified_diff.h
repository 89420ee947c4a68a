// What is different between two texts, line by line, as `diff -u` writes it.
#pragma once

#include <string>
#include <string_view>

namespace slipway::assets {

// Lines "--- before", "+++ after" and the hunks; empty for texts of the same lines. Whether the last line ends is not looked at.
std::string unified_diff(std::string_view before_name, std::string_view before, std::string_view after_name,
                         std::string_view after);

}  // namespace slipway::assets
