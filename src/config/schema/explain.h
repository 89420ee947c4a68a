// Describes the fields of install-config.yaml. The source is the table that the file is read with (schema.h).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::config {

// Describes a field and its members, for people.
//
//   path       "installconfig.platform.vsphere"; case, indexes ("compute[0]") and a trailing dot do not matter
//   recursive  lists the names of all fields below, without descriptions
//   errors     not_found: no such field; the message lists the fields that exist
Result<std::string> explain(std::string_view path, bool recursive);

}  // namespace slipway::config
