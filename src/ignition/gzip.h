// gzip (RFC 1952), for what machines unpack.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// Without a name and a time: the same text gives the same bytes. errors: internal: no memory
Result<std::string> gzip(std::string_view text);

}  // namespace slipway::ignition
