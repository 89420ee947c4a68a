// The meaning of plain (unquoted) YAML scalars. Private to the reader and the writer, which must agree on it.
#pragma once

#include "base/json.h"

#include <optional>
#include <string_view>

namespace slipway::yaml {

// The value of a plain scalar: null, true, false or a number; nullopt if it is a string. Numbers follow Go's strconv with base 0
// and underscores: 1_000, 0x1f, 0b11, 0o17; 017 is octal; 1e3 is a float.
std::optional<Json> resolve_plain(std::string_view text);

// Whether a reader of YAML 1.1 or 1.2 could take the plain scalar for another type than a string: also y/n, yes/no, on/off,
// dates, sexagesimal numbers, infinities, merge and default keys.
bool is_ambiguous(std::string_view text);

}  // namespace slipway::yaml
