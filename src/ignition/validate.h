// The rules of the spec that no single value shows: whether Ignition would take a config.
#pragma once

#include "base/findings.h"
#include "base/result.h"
#include "ignition/parse.h"
#include "ignition/types.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// All problems, without places (see located()); their text is in the order of the document once they have them. `root` begins
// the path of every finding.
//
// Agrees with Ignition's own validator but where that lets through what can only fail later; the list of those rules, each
// with its reason, is the table in tests/component/ignition/test_ignition.py.
Findings validate(const Config& config, const std::string& root = "");

// parse_text() and validate() at once; on success the findings hold warnings only.
//
//   errors  invalid: not JSON, or all findings, a line each, with their places
Result<Parsed> read_config(std::string_view text, std::string_view name);

}  // namespace slipway::ignition
