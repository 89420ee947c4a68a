// The form of systemd unit files, as far as Ignition looks at it. Private to the folder.
#pragma once

#include "base/result.h"

#include <string_view>

namespace slipway::ignition {

struct UnitText {
  bool has_install = false;  // an option in a section [Install]
};

// errors: invalid, "line 3: ..."; text before the first section is no error, as it is none to Ignition
Result<UnitText> read_unit_text(std::string_view text);

}  // namespace slipway::ignition
