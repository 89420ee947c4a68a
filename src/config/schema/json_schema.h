// The form of install-config.yaml as a JSON Schema, for editors and for checks before slipway runs.
#pragma once

#include "base/json.h"

namespace slipway::config {

// A schema of draft 2020-12, generated from the table that the file is read with. It describes the form of each field, not the
// other rules of validation. Field names are case-sensitive in the schema, but not in slipway.
Json install_config_json_schema();

}  // namespace slipway::config
