// The stages of a host's installation: which a role has, what a report of one changes. Pure.
#pragma once

#include "assist/status.h"
#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <span>

namespace slipway::assist {

// What a host is installed as. The bootstrap host becomes a master.
enum class Placement : std::uint8_t { bootstrap, master, worker, single_node };

// In their order, without `failed`.
std::span<const Stage> stages_of(Placement placement);

// Percent of the installation of a host whose current stage is this one; 100 for `done`.
int percent_of(Placement placement, Stage stage);

// Whether a host in stage `current` may report stage `reported`: the same one, or a later one of its placement, also several
// further. A failure is always accepted.
//
//   errors  conflict, with the current stage: the stage is not one of the placement, or an earlier one
Result<> check_progress(Placement placement, std::optional<Stage> current, Stage reported);

// Longest time in a stage without a report.
Milliseconds limit_of(Placement placement, Stage stage);

}  // namespace slipway::assist
