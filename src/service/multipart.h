// Bodies of type multipart/form-data (RFC 7578), as far as uploads of one file need it. Pure.
#pragma once

#include "base/result.h"

#include <string_view>

namespace slipway::service {

// The content of the part with this name. It is a view of the body.
//
//   content_type  of the request: "multipart/form-data; boundary=x"
//   errors        invalid: another type, no boundary, a part that does not end, no such part
Result<std::string_view> part_of(std::string_view content_type, std::string_view body, std::string_view name);

}  // namespace slipway::service
