// The terminal that a person sits at: lines are asked for there, secrets without being shown.
#pragma once

#include "base/result.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace slipway::cli {

// Whether there is one: standard input and standard error both are it. Otherwise nothing must be asked.
bool is_at_terminal();

// Writes to standard error.
void show(std::string_view text);

// Shows the prompt and reads the line that is typed, without its end; nothing when the input ends. Blocks.
//
//   hidden  what is typed from the prompt on is not shown, and may be longer than a terminal's line (4095 bytes)
//   errors  cancelled; internal: of the system
Result<std::optional<std::string>> read_line(std::stop_token stop, std::string_view prompt, bool hidden);

}  // namespace slipway::cli
