// Data URLs (RFC 2397), which carry the contents of files inside a config.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

enum class DataEncoding {
  percent,  // "data:,a%20b": everything escaped but unreserved characters, as the machine-config-server writes it
  base64,   // "data:;base64,YSBi"
  shorter,  // of the two; percent when they are equal
};

std::string encode_data_url(std::string_view bytes, DataEncoding encoding = DataEncoding::shorter);

// The bytes; media type and character set are checked for their form and have no meaning. Whether the bytes are compressed
// is said beside the URL, in Resource::compression.
//
//   errors  invalid: no "data:" in lower case, no comma, a media type or parameter that is none, characters that have to be
//           escaped, a broken escape, broken base64
Result<std::string> decode_data_url(std::string_view url);

}  // namespace slipway::ignition
