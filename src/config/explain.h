// What the fields of install-config.yaml are, told from the table that the file is read with (schema.h).
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::config {

// A field and the fields in it, for people.
//
//   path       "installconfig.platform.vsphere"; case, indexes ("compute[0]") and a dot at the end do not matter
//   recursive  only the names, of all that is below
//   errors     not_found: no such field, naming what there is
Result<std::string> explain(std::string_view path, bool recursive);

}  // namespace slipway::config
