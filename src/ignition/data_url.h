// Data URLs (RFC 2397), which contain the contents of files in a config.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

enum class DataEncoding {
  percent,  // "data:,a%20b": all characters except unreserved ones are escaped, as the machine-config-server does
  base64,   // "data:;base64,YSBi"
  shorter,  // the shorter of the two; percent if they are equal
};

std::string encode_data_url(std::string_view bytes, DataEncoding encoding = DataEncoding::shorter);

// Returns the bytes. Media type and parameters are checked for their form and otherwise ignored. Bytes are not decompressed, see
// Resource::compression.
//
//   errors  invalid: no "data:" in lower case, no comma, an invalid media type or parameter, characters that must be escaped, a
//           broken escape, broken base64
Result<std::string> decode_data_url(std::string_view url);

}  // namespace slipway::ignition
