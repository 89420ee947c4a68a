// Exec: replaces this process by another program.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace slipway::sys {

// Replaces this process by a program, which gets the environment and the three standard descriptors. All other descriptors are
// closed, signals have their default handling and no signal is blocked. Returns only on failure.
//
//   argv     a program without a slash is searched in PATH
//   errors   not_found, denied: the program cannot be started. The signal handling stays reset
//   threads  other threads end without running destructors
Error become_program(std::vector<std::string> argv);

// Sets the default handling for all signals and unblocks all signals. Also safe between fork and exec.
void reset_signals();

}  // namespace slipway::sys
