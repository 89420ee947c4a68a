// The terminal of the user: reads lines, and secrets without echo.
#pragma once

#include "base/result.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace slipway::cli {

// Whether both standard input and standard error are a terminal. If not, the program must not ask questions.
bool is_at_terminal();

// Writes to standard error.
void show(std::string_view text);

// Shows the prompt and reads a line without its newline; nothing at the end of the input. Blocks.
//
//   hidden  input is not echoed, and may be longer than a line of a terminal (4095 bytes)
//   errors  cancelled; internal: system errors
Result<std::optional<std::string>> read_line(std::stop_token stop, std::string_view prompt, bool hidden);

}  // namespace slipway::cli
