// The form of install-config.yaml as a JSON Schema, for editors and for checks before this program is run.
#pragma once

#include "base/json.h"

namespace slipway::config {

// A schema of draft 2020-12, from the table that the file is read with. What the rules of validation want beyond the form of each
// field is not in it, and names of fields are as in the table: the program itself does not care for their case.
Json install_config_json_schema();

}  // namespace slipway::config
