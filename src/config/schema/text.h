// Texts about rows of the schema, for `slipway explain` and the reference page. Private to these.
#pragma once

#include "config/schema/schema.h"

#include <string>
#include <string_view>

namespace slipway::config {

// "string", "[]object", "map[string]string"
std::string kind_text(const Field& field);

// The allowed values, each in these quotes: "Enabled, Disabled".
std::string join_allowed(const Field& field, std::string_view quote);

// The default of a field: its value in these quotes, or a description; empty if there is no default.
std::string without_it(const Field& field, std::string_view quote);

// For a deprecated field: what to use instead. Empty for other fields.
std::string use_instead(const Field& field, std::string_view quote);

}  // namespace slipway::config
