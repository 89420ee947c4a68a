// Rows of the schema in words: what `slipway explain` and the reference page have in common. Private to these.
#pragma once

#include "config/schema.h"

#include <string>
#include <string_view>

namespace slipway::config {

// "string", "[]object", "map[string]string"
std::string kind_text(const Field& field);

// The values that are allowed, each between these quotes: "Enabled, Disabled".
std::string join_allowed(const Field& field, std::string_view quote);

// What becomes of a field that is not given: its value between these quotes, or words; empty when nothing does.
std::string without_it(const Field& field, std::string_view quote);

// Of an older field: what to do; empty for one of today.
std::string use_instead(const Field& field, std::string_view quote);

}  // namespace slipway::config
