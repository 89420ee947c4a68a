// slipway validate, and --strict of the commands that make something of an install-config.
#pragma once

#include "cli/command.h"

namespace slipway::cli {

Command validate_command();

// --strict
Option strict_option();

// With --strict: refuses an install-config.yaml of the asset directory that has fields which nobody knows. Succeeds where there
// is none: those of earlier runs are without such fields. errors: those of config::load_install_config; the program then ends
// with ExitStatus::install_config
Result<> refuse_unknown_fields(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
