// Validates configs: whether Ignition would accept a config.
#pragma once

#include "base/findings.h"
#include "base/result.h"
#include "ignition/parse.h"
#include "ignition/types.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// Returns all findings, without places (see located()). With places, they are sorted as in the document.
//
//   root  prefix of the path of every finding
//
// The result agrees with Ignition's validator, but is stricter about configs that would fail later. The table in
// tests/component/ignition/test_ignition.py lists the stricter rules with their reasons.
Findings validate(const Config& config, const std::string& root = "");

// Calls parse_text() and validate(). On success the findings are warnings only.
//
//   errors  invalid: not JSON, or all findings with their places, one per line
Result<Parsed> read_config(std::string_view text, std::string_view name);

}  // namespace slipway::ignition
