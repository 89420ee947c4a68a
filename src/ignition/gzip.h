// gzip (RFC 1952).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

enum class Compression { fast, best };  // fast: less CPU time; best: smaller output

// The header has no name and no time: the same text gives the same bytes. errors: internal: no memory
Result<std::string> gzip(std::string_view text, Compression compression = Compression::best);

// Unpacks all members of a gzip file and concatenates them.
//
//   limit   maximum size of the result, bytes
//   errors  invalid: not gzip, broken, or larger than the limit when unpacked; internal: no memory
Result<std::string> gunzip(std::string_view packed, std::size_t limit);

}  // namespace slipway::ignition
