// What a plain (unquoted) YAML scalar means. Private to the reader and the writer, which must agree on it.
#pragma once

#include "base/json.h"

#include <optional>
#include <string_view>

namespace slipway::yaml {

// The value of a plain scalar that is no string: null, true/false, a number. Nothing means it is a string.
// Numbers are Go's (strconv with base 0 and underscores): 1_000, 0x1f, 0b11, 0o17, 017 is octal; 1e3 is a float.
std::optional<Json> resolve_plain(std::string_view text);

// Whether some reader of YAML 1.1 or 1.2 could take the plain scalar for something else than this string: also y/n, yes/no,
// on/off, dates, sexagesimal numbers, infinities, merge and default keys.
bool is_ambiguous(std::string_view text);

}  // namespace slipway::yaml
