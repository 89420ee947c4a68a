// The line differences of two texts in the format of `diff -u`.
#pragma once

#include <string>
#include <string_view>

namespace slipway::assets {

// The lines "--- before", "+++ after" and the hunks; empty if the lines are equal. A missing newline at the end is ignored.
std::string unified_diff(std::string_view before_name, std::string_view before, std::string_view after_name,
                         std::string_view after);

}  // namespace slipway::assets
