// Checks the syntax of systemd unit files, as far as Ignition does. Private to the folder.
#pragma once

#include "base/result.h"

#include <string_view>

namespace slipway::ignition {

struct UnitText {
  bool has_install = false;  // there is an option in a section [Install]
};

// errors: invalid: "line 3: ...". Text before the first section is not an error, as in Ignition
Result<UnitText> read_unit_text(std::string_view text);

}  // namespace slipway::ignition
