// gzip (RFC 1952).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

enum class Compression { fast, best };  // how long is looked for what is shorter

// Without a name and a time: the same text gives the same bytes. errors: internal: no memory
Result<std::string> gzip(std::string_view text, Compression compression = Compression::best);

// All members of a gzip file, one after another.
//
//   limit   bytes of the result
//   errors  invalid: it is no gzip, is broken, or unpacks to more than the limit; internal: no memory
Result<std::string> gunzip(std::string_view packed, std::size_t limit);

}  // namespace slipway::ignition
